/** The statistics of a campaign as the API shows them: counters, rates, links and a timeline. */

import { and, asc, desc, eq, sql } from "drizzle-orm";
import type { App } from "../../core/app.ts";
import { campaignHours, campaignLinks } from "../../db/schema/campaigns.ts";
import { asQuery } from "../../http/pagination.ts";
import { seesSecrets, textFor } from "../../http/role-views.ts";
import type { Role } from "../../http/roles.ts";
import { isoTime } from "../../lib/clock.ts";
import type { CampaignStats } from "./results-model.ts";
import type { CampaignRow } from "./present.ts";
import { readCounts } from "./stats.ts";

const MAX_LINKS = 1000;

type Settled = Pick<
  ReturnType<typeof readCounts>,
  "totalRecipients" | "sent" | "bounced" | "bouncedLater" | "failed" | "suppressed" | "cancelled"
>;

/** Number of mails that wait to be sent. A mail that bounced later is counted as sent, too. */
export function unsettled(counts: Settled): number {
  const { totalRecipients, sent, bounced, bouncedLater, failed, suppressed, cancelled } = counts;
  const settled = sent + bounced - bouncedLater + failed + suppressed + cancelled;
  return Math.max(0, totalRecipients - settled);
}

/** Most links of a campaign in which those that a role sees alike are searched. */
const MAX_SEARCHED_LINKS = 10_000;

/** The links of a campaign that a role sees as `link`. */
export async function linksSeenAs(
  app: App,
  campaign: CampaignRow,
  { role, link }: { role: Role | null; link: string },
): Promise<string[]> {
  if (seesSecrets(role)) return [link];
  const links = await mostClicked(app, campaign, MAX_SEARCHED_LINKS);
  return links.map(({ url }) => url).filter((url) => textFor(role, url) === link);
}

/** The statistics as a role sees them. Links that the role sees alike are one link. */
export function readableStats(role: Role | null, stats: CampaignStats): CampaignStats {
  if (seesSecrets(role)) return stats;
  const links = new Map<string, CampaignStats["links"][number]>();
  for (const { url, clicks, uniqueClicks } of stats.links) {
    const shown = textFor(role, url);
    const same = links.get(shown) ?? { url: shown, clicks: 0, uniqueClicks: 0 };
    links.set(shown, {
      url: shown,
      clicks: same.clicks + clicks,
      uniqueClicks: same.uniqueClicks + uniqueClicks,
    });
  }
  return { ...stats, links: [...links.values()] };
}

/** The links that were clicked most. A campaign may have a link of its own for each recipient. */
async function mostClicked(
  { db, reader }: App,
  { seq, projectSeq }: CampaignRow,
  limit: number,
): Promise<CampaignStats["links"]> {
  const { url, clicks, uniqueClicks } = campaignLinks;
  const query = db
    .select({ url, clicks, uniqueClicks })
    .from(campaignLinks)
    .where(and(sql`in_time()`, eq(campaignLinks.campaignSeq, seq)))
    .orderBy(desc(clicks))
    .limit(limit);
  const { rows } = await reader.find(projectSeq, asQuery(query));
  return rows.map(([link, all, unique]) => ({
    url: String(link),
    clicks: Number(all),
    uniqueClicks: Number(unique),
  }));
}

/** Opens and clicks by hour, and sent mails by hour, both oldest first and without hours of zero. */
function hoursOf(
  { db }: App,
  { seq }: CampaignRow,
): Pick<CampaignStats, "timeline" | "sentByHour"> {
  const rows = db
    .select()
    .from(campaignHours)
    .where(eq(campaignHours.campaignSeq, seq))
    .orderBy(asc(campaignHours.hour))
    .all()
    .map(({ hour, ...counts }) => ({ at: isoTime(hour), ...counts }));
  return {
    timeline: rows
      .filter(({ opens, clicks }) => opens + clicks > 0)
      .map(({ at, opens, clicks }) => ({ at, opens, clicks })),
    sentByHour: rows.filter(({ sent }) => sent > 0).map(({ at, sent }) => ({ at, sent })),
  };
}

export async function readCampaignStats(app: App, campaign: CampaignRow): Promise<CampaignStats> {
  const links = await mostClicked(app, campaign, MAX_LINKS);
  const row = readCounts(app, campaign.seq);
  const { totalRecipients, sent, bounced, failed, suppressed, cancelled } = row;
  const { delivered, opened, clicked, complained, unsubscribed } = row;
  const { machineOpens, machineClicks, bouncedLater } = row;
  // A mail that bounced later is counted as sent, too.
  const left = sent + bounced - bouncedLater;
  const share = (part: number, whole: number) => (whole === 0 ? 0 : part / whole);
  const rate = (part: number) => share(part, sent);
  return {
    totalRecipients,
    queued: unsettled(row),
    sent,
    delivered,
    opened,
    clicked,
    machineOpens,
    machineClicks,
    bounced,
    bouncedLater,
    complained,
    unsubscribed,
    failed,
    suppressed,
    cancelled,
    deliveryRate: rate(delivered),
    openRate: rate(opened),
    clickRate: rate(clicked),
    // `sent` does not include a mail that its server refused at once.
    bounceRate: share(bounced, left),
    complaintRate: rate(complained),
    unsubscribeRate: rate(unsubscribed),
    links,
    ...hoursOf(app, campaign),
  };
}
