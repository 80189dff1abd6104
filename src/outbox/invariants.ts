/** The rules that mails, their messages and their attempts obey. */

import type { Invariant } from "../db/invariant.ts";

const WAITING = "('QUEUED', 'SENDING')";
const LEFT = "('SENT', 'DELIVERED', 'OPENED', 'CLICKED', 'COMPLAINED')";
const PURGED = "digest LIKE 'purged %'";

export const EMAIL_INVARIANTS: readonly Invariant[] = [
  {
    name: "queue",
    rule: "Exactly the mails that are QUEUED or SENDING have a next time.",
    violations: `
      SELECT 'email ' || id AS id,
             status || iif(next_at IS NULL, ' without a next time', ' with a next time') AS finding
      FROM emails WHERE (status IN ${WAITING}) <> (next_at IS NOT NULL)`,
  },
  {
    name: "queued-message",
    rule: "Each mail that is QUEUED or SENDING has its message.",
    violations: `
      SELECT 'email ' || emails.id AS id,
             iif(messages.seq IS NULL, 'its message is missing', 'its message was purged')
               AS finding
      FROM emails LEFT JOIN messages ON messages.seq = emails.message_seq
      WHERE emails.status IN ${WAITING} AND (messages.seq IS NULL OR messages.${PURGED})`,
  },
  {
    name: "submitted-message",
    rule: "Exactly the submitted messages have pieces, until they are purged.",
    violations: `
      SELECT 'message ' || seq AS id,
             iif(found, 'has pieces that it should not have', 'its pieces are missing') AS finding
      FROM (SELECT seq, message_id IS NOT NULL AND NOT ${PURGED} AS expected,
                   EXISTS (SELECT 1 FROM message_pieces WHERE message_seq = messages.seq) AS found
            FROM messages)
      WHERE expected <> found`,
  },
  {
    name: "attachments",
    rule: "Exactly the messages with attachments have some, until they are purged.",
    violations: `
      SELECT 'message ' || seq AS id,
             iif(found, 'has attachments that it should not have', 'its attachments are missing')
               AS finding
      FROM (SELECT seq, has_attachments AND NOT ${PURGED} AS expected,
                   EXISTS (SELECT 1 FROM message_attachments WHERE message_seq = messages.seq)
                     AS found
            FROM messages)
      WHERE expected <> found`,
  },
  {
    name: "attachment-contents",
    rule: "Each attachment content belongs to a message.",
    violations: `
      SELECT 'content ' || digest AS id, 'belongs to no message' AS finding
      FROM attachment_contents
      WHERE digest NOT IN (SELECT content_digest FROM message_attachments)`,
  },
  {
    name: "email-project",
    rule: "A mail, its message and its contact belong to one project.",
    violations: `
      SELECT 'email ' || emails.id AS id,
             iif(messages.project_seq <> emails.project_seq, 'its message', 'its contact')
               || ' belongs to another project' AS finding
      FROM emails
      JOIN messages ON messages.seq = emails.message_seq
      LEFT JOIN contacts ON contacts.seq = emails.contact_seq
      WHERE messages.project_seq <> emails.project_seq
         OR contacts.project_seq <> emails.project_seq`,
  },
  {
    name: "email-source",
    rule: "Campaign mail names its campaign, workflow mail its execution, and other mail neither.",
    violations: `
      SELECT 'email ' || id AS id,
             format('%s, campaign %s, execution %s', source, coalesce(campaign_seq, 'none'),
                    coalesce(execution_seq, 'none')) AS finding
      FROM emails
      WHERE (source = 'CAMPAIGN') <> (campaign_seq IS NOT NULL)
         OR (source = 'WORKFLOW') <> (execution_seq IS NOT NULL)`,
  },
  {
    name: "email-times",
    rule: "The times of a mail fit its status.",
    violations: `
      SELECT 'email ' || id AS id,
             status || ' does not fit the times at which it was sent, delivered, opened, clicked, '
               || 'bounced or complained about' AS finding
      FROM emails
      WHERE (status IN ${LEFT} AND sent_at IS NULL)
         OR (status IN ('QUEUED', 'SENDING', 'FAILED', 'SUPPRESSED', 'CANCELLED')
             AND sent_at IS NOT NULL)
         OR (status = 'DELIVERED' AND delivered_at IS NULL)
         OR (status = 'OPENED' AND opened_at IS NULL)
         OR (status = 'CLICKED' AND clicked_at IS NULL)
         OR (status = 'BOUNCED' AND bounced_at IS NULL)
         OR (status = 'COMPLAINED' AND complained_at IS NULL)
         OR (clicked_at IS NOT NULL AND opened_at IS NULL)`,
  },
  {
    name: "email-attempts",
    rule:
      "Exactly the mails that were sent have an attempt that was accepted, or a report that proves " +
      "the acceptance.",
    violations: `
      SELECT 'email ' || id AS id,
             iif(sent_at IS NULL, 'an attempt was accepted, but it was not sent',
                 'it was sent, but no attempt was accepted') AS finding
      FROM emails
      WHERE (sent_at IS NOT NULL)
         <> EXISTS (SELECT 1 FROM attempts
                    WHERE email_seq = emails.seq AND outcome = 'accepted')
        AND NOT (sent_at IS NOT NULL
                 AND EXISTS (SELECT 1 FROM email_reports WHERE email_seq = emails.seq))`,
  },
  {
    name: "attempt-numbers",
    rule: "The attempts of a mail have different numbers, up to the number of its attempts.",
    violations: `
      SELECT 'email ' || emails.id AS id,
             format('%d attempts with %d numbers from %d to %d, but %d were made', found.rows,
                    found.numbers, found.first, found.last, emails.attempts) AS finding
      FROM (SELECT email_seq, count(*) AS rows, count(DISTINCT number) AS numbers,
                   min(number) AS first, max(number) AS last
            FROM attempts GROUP BY email_seq) AS found
      JOIN emails ON emails.seq = found.email_seq
      WHERE found.rows <> found.numbers OR found.first < 1 OR found.last > emails.attempts`,
  },
  {
    name: "email-reports",
    rule: "A mail that was sent and has a report of a bounce has bounced.",
    violations: `
      SELECT 'email ' || emails.id AS id,
             'a report says that it bounced, but it is ' || status AS finding
      FROM email_reports JOIN emails ON emails.seq = email_reports.email_seq
      WHERE kind = 'BOUNCE' AND bounced_at IS NULL AND sent_at IS NOT NULL`,
  },
];
