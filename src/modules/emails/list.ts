/**
 * Pages of email records, newest first. Without a filter, the total is a counter. With filters, the
 * mails of a contact, a campaign or the whole project are searched, and the other filters are
 * evaluated for each mail. An index per filter would make the acceptance of every mail slower.
 *
 * A search has a time limit, because the mails of ten million take many seconds. At the limit it
 * returns what it has found. The total is then unknown, and a page that is not full names the `seq`
 * at which the search stopped.
 */

import type { App } from "../../core/app.ts";
import { folded } from "../../db/queries.ts";
import { statement } from "../../db/statement.ts";
import { parseAddressFilter } from "../../http/address-filter.ts";
import type { Page } from "../../http/envelope.ts";
import { bySeq, listPage, seqBound } from "../../http/pagination.ts";
import type { Email, EmailQuery } from "./record-model.ts";
import type { EmailRecords } from "./records.ts";
import { hasTag } from "./tags.ts";

/** An SQL condition on `emails e` with the values that are bound to it. */
type Criterion = { sql: string; values: readonly (string | number)[] };
/** The mails to search: a condition of equality on the columns of an index before its `seq`. */
type Source = Criterion & { index: string };
/** The newest `limit` mails whose `seq` is below `before`. */
type Bounds = { before: number; limit: number };
type FoundEmails = { seqs: number[]; total: number | null; stoppedAt: number | null };

const LIMIT_MS = 2_000;
const NEWEST = Number.MAX_SAFE_INTEGER;

export function listEmails(
  app: App,
  { bySeqs }: Pick<EmailRecords, "bySeqs">,
  projectSeq: number,
  query: EmailQuery,
): Promise<Page<Email, number | null>> {
  return listPage(app)(
    { scope: `${projectSeq}:emails`, query },
    async (request) => {
      const bounds = { before: seqBound(request), limit: request.limit };
      const { seqs, total, stoppedAt } = await find(app, projectSeq, query, bounds);
      const position = stoppedAt === null ? null : [stoppedAt];
      return { rows: bySeqs(seqs), total, positionOf: bySeq, stoppedAt: position };
    },
    (rows) => rows.map(({ email }) => email),
  );
}

function find(
  app: App,
  projectSeq: number,
  query: EmailQuery,
  bounds: Bounds,
): FoundEmails | Promise<FoundEmails> {
  const source = sourceOf(app, projectSeq, query);
  if (source === null) return { seqs: [], total: 0, stoppedAt: null };
  const criteria = criteriaOf(query);
  const isAll = criteria.length === 0 && source.index === "emails_page";
  return isAll
    ? newestOf(app, projectSeq, bounds)
    : search(app, projectSeq, { source, criteria }, bounds);
}

const findNewest = statement<{ seq: number }, [number, number, number]>(`
  SELECT seq FROM emails INDEXED BY emails_page
  WHERE project_seq = +? AND seq < +? ORDER BY seq DESC LIMIT +?`);
const countAll = statement<{ total: number }, [number]>(
  "SELECT emails AS total FROM project_usage WHERE project_seq = +?",
);

function newestOf(app: App, projectSeq: number, { before, limit }: Bounds): FoundEmails {
  const rows = findNewest(app).all(projectSeq, before, limit);
  const total = countAll(app).get(projectSeq)?.total ?? 0;
  return { seqs: rows.map(({ seq }) => seq), total, stoppedAt: null };
}

async function search(
  { reader }: App,
  projectSeq: number,
  { source, criteria }: { source: Source; criteria: readonly Criterion[] },
  { before, limit }: Bounds,
): Promise<FoundEmails> {
  const where = ["in_time(e.seq)", source.sql, ...criteria.map(({ sql }) => sql)].join(" AND ");
  const values = [source, ...criteria].flatMap((criterion) => criterion.values);
  const mails = `FROM emails e INDEXED BY ${source.index} WHERE ${where}`;
  const page = `SELECT e.seq ${mails} AND e.seq < ? ORDER BY e.seq DESC LIMIT ?`;
  const found = await reader.find(
    projectSeq,
    {
      sql: page,
      values: [...values, before, limit],
      isPartial: true,
      total: {
        sql: `SELECT count(*) ${mails}`,
        values,
        unlessFewerThan: before === NEWEST ? limit : 0,
      },
    },
    LIMIT_MS,
  );
  const seqs = found.rows.map(([seq]) => Number(seq));
  const { isComplete, total, stoppedAt } = found;
  if (isComplete) return { seqs, total, stoppedAt: null };
  return { seqs, total: null, stoppedAt: stoppedAt === null ? before : stoppedAt + 1 };
}

