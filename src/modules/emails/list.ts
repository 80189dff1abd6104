/**
 * Pages of email records, newest first, with exact totals. Without a filter, the total is a
 * counter. With filters, the mails of a contact, a campaign or the whole project are scanned by an
 * index in slices, and the other filters are evaluated for each mail. An index per filter would
 * make the acceptance of every mail slower.
 */

import type { Db } from "../../db/open.ts";
import type { Page } from "../../http/envelope.ts";
import { bySeq, type ListPage, seqBound } from "../../http/pagination.ts";
import { startSlices } from "../../lib/slices.ts";
import type { FairScheduler, SliceQueue } from "../../lib/slice-queue.ts";
import { parseAddressFilter } from "../../http/address-filter.ts";
import type { Email, EmailQuery } from "./record-model.ts";
import type { EmailRecords } from "./records.ts";

export type ListEmails = (projectSeq: number, query: EmailQuery) => Promise<Page<Email>>;

type Value = string | number;
/** An SQL condition on `emails e` with the values that are bound to it. */
type Criterion = { sql: string; values: readonly Value[] };
/** The mails to scan: a condition of equality on the columns of an index before its `seq`. */
type Source = Criterion & { index: string };
/** The page to return: the newest `limit` of the found mails whose `seq` is below `before`. */
type PageBounds = { before: number; limit: number };
type Found = { seqs: number[]; total: number };

const NOTHING: Found = { seqs: [], total: 0 };

/** Rows of one step: about two milliseconds. */
const STEP = 2_000;
const NEWEST = Number.MAX_SAFE_INTEGER;

export function createEmailList(deps: {
  db: Db;
  listPage: ListPage;
  scheduler: FairScheduler;
  records: Pick<EmailRecords, "bySeqs">;
}): ListEmails {
  const { listPage, scheduler, records } = deps;
  const { sqlite } = deps.db;
  const findContact = sqlite.prepare<{ seq: number }, [number, string]>(
    "SELECT seq FROM contacts WHERE project_seq = +? AND id = +?",
  );
  const findCampaign = sqlite.prepare<{ seq: number }, [number, string]>(
    "SELECT seq FROM campaigns WHERE project_seq = +? AND id = +?",
  );

  const newest = sqlite.prepare<{ seq: number }, [number, number, number]>(`
    SELECT seq FROM emails INDEXED BY emails_page
    WHERE project_seq = +? AND seq < +? ORDER BY seq DESC LIMIT +?`);
  const countAll = sqlite.prepare<{ total: number }, [number]>(
    "SELECT emails AS total FROM project_usage WHERE project_seq = +?",
  );

  function findAll(projectSeq: number, { before, limit }: PageBounds): Found {
    const seqs = newest.all(projectSeq, before, limit).map(({ seq }) => seq);
    return { seqs, total: countAll.get(projectSeq)?.total ?? 0 };
  }

  /** Null if the contact or campaign does not exist, and so no mail matches. */
  function sourceOf(projectSeq: number, { contactId, campaignId }: EmailQuery): Source | null {
    const contact = contactId === undefined ? undefined : findContact.get(projectSeq, contactId);
    const campaign =
      campaignId === undefined ? undefined : findCampaign.get(projectSeq, campaignId);
    if (contact === null || campaign === null) return null;
    if (contact !== undefined) {
      const ofCampaign = campaign === undefined ? "" : " AND e.campaign_seq = +?";
      return {
        index: "emails_contact",
        sql: `e.contact_seq = +?${ofCampaign}`,
        values: [contact.seq, ...(campaign === undefined ? [] : [campaign.seq])],
      };
    }
    if (campaign !== undefined) {
      const sql = "e.campaign_seq = +? AND e.campaign_seq IS NOT NULL";
      return { index: "emails_campaign", sql, values: [campaign.seq] };
    }
    return { index: "emails_page", sql: "e.project_seq = +?", values: [projectSeq] };
  }

  /** Scans in steps, newest first. Mails that are accepted meanwhile are not counted. */
  async function scan(
    { source, criteria }: { source: Source; criteria: readonly Criterion[] },
    { before, limit }: PageBounds,
    sliceQueue: SliceQueue,
  ): Promise<Found> {
    const rows = `FROM emails e INDEXED BY ${source.index} WHERE ${source.sql} AND e.seq < +?`;
    const matching = ["e.seq >= +?", ...criteria.map(({ sql }) => sql)].join(" AND ");
    const findEnd = sqlite.query<{ seq: number }, Value[]>(
      `SELECT e.seq ${rows} ORDER BY e.seq DESC LIMIT 1 OFFSET ${STEP - 1}`,
    );
    const find = sqlite.query<{ seq: number }, Value[]>(
      `SELECT e.seq ${rows} AND ${matching} ORDER BY e.seq DESC`,
    );
    const count = sqlite.query<{ total: number }, Value[]>(
      `SELECT count(*) AS total ${rows} AND ${matching}`,
    );
    const values = criteria.flatMap((criterion) => criterion.values);
    const slices = await startSlices(sliceQueue);
    const seqs: number[] = [];
    let total = 0;
    for (let last = NEWEST; ;) {
      const end = findEnd.get(...source.values, last)?.seq ?? 0;
      const step = [...source.values, last, end, ...values];
      if (seqs.length < limit && end < before) {
        const found = find.all(...step);
        total += found.length;
        const wanted = found.filter(({ seq }) => seq < before).map(({ seq }) => seq);
        seqs.push(...wanted.slice(0, limit - seqs.length));
      } else total += count.get(...step)?.total ?? 0;
      if (end === 0) return { seqs, total };
      last = end;
      if (slices.isOver()) await slices.next();
    }
  }

  function find(projectSeq: number, query: EmailQuery, bounds: PageBounds): Found | Promise<Found> {
    const source = sourceOf(projectSeq, query);
    if (source === null) return NOTHING;
    const criteria = criteriaOf(query);
    const isAll = criteria.length === 0 && source.index === "emails_page";
    return isAll
      ? findAll(projectSeq, bounds)
      : scan({ source, criteria }, bounds, scheduler.queueOf(projectSeq));
  }

  return (projectSeq, query) =>
    listPage(
      { scope: `${projectSeq}:emails`, query },
      async (request) => {
        const bounds = { before: seqBound(request), limit: request.limit };
        const { seqs, total } = await find(projectSeq, query, bounds);
        return { rows: records.bySeqs(seqs), total, positionOf: bySeq };
      },
      (rows) => rows.map(({ email }) => email),
    );
}

function criteriaOf(query: EmailQuery): Criterion[] {
  const { status, source, templateId, to, from, since, until } = query;
  return [
    ...(status === undefined ? [] : [{ sql: "e.status = +?", values: [status] }]),
    ...(source === undefined ? [] : [{ sql: "e.source = +?", values: [source] }]),
    ...(templateId === undefined ? [] : [{ sql: "e.template_id = +?", values: [templateId] }]),
    ...(since === undefined ? [] : [{ sql: "e.created_at >= +?", values: [Date.parse(since)] }]),
    ...(until === undefined ? [] : [{ sql: "e.created_at <= +?", values: [Date.parse(until)] }]),
    ...(to === undefined ? [] : [addressIs("e.to_address", to)]),
    ...(from === undefined ? [] : [senderIs(from)]),
  ];
}

/** Throws on an invalid filter, which the schema of the query refuses before. */
function addressIs(column: string, text: string): Criterion {
  const filter = parseAddressFilter(text);
  if (filter === null) throw new Error("the schema accepted an invalid address filter");
  if ("address" in filter) return { sql: `${column} = +?`, values: [filter.address] };
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
