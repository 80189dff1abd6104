/**
 * The recipients of a campaign with the status of their mail, newest first, with an exact total.
 * The list without a filter reads an index and the campaign's counter. A list filtered by status
 * scans all mails of the campaign in slices, so that other work runs in between.
 */

import type { Db } from "../../db/open.ts";
import type { EmailStatus } from "../../db/schema/emails.ts";
import type { Page } from "../../http/envelope.ts";
import { bySeq, type ListPage, seqBound } from "../../http/pagination.ts";
import { isoTimeOrNull } from "../../lib/clock.ts";
import { startSlices } from "../../lib/slices.ts";
import type { FairScheduler } from "../../lib/slice-queue.ts";
import type { RecipientQuery } from "./model.ts";
import type { CampaignRow } from "./present.ts";
import type { Recipient } from "./results-model.ts";
import type { Stats } from "./stats.ts";

export type Recipients = ReturnType<typeof createRecipients>;

/** The recipients to find: the newest `limit` whose mail has a `seq` below `before`. */
type Bounds = { before: number; limit: number };
type Found = { seqs: number[]; total: number };
type Row = Omit<Recipient, "sentAt"> & { seq: number; sentAt: number | null };

/** Rows of one step of a scan: a few milliseconds. */
const STEP = 5_000;
const NEWEST = Number.MAX_SAFE_INTEGER;

export function createRecipients(deps: {
  db: Db;
  listPage: ListPage;
  scheduler: FairScheduler;
  stats: Pick<Stats, "recipients">;
}) {
  const { listPage, scheduler, stats } = deps;
  const { sqlite } = deps.db;
  const newest = sqlite.prepare<{ seq: number }, [number, number, number]>(`
    SELECT seq FROM emails INDEXED BY emails_campaign
    WHERE campaign_seq = +? AND campaign_seq IS NOT NULL AND seq < +? ORDER BY seq DESC LIMIT +?`);
  const stepEnd = sqlite.prepare<{ seq: number }, [number, number]>(`
    SELECT seq FROM emails INDEXED BY emails_campaign
    WHERE campaign_seq = +? AND campaign_seq IS NOT NULL AND seq < +?
    ORDER BY seq DESC LIMIT 1 OFFSET ${STEP - 1}`);
  const ofStatus = sqlite.prepare<{ seq: number }, [number, number, number, EmailStatus]>(`
    SELECT seq FROM emails INDEXED BY emails_campaign
    WHERE campaign_seq = +? AND campaign_seq IS NOT NULL AND seq < +? AND seq >= +? AND status = +?
    ORDER BY seq DESC`);
  const read = sqlite.prepare<Row, [string]>(`
    SELECT e.seq, e.id AS emailId, c.id AS contactId, e.to_address AS email, e.status,
           e.last_error AS lastError, e.sent_at AS sentAt
    FROM json_each(?) AS asked
    CROSS JOIN emails e ON e.seq = asked.value LEFT JOIN contacts c ON c.seq = e.contact_seq
    ORDER BY e.seq DESC`);

  function findAll(campaignSeq: number, { before, limit }: Bounds): Found {
    const seqs = newest.all(campaignSeq, before, limit).map(({ seq }) => seq);
    return { seqs, total: stats.recipients(campaignSeq) };
  }

  async function findByStatus(
    { seq: campaignSeq, projectSeq }: CampaignRow,
    status: EmailStatus,
    { before, limit }: Bounds,
  ): Promise<Found> {
    const slices = await startSlices(scheduler.queueOf(projectSeq));
    const seqs: number[] = [];
    let total = 0;
    for (let last = NEWEST; ;) {
      const end = stepEnd.get(campaignSeq, last)?.seq ?? 0;
      const found = ofStatus.all(campaignSeq, last, end, status);
      total += found.length;
      for (const { seq } of found) if (seq < before && seqs.length < limit) seqs.push(seq);
      if (end === 0) return { seqs, total };
      last = end;
      if (slices.isOver()) await slices.next();
    }
  }

  return (campaign: CampaignRow, query: RecipientQuery): Promise<Page<Recipient>> =>
    listPage(
      { scope: `${campaign.projectSeq}:recipients:${campaign.id}`, query },
      async (request) => {
        const bounds = { before: seqBound(request), limit: request.limit };
        const { seqs, total } =
          query.status === undefined
            ? findAll(campaign.seq, bounds)
            : await findByStatus(campaign, query.status, bounds);
        return { rows: read.all(JSON.stringify(seqs)), total, positionOf: bySeq };
      },
      (rows) => rows.map(present),
    );
}

function present({ emailId, contactId, email, status, lastError, sentAt }: Row): Recipient {
  return { emailId, contactId, email, status, lastError, sentAt: isoTimeOrNull(sentAt) };
}
