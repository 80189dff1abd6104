/** Creates the campaigns, sends those that have started, and adds up their statistics. */

import type { Database } from "bun:sqlite";
import type { EmailStore } from "../../../src/outbox/enqueue.ts";
import { campaignCounts } from "../../../src/db/schema/campaigns.ts";
import type { Random } from "../random.ts";
import type { Api } from "./api.ts";
import type { SetClock } from "./api.ts";
import { campaignTexts, type CampaignText, MONTHS, SEGMENTS } from "./campaign-texts.ts";
import { countBefore, DAY_MS, type Person } from "./people.ts";
import type { Post } from "./post.ts";
import { NEWS_SENDER, SHOP, SITE } from "./template-texts.ts";

export type CampaignPlan = {
  seq: number;
  text: CampaignText;
  /** Null if it has not started. */
  startedAt: number | null;
};

const HOUR_MS = 60 * 60 * 1000;
/** A campaign leaves within this time. */
const SENDING_MS = 25 * 60_000;
/** The campaign that is being sent has left for 12 hours and needs two more. */
const RUNNING_FOR_MS = 12 * HOUR_MS;
const RUNNING_MS = 14 * HOUR_MS;
/** Share of the mails that leave before a campaign is paused or cancelled. */
const STOPPED_AFTER = { PAUSED: 0.3, CANCELLED: 0.55 } as const;
/** In the campaign that is paused for its bounces, every seventh mail bounces. */
const BOUNCE_DISTANCE = 7;
const ALWAYS = 10_000;

/** Creates all campaigns as drafts through the API, in the order of their times. */
export async function createCampaigns(
  api: Api,
  { clock, untilMs, segmentIds }: { clock: SetClock; untilMs: number; segmentIds: string[] },
): Promise<CampaignPlan[]> {
  const plans: CampaignPlan[] = [];
  const texts = campaignTexts(untilMs);
  const sent = texts.filter(({ status }) => status === "SENT").length;
  for (const [i, text] of texts.entries()) {
    const startedAt = startOf(text, { i, sent, untilMs });
    clock.set(startedAt === null ? untilMs - (45 - i) * DAY_MS : startedAt - 2 * DAY_MS);
    const { name, subject, body, segment } = text;
    const audience =
      segment === null
        ? { audienceType: "ALL" }
        : { audienceType: "SEGMENT", segmentId: segmentIds[segment] };
    const sender = { from: NEWS_SENDER, fromName: SHOP };
    await api.create("/campaigns", { name, subject, body, ...sender, ...audience });
    plans.push({ seq: i + 1, text, startedAt });
  }
  return plans;
}

type Place = { i: number; sent: number; untilMs: number };

function startOf({ status }: CampaignText, { i, sent, untilMs }: Place): number | null {
  const morning = Math.floor(untilMs / DAY_MS) * DAY_MS + 9 * HOUR_MS;
  switch (status) {
    case "SENT":
      return morning - Math.floor(((sent - i) / sent) * MONTHS * 30 * DAY_MS);
    case "CANCELLED":
      return morning - 9 * DAY_MS;
    case "PAUSED":
      return morning - 5 * DAY_MS;
    case "SENDING":
      return untilMs - RUNNING_FOR_MS;
    default:
      return null;
  }
}

type SendOptions = {
  projectSeq: number;
  people: readonly Person[];
  random: Random;
  untilMs: number;
  /** Share of the audience that gets a mail, above 0 and at most 1. */
  sample: number;
  store: Pick<EmailStore, "saveMessage">;
  post: Post;
};

/** Sends one campaign and stores its state. */
export function sendCampaign(sqlite: Database, plan: CampaignPlan, options: SendOptions): void {
  const { seq, text, startedAt } = plan;
  if (startedAt === null) return;
  const { post, store, projectSeq, untilMs } = options;
  const audienceEnd = countBefore(options.people, startedAt);
  const audience = audienceOf(text, { ...options, startedAt, audienceEnd });
  const messageSeq = store.saveMessage(
    {
      projectSeq,
      fromAddress: NEWS_SENDER,
      fromName: SHOP,
      replyTo: null,
      html: text.body,
      headers: [],
      isMarketing: true,
      attachments: [],
    },
    startedAt,
  );
  const isRunning = text.status === "SENDING";
  const share =
    text.status === "PAUSED" || text.status === "CANCELLED" ? STOPPED_AFTER[text.status] : 1;
  const stopsAt = startedAt + share * SENDING_MS;
  const held = text.status === "CANCELLED" ? "CANCELLED" : "QUEUED";
  const links = text.links.map((path) => SITE + path);
  for (const [i, person] of audience.entries()) {
    const duration = isRunning ? RUNNING_MS : SENDING_MS;
    const leavesAt = Math.floor(startedAt + 1_000 + (i / audience.length) * duration);
    const isHeld = share < 1 && leavesAt > stopsAt;
    post.send({
      person,
      to: person.email,
      source: "CAMPAIGN",
      isMarketing: true,
      messageSeq,
      templateId: null,
      campaignSeq: seq,
      executionSeq: null,
      subject: text.subject,
      variables: null,
      createdAt: startedAt,
      leavesAt: isHeld ? Math.floor(stopsAt) : leavesAt,
      links,
      ...(isHeld ? { held } : {}),
      ...(text.status === "PAUSED" ? { bounces: i % BOUNCE_DISTANCE === 0 ? ALWAYS : 0 } : {}),
    });
  }
  const rate = isRunning ? Math.max(1 / 60, audience.length / (RUNNING_MS / 1000)) : null;
  const finishedAt = isRunning || text.status === "PAUSED" ? null : Math.floor(stopsAt);
  sqlite
    .query(
      `UPDATE campaigns SET status = ?, started_at = ?, finished_at = ?, audience_cursor = ?,
         audience_end = ?, audience_condition = (SELECT condition FROM segments
           WHERE segments.seq = campaigns.segment_seq), rate = ?, updated_at = ? WHERE seq = ?`,
    )
    .run(
      text.status,
      startedAt,
      finishedAt,
      audienceEnd,
      audienceEnd,
      rate,
      Math.min(untilMs, finishedAt ?? Math.floor(stopsAt)),
      seq,
    );
}

