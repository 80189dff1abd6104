/**
 * The recipients of a campaign with the status of their mail and their actions, newest first, with
 * an exact total. The list without a filter reads an index and the campaign's counter. A list with
 * filters searches all mails of the campaign in a reader.
 */

import type { App } from "../../core/app.ts";
import { inTimeBy } from "../../db/queries.ts";
import { statement } from "../../db/statement.ts";
import type { Page } from "../../http/envelope.ts";
import { bySeq, listPage, seqBound } from "../../http/pagination.ts";
import { textFor } from "../../http/role-views.ts";
import type { Role } from "../../http/roles.ts";
import { isoTimeOrNull } from "../../lib/clock.ts";
import type { CampaignRow } from "./present.ts";
import { linksSeenAs } from "./report.ts";
import type { Recipient, RECIPIENT_ACTIONS, RecipientQuery } from "./results-model.ts";
import { readCounts } from "./stats.ts";
import { UNSUBSCRIBE_EVENTS } from "./unsubscribe-events.ts";

/** The recipients to find: the newest `limit` whose mail has a `seq` below `before`. */
type Bounds = { before: number; limit: number };
type Found = { seqs: number[]; total: number };
type Times = "sentAt" | "openedAt" | "clickedAt" | "bouncedAt" | "complainedAt";
type Row = Omit<Recipient, Times | "links"> & Record<Times, number | null> & { seq: number };

/** An SQL condition on `emails e` with the values that are bound to it. */
type Criterion = { sql: string; values: readonly string[] };

const NEWEST = Number.MAX_SAFE_INTEGER;
/** Clicks of a mail in which its links are searched, and links that are shown. */
const MAX_CLICKS = 200;
const MAX_LINKS = 20;

const OF_CAMPAIGN = `FROM emails e INDEXED BY emails_campaign
  WHERE e.campaign_seq = +? AND e.campaign_seq IS NOT NULL`;

const ACTIONS: Readonly<Record<(typeof RECIPIENT_ACTIONS)[number], string>> = {
  OPENED: "e.opened_at IS NOT NULL",
  CLICKED: "e.clicked_at IS NOT NULL",
  NOT_OPENED: "e.sent_at IS NOT NULL AND e.opened_at IS NULL AND e.bounced_at IS NULL",
  BOUNCED: "e.bounced_at IS NOT NULL",
  COMPLAINED: "e.complained_at IS NOT NULL",
  UNSUBSCRIBED: `EXISTS (SELECT 1 FROM events v INDEXED BY events_email
                         WHERE v.email_seq = e.seq AND v.name IN (${UNSUBSCRIBE_EVENTS}))`,
};

/** The recipients as a role sees them. */
export function listRecipients(
  app: App,
  campaign: CampaignRow,
  query: RecipientQuery,
  role: Role | null,
): Promise<Page<Recipient>> {
  return listPage(app)(
    { scope: `${campaign.projectSeq}:recipients:${campaign.id}`, query },
    async (request) => {
      const bounds = { before: seqBound(request), limit: request.limit };
      const criteria = await criteriaOf(app, campaign, query, role);
      const { seqs, total } =
        criteria.length === 0
          ? findAll(app, campaign, bounds)
          : await findMatching(app, campaign, criteria, bounds);
      return { rows: seqs.flatMap((seq) => findRow(app).get(seq) ?? []), total, positionOf: bySeq };
    },
    (rows) => rows.map((row) => present(app, row, role)),
  );
}

const findNewest = statement<{ seq: number }, [number, number, number]>(
  `SELECT e.seq ${OF_CAMPAIGN} AND e.seq < +? ORDER BY e.seq DESC LIMIT +?`,
);
function findAll(app: App, { seq }: CampaignRow, { before, limit }: Bounds): Found {
  const rows = findNewest(app).all(seq, before, limit);
  return { seqs: rows.map((row) => row.seq), total: readCounts(app, seq).totalRecipients };
}

async function findMatching(
  { reader }: App,
  { seq, projectSeq }: CampaignRow,
  criteria: readonly Criterion[],
  { before, limit }: Bounds,
): Promise<Found> {
  const mails = [OF_CAMPAIGN, inTimeBy("e.seq"), ...criteria.map(({ sql }) => sql)].join(" AND ");
  const values = [seq, ...criteria.flatMap((criterion) => criterion.values)];
  const found = await reader.find(projectSeq, {
    sql: `SELECT e.seq ${mails} AND e.seq < +? ORDER BY e.seq DESC LIMIT +?`,
    values: [...values, before, limit],
    total: {
      sql: `SELECT count(*) ${mails}`,
      values,
      unlessFewerThan: before === NEWEST ? limit : 0,
    },
  });
  return { seqs: found.rows.map((row) => Number(row[0])), total: Number(found.total) };
}

const findRow = statement<Row, [number]>(`
  SELECT e.seq, e.id AS emailId, c.id AS contactId, e.to_address AS email, e.status,
         e.last_error AS lastError, e.sent_at AS sentAt, e.opened_at AS openedAt,
         e.clicked_at AS clickedAt, e.bounced_at AS bouncedAt, e.complained_at AS complainedAt, e.variant AS variantId
  FROM emails e LEFT JOIN contacts c ON c.seq = e.contact_seq WHERE e.seq = +?`);
const findClicked = statement<{ url: unknown }, [number]>(`
  SELECT json_extract(data, '$.url') AS url FROM events INDEXED BY events_email
  WHERE email_seq = +? AND name = 'email.clicked' ORDER BY seq LIMIT ${MAX_CLICKS}`);

async function criteriaOf(
  app: App,
  campaign: CampaignRow,
  { status, action, link, variantId }: RecipientQuery,
  role: Role | null,
): Promise<Criterion[]> {
  const urls = link === undefined ? [] : await linksSeenAs(app, campaign, { role, link });
  return [
    ...(status === undefined ? [] : [{ sql: "e.status = +?", values: [status] }]),
    ...(variantId === undefined ? [] : [{ sql: "e.variant = +?", values: [variantId] }]),
    ...(action === undefined ? [] : [{ sql: ACTIONS[action], values: [] }]),
    ...(link === undefined ? [] : [{ sql: HAS_CLICKED, values: [JSON.stringify(urls)] }]),
  ];
}

const HAS_CLICKED = `e.clicked_at IS NOT NULL AND EXISTS (
  SELECT 1 FROM events v INDEXED BY events_email
  WHERE v.email_seq = e.seq AND v.name = 'email.clicked' AND json_extract(v.data, '$.url') IN (SELECT value FROM json_each(?)))`;

function present(app: App, { seq, ...row }: Row, role: Role | null): Recipient {
  const links = row.clickedAt === null ? [] : clickedLinks(app, seq);
  return {
    ...row,
    sentAt: isoTimeOrNull(row.sentAt),
    openedAt: isoTimeOrNull(row.openedAt),
    clickedAt: isoTimeOrNull(row.clickedAt),
    bouncedAt: isoTimeOrNull(row.bouncedAt),
    complainedAt: isoTimeOrNull(row.complainedAt),
    links: [...new Set(links.map((link) => textFor(role, link)))],
  };
}

function clickedLinks(app: App, emailSeq: number): string[] {
  const urls = findClicked(app)
    .all(emailSeq)
    .map(({ url }) => url);
  return [...new Set(urls.filter((url) => typeof url === "string"))].slice(0, MAX_LINKS);
}
