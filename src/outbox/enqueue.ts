/** Writes mails and the message that they share. Everything here is part of a change. */

import type { App } from "../core/app.ts";
import { insertedSeq } from "../db/inserted.ts";
import type { Db } from "../db/open.ts";
import { createCampaignInsert } from "./enqueue-campaign.ts";
import { bytesOfRow } from "../db/usage.ts";
import type { UsageCounter } from "../db/usage-counter.ts";
import { attachmentContents, type emails, messageAttachments } from "../db/schema/emails.ts";
import { sha256 } from "../lib/crypto.ts";
import { perApp } from "../lib/per-app.ts";
import { createSignal } from "../lib/signal.ts";

/** Raised inside a change that has queued mail. */
export const mailInserted = perApp(createSignal);
/** Raised after the commit of mail that may be due. */
export const mailQueued = perApp(createSignal);

type StoredAttachment = {
  filename: string;
  contentType: string;
  contentId: string | null;
  disposition: "attachment" | "inline";
  bytes: Buffer;
};

/** The content that all mails of one acceptance share. */
export type SharedMessage = {
  projectSeq: number;
  fromAddress: string;
  fromName: string | null;
  /** Mailboxes as text, separated by commas. */
  replyTo: string | null;
  /** Template source; empty for a message that has only a text. */
  html: string;
  /** Template source of a text of its own; otherwise the text is made from `html`. */
  text?: string;
  headers: [name: string, value: string][];
  isMarketing: boolean;
  attachments: StoredAttachment[];
  /** JSON: parameters that are added to its links. */
  utm?: string;
  /** Its opens and clicks are tracked in no project. */
  isUntracked?: true;
  /** VisibleRecipients (protocols/mime/visible-recipients.ts) that all its mails show. */
  recipients?: string;
  /** The topic to which its mails belong; only for marketing. */
  topicSeq?: number;
};

type NewEmail = {
  id: string;
  projectSeq: number;
  /** Null if no contact has the address, as for a test mail. */
  contactSeq: number | null;
  messageSeq: number;
  source: (typeof emails.$inferInsert)["source"];
  templateId: string | null;
  /** The workflow execution whose step makes it. */
  executionSeq?: number;
  to: string;
  toName: string | null;
  subject: string;
  /** JSON object; null: the contact's data at the time of leaving. */
  variables: string | null;
  /** The id of the first copy of a message to several recipients; absent for other mails. */
  groupId?: string | null;
  /** JSON object; absent for none. */
  tags?: string | null;
  status: "QUEUED" | "SUPPRESSED";
  priority: number;
  createdAt: number;
  /** The time at which it is to be sent; absent: at once. */
  scheduledAt?: number | null;
};

type InsertedMessage = Omit<
  SharedMessage,
  | "headers"
  | "isMarketing"
  | "isUntracked"
  | "attachments"
  | "utm"
  | "text"
  | "recipients"
  | "topicSeq"
> & {
  topicSeq: number | null;
  text: string | null;
  utm: string | null;
  recipients: string | null;
  digest: string;
  headers: string;
  isMarketing: number;
  isUntracked: number;
  hasAttachments: number;
  createdAt: number;
};

type InsertedEmail = Omit<NewEmail, "executionSeq" | "groupId" | "tags" | "scheduledAt"> & {
  executionSeq: number | null;
  groupId: string | null;
  tags: string | null;
  scheduledAt: number | null;
  nextAt: number | null;
};

export type EmailStore = ReturnType<typeof createEmailStore>;

export const emailStore = perApp((app: App) => createEmailStore(app));

