/**
 * The recipients of a campaign with the status of their mail and what they did, newest first, with
 * an exact total. The list without a filter reads an index and the campaign's counter. A list with
 * filters scans all mails of the campaign in slices, so that other work runs in between.
 */

import type { Db } from "../../db/open.ts";
import type { Page } from "../../http/envelope.ts";
import { bySeq, type ListPage, seqBound } from "../../http/pagination.ts";
import { textFor } from "../../http/role-views.ts";
import type { Role } from "../../http/roles.ts";
import { isoTimeOrNull } from "../../lib/clock.ts";
import { startSlices } from "../../lib/slices.ts";
import type { FairScheduler } from "../../lib/slice-queue.ts";
import type { RECIPIENT_ACTIONS, RecipientQuery } from "./model.ts";
import type { CampaignRow } from "./present.ts";
import { linksSeenAs } from "./report.ts";
import type { Recipient } from "./results-model.ts";
import type { Stats } from "./stats.ts";

export type Recipients = ReturnType<typeof createRecipients>;

/** The recipients to find: the newest `limit` whose mail has a `seq` below `before`. */
type Bounds = { before: number; limit: number };
type Found = { seqs: number[]; total: number };
type Times = "sentAt" | "openedAt" | "clickedAt" | "bouncedAt" | "complainedAt";
type Row = Omit<Recipient, Times | "links"> &
  Record<Times, number | null> & { seq: number; links: string };

/** An SQL condition on `emails e` with the values that are bound to it. */
type Criterion = { sql: string; values: readonly string[] };

/** Rows of one step of a scan: a few milliseconds, also if the events of each mail are read. */
const STEP = 500;
const NEWEST = Number.MAX_SAFE_INTEGER;
/** Clicks of a mail in which its links are searched, and links that are shown. */
const MAX_CLICKS = 200;
const MAX_LINKS = 20;

const OF_CAMPAIGN = `FROM emails e INDEXED BY emails_campaign
  WHERE e.campaign_seq = +? AND e.campaign_seq IS NOT NULL AND e.seq < +?`;

const ACTIONS: Readonly<Record<(typeof RECIPIENT_ACTIONS)[number], string>> = {
  OPENED: "e.opened_at IS NOT NULL",
  CLICKED: "e.clicked_at IS NOT NULL",
  NOT_OPENED: "e.sent_at IS NOT NULL AND e.opened_at IS NULL AND e.bounced_at IS NULL",
  BOUNCED: "e.bounced_at IS NOT NULL",
  COMPLAINED: "e.complained_at IS NOT NULL",
  UNSUBSCRIBED: `EXISTS (SELECT 1 FROM events v INDEXED BY events_email
                         WHERE v.email_seq = e.seq AND v.name = 'contact.unsubscribed')`,
};

