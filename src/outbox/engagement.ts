/** Stores opens and clicks of a mail, by people and by machines. */

import type { App } from "../core/app.ts";
import type { TrackingMode } from "../db/schema/projects.ts";
import { statement } from "../db/statement.ts";
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
  /** 1 or 0 if the contact has chosen whether it is tracked. */
  allowsTracking: number | null;
};

export const findTrackedEmail = statement<TrackedEmail, [string]>(`
  SELECT e.seq, e.project_seq AS projectSeq, e.contact_seq AS contactSeq, e.source,
         e.sent_at AS sentAt, e.opened_at AS openedAt, e.clicked_at AS clickedAt, p.tracking,
         c.tracking AS allowsTracking
  FROM emails e JOIN projects p ON p.seq = e.project_seq
  LEFT JOIN contacts c ON c.seq = e.contact_seq
  WHERE e.id = +?`);

type HitKind = "open" | "click";

// The state never moves back, and a bounced mail or one with a complaint keeps its state.
const storeFirst = {
  open: statement<unknown, [number, number]>(
    `UPDATE emails SET opened_at = ?, status = ${stateIfFrom("open")} WHERE seq = +?`,
  ),
  click: statement<unknown, [number, number]>(
    `UPDATE emails SET clicked_at = ?, status = ${stateIfFrom("click")} WHERE seq = +?`,
  ),
};

/** Part of a change: the first open of a mail, or the first click in it. */
export function storeFirstHit(app: App, kind: HitKind, emailSeq: number, at: number): void {
  storeFirst[kind](app).run(at, emailSeq);
}

const storeOfMachine = {
  open: statement<{ seq: number }, [number, number]>(`
    UPDATE emails SET machine_opened_at = ?
    WHERE seq = +? AND machine_opened_at IS NULL RETURNING seq`),
  click: statement<{ seq: number }, [number, number]>(`
    UPDATE emails SET machine_clicked_at = ?
    WHERE seq = +? AND machine_clicked_at IS NULL RETURNING seq`),
};

/** Part of a change: a hit of a machine. True if it is the first one of its kind. */
export function storeMachineHit(app: App, kind: HitKind, emailSeq: number, at: number): boolean {
  return storeOfMachine[kind](app).get(at, emailSeq) !== null;
}
