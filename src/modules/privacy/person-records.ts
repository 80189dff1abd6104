/**
 * The records of a person, section by section, as an export shows them. Each section reads its rows in
 * pages, in the order in which they were stored, so an export is equal if nothing has changed.
 */

import type { App } from "../../core/app.ts";
import type { DataExportField, DataExportSection } from "../../render/data-export-texts.ts";
import { topicChoices } from "../topics/choices.ts";
import { isoTime, isoTimeOrNull } from "../../lib/clock.ts";
import { AppError } from "../../lib/errors.ts";
import { eventsOfContact } from "../../events/contact-events.ts";
import { consentsOf } from "../consents/consents.ts";
import { type ContactRow, presentContact } from "../contacts/service.ts";
import { presentContent } from "../emails/content/contents.ts";
import { hideConfirmations } from "../emails/content/hidden-links.ts";
import { emailService } from "../emails/emails.ts";

/** `body` is in the JSON only; the page has labels for the other members. */
export type PersonRecord = Readonly<Partial<Record<DataExportField | "body", unknown>>>;

type PersonSection = {
  name: DataExportSection;
  records: (
    app: App,
    contact: ContactRow,
    content: { hasBodies: boolean },
  ) => AsyncIterable<PersonRecord> | Iterable<PersonRecord>;
};

const PAGE = 100;
/** Events that are read at once by their numbers: one may have 256 KiB. */
const EVENT_PAGE = 50;
/** The newest mails whose bodies are in the JSON: each is rendered again. */
export const MAX_BODIES = 1_000;

export const PERSON_SECTIONS: readonly PersonSection[] = [
  { name: "contact", records: (_, contact) => [presentContact(contact)] },
  { name: "consents", records: (app, { seq }) => consentsOf(app, seq) },
  {
    name: "topics",
    *records(app, contact) {
      for (const { topic, isSubscribed, changedAt } of topicChoices(app, contact)) {
        // The person may read the export, and is not told of the private topics of others.
        const isOthers = topic.visibility === "PRIVATE" && !isSubscribed && changedAt === null;
        if (!isOthers)
          yield { topic: topic.name, isSubscribed, chosenAt: isoTimeOrNull(changedAt) };
      }
    },
  },
  { name: "segments", records: readSegments },
  { name: "suppression", records: readSuppression },
  { name: "formSubmissions", records: readSubmissions },
  { name: "mails", records: readMails },
  { name: "receivedMails", records: readReceived },
  { name: "workflows", records: readExecutions },
  { name: "importFaults", records: readImportFaults },
  { name: "events", records: readEvents },
];

function query<Row>({ db }: App, sql: string, ...values: (string | number)[]): Row[] {
  return db.sqlite.query<Row, (string | number)[]>(sql).all(...values);
}

/** Pages of rows in the order of `seq`. `sql` has the parameters `?1` (the contact) and `?2` (after). */
function* pagesOf<Row extends { seq: number }>(
  app: App,
  sql: string,
  contactSeq: number,
): Generator<Row> {
  for (let after = 0; ;) {
    const rows = query<Row>(app, `${sql} LIMIT ${PAGE}`, contactSeq, after);
    yield* rows;
    const last = rows.at(-1);
    if (last === undefined || rows.length < PAGE) return;
    after = last.seq;
  }
}

function* readSegments(app: App, { seq }: ContactRow): Generator<PersonRecord> {
  const sql = `SELECT s.seq, s.name, s.type FROM segment_members m JOIN segments s ON s.seq = m.segment_seq
               WHERE m.contact_seq = ?1 AND s.seq > ?2 AND s.deleted_at IS NULL ORDER BY s.seq`;
  for (const { name, type } of pagesOf<{ seq: number; name: string; type: string }>(
    app,
    sql,
    seq,
  )) {
    yield { segment: name, type };
  }
}

type SuppressionRow = { reason: string; createdAt: number; expiresAt: number | null };

function* readSuppression(app: App, { projectSeq, email }: ContactRow): Generator<PersonRecord> {
  const sql = `SELECT reason, created_at AS createdAt, expires_at AS expiresAt
               FROM suppressions WHERE project_seq = ? AND email = ?`;
  for (const row of query<SuppressionRow>(app, sql, projectSeq, email)) {
    const { reason, createdAt, expiresAt } = row;
    yield { reason, createdAt: isoTime(createdAt), expiresAt: isoTimeOrNull(expiresAt) };
  }
}

