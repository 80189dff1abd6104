/**
 * Pages of email records, newest first. Without a filter, the total is a counter. With filters, the
 * mails of a contact, a campaign or the whole project are searched (scan.ts), and the other filters
 * are evaluated for each mail. An index per filter would make the acceptance of every mail slower.
 */

import type { Db } from "../../db/open.ts";
import { parseAddressFilter } from "../../http/address-filter.ts";
import type { Page } from "../../http/envelope.ts";
import { bySeq, type ListPage, type PageRows, seqBound } from "../../http/pagination.ts";
import type { Clock } from "../../lib/clock.ts";
import type { FairScheduler } from "../../lib/slice-queue.ts";
import type { Email, EmailQuery } from "./record-model.ts";
import type { EmailRecords } from "./records.ts";
import {
  createScan,
  type Criterion,
  type FoundEmails,
  type PageBounds,
  type MailSource,
} from "./scan.ts";

export type ListEmails = (
  projectSeq: number,
  query: EmailQuery,
) => Promise<Page<Email, number | null>>;

type Row = ReturnType<EmailRecords["bySeqs"]>[number];

const NOTHING: FoundEmails = { seqs: [], total: 0, stoppedAt: null };

export function createEmailList(deps: {
  db: Db;
  clock: Pick<Clock, "elapsed">;
  listPage: ListPage;
  scheduler: FairScheduler;
  records: Pick<EmailRecords, "bySeqs">;
}): ListEmails {
  const { listPage, scheduler, records } = deps;
  const { sqlite } = deps.db;
  const scan = createScan(deps);
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

  function findAll(projectSeq: number, { before, limit }: PageBounds): FoundEmails {
    const seqs = newest.all(projectSeq, before, limit).map(({ seq }) => seq);
    return { seqs, total: countAll.get(projectSeq)?.total ?? 0, stoppedAt: null };
  }

  /** Null if the contact or campaign does not exist, and so no mail matches. */
  function sourceOf(projectSeq: number, { contactId, campaignId }: EmailQuery): MailSource | null {
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

  function find(
    projectSeq: number,
    query: EmailQuery,
    bounds: PageBounds,
  ): FoundEmails | Promise<FoundEmails> {
    const source = sourceOf(projectSeq, query);
    if (source === null) return NOTHING;
    const criteria = criteriaOf(query);
    const isWanted = query.subject === undefined ? null : subjectContains(query.subject);
    const isAll = criteria.length === 0 && isWanted === null && source.index === "emails_page";
    return isAll
      ? findAll(projectSeq, bounds)
      : scan({ source, criteria, isWanted }, bounds, scheduler.queueOf(projectSeq));
  }

  return (projectSeq, query) =>
    listPage(
      { scope: `${projectSeq}:emails`, query },
      async (request): Promise<PageRows<Row, number | null>> => {
        const bounds = { before: seqBound(request), limit: request.limit };
        const { seqs, total, stoppedAt } = await find(projectSeq, query, bounds);
        const position = stoppedAt === null ? null : [stoppedAt];
        return { rows: records.bySeqs(seqs), total, positionOf: bySeq, stoppedAt: position };
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

/** Compares in JavaScript, because SQLite knows the letter case of ASCII alone. */
function subjectContains(text: string): (subject: string) => boolean {
  const term = folded(text);
  return (subject) => folded(subject).includes(term);
}

const folded = (text: string): string => text.toLowerCase().normalize("NFC");

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