export function createRecipients(deps: {
  db: Db;
  listPage: ListPage;
  scheduler: FairScheduler;
  stats: Pick<Stats, "recipients">;
}) {
  const { listPage, scheduler, stats } = deps;
  const { sqlite } = deps.db;
  const newest = sqlite.prepare<{ seq: number }, [number, number, number]>(
    `SELECT e.seq ${OF_CAMPAIGN} ORDER BY e.seq DESC LIMIT +?`,
  );
  const stepEnd = sqlite.prepare<{ seq: number }, [number, number]>(
    `SELECT e.seq ${OF_CAMPAIGN} ORDER BY e.seq DESC LIMIT 1 OFFSET ${STEP - 1}`,
  );
  const read = sqlite.prepare<Row, [string]>(`
    SELECT e.seq, e.id AS emailId, c.id AS contactId, e.to_address AS email, e.status,
           e.last_error AS lastError, e.sent_at AS sentAt, e.opened_at AS openedAt,
           e.clicked_at AS clickedAt, e.bounced_at AS bouncedAt, e.complained_at AS complainedAt,
           CASE WHEN e.clicked_at IS NULL THEN '[]' ELSE
             (SELECT json_group_array(url) FROM (
                SELECT json_extract(v.data, '$.url') AS url
                FROM events v INDEXED BY events_email
                WHERE v.email_seq = e.seq AND v.name = 'email.clicked'
                ORDER BY v.seq LIMIT ${MAX_CLICKS})) END AS links
    FROM json_each(?) AS asked
    CROSS JOIN emails e ON e.seq = asked.value LEFT JOIN contacts c ON c.seq = e.contact_seq
    ORDER BY e.seq DESC`);

  function findAll(campaignSeq: number, { before, limit }: Bounds): Found {
    const seqs = newest.all(campaignSeq, before, limit).map(({ seq }) => seq);
    return { seqs, total: stats.recipients(campaignSeq) };
  }

  async function findMatching(
    { seq: campaignSeq, projectSeq }: CampaignRow,
    criteria: readonly Criterion[],
    { before, limit }: Bounds,
  ): Promise<Found> {
    const matching = sqlite.query<{ seq: number }, (number | string)[]>(
      `SELECT e.seq ${OF_CAMPAIGN} AND e.seq >= +? AND ${criteria.map(({ sql }) => sql).join(" AND ")}
       ORDER BY e.seq DESC`,
    );
    const values = criteria.flatMap((criterion) => criterion.values);
    const slices = await startSlices(scheduler.queueOf(projectSeq));
    const seqs: number[] = [];
    let total = 0;
    for (let last = NEWEST; ;) {
      const end = stepEnd.get(campaignSeq, last)?.seq ?? 0;
      const found = matching.all(campaignSeq, last, end, ...values);
      total += found.length;
      for (const { seq } of found) if (seq < before && seqs.length < limit) seqs.push(seq);
      if (end === 0) return { seqs, total };
      last = end;
      if (slices.isOver()) await slices.next();
    }
  }

  function criteriaOf(
    { seq }: CampaignRow,
    { status, action, link }: RecipientQuery,
    role: Role | null,
  ): Criterion[] {
    const urls = link === undefined ? [] : linksSeenAs(deps.db, seq, { role, link });
    return [
      ...(status === undefined ? [] : [{ sql: "e.status = +?", values: [status] }]),
      ...(action === undefined ? [] : [{ sql: ACTIONS[action], values: [] }]),
      ...(link === undefined ? [] : [{ sql: HAS_CLICKED, values: [JSON.stringify(urls)] }]),
    ];
  }

  /** The recipients as a role sees them. */
  return (
    campaign: CampaignRow,
    query: RecipientQuery,
    role: Role | null,
  ): Promise<Page<Recipient>> =>
    listPage(
      { scope: `${campaign.projectSeq}:recipients:${campaign.id}`, query },
      async (request) => {
        const bounds = { before: seqBound(request), limit: request.limit };
        const criteria = criteriaOf(campaign, query, role);
        const { seqs, total } =
          criteria.length === 0
            ? findAll(campaign.seq, bounds)
            : await findMatching(campaign, criteria, bounds);
        return { rows: read.all(JSON.stringify(seqs)), total, positionOf: bySeq };
      },
      (rows) => rows.map((row) => present(row, role)),
    );
}

const HAS_CLICKED = `e.clicked_at IS NOT NULL AND EXISTS (
  SELECT 1 FROM events v INDEXED BY events_email
  WHERE v.email_seq = e.seq AND v.name = 'email.clicked' AND json_extract(v.data, '$.url') IN (SELECT value FROM json_each(?)))`;

function present({ seq: _seq, links, ...row }: Row, role: Role | null): Recipient {
  return {
    ...row,
    sentAt: isoTimeOrNull(row.sentAt),
    openedAt: isoTimeOrNull(row.openedAt),
    clickedAt: isoTimeOrNull(row.clickedAt),
    bouncedAt: isoTimeOrNull(row.bouncedAt),
    complainedAt: isoTimeOrNull(row.complainedAt),
    links: [...new Set(linksIn(links).map((link) => textFor(role, link)))],
  };
}

/** The different links in a JSON list of targets. */
function linksIn(json: string): string[] {
  const values: unknown = JSON.parse(json);
  if (!Array.isArray(values)) return [];
  const urls = values.filter((value): value is string => typeof value === "string");
  return [...new Set(urls)].slice(0, MAX_LINKS);
}
