/**
 * SQL that leases mail: finds the mail that is due in a flow with all the data needed to send it,
 * and marks it as leased or moves it to a wait list.
 */

import type { Db } from "../../db/open.ts";
import type { TrackingMode } from "../../db/schema/projects.ts";
import type { Attachment } from "../../protocols/mime/message.ts";
import { listLabel } from "../../render/list-headers.ts";
import type { Busy, Slot } from "../outcome.ts";
import type { InList } from "./queue-rows.ts";
import { stateAfter } from "../states.ts";
import { createSubmittedReader } from "../submitted.ts";
import { isInTopic } from "../topic-state.ts";

/** A settlement is stored only if the row still has this number of attempts. */
export type Lease = {
  seq: number;
  attempts: number;
  /** The due time before the lease. */
  dueAt: number;
  /** The slot, which the holder of the lease must release; null if it needs none or got none. */
  slot: Slot | null;
  /** Set if the mail got no slot before its lifetime ended: it leaves the queue unattempted. */
  busy: Busy | null;
};

/** A leased mail with all the data needed to send it. */
export type LeasedMail = Lease & {
  id: string;
  /** The id from which its Message-ID is made, if it is not its own; null otherwise. */
  groupId: string | null;
  projectSeq: number;
  projectId: string;
  projectName: string;
  isProjectEnabled: boolean;
  /** A test mail of a campaign: its recipient need not be subscribed. */
  isTest: boolean;
  tracking: TrackingMode;
  /** The host of its tracked links, if its project has one of its own. */
  trackingHost: string | null;
  /** BCP 47 language tag. */
  language: string;
  contactSeq: number | null;
  contactId: string | null;
  isSubscribed: boolean;
  /** The topic of its message, which its recipient must be in; null for none. */
  topicSeq: number | null;
  /** Null if it has no topic, or if the topic was deleted. */
  topicName: string | null;
  /** Names its topic in the header List-Id; null if it has none, or if the topic was deleted. */
  listLabel: string | null;
  isInTopic: boolean;
  /** Its recipient gets no marketing mail before this time; null without a pause. */
  pausedUntil: number | null;
  /** The reason why its address is suppressed; null if it is not. */
  suppression: string | null;
  to: string | null;
  toName: string | null;
  /** Rendered text; for campaign mail the template, which is rendered at the attempt. */
  subject: string;
  campaignSeq: number | null;
  /** JSON object with the variables of the template. */
  variables: string;
  priority: number;
  /** The beginning of its lifetime, and its Date: its acceptance, or the time it was scheduled for. */
  acceptedAt: number;
  /** The row with the content, which several mails may share. */
  messageSeq: number;
  fromAddress: string;
  fromName: string | null;
  /** Mailboxes as text, separated by commas. */
  replyTo: string | null;
  html: string;
  /** Template of a text of its own; null: the text is made from `html`. */
  text: string | null;
  /** VisibleRecipients; null for a mail that names its own recipient alone. */
  recipients: string | null;
  /** JSON array of [name, value]. */
  headers: string;
  isMarketing: boolean;
  attachments: Attachment[];
  /** A message that was submitted over SMTP, complete but for its signature; null for others. */
  submitted: Uint8Array | null;
  /** Sender of the envelope of a message that is forwarded as it is; null for others. */
  envelopeFrom: string | null;
  /** JSON: the parameters that are added to its links; null for none. */
  utm: string | null;
};

type Find = InList & { now: number; limit: number };

/** A mail that is due, with its own columns and those of its contact. `attempts` are those before. */
export type Candidate = MailColumns & {
  seq: number;
  attempts: number;
  dueAt: number;
  /** Start of its lifetime (retry.ts). */
  since: number;
};

type MailColumns = Pick<
  LeasedMail,
  | "id"
  | "groupId"
  | "projectSeq"
  | "contactSeq"
  | "contactId"
  | "to"
  | "toName"
  | "subject"
  | "campaignSeq"
  | "variables"
  | "priority"
  | "acceptedAt"
  | "messageSeq"
  | "suppression"
  | "pausedUntil"
> & {
  isTest: number;
  isSubscribed: number | null;
  /** 1 or 0 if the contact has chosen whether it is tracked. */
  allowsTracking: number | null;
};

const MAIL_COLUMNS = `
  e.seq, e.id, e.group_id AS groupId, e.project_seq AS projectSeq, e.source = 'TEST' AS isTest,
  e.contact_seq AS contactSeq, c.id AS contactId, c.is_subscribed AS isSubscribed,
  c.paused_until AS pausedUntil, c.tracking AS allowsTracking,
  e.to_address AS "to", e.to_name AS toName, e.subject, e.campaign_seq AS campaignSeq,
  coalesce(e.variables, c.data, '{}') AS variables, e.priority, 
  coalesce(e.scheduled_at, e.created_at) AS acceptedAt,
  e.message_seq AS messageSeq, s.reason AS suppression`;