type SubmissionRow = {
  form: string;
  data: string | null;
  clientAddress: string | null;
  wording: string | null;
  createdAt: number;
  expiresAt: number;
};

function* readSubmissions(app: App, { projectSeq, email }: ContactRow): Generator<PersonRecord> {
  const sql = `SELECT f.name AS form, s.data, s.client_address AS clientAddress, s.wording,
                      s.created_at AS createdAt, s.expires_at AS expiresAt
               FROM form_submissions s JOIN forms f ON f.seq = s.form_seq
               WHERE s.project_seq = ? AND s.email = ? ORDER BY s.seq`;
  for (const row of query<SubmissionRow>(app, sql, projectSeq, email)) {
    const { form, data, clientAddress, wording, createdAt, expiresAt } = row;
    yield {
      form,
      data: parsed(data),
      clientAddress,
      wording,
      createdAt: isoTime(createdAt),
      expiresAt: isoTime(expiresAt),
    };
  }
}

type MailRow = {
  seq: number;
  id: string;
  to: string | null;
  subject: string;
  from: string;
  source: string;
  status: string;
  tags: string | null;
  variables: string | null;
  createdAt: number;
  sentAt: number | null;
  deliveredAt: number | null;
  openedAt: number | null;
  clickedAt: number | null;
  bouncedAt: number | null;
  complainedAt: number | null;
  isRecent: number;
};

const MAILS = `
  SELECT e.seq, e.id, e.to_address AS "to", e.subject, m.from_address AS "from", e.source, e.status,
         e.tags, e.variables, e.created_at AS createdAt, e.sent_at AS sentAt,
         e.delivered_at AS deliveredAt, e.opened_at AS openedAt, e.clicked_at AS clickedAt,
         e.bounced_at AS bouncedAt, e.complained_at AS complainedAt,
         e.seq > coalesce((SELECT seq FROM emails WHERE contact_seq = ?1
                           ORDER BY seq DESC LIMIT 1 OFFSET ${MAX_BODIES}), 0) AS isRecent
  FROM emails e JOIN messages m ON m.seq = e.message_seq
  WHERE e.contact_seq = ?1 AND e.seq > ?2 ORDER BY e.seq`;

async function* readMails(
  app: App,
  { seq, projectSeq }: ContactRow,
  { hasBodies }: { hasBodies: boolean },
): AsyncGenerator<PersonRecord> {
  for (const mail of pagesOf<MailRow>(app, MAILS, seq)) {
    const { id, to, subject, from, source, status, tags, variables } = mail;
    yield {
      id,
      from,
      to,
      subject,
      source,
      status,
      tags: parsed(tags),
      variables: parsed(variables === null ? null : hideConfirmations(variables)),
      createdAt: isoTime(mail.createdAt),
      sentAt: isoTimeOrNull(mail.sentAt),
      deliveredAt: isoTimeOrNull(mail.deliveredAt),
      openedAt: isoTimeOrNull(mail.openedAt),
      clickedAt: isoTimeOrNull(mail.clickedAt),
      bouncedAt: isoTimeOrNull(mail.bouncedAt),
      complainedAt: isoTimeOrNull(mail.complainedAt),
      attempts: attemptsOf(app, mail.seq),
      reports: reportsOf(app, mail.seq),
      body: hasBodies && mail.isRecent === 1 ? await bodyOf(app, projectSeq, id) : null,
    };
  }
}

type AttemptRow = { startedAt: number; outcome: string; class: string; reason: string | null };

function attemptsOf(app: App, emailSeq: number): PersonRecord[] {
  const sql = `SELECT started_at AS startedAt, outcome, class, reason FROM attempts
               WHERE email_seq = ? ORDER BY seq LIMIT ${PAGE}`;
  return query<AttemptRow>(app, sql, emailSeq).map(({ startedAt, ...rest }) => ({
    at: isoTime(startedAt),
    ...rest,
  }));
}

type ReportRow = { kind: string; receivedAt: number; reason: string };

function reportsOf(app: App, emailSeq: number): PersonRecord[] {
  const sql = `SELECT kind, received_at AS receivedAt, reason FROM email_reports
               WHERE email_seq = ? ORDER BY seq`;
  return query<ReportRow>(app, sql, emailSeq).map(({ receivedAt, ...rest }) => ({
    at: isoTime(receivedAt),
    ...rest,
  }));
}

