/** Inserts DYNAMIC segments over the seeded data, with different combinations of filters. */

import type { Database } from "bun:sqlite";
import { createRandom, uuidAt } from "./random.ts";

const PLANS = ["free", "pro", "team"];
const COUNTRIES = ["DE", "US", "FR", "JP", "BR"];
const EVENTS = ["login", "purchase", "page.view"];

type Filter = { field: string; operator: string; value?: unknown; unit?: string };

export function seedSegments(
  sqlite: Database,
  options: { projectSeq: number; count: number; untilMs: number },
): void {
  const { projectSeq, count, untilMs } = options;
  const random = createRandom(20_260_303);
  const insert = sqlite.prepare(`
    INSERT INTO segments (id, project_seq, name, slug, description, type, condition,
      track_membership, created_at, updated_at)
    VALUES (?, ?, ?, ?, NULL, 'DYNAMIC', ?, 0, ?, ?)`);
  sqlite.transaction(() => {
    for (let i = 0; i < count; i++) {
      const at = untilMs - (count - i) * 60_000;
      const filters: Filter[] = [
        { field: "data.plan", operator: "equals", value: random.pick(PLANS) },
        { field: "data.score", operator: "greaterThan", value: random.integer(1000) },
        { field: "data.country", operator: "equals", value: random.pick(COUNTRIES) },
        within(`event.${random.pick(EVENTS)}`, "triggeredWithin", 1 + random.integer(90)),
        within("email.opened", "notTriggeredWithin", 1 + random.integer(90)),
      ];
      const chosen = filters.filter((_, j) => ((1 + (i % 31)) >> j) & 1);
      const condition = { logic: "AND", groups: [{ filters: chosen }] };
      const slug = `segment-${i + 1}`;
      const text = JSON.stringify(condition);
      insert.run(uuidAt(at, random), projectSeq, `Segment ${i + 1}`, slug, text, at, at);
    }
  })();
}

function within(field: string, operator: string, days: number): Filter {
  return { field, operator, value: days, unit: "days" };
}
