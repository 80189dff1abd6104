/**
 * The objects of the audit log: the name of each, and the fields whose old and new values are kept.
 * A field that may hold a secret or personal data is not listed here, so its values are never stored:
 * keys, passwords, the steps of workflows, the data of contacts. Tokens in links are left out later
 * (audit-changes.ts).
 */

import type { Db } from "../../db/open.ts";
import { statement } from "../../db/statement.ts";

/** `label` is the name of the object; the other members are its fields. */
export type AuditedRow = Readonly<Record<string, string | number | null>> & {
  label: string | null;
};

export type Audited = { objectType: string; objectId: string | null; projectSeq: number | null };

/** A subject has one statement or several for objects of different tables. */
type Subject = {
  queries: readonly string[];
  find: readonly ReturnType<typeof statement<AuditedRow, [number | null, string]>>[];
  /** The name is personal data: it is read when the log is shown, and not stored. */
  isPersonal: boolean;
};

const flag = (column: string) => `iif(${column}, 'true', 'false')`;
const time = (column: string) => `strftime('%Y-%m-%dT%H:%M:%fZ', ${column} / 1000.0, 'unixepoch')`;

const IN_PROJECT = "project_seq = +?1 AND id = +?2";

function subject(...queries: string[]): Subject {
  return {
    queries,
    find: queries.map((sql) => statement<AuditedRow, [number | null, string]>(sql)),
    isPersonal: false,
  };
}

const MAIL = `name AS label, name, description, subject, body, from_address AS "from",
              from_name AS fromName, reply_to AS replyTo`;