function audienceOf(
  { segment }: CampaignText,
  given: SendOptions & { startedAt: number; audienceEnd: number },
): Person[] {
  const { people, startedAt, audienceEnd, random, sample } = given;
  const matches = segment === null ? undefined : SEGMENTS[segment]?.matches;
  return people.slice(0, audienceEnd).filter((person) => {
    if (person.unsubscribedAt <= startedAt || (matches !== undefined && !matches(person))) {
      return false;
    }
    return sample === 1 || random.integer(1_000_000) < sample * 1_000_000;
  });
}

/** The columns of `campaign_counts` that mails determine, each with its condition. */
const COUNTERS: readonly (readonly [name: string, condition: string])[] = [
  [campaignCounts.totalRecipients.name, "true"],
  [campaignCounts.sent.name, "sent_at IS NOT NULL"],
  [campaignCounts.delivered.name, "delivered_at IS NOT NULL"],
  [campaignCounts.opened.name, "opened_at IS NOT NULL"],
  [campaignCounts.clicked.name, "clicked_at IS NOT NULL"],
  [campaignCounts.machineOpens.name, "machine_opened_at IS NOT NULL"],
  [campaignCounts.machineClicks.name, "machine_clicked_at IS NOT NULL"],
  [campaignCounts.bounced.name, "bounced_at IS NOT NULL"],
  [campaignCounts.complained.name, "complained_at IS NOT NULL"],
  [campaignCounts.failed.name, "status = 'FAILED'"],
  [campaignCounts.suppressed.name, "status = 'SUPPRESSED'"],
  [campaignCounts.cancelled.name, "status = 'CANCELLED'"],
];

/** Fills the counters, links and hours of all campaigns from mails and events. */
export function addUpCampaigns(sqlite: Database, untilMs: number): void {
  const columns = COUNTERS.map(([name]) => name).join(", ");
  const counts = COUNTERS.map(([, condition]) => `count(*) FILTER (WHERE ${condition})`).join(", ");
  sqlite.run(`DELETE FROM campaign_counts
    WHERE campaign_seq IN (SELECT campaign_seq FROM emails WHERE campaign_seq IS NOT NULL)`);
  sqlite.run(`INSERT INTO campaign_counts (campaign_seq, ${columns})
    SELECT campaign_seq, ${counts} FROM emails WHERE campaign_seq IS NOT NULL GROUP BY campaign_seq`);
  sqlite.run(`UPDATE campaign_counts SET unsubscribed = found.count
    FROM (SELECT campaign_seq, count(DISTINCT events.email_seq) AS count
          FROM events JOIN emails ON emails.seq = events.email_seq
          WHERE events.name = 'contact.unsubscribed' AND campaign_seq IS NOT NULL
          GROUP BY campaign_seq) AS found
    WHERE found.campaign_seq = campaign_counts.campaign_seq`);
  const clicks = `FROM events JOIN emails ON emails.seq = events.email_seq
    WHERE events.name = 'email.clicked' AND campaign_seq IS NOT NULL`;
  sqlite.run(`INSERT INTO campaign_links (campaign_seq, url, clicks, unique_clicks)
    SELECT campaign_seq, json_extract(data, '$.url') AS url, count(*), count(DISTINCT email_seq)
    ${clicks} GROUP BY campaign_seq, url`);
  const hour = (column: string) => `${column} - ${column} % ${HOUR_MS}`;
  sqlite.run(`INSERT INTO campaign_hours (campaign_seq, hour, sent, opens, clicks)
    SELECT campaign_seq, hour, sum(sent), sum(opens), sum(clicks) FROM (
      SELECT campaign_seq, ${hour("sent_at")} AS hour, 1 AS sent, 0 AS opens, 0 AS clicks
      FROM emails WHERE campaign_seq IS NOT NULL AND sent_at IS NOT NULL
      UNION ALL
      SELECT campaign_seq, ${hour("opened_at")}, 0, 1, 0
      FROM emails WHERE campaign_seq IS NOT NULL AND opened_at IS NOT NULL
      UNION ALL
      SELECT campaign_seq, ${hour("events.created_at")}, 0, 0, 1 ${clicks})
    GROUP BY campaign_seq, hour`);
  explainStates(sqlite, untilMs);
}

/** The reason of the pause names the share that was counted; the scheduled campaign gets its time. */
function explainStates(sqlite: Database, untilMs: number): void {
  sqlite.run(`UPDATE campaigns SET status_reason = format(
      '%.1f%% of the mails bounced, more than 10.0%%',
      (SELECT 100.0 * bounced / max(1, sent + bounced) FROM campaign_counts
       WHERE campaign_seq = campaigns.seq))
    WHERE status = 'PAUSED'`);
  const at = Math.ceil(untilMs / DAY_MS) * DAY_MS + 6 * DAY_MS + 9 * HOUR_MS;
  sqlite
    .query(
      "UPDATE campaigns SET status = 'SCHEDULED', scheduled_at = ? WHERE name = 'Christmas post'",
    )
    .run(at);
}