export function createEmailStore({ db, usage }: { db: Db; usage: UsageCounter }) {
  const findMessage = db.sqlite.prepare<{ seq: number }, [number, string]>(
    "SELECT seq FROM messages WHERE project_seq = +? AND digest = +?",
  );
  // Prepared without the query builder: each request with a body of its own inserts a message.
  const insertMessageRow = db.sqlite.prepare<unknown, [InsertedMessage]>(`
    INSERT INTO messages (project_seq, digest, from_address, from_name, reply_to, html, headers,
                          text, recipients, is_marketing, is_untracked, has_attachments, utm,
                          topic_seq, created_at)
    VALUES ($projectSeq, $digest, $fromAddress, $fromName, $replyTo, $html, $headers,
            $text, $recipients, $isMarketing, $isUntracked, $hasAttachments, $utm,
            $topicSeq, $createdAt)`);
  const insertEmail = db.sqlite.prepare<unknown, [InsertedEmail]>(`
    INSERT INTO emails (id, project_seq, contact_seq, message_seq, source, template_id,
                        execution_seq, to_address, to_name, subject, variables, group_id,
                        tags, status, priority, next_at, scheduled_at, created_at)
    VALUES ($id, $projectSeq, $contactSeq, $messageSeq, $source, $templateId,
            $executionSeq, $to, $toName, $subject, $variables, $groupId, $tags,
            $status, $priority, $nextAt, $scheduledAt, $createdAt)`);

  function insertMessage(message: SharedMessage, digest: string, createdAt: number): number {
    const { attachments, headers, ...columns } = message;
    const { projectSeq, html, text = null, recipients = null } = message;
    const headersJson = JSON.stringify(headers);
    const seq = insertedSeq(
      insertMessageRow.run({
        ...columns,
        digest,
        headers: headersJson,
        isMarketing: Number(message.isMarketing),
        isUntracked: Number(message.isUntracked ?? false),
        hasAttachments: Number(attachments.length > 0),
        text,
        recipients,
        utm: message.utm ?? null,
        topicSeq: message.topicSeq ?? null,
        createdAt,
      }),
    );
    const stored = { html, headers: headersJson, text, recipients };
    usage.addBytes(projectSeq, bytesOfRow("messages", stored));
    attachments.forEach((attachment, position) =>
      insertAttachment({ projectSeq, messageSeq: seq, position }, attachment),
    );
    return seq;
  }

  function insertAttachment(
    { projectSeq, ...place }: { projectSeq: number; messageSeq: number; position: number },
    attachment: StoredAttachment,
  ) {
    const { bytes, ...columns } = attachment;
    // Projects share no content: the content of a project counts against its own quota alone.
    const contentDigest = sha256(`${projectSeq} ${sha256(bytes)}`);
    db.insert(attachmentContents)
      .values({ digest: contentDigest, projectSeq, bytes })
      .onConflictDoNothing()
      .run();
    db.insert(messageAttachments)
      .values({ ...columns, ...place, contentDigest })
      .run();
  }

  return {
    insertCampaignEmails: createCampaignInsert({ db, usage }),

    /** The `seq` of this content, stored now or before. */
    saveMessage(message: SharedMessage, createdAt: number): number {
      const digest = messageDigest(message);
      const known = findMessage.get(message.projectSeq, digest);
      return known?.seq ?? insertMessage(message, digest, createdAt);
    },

    /** Due at its time, or else at once, unless it is suppressed. Returns its `seq`. */
    insertEmail(email: NewEmail): number {
      const { projectSeq, variables, executionSeq = null, groupId = null } = email;
      const { tags = null, scheduledAt = null } = email;
      const nextAt = email.status === "QUEUED" ? (scheduledAt ?? email.createdAt) : null;
      const row = { ...email, executionSeq, groupId, tags, scheduledAt, nextAt };
      const seq = insertedSeq(insertEmail.run(row));
      usage.addEmails(projectSeq, 1);
      usage.addBytes(projectSeq, bytesOfRow("emails", { variables, tags }));
      if (nextAt !== null) usage.addQueued(projectSeq, 1);
      return seq;
    },
  };
}

function messageDigest({ html, ...message }: SharedMessage): string {
  const attachments = message.attachments.map(({ bytes, ...rest }) => [rest, sha256(bytes)]);
  return sha256(JSON.stringify({ ...message, html: htmlDigest(html), attachments }));
}

let lastDigest = { html: "", digest: sha256("") };

/** Mails of one template that follow each other have the same text, and comparing it takes no time. */
function htmlDigest(html: string): string {
  if (html !== lastDigest.html) lastDigest = { html, digest: sha256(html) };
  return lastDigest.digest;
}

/** Part of a change, after it has queued mail: the mail is leased in the same transaction, or soon. */
export function wakeSending(app: App): void {
  mailInserted(app).raise();
  app.writer.afterCommit(mailQueued(app).raise);
}