const findContact = statement<{ seq: number }, [number, string]>(
  "SELECT seq FROM contacts WHERE project_seq = +? AND id = +?",
);
const findCampaign = statement<{ seq: number }, [number, string]>(
  "SELECT seq FROM campaigns WHERE project_seq = +? AND id = +?",
);

/** Null if the contact or campaign does not exist, and so no mail matches. */
function sourceOf(
  app: App,
  projectSeq: number,
  { contactId, campaignId }: EmailQuery,
): Source | null {
  const contact = contactId === undefined ? undefined : findContact(app).get(projectSeq, contactId);
  const campaign =
    campaignId === undefined ? undefined : findCampaign(app).get(projectSeq, campaignId);
  if (contact === null || campaign === null) return null;
  if (contact !== undefined) {
    const ofCampaign = campaign === undefined ? "" : " AND e.campaign_seq = ?";
    return {
      index: "emails_contact",
      sql: `e.contact_seq = ?${ofCampaign}`,
      values: [contact.seq, ...(campaign === undefined ? [] : [campaign.seq])],
    };
  }
  if (campaign !== undefined) {
    const sql = "e.campaign_seq = ? AND e.campaign_seq IS NOT NULL";
    return { index: "emails_campaign", sql, values: [campaign.seq] };
  }
  return { index: "emails_page", sql: "e.project_seq = ?", values: [projectSeq] };
}

function criteriaOf(query: EmailQuery): Criterion[] {
  const { status, ended, source, templateId, to, from, since, until, subject, tag } = query;
  return [
    ...(status === undefined ? [] : [statusIs(status)]),
    ...(ended === undefined ? [] : [hasEnded(ended === "true")]),
    ...(source === undefined ? [] : [{ sql: "e.source = ?", values: [source] }]),
    ...(templateId === undefined ? [] : [{ sql: "e.template_id = ?", values: [templateId] }]),
    ...(tag === undefined ? [] : [hasTag(tag)]),
    ...(since === undefined ? [] : [{ sql: "e.created_at >= ?", values: [Date.parse(since)] }]),
    ...(until === undefined ? [] : [{ sql: "e.created_at <= ?", values: [Date.parse(until)] }]),
    ...(to === undefined ? [] : [addressIs("e.to_address", to)]),
    ...(from === undefined ? [] : [senderIs(from)]),
    ...(subject === undefined
      ? []
      : [{ sql: "has_text(e.subject, ?)", values: [folded(subject)] }]),
  ];
}

const hasEnded = (isWanted: boolean): Criterion => ({
  sql: `e.status ${isWanted ? "NOT IN" : "IN"} ('QUEUED', 'SENDING')`,
  values: [],
});

/** A deferred mail waits for its next attempt, and its last one was deferred. */
function statusIs(status: NonNullable<EmailQuery["status"]>): Criterion {
  if (status !== "DEFERRED") return { sql: "e.status = ?", values: [status] };
  return {
    sql: `e.status = 'QUEUED' AND e.attempts > 0
      AND (SELECT a.outcome FROM attempts a WHERE a.email_seq = e.seq
           ORDER BY a.seq DESC LIMIT 1) = 'deferred'`,
    values: [],
  };
}

/** Throws on an invalid filter, which the schema of the query refuses before. */
function addressIs(column: string, text: string): Criterion {
  const filter = parseAddressFilter(text);
  if (filter === null) throw new Error("the schema accepted an invalid address filter");
  if ("address" in filter) return { sql: `${column} = ?`, values: [filter.address] };
  const { ending } = filter;
  return { sql: `substr(${column}, -length(?)) = ?`, values: [ending, ending] };
}

function senderIs(filter: string): Criterion {
  const { sql, values } = addressIs("m.from_address", filter);
  return {
    sql: `EXISTS (SELECT 1 FROM messages m WHERE m.seq = e.message_seq AND ${sql})`,
    values,
  };
}
