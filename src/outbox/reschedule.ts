/** Changes the time of a mail that was scheduled and has not been leased yet. */

import type { App } from "../core/app.ts";
import { statement } from "../db/statement.ts";

/** A mail whose time had come may be in a wait list, which is read again only when it is polled. */
const update = statement<unknown, [number, number, number, string]>(`
  UPDATE emails SET scheduled_at = ?, next_at = ?, line = ''
  WHERE project_seq = +? AND id = +? AND status = 'QUEUED' AND attempts = 0
    AND scheduled_at IS NOT NULL`);

/** Part of a change. False if it is too late, or if there is no such mail. */
export function rescheduleMail(app: App, projectSeq: number, id: string, at: number): boolean {
  return update(app).run(at, at, projectSeq, id).changes > 0;
}
