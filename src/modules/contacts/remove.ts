/**
 * Removes a contact. Its mails and events stay, without personal data. Its queued mails are
 * cancelled, because their address is removed, and so are its running workflow executions.
 */

import type { Db } from "../../db/open.ts";
import type { UsageCounter } from "../../db/usage-counter.ts";
import type { Clock } from "../../lib/clock.ts";
import type { ContactEvents } from "../../events/contact-events.ts";

/** Removes a contact. It must be called inside a change. */
export type RemoveContact = (contactSeq: number) => void;

const THEIRS = "email_seq IN (SELECT seq FROM emails WHERE contact_seq = ?)";

/**
 * The order matters: the contact is deleted last, and rows that refer to it are deleted with it.
 */
const STEPS = [
  `UPDATE attempts SET conversations = NULL, reason = NULL WHERE ${THEIRS}`,
  `DELETE FROM captured_messages WHERE ${THEIRS}`,
  `UPDATE emails SET to_address = NULL, to_name = NULL, variables = NULL, subject = '',
     last_error = iif(status = 'CANCELLED', last_error, NULL)
   WHERE contact_seq = ?`,
  `UPDATE workflow_execution_steps SET detail = NULL
   WHERE execution_seq IN (SELECT seq FROM workflow_executions WHERE contact_seq = ?)`,
  "UPDATE workflow_executions SET context = '{}' WHERE contact_seq = ?",
  "DELETE FROM contacts WHERE seq = ?",
];

const CANCEL_MAILS = `
  UPDATE emails SET status = 'CANCELLED', next_at = NULL, last_error = 'The contact was deleted.'
  WHERE contact_seq = +? AND status = 'QUEUED'
  RETURNING seq, project_seq AS projectSeq, campaign_seq IS NULL AS isQuotaCounted`;

const CANCEL_EXECUTIONS = `
  UPDATE workflow_executions
  SET status = 'CANCELLED', exit_reason = 'The contact was deleted.', error = NULL, due_at = NULL,
    due_for = NULL, awaited_event = NULL, completed_at = +?
  WHERE contact_seq = +? AND status IN ('RUNNING', 'WAITING')`;

type CancelledMail = { seq: number; projectSeq: number; isQuotaCounted: number };

export function createRemoval(deps: {
  db: Db;
  usage: Pick<UsageCounter, "addQueued">;
  clock: Clock;
  /** Called for each cancelled mail, so that campaigns update their counts. */
  noteCancelled: (emailSeq: number) => void;
  events: Pick<ContactEvents, "detach">;
}): RemoveContact {
  const { clock } = deps;
  const { sqlite } = deps.db;
  const statements = STEPS.map((step) => sqlite.prepare<unknown, [number]>(step));
  const cancelExecutions = sqlite.prepare<unknown, [number, number]>(CANCEL_EXECUTIONS);
  const cancelMails = sqlite.prepare<CancelledMail, [number]>(CANCEL_MAILS);
  return (contactSeq) => {
    cancelExecutions.run(clock.now(), contactSeq);
    const cancelled = cancelMails.all(contactSeq);
    for (const { seq, projectSeq, isQuotaCounted } of cancelled) {
      deps.noteCancelled(seq);
      if (isQuotaCounted === 1) deps.usage.addQueued(projectSeq, -1);
    }
    deps.events.detach(contactSeq);
    for (const statement of statements) statement.run(contactSeq);
  };
}
