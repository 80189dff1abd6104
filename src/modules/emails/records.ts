/** Reads email records: the status of each mail with its attempts. */

import { and, asc, desc, eq, inArray, type SQL } from "drizzle-orm";
import type { Db } from "../../db/open.ts";
import { campaigns } from "../../db/schema/campaigns.ts";
import { contacts } from "../../db/schema/contacts.ts";
import {
  attempts,
  capturedMessages,
  emailReports,
  emails,
  messages,
} from "../../db/schema/emails.ts";
import { projects } from "../../db/schema/projects.ts";
import { workflowExecutions } from "../../db/schema/workflows.ts";
import { isoTime, isoTimeOrNull } from "../../lib/clock.ts";
import { AppError, notFound } from "../../lib/errors.ts";
import { readStoredTags } from "../../lib/stored-tags.ts";
import type { Clock } from "../../lib/clock.ts";
import { type Mailbox, mailboxText } from "../../protocols/mime/mailbox.ts";
import { messageIdOf } from "../../protocols/mime/message-id.ts";
import { readVisible, type VisibleRecipients } from "../../protocols/mime/visible-recipients.ts";
import { readConversations } from "../../protocols/smtp/conversation.ts";
import type { Attempt, Email, EmailReport, EmailWait } from "./record-model.ts";
import { type FindHold, whyWaiting } from "./waiting.ts";

export type EmailRecords = ReturnType<typeof createEmailRecords>;

/** Reads the records. `holdOf` says why the transport sends no mail of a wait list. */
export function createEmailRecords(deps: {
  db: Db;
  clock: Pick<Clock, "now">;
  holdOf?: FindHold | undefined;
}) {
  const { db, clock, holdOf = () => null } = deps;

  function select(where: SQL | undefined, limit: number) {
    return db
      .select({
        email: emails,
        seq: emails.seq,
        contactId: contacts.id,
        from: messages.fromAddress,
        isMarketing: messages.isMarketing,
        messageId: messages.messageId,
        recipients: messages.recipients,
        campaignId: campaigns.id,
        executionId: workflowExecutions.id,
        campaign: { name: campaigns.name, status: campaigns.status },
        isProjectEnabled: projects.isEnabled,
      })
      .from(emails)
      .innerJoin(messages, eq(messages.seq, emails.messageSeq))
      .innerJoin(projects, eq(projects.seq, emails.projectSeq))
      .leftJoin(contacts, eq(contacts.seq, emails.contactSeq))
      .leftJoin(campaigns, eq(campaigns.seq, emails.campaignSeq))
      .leftJoin(workflowExecutions, eq(workflowExecutions.seq, emails.executionSeq))
      .where(where)
      .orderBy(desc(emails.seq))
      .limit(limit)
      .all();
  }

  type Row = ReturnType<typeof select>[number];

  /** Reads the attempts of all mails of a page with one query. */
  function attemptsOf(rows: readonly Row[]): Map<number, Attempt[]> {
    const seqs = rows.map((row) => row.seq);
    const found = new Map<number, Attempt[]>(seqs.map((seq) => [seq, []]));
    const all = db
      .select()
      .from(attempts)
      .where(inArray(attempts.emailSeq, seqs))
      .orderBy(asc(attempts.seq))
      .all();
    for (const row of all) found.get(row.emailSeq)?.push(presentAttempt(row));
    return found;
  }

  function reportsOf(rows: readonly Row[]): Map<number, EmailReport[]> {
    const seqs = rows.map((row) => row.seq);
    const found = new Map<number, EmailReport[]>(seqs.map((seq) => [seq, []]));
    const all = db
      .select()
      .from(emailReports)
      .where(inArray(emailReports.emailSeq, seqs))
      .orderBy(asc(emailReports.seq))
      .all();
    for (const row of all) found.get(row.emailSeq)?.push(presentReport(row));
    return found;
  }

  /** The records of a page, in its order. */
  function presentAll(rows: readonly Row[]): { seq: number; email: Email }[] {
    const [attemptsBySeq, reportsBySeq] = [attemptsOf(rows), reportsOf(rows)];
    const now = clock.now();
    return rows.map((row) => ({
      seq: row.seq,
      email: present(row, {
        wait: whyWaiting({ ...row.email, ...row }, holdOf, now),
        attempts: attemptsBySeq.get(row.seq) ?? [],
        reports: reportsBySeq.get(row.seq) ?? [],
      }),
    }));
  }

  function find(projectSeq: number, id: string): Row {
    const [row] = select(and(eq(emails.projectSeq, projectSeq), eq(emails.id, id)), 1);
    if (row === undefined) throw notFound("EMAIL");
    return row;
  }

  return {
    get(projectSeq: number, id: string): Email {
      const [found] = presentAll([find(projectSeq, id)]);
      if (found === undefined) throw notFound("EMAIL");
      return found.email;
    },

    /** The emails with these `seqs`, newest first. */
    bySeqs(seqs: readonly number[]): { seq: number; email: Email }[] {
      if (seqs.length === 0) return [];
      return presentAll(select(inArray(emails.seq, [...seqs]), seqs.length));
    },

    /** The exact message; throws 404 unless the capture transport stored it. */
    raw(projectSeq: number, id: string): Buffer {
      const row = find(projectSeq, id);
      const captured = db
        .select()
        .from(capturedMessages)
        .where(eq(capturedMessages.emailSeq, row.seq))
        .limit(1)
        .get();
      if (captured === undefined) throw notCaptured();
      return captured.raw;
    },
  };
}

