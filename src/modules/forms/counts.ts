/**
 * The figures of forms: how often each was shown, submitted and confirmed, and how many submissions
 * were withheld because their address may get no mail. A submission and a confirmation are counted in
 * the change that stores them. Views are counted in memory and written
 * together, so that a page that is read often does not write often; a crash loses those of some seconds.
 */

import type { Static } from "@sinclair/typebox";
import { and, asc, eq, gte } from "drizzle-orm";
import type { App } from "../../core/app.ts";
import { formDays, type forms } from "../../db/schema/forms.ts";
import { statement } from "../../db/statement.ts";
import { perApp } from "../../lib/per-app.ts";
import type { FormReport } from "./model.ts";

type FormCounts = Static<typeof FormReport>["totals"];

const DAY_MS = 24 * 60 * 60_000;

const addToDay = statement<unknown, [number, number, number, number, number, number]>(`
  INSERT INTO form_days (form_seq, day, shown, submitted, confirmed, withheld)
  SELECT seq, ?2, ?3, ?4, ?5, ?6 FROM forms WHERE seq = +?1
  ON CONFLICT (form_seq, day) DO UPDATE
  SET shown = shown + excluded.shown, submitted = submitted + excluded.submitted,
      confirmed = confirmed + excluded.confirmed, withheld = withheld + excluded.withheld`);

const addToSum = statement<unknown, [number, number, number, number, number]>(`
  UPDATE forms SET shown = shown + ?2, submitted = submitted + ?3, confirmed = confirmed + ?4,
                   withheld = withheld + ?5
  WHERE seq = +?1`);

/** Part of a change. */
export function countForm(app: App, formSeq: number, added: Partial<FormCounts>): void {
  const { shown = 0, submitted = 0, confirmed = 0, withheld = 0 } = added;
  const day = Math.floor(app.clock.now() / DAY_MS);
  addToDay(app).run(formSeq, day, shown, submitted, confirmed, withheld);
  addToSum(app).run(formSeq, shown, submitted, confirmed, withheld);
}

/** Views by form that are not written yet. There are at most as many entries as forms. */
const views = perApp(() => new Map<number, number>());

export function countView(app: App, formSeq: number): void {
  views(app).set(formSeq, (views(app).get(formSeq) ?? 0) + 1);
}

/** The views of a form that are not in its row yet. */
export const unwrittenViews = (app: App, formSeq: number): number => views(app).get(formSeq) ?? 0;

export async function writeViews(app: App): Promise<void> {
  const written = [...views(app)];
  if (written.length === 0) return;
  views(app).clear();
  await app.writer.write(() => {
    for (const [formSeq, shown] of written) countForm(app, formSeq, { shown });
  });
}

export function formReport(
  app: App,
  { seq }: Pick<typeof forms.$inferSelect, "seq">,
  days: number,
): Static<typeof FormReport> {
  const last = Math.floor(app.clock.now() / DAY_MS);
  const first = last - days + 1;
  const rows = app.db
    .select()
    .from(formDays)
    .where(and(eq(formDays.formSeq, seq), gte(formDays.day, first)))
    .orderBy(asc(formDays.day))
    .all();
  const byDay = new Map(rows.map((row) => [row.day, row]));
  const totals = { shown: 0, submitted: 0, confirmed: 0, withheld: 0 };
  const listed = Array.from({ length: days }, (_, i) => {
    const row = byDay.get(first + i);
    const { shown: written = 0, submitted = 0, confirmed = 0, withheld = 0 } = row ?? {};
    const shown = written + (i === days - 1 ? unwrittenViews(app, seq) : 0);
    totals.shown += shown;
    totals.submitted += submitted;
    totals.confirmed += confirmed;
    totals.withheld += withheld;
    const day = new Date((first + i) * DAY_MS).toISOString().slice(0, 10);
    return { day, shown, submitted, confirmed, withheld };
  });
  return { totals, days: listed };
}
