/** SQL that writes the outcome of an attempt into the row of its mail. */

import type { Db } from "../db/open.ts";
import type { EmailStatus } from "../db/schema/emails.ts";
import type { LeasedMail } from "./lane/rows.ts";
import { isFrom } from "./states.ts";

/** The columns that a transition sets. */
export type OutcomeState = {
  status: EmailStatus;
  nextAt: number | null;
  sentAt: number | null;
  deliveredAt: number | null;
  bouncedAt: number | null;
  lastError: string | null;
};

/**
 * The recipient at the time of writing: the contact may have been deleted since the mail was
 * loaded.
 */
type Recipient = { contactSeq: number | null; isDeleted: number };

type Update = OutcomeState & { attemptsMade: number; subject: string | null };

/** The values of the parameters, in the order in which the statements name them first. */
type UpdateValues = [
  status: EmailStatus,
  attemptsMade: number,
  nextAt: number | null,
  sentAt: number | null,
  deliveredAt: number | null,
  bouncedAt: number | null,
  lastError: string | null,
  subject: string | null,
  seq: number,
  attempts: number,
];

/**
 * Returns a function that writes the row of a mail and returns its recipient; null if the lease was
 * lost. The first statement applies if the recipient is the one that was loaded, which saves reading
 * it again; a RETURNING clause would take longer than reading it, because SQLite then keeps a journal
 * of the statement. The values are bound by position, because binding by name looks up each name.
 */
export function createOutcomeUpdate({ sqlite }: Db) {
  const updateSql = (lastError: string, subject: string) => `
    UPDATE emails
    SET status = $status, attempts = $attemptsMade, next_at = $nextAt, sent_at = $sentAt,
        delivered_at = $deliveredAt, bounced_at = $bouncedAt, last_error = ${lastError},
        subject = ${subject}
    WHERE seq = +$seq AND ${isFrom("send")} AND attempts = +$attempts`;
  const updateUnchanged = sqlite.prepare<unknown, [...UpdateValues, contactSeq: number | null]>(
    `${updateSql("$lastError", "coalesce($subject, subject)")}
       AND to_address IS NOT NULL AND contact_seq IS +$contactSeq`,
  );
  const updateChanged = sqlite.prepare<unknown, UpdateValues>(
    updateSql(
      "iif(to_address IS NULL, NULL, $lastError)",
      "iif(to_address IS NULL, subject, coalesce($subject, subject))",
    ),
  );
  const findRecipient = sqlite.prepare<Recipient, [number]>(
    "SELECT contact_seq AS contactSeq, to_address IS NULL AS isDeleted FROM emails WHERE seq = +?",
  );

  return ({ seq, attempts, contactSeq }: LeasedMail, update: Update): Recipient | null => {
    const values: UpdateValues = [
      update.status,
      update.attemptsMade,
      update.nextAt,
      update.sentAt,
      update.deliveredAt,
      update.bouncedAt,
      update.lastError,
      update.subject,
      seq,
      attempts,
    ];
    if (updateUnchanged.run(...values, contactSeq).changes > 0) return { contactSeq, isDeleted: 0 };
    if (updateChanged.run(...values).changes === 0) return null;
    const recipient = findRecipient.get(seq);
    if (recipient === null) throw new Error("a recorded email was not found");
    return recipient;
  };
}