const SUBJECTS: Readonly<Record<string, Subject>> = {
  campaign: subject(`
    SELECT ${MAIL}, audience_type AS audienceType, audience_filter AS audienceFilter, rate, status,
           category, preheader, format, utm, ${flag("is_archived")} AS archived,
           archive_slug AS archiveSlug,
           (SELECT l.name FROM layouts l WHERE l.id = layout_id) AS layout,
           (SELECT t.name FROM templates t WHERE t.id = template_id) AS template,
           (SELECT t.name FROM topics t WHERE t.seq = topic_seq) AS topic,
           (SELECT s.name FROM segments s WHERE s.seq = segment_seq) AS segment,
           ${time("scheduled_at")} AS scheduledFor
    FROM campaigns WHERE ${IN_PROJECT}`),
  contact: {
    ...subject(`
      SELECT email AS label, ${flag("is_subscribed")} AS subscribed,
             ${time("paused_until")} AS pausedUntil,
             iif(tracking IS NULL, NULL, ${flag("tracking")}) AS tracking,
             (SELECT group_concat(t.key || iif(chosen.is_subscribed, '', ' (left)'), ', ')
              FROM topic_subscriptions chosen JOIN topics t ON t.seq = chosen.topic_seq
              WHERE chosen.contact_seq = contacts.seq) AS topics
      FROM contacts WHERE ${IN_PROJECT}`),
    isPersonal: true,
  },
  domain: subject(`SELECT domain AS label, status FROM domains WHERE ${IN_PROJECT}`),
  inbox: subject(`SELECT name AS label, name FROM inboxes WHERE ${IN_PROJECT}`),
  "inbound-route": subject(`
    SELECT address AS label, address, forward_to AS forwardTo
    FROM inbound_routes WHERE ${IN_PROJECT}`),
  key: subject(`
    SELECT trim(name || ' (…' || last4 || ')') AS label, name, kind, scope,
           domains, ranges AS ipRanges, ${flag("revoked_at IS NOT NULL")} AS revoked
    FROM api_keys WHERE ${IN_PROJECT}`),
  project: subject(`
    SELECT name AS label, name, ${flag("is_enabled")} AS isEnabled, tracking, language,
           brand_color AS brandColor, logo_image_id AS logoImageId,
           retain_bodies AS retainBodies, retain_raw AS retainRaw,
           retain_events AS retainEvents, retain_received AS retainReceived,
           coalesce(from_name || ' <' || from_address || '>', from_address) AS sender
    FROM projects WHERE id = +?2`),
  segment: subject(`
    SELECT name AS label, name, description, type, condition,
           ${flag("track_membership")} AS trackMembership
    FROM segments WHERE ${IN_PROJECT}`),
  // A setting that was never changed has no row, and yet a value before: none.
  setting: subject(`
    SELECT ?2 AS label, (SELECT value FROM installation_settings WHERE name = +?2) AS value`),
  team: subject(
    `SELECT u.email AS label, m.role FROM users u JOIN memberships m ON m.user_seq = u.seq
     WHERE m.project_seq = +?1 AND u.id = +?2`,
    `SELECT email AS label, role FROM user_tokens WHERE ${IN_PROJECT}`,
  ),
  form: subject(`
    SELECT name AS label, name, title, description, fields, topics, consent,
           button_label AS buttonLabel, confirmation, success_message AS successMessage,
           success_url AS successUrl, confirmed_url AS confirmedUrl, origins, language,
           (SELECT t.name FROM templates t WHERE t.id = template_id) AS template,
           ${flag("is_enabled")} AS isEnabled
    FROM forms WHERE ${IN_PROJECT}`),
  image: subject(`SELECT name AS label, name FROM images WHERE ${IN_PROJECT}`),
  layout: subject(`SELECT name AS label, name, body FROM layouts WHERE ${IN_PROJECT}`),
  template: subject(`
    SELECT ${MAIL}, preheader, format, type,
           (SELECT l.name FROM layouts l WHERE l.seq = layout_seq) AS layout,
           (SELECT t.name FROM topics t WHERE t.seq = topic_seq) AS topic
    FROM templates WHERE ${IN_PROJECT}`),
  topic: subject(`
    SELECT name AS label, name, key, description, default_state AS "default", visibility
    FROM topics WHERE ${IN_PROJECT}`),
  passkey: subject("SELECT name AS label, name FROM passkeys WHERE id = +?2"),
  relay: subject(`
    SELECT host AS label, host, port, security, username, signed_by AS signedBy
    FROM project_relays WHERE ${IN_PROJECT}`),
  "report-mailbox": subject(`
    SELECT name AS label, name, protocol, host, username, folder
    FROM report_mailboxes WHERE ${IN_PROJECT}`),
  "report-source": subject(`
    SELECT name AS label, name, provider FROM report_sources WHERE ${IN_PROJECT}`),
  "tracking-host": subject(`
    SELECT host AS label, host, status FROM tracking_hosts WHERE ${IN_PROJECT}`),
  user: subject(`
    SELECT email AS label, name, ${flag("is_owner")} AS isOwner,
           ${flag("disabled_at IS NOT NULL")} AS isDisabled
    FROM users WHERE id = +?2`),
  view: subject(`
    SELECT name AS label, name, query, ${flag("is_shared")} AS isShared
    FROM saved_views WHERE ${IN_PROJECT}`),
  webhook: subject(`
    SELECT url AS label, url, events, description, ${flag("is_enabled")} AS enabled
    FROM webhooks WHERE ${IN_PROJECT}`),
  workflow: subject(`
    SELECT name AS label, name, description, iif(trigger_event = '', trigger_type, trigger_event) AS "trigger",
           (SELECT graph ->> '$.exits' FROM workflow_versions
            WHERE seq = workflows.version_seq) AS exits,
           ${flag("is_enabled")} AS enabled, ${flag("allow_reentry")} AS allowReentry
    FROM workflows WHERE ${IN_PROJECT}`),
};

/**
 * Fields of requests that the subjects know by another name: the log keeps the name of an object
 * instead of its id.
 */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  layoutId: "layout",
  segmentId: "segment",
  templateId: "template",
  topicId: "topic",
};

/** The name of a field in the log. */
export const auditedField = (field: string): string => OTHER_NAMES[field] ?? field;

/** The types of objects that have a name in the log. */
export const NAMED_OBJECTS: readonly string[] = Object.keys(SUBJECTS);

/** The object as it is now; null if there is none, or if nothing of its type is kept. */
export function readAudited(
  db: Pick<Db, "sqlite">,
  { objectType, objectId, projectSeq }: Audited,
): AuditedRow | null {
  if (objectId === null) return null;
  for (const find of SUBJECTS[objectType]?.find ?? []) {
    const row = find({ db }).get(projectSeq, objectId);
    if (row !== null) return row;
  }
  return null;
}

/** The fields of a type of objects whose old and new values are kept. */
export function keptFields({ sqlite }: Pick<Db, "sqlite">, objectType: string): string[] {
  return (SUBJECTS[objectType]?.queries ?? []).flatMap((sql) => {
    // A row without an object has all columns.
    const find = `SELECT s.* FROM (SELECT 1) LEFT JOIN (${sql}) s`;
    return Object.keys(sqlite.query<object, [null, string]>(find).get(null, "") ?? {});
  });
}

export const isPersonal = (objectType: string): boolean =>
  SUBJECTS[objectType]?.isPersonal ?? false;