type Details = { wait: EmailWait | null; attempts: Attempt[]; reports: EmailReport[] };

function present(row: RowShape, details: Details): Email {
  const { email, contactId, from, campaignId, executionId } = row;
  const { id, groupId, to, subject, status, source, templateId, lastError } = email;
  const visible = row.recipients === null ? null : readVisible(row.recipients);
  return {
    id,
    contactId,
    to,
    recipientType: typeOf(email, visible),
    addressees:
      visible === null
        ? null
        : { to: visible.to.map(mailboxText), cc: visible.cc.map(mailboxText) },
    from,
    subject,
    status,
    source,
    type: row.isMarketing ? "MARKETING" : "TRANSACTIONAL",
    templateId,
    campaignId,
    workflowExecutionId: executionId,
    messageId: row.messageId ?? messageIdOf(groupId ?? id, from),
    tags: readStoredTags(email.tags),
    createdAt: isoTime(email.createdAt),
    scheduledAt: isoTimeOrNull(email.scheduledAt),
    sentAt: isoTimeOrNull(email.sentAt),
    deliveredAt: isoTimeOrNull(email.deliveredAt),
    openedAt: isoTimeOrNull(email.openedAt),
    clickedAt: isoTimeOrNull(email.clickedAt),
    bouncedAt: isoTimeOrNull(email.bouncedAt),
    complainedAt: isoTimeOrNull(email.complainedAt),
    lastError,
    nextAttemptAt: isoTimeOrNull(email.nextAt),
    ...details,
  };
}

/** In which field the recipient was named; null if that was forgotten with a contact. */
function typeOf(
  { groupId, to }: Pick<RowShape["email"], "groupId" | "to">,
  visible: VisibleRecipients | null,
): Email["recipientType"] {
  if (visible === null || to === null) return groupId === null ? "TO" : null;
  const isIn = (mailboxes: readonly Mailbox[]) => mailboxes.some(({ address }) => address === to);
  if (isIn(visible.to)) return "TO";
  return isIn(visible.cc) ? "CC" : "BCC";
}

type RowShape = {
  email: typeof emails.$inferSelect;
  contactId: string | null;
  from: string;
  isMarketing: boolean;
  messageId: string | null;
  recipients: string | null;
  campaignId: string | null;
  executionId: string | null;
};

function presentAttempt(row: typeof attempts.$inferSelect): Attempt {
  const { number, durationMs, outcome, reason } = row;
  return {
    number,
    startedAt: isoTime(row.startedAt),
    durationMs,
    outcome,
    class: row.class,
    reason,
    conversations: row.conversations === null ? [] : readConversations(row.conversations),
  };
}

function presentReport(row: typeof emailReports.$inferSelect): EmailReport {
  const { seq: _, emailSeq: _email, receivedAt, ...report } = row;
  return { ...report, receivedAt: isoTime(receivedAt) };
}

function notCaptured(): AppError {
  return new AppError(404, "EMAIL_NOT_FOUND", "The message of this email is not stored.", {
    suggestion:
      "Only --transport capture stores sent messages, for the number of days in --retain-raw.",
  });
}
