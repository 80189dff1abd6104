/** Stores opens and clicks of a mail, by people and by machines. */

import type { App } from "../core/app.ts";
import type { TrackingMode } from "../db/schema/projects.ts";
import { perApp } from "../lib/per-app.ts";
import { stateIfFrom } from "./states.ts";

export type TrackedEmail = {
  seq: number;
  projectSeq: number;
  contactSeq: number | null;
  source: string;
  sentAt: number | null;
  openedAt: number | null;
  clickedAt: number | null;
  tracking: TrackingMode;
};

export type Engagement = ReturnType<typeof createEngagement>;

export const engagement = perApp(createEngagement);

function createEngagement({ db: { sqlite } }: App) {
  const find = sqlite.prepare<TrackedEmail, [string]>(`
    SELECT e.seq, e.project_seq AS projectSeq, e.contact_seq AS contactSeq, e.source,
           e.sent_at AS sentAt, e.opened_at AS openedAt, e.clicked_at AS clickedAt, p.tracking
    FROM emails e JOIN projects p ON p.seq = e.project_seq
    WHERE e.id = ?`);
  // The state never moves back, and a bounced mail or one with a complaint keeps its state.
  const open = sqlite.prepare<unknown, [number, number]>(
    `UPDATE emails SET opened_at = ?, status = ${stateIfFrom("open")} WHERE seq = ?`,
  );
  const click = sqlite.prepare<unknown, [number, number]>(
    `UPDATE emails SET clicked_at = ?, status = ${stateIfFrom("click")} WHERE seq = ?`,
  );
  const byMachine = {
    open: sqlite.prepare<{ seq: number }, [number, number]>(`
      UPDATE emails SET machine_opened_at = ?
      WHERE seq = +? AND machine_opened_at IS NULL RETURNING seq`),
    click: sqlite.prepare<{ seq: number }, [number, number]>(`
      UPDATE emails SET machine_clicked_at = ?
      WHERE seq = +? AND machine_clicked_at IS NULL RETURNING seq`),
  };
  return {
    find: (emailId: string): TrackedEmail | null => find.get(emailId),

    /** Part of a change: the first open of a mail. */
    open: (emailSeq: number, at: number): void => void open.run(at, emailSeq),

    /** Part of a change: the first click in a mail. */
    click: (emailSeq: number, at: number): void => void click.run(at, emailSeq),

    /** Part of a change: a hit of a machine. True if it is the first one of its kind. */
    hitByMachine: (kind: "open" | "click", emailSeq: number, at: number): boolean =>
      byMachine[kind].get(at, emailSeq) !== null,
  };
}