const WITH_CONTACT = `
  LEFT JOIN contacts c ON c.seq = e.contact_seq
  LEFT JOIN suppressions s ON s.project_seq = e.project_seq AND s.email = e.to_address`;

/*
 * Why there are plus signs: SQLite uses the values bound to a bare `= ?`, `<= ?` or `LIMIT ?` for
 * its query plan, and therefore prepares the whole statement again each time, which takes ten times
 * as long. It does not do so for an expression such as `+?`.
 */

export function prepareLeases({ sqlite }: Db) {
  return {
    findTransactional: sqlite.prepare<Candidate, [Find]>(
      findSql("e.campaign_seq IS NULL AND e.line = +$line AND e.project_seq = +$key"),
    ),
    findOfCampaign: sqlite.prepare<Candidate, [Find]>(
      findSql("e.line = +$line AND e.campaign_seq = +$key"),
    ),
    lease: sqlite.prepare<unknown, [number, number]>(`
      UPDATE emails SET status = ${stateAfter("lease")}, attempts = attempts + 1, line = '', next_at = ?
      WHERE seq = +?`),
    move: sqlite.prepare<unknown, [string, number]>(`
      UPDATE emails SET line = ? WHERE seq = +?`),
  };
}

/** The lifetime of campaign mail begins with its first attempt (retry.ts). */
const FIRST_ATTEMPT_AT = "(SELECT min(started_at) FROM attempts WHERE email_seq = e.seq)";

function findSql(flow: string): string {
  return `
    SELECT ${MAIL_COLUMNS}, e.attempts, e.next_at AS dueAt,
           CASE WHEN e.priority = 0 THEN coalesce(e.scheduled_at, e.created_at) WHEN e.attempts = 0 THEN $now
                ELSE coalesce(${FIRST_ATTEMPT_AT}, $now) END AS since
    FROM emails e ${WITH_CONTACT}
    WHERE e.status = 'QUEUED' AND ${flow} AND e.next_at <= +$now
    ORDER BY e.next_at LIMIT +$limit`;
}

type ProjectColumns = Pick<
  LeasedMail,
  "projectId" | "projectName" | "tracking" | "trackingHost" | "language"
> & {
  isProjectEnabled: number;
};

type MessageColumns = Pick<
  LeasedMail,
  | "fromAddress"
  | "fromName"
  | "replyTo"
  | "html"
  | "text"
  | "recipients"
  | "headers"
  | "envelopeFrom"
  | "utm"
  | "topicSeq"
  | "topicName"
> & {
  topicId: string | null;
  topicKey: string | null;
  isMarketing: number;
  isUntracked: number;
  hasAttachments: number;
  isSubmitted: number;
};

type AttachmentRow = {
  filename: string;
  contentType: string;
  contentId: string | null;
  disposition: "attachment" | "inline";
  bytes: Uint8Array;
};

/** The columns that several mails share: those of their project and their message. */
type SharedColumns = Omit<
  LeasedMail,
  keyof Lease | keyof MailColumns | "isTest" | "isSubscribed" | "isInTopic"
>;

/** A lease with the columns of its mail. */
export type LeasedRow = Lease & { mail: MailColumns };

/**
 * Returns a function that adds the shared columns, which the mails of one call have in common in
 * memory as well. Null for a mail whose message or project was deleted.
 */
export function createLoader(db: Db): (leases: readonly LeasedRow[]) => (LeasedMail | null)[] {
  const readShared = createSharedReader(db);

  return (leases) => {
    const shared = new Map<string, SharedColumns | null>();
    return leases.map((lease) => {
      const { projectSeq, messageSeq } = lease.mail;
      const key = `${projectSeq} ${messageSeq}`;
      const known = shared.get(key);
      const common = known === undefined ? readShared(projectSeq, messageSeq) : known;
      if (known === undefined) shared.set(key, common);
      return common === null ? null : mailOf(lease, common, isInTopicOf(db, lease.mail, common));
    });
  };
}

/** Returns a function that loads a mail that is not leased; null if there is none. */
export function createMailReader(db: Db): (seq: number) => LeasedMail | null {
  const findMail = db.sqlite.prepare<MailColumns, [number]>(
    `SELECT ${MAIL_COLUMNS} FROM emails e ${WITH_CONTACT} WHERE e.seq = +?`,
  );
  const load = createLoader(db);
  return (seq) => {
    const mail = findMail.get(seq);
    if (mail === null) return null;
    return load([{ seq, attempts: 0, dueAt: 0, slot: null, busy: null, mail }])[0] ?? null;
  };
}

/** True for a mail without a topic. */
function isInTopicOf(
  db: Db,
  { contactSeq }: MailColumns,
  { topicSeq }: Pick<SharedColumns, "topicSeq">,
): boolean {
  if (topicSeq === null) return true;
  return contactSeq !== null && isInTopic({ db }, { topicSeq, contactSeq });
}