/** The body as it was sent; null if it is not stored any more, or cannot be rendered again. */
async function bodyOf(app: App, projectSeq: number, id: string) {
  const { contents } = emailService(app);
  try {
    const { html, text, attachments, isShortened } = presentContent(
      await contents.open(contents.findShown(projectSeq, id)),
    );
    return { html, text, attachments, isShortened };
  } catch (error) {
    if (error instanceof AppError && error.status < 500) return null;
    throw error;
  }
}

type ReceivedRow = { seq: number; id: string; receivedAt: number; sender: string; content: string };

function* readReceived(app: App, { seq }: ContactRow): Generator<PersonRecord> {
  const sql = `SELECT seq, id, received_at AS receivedAt, sender, content FROM received_mails
               WHERE contact_seq = ?1 AND seq > ?2 AND state = 'RECEIVED' ORDER BY seq`;
  for (const { id, receivedAt, sender, content } of pagesOf<ReceivedRow>(app, sql, seq)) {
    yield { id, receivedAt: isoTime(receivedAt), sender, content: parsed(content) };
  }
}

type ExecutionRow = {
  seq: number;
  id: string;
  workflow: string;
  status: string;
  startedAt: number;
  completedAt: number | null;
  exitReason: string | null;
  context: string;
};

function* readExecutions(app: App, { seq }: ContactRow): Generator<PersonRecord> {
  const sql = `SELECT x.seq, x.id, w.name AS workflow, x.status, x.started_at AS startedAt,
                      x.completed_at AS completedAt, x.exit_reason AS exitReason, x.context
               FROM workflow_executions x JOIN workflows w ON w.seq = x.workflow_seq
               WHERE x.contact_seq = ?1 AND x.seq > ?2 ORDER BY x.seq`;
  for (const row of pagesOf<ExecutionRow>(app, sql, seq)) {
    const { id, workflow, status, startedAt, completedAt, exitReason, context } = row;
    yield {
      id,
      workflow,
      status,
      startedAt: isoTime(startedAt),
      completedAt: isoTimeOrNull(completedAt),
      exitReason,
      context: parsed(context),
      steps: stepsOf(app, row.seq),
    };
  }
}

type StepRow = {
  stepId: string;
  type: string;
  outcome: string;
  detail: string | null;
  completedAt: number;
};

function stepsOf(app: App, executionSeq: number): PersonRecord[] {
  const sql = `SELECT step_id AS stepId, type, outcome, detail, completed_at AS completedAt
               FROM workflow_execution_steps WHERE execution_seq = ? ORDER BY number LIMIT 1000`;
  return query<StepRow>(app, sql, executionSeq).map(({ detail, completedAt, ...rest }) => ({
    ...rest,
    detail: parsed(detail),
    completedAt: isoTime(completedAt),
  }));
}

/** Rows of files that name the address as a cell, in jobs that are still listed. */
async function* readImportFaults(
  app: App,
  { projectSeq, email }: ContactRow,
): AsyncGenerator<PersonRecord> {
  const { rows } = await app.reader.find(projectSeq, {
    sql: `SELECT j.created_at, f.line, f.message, f.cells
          FROM jobs j CROSS JOIN import_faults f ON f.job_seq = j.seq
          WHERE j.project_seq = ? AND in_time() AND instr(lower(f.cells), ?) > 0
          ORDER BY j.seq, f.line LIMIT 1000`,
    values: [projectSeq, JSON.stringify(email).toLowerCase()],
  });
  for (const [at, line, message, cells] of rows) {
    yield { importedAt: isoTime(Number(at)), line, message, cells: parsed(String(cells)) };
  }
}

type EventRow = { seq: number; name: string; data: string | null; createdAt: number };

async function* readEvents(
  app: App,
  { projectSeq, seq }: ContactRow,
): AsyncGenerator<PersonRecord> {
  const seqs = await eventsOfContact(app).seqsOf(projectSeq, seq);
  for (let start = 0; start < seqs.length; start += EVENT_PAGE) {
    const sql = `SELECT events.seq, name, data, created_at AS createdAt
                 FROM json_each(?) AS wanted CROSS JOIN events ON events.seq = wanted.value`;
    const page = JSON.stringify(seqs.slice(start, start + EVENT_PAGE));
    for (const { name, data, createdAt } of query<EventRow>(app, sql, page)) {
      yield { name, at: isoTime(createdAt), data: parsed(data) };
    }
  }
}

/** Stored JSON; null for none. */
function parsed(text: string | null): unknown {
  if (text === null) return null;
  const value: unknown = JSON.parse(text);
  return value;
}
