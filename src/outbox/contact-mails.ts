/** Changes the mails of a contact when the contact changes its address or is removed. */

import type { App } from "../core/app.ts";
import { perApp } from "../lib/per-app.ts";
import { cancellation } from "./cancel.ts";
import { FORGET_RECIPIENTS, HAS_LEFT, LEAVING } from "./purge-recipients.ts";

/** The mails of one contact whose numbers are in a JSON array. */
const THESE = "SELECT value FROM json_each(?1)";

/** Messages that were submitted over SMTP to this contact alone, or else to deleted contacts. */
const ITS_MESSAGES = `
  SELECT m.seq FROM json_each(?1) AS each CROSS JOIN emails e ON e.seq = each.value
  CROSS JOIN messages m ON m.seq = e.message_seq
  WHERE m.message_id IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM emails o
                    WHERE o.message_seq = m.seq AND o.contact_seq <> e.contact_seq)`;

/** Messages of which the contact got a copy. */
const ITS_COPIES = `seq IN (SELECT message_seq FROM emails WHERE seq IN (${THESE}))
  AND recipients IS NOT NULL`;

/** Removes the data that identifies the contact. The records of its mails stay. */
const FORGET = [
  `DELETE FROM message_pieces WHERE message_seq IN (${ITS_MESSAGES})`,
  `UPDATE messages SET digest = 'purged ' || seq WHERE seq IN (${ITS_MESSAGES})`,
  // Copies that still wait show the same To and Cc as those that have left (purge-recipients.ts).
  `UPDATE messages SET ${FORGET_RECIPIENTS} WHERE ${ITS_COPIES} AND ${HAS_LEFT}`,
  `UPDATE messages SET digest = '${LEAVING} ' || seq WHERE ${ITS_COPIES}`,
  `UPDATE attempts SET conversations = NULL, reason = NULL WHERE email_seq IN (${THESE})`,
  `DELETE FROM captured_messages WHERE email_seq IN (${THESE})`,
  `UPDATE emails SET contact_seq = NULL, to_address = NULL, to_name = NULL, variables = NULL, tags = NULL,
     subject = '', last_error = iif(status = 'CANCELLED', last_error, NULL)
   WHERE seq IN (${THESE})`,
];

/** A mail to an address that no contact had, such as a confirmation. */
const WITHOUT_CONTACT = "SELECT seq FROM emails WHERE id = ?1 AND contact_seq IS NULL";

/** Removes the data that identifies the recipient of such a mail. */
const FORGET_ONE = [
  `UPDATE attempts SET conversations = NULL, reason = NULL WHERE email_seq IN (${WITHOUT_CONTACT})`,
  `DELETE FROM captured_messages WHERE email_seq IN (${WITHOUT_CONTACT})`,
  `UPDATE emails SET to_address = NULL, to_name = NULL, variables = NULL, tags = NULL, subject = '',
     last_error = NULL
   WHERE seq IN (${WITHOUT_CONTACT})`,
];

export const contactMails = perApp(createContactMails);

function createContactMails(app: App) {
  const { sqlite } = app.db;
  const statements = FORGET.map((sql) => sqlite.prepare<unknown, [string]>(sql));
  const all = sqlite.prepare<{ seq: number }, [number]>(
    "SELECT seq FROM emails WHERE contact_seq = +?",
  );
  // A message of a template or a campaign is the content of many, and stays.
  const ended = sqlite.prepare<{ seq: number }, [number, number]>(`
    SELECT seq FROM emails INDEXED BY emails_contact
    WHERE contact_seq = ? AND next_at IS NULL
      AND (template_id IS NOT NULL OR campaign_seq IS NOT NULL OR NOT EXISTS (
             SELECT 1 FROM emails o WHERE o.message_seq = emails.message_seq AND o.next_at IS NOT NULL))
    LIMIT +?`);
  const forgetOne = FORGET_ONE.map((sql) => sqlite.prepare<unknown, [string]>(sql));
  const adopt = sqlite.prepare<unknown, [number, string]>(
    "UPDATE emails SET contact_seq = ? WHERE id = ? AND contact_seq IS NULL",
  );
  const readdress = sqlite.prepare<unknown, [string, number]>(`
    UPDATE emails SET to_address = ?, line = ''
    WHERE contact_seq = +? AND status = 'QUEUED' AND source <> 'TEST'
      AND EXISTS (SELECT 1 FROM messages
                  WHERE messages.seq = emails.message_seq AND messages.is_marketing = 1)`);
  return {
    /** Part of a change: cancels the queued mails of a contact. */
    cancel: (contactSeq: number): void =>
      cancellation(app).ofContact(contactSeq, "The contact was deleted."),

    /** The `seq` of all mails of a contact. */
    all: (contactSeq: number): number[] => all.all(contactSeq).map(({ seq }) => seq),

    /** The `seq` of some mails of a contact that have ended, and no copy of which still waits. */
    ended: (contactSeq: number, limit: number): number[] =>
      ended.all(contactSeq, limit).map(({ seq }) => seq),

    /** Part of a change: removes the contact, and what identifies it, from these mails. */
    forget(mails: readonly number[]): void {
      for (const statement of statements) statement.run(JSON.stringify(mails));
    },

    /** Part of a change: forgets the recipient of a mail that belongs to no contact, and so cancels it. */
    forgetOne(emailId: string): void {
      for (const statement of forgetOne) statement.run(emailId);
    },

    /** Part of a change: a mail that was sent before its contact existed becomes one of the contact. */
    adopt(emailId: string, contactSeq: number): void {
      adopt.run(contactSeq, emailId);
    },

    /**
     * Part of a change: queued marketing mail follows the contact to its new address, because the
     * contact consented, not the address. Transactional mail keeps its address.
     */
    readdress(contactSeq: number, address: string): void {
      readdress.run(address, contactSeq);
    },
  };
}