/** All columns are named, because copying them with spreads takes several times as long. */
function mailOf(lease: LeasedRow, common: SharedColumns, isIn: boolean): LeasedMail {
  const { mail } = lease;
  return {
    seq: lease.seq,
    attempts: lease.attempts,
    dueAt: lease.dueAt,
    slot: lease.slot,
    busy: lease.busy,
    id: mail.id,
    groupId: mail.groupId,
    projectSeq: mail.projectSeq,
    projectId: common.projectId,
    projectName: common.projectName,
    isProjectEnabled: common.isProjectEnabled,
    isTest: mail.isTest === 1,
    tracking: trackingOf(common.tracking, mail.allowsTracking),
    trackingHost: common.trackingHost,
    language: common.language,
    contactSeq: mail.contactSeq,
    contactId: mail.contactId,
    isSubscribed: mail.isSubscribed === 1,
    topicSeq: common.topicSeq,
    topicName: common.topicName,
    listLabel: common.listLabel,
    isInTopic: isIn,
    pausedUntil: mail.pausedUntil,
    suppression: mail.suppression,
    to: mail.to,
    toName: mail.toName,
    subject: mail.subject,
    campaignSeq: mail.campaignSeq,
    variables: mail.variables,
    priority: mail.priority,
    acceptedAt: mail.acceptedAt,
    messageSeq: mail.messageSeq,
    fromAddress: common.fromAddress,
    fromName: common.fromName,
    replyTo: common.replyTo,
    html: common.html,
    text: common.text,
    recipients: common.recipients,
    headers: common.headers,
    isMarketing: common.isMarketing,
    attachments: common.attachments,
    submitted: common.submitted,
    envelopeFrom: common.envelopeFrom,
    utm: common.utm,
  };
}

/** The tracking of a mail: the setting of the project, limited by the choice of the contact. */
function trackingOf(tracking: TrackingMode, allowsTracking: number | null): TrackingMode {
  if (allowsTracking === 0) return "DISABLED";
  if (tracking !== "CONSENT") return tracking;
  return allowsTracking === 1 ? "MARKETING_ONLY" : "DISABLED";
}

/** Returns a function that reads a project and a message; null if one of them was deleted. */
function createSharedReader({ sqlite }: Db) {
  const findProject = sqlite.prepare<ProjectColumns, [number]>(`
    SELECT id AS projectId, name AS projectName, is_enabled AS isProjectEnabled, tracking, language,
           (SELECT host FROM tracking_hosts
            WHERE project_seq = projects.seq AND status = 'ACTIVE') AS trackingHost
    FROM projects WHERE seq = +?`);
  const findMessage = sqlite.prepare<MessageColumns, [number]>(`
    SELECT m.from_address AS fromAddress, m.from_name AS fromName, m.reply_to AS replyTo, m.html, m.text,
           m.recipients, m.headers, m.is_marketing AS isMarketing, m.is_untracked AS isUntracked,
           m.has_attachments AS hasAttachments, m.topic_seq AS topicSeq, t.id AS topicId,
           t.key AS topicKey, t.name AS topicName,
           m.message_id IS NOT NULL AS isSubmitted, m.envelope_from AS envelopeFrom, m.utm
    FROM messages m LEFT JOIN topics t ON t.seq = m.topic_seq WHERE m.seq = +?`);
  const findAttachments = sqlite.prepare<AttachmentRow, [number]>(`
    SELECT a.filename, a.content_type AS contentType, a.content_id AS contentId, a.disposition,
           b.bytes
    FROM message_attachments a
    JOIN attachment_contents b ON b.digest = a.content_digest
    WHERE a.message_seq = +? ORDER BY a.position`);
  const readSubmitted = createSubmittedReader({ sqlite });

  return function read(projectSeq: number, messageSeq: number): SharedColumns | null {
    const project = findProject.get(projectSeq);
    const message = findMessage.get(messageSeq);
    if (project === null || message === null) return null;
    const { isMarketing, isUntracked, hasAttachments, isSubmitted, topicId, topicKey, ...columns } =
      message;
    const attachments = hasAttachments === 1 ? findAttachments.all(messageSeq) : [];
    return {
      ...columns,
      ...project,
      isProjectEnabled: project.isProjectEnabled === 1,
      tracking: isUntracked === 1 ? "DISABLED" : project.tracking,
      isMarketing: isMarketing === 1,
      listLabel:
        topicId === null || topicKey === null ? null : listLabel({ id: topicId, key: topicKey }),
      attachments: attachments.map(({ bytes, ...rest }) => ({ ...rest, content: bytes })),
      submitted: isSubmitted === 1 ? readSubmitted(messageSeq) : null,
    };
  };
}
