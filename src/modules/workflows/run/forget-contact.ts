/** Cancels the running executions of a contact that is removed, and clears its personal data. */

import type { Db } from "../../../db/open.ts";
import type { Clock } from "../../../lib/clock.ts";

/** Part of a change. */
export function createForgetContact(deps: { db: Db; clock: Clock }): (contactSeq: number) => void {
  const { sqlite } = deps.db;
  const cancel = sqlite.prepare<unknown, [number, number]>(`
    UPDATE workflow_executions
    SET status = 'CANCELLED', exit_reason = 'The contact was deleted.', error = NULL, due_at = NULL,
      due_for = NULL, awaited_event = NULL, completed_at = +?
    WHERE contact_seq = +? AND status IN ('RUNNING', 'WAITING')`);
  const clearSteps = sqlite.prepare<unknown, [number]>(`
    UPDATE workflow_execution_steps SET detail = NULL
    WHERE execution_seq IN (SELECT seq FROM workflow_executions WHERE contact_seq = ?)`);
  const clearContext = sqlite.prepare<unknown, [number]>(
    "UPDATE workflow_executions SET context = '{}' WHERE contact_seq = ?",
  );
  return (contactSeq) => {
    cancel.run(deps.clock.now(), contactSeq);
    clearSteps.run(contactSeq);
    clearContext.run(contactSeq);
  };
}
