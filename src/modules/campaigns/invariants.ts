/** Invariants between campaigns, their mails and their counters, for `mailstead check`. */

import type { Invariant } from "../../db/invariant.ts";
import { UNSUBSCRIBE_EVENTS } from "./unsubscribe-events.ts";

/** For each counter, the SQL condition of the mails that it counts. */
const COUNTERS = {
  total_recipients: "true",
  sent: "sent_at IS NOT NULL",
  delivered: "delivered_at IS NOT NULL",
  opened: "opened_at IS NOT NULL",
  machine_opens: "machine_opened_at IS NOT NULL",
  machine_clicks: "machine_clicked_at IS NOT NULL",
  bounced: "bounced_at IS NOT NULL",
  bounced_later: "bounced_at IS NOT NULL AND sent_at IS NOT NULL",
  complained: "complained_at IS NOT NULL",
  failed: "status = 'FAILED'",
  suppressed: "status = 'SUPPRESSED'",
  cancelled: "status = 'CANCELLED'",
} as const;

/** SQL condition that is true until the first events are purged. */
const IS_LOG_COMPLETE = "(SELECT min(seq) = 1 FROM events)";

/** Counters of events. They may exceed the number of logged events once old events are purged. */
const EVENT_COUNTERS = {
  clicked: `SELECT count(*) FROM emails
            WHERE campaign_seq = campaigns.seq AND clicked_at IS NOT NULL`,
  unsubscribed: `SELECT count(DISTINCT events.email_seq)
                 FROM emails JOIN events ON events.email_seq = emails.seq
                 WHERE emails.campaign_seq = campaigns.seq
                   AND events.name IN (${UNSUBSCRIBE_EVENTS})`,
} as const;

const CLICKS_OF_LINKS = "SELECT sum(clicks) FROM campaign_links WHERE campaign_seq = campaigns.seq";
const CLICKS_OF_HOURS = "SELECT sum(clicks) FROM campaign_hours WHERE campaign_seq = campaigns.seq";
const SENT_OF_HOURS = "SELECT sum(sent) FROM campaign_hours WHERE campaign_seq = campaigns.seq";
const OPENS_OF_HOURS = "SELECT sum(opens) FROM campaign_hours WHERE campaign_seq = campaigns.seq";

/** SQL that returns one row for each counter that differs from the number of its mails. */
const differing = (rows: string, when: string) => `
  SELECT 'campaign ' || id AS id,
         format('%s: counted %s, but there are %d', counter, coalesce(counted, 'nothing'), found)
           AS finding
  FROM (${rows}) WHERE ${when}`;

const mailCounters = Object.keys(COUNTERS)
  .map(
    (name) => `SELECT campaigns.id, '${name}' AS counter, counts.${name} AS counted,
                      coalesce(mails.${name}, 0) AS found
               FROM campaigns
               LEFT JOIN campaign_counts AS counts ON counts.campaign_seq = campaigns.seq
               LEFT JOIN mails ON mails.campaign_seq = campaigns.seq`,
  )
  .join(" UNION ALL ");

const eventCounters = Object.entries(EVENT_COUNTERS)
  .map(
    ([name, count]) => `SELECT campaigns.id, '${name}' AS counter, counts.${name} AS counted,
                               (${count}) AS found
                        FROM campaigns
                        JOIN campaign_counts AS counts ON counts.campaign_seq = campaigns.seq`,
  )
  .join(" UNION ALL ");

export const CAMPAIGN_INVARIANTS: readonly Invariant[] = [
  {
    name: "campaign-counts",
    rule: "Each counter of a campaign equals the number of mails that it counts.",
    violations: `
      WITH mails AS (
        SELECT campaign_seq, ${Object.entries(COUNTERS)
          .map(([name, where]) => `count(*) FILTER (WHERE ${where}) AS ${name}`)
          .join(", ")}
        FROM emails WHERE campaign_seq IS NOT NULL GROUP BY campaign_seq)
      ${differing(mailCounters, "counted IS NOT found")}`,
  },
  {
    name: "campaign-event-counts",
    rule: "The counted clicks and unsubscriptions of a campaign equal those of its mails.",
    violations: differing(
      eventCounters,
      `counted < found OR (counted > found AND ${IS_LOG_COMPLETE})`,
    ),
  },
  {
    name: "campaign-clicks",
    rule: "The clicks of a campaign have the same sum by link and by hour.",
    violations: `
      SELECT 'campaign ' || id AS id,
             format('%d clicks by link, %d by hour', links, hours) AS finding
      FROM (SELECT id, coalesce((${CLICKS_OF_LINKS}), 0) AS links,
                   coalesce((${CLICKS_OF_HOURS}), 0) AS hours
            FROM campaigns)
      WHERE links <> hours`,
  },
  {
    name: "campaign-opens",
    rule: "The opens of a campaign by hour add up to the number of its opened mails.",
    violations: `
      SELECT 'campaign ' || id AS id,
             format('%d opens by hour, %d mails', hours, opened) AS finding
      FROM (SELECT campaigns.id, counts.opened, coalesce((${OPENS_OF_HOURS}), 0) AS hours
            FROM campaigns JOIN campaign_counts AS counts ON counts.campaign_seq = campaigns.seq)
      WHERE hours <> opened`,
  },
  {
    name: "campaign-sent",
    rule: "The sent mails of a campaign by hour add up to the number of its sent mails.",
    violations: `
      SELECT 'campaign ' || id AS id,
             format('%d sent mails by hour, %d mails', hours, sent) AS finding
      FROM (SELECT campaigns.id, counts.sent, coalesce((${SENT_OF_HOURS}), 0) AS hours
            FROM campaigns JOIN campaign_counts AS counts ON counts.campaign_seq = campaigns.seq)
      WHERE hours <> sent`,
  },
  {
    name: "campaign-link-clicks",
    rule: "No link of a campaign has more unique clicks than clicks.",
    violations: `
      SELECT 'campaign ' || campaigns.id AS id,
             format('%s: %d unique clicks, %d clicks', url, unique_clicks, clicks) AS finding
      FROM campaign_links JOIN campaigns ON campaigns.seq = campaign_links.campaign_seq
      WHERE unique_clicks > clicks OR unique_clicks < 0`,
  },
  {
    name: "campaign-audience",
    rule: "A campaign has an audience once it has started, and all of it once it is SENT.",
    violations: `
      SELECT 'campaign ' || id AS id,
             format('%s, audience up to %s of %s', status, coalesce(audience_cursor, 'none'),
                    coalesce(audience_end, 'none')) AS finding
      FROM campaigns
      WHERE (status IN ('SENDING', 'PAUSED', 'SENT')
             AND (audience_cursor IS NULL OR audience_end IS NULL))
         OR (status IN ('DRAFT', 'SCHEDULED') AND audience_cursor IS NOT NULL)
         OR (status = 'SENT' AND audience_cursor < audience_end)
         OR (status = 'SCHEDULED' AND scheduled_at IS NULL)`,
  },
  {
    name: "campaign-mails",
    rule: "A campaign mail that waits belongs to a campaign that is SENDING, PAUSED or CANCELLED.",
    violations: `
      SELECT 'email ' || emails.id AS id,
             'its campaign is ' || coalesce(campaigns.status, 'missing') AS finding
      FROM emails LEFT JOIN campaigns ON campaigns.seq = emails.campaign_seq
      WHERE emails.campaign_seq IS NOT NULL AND emails.next_at IS NOT NULL
        AND coalesce(campaigns.status, '') NOT IN ('SENDING', 'PAUSED', 'CANCELLED')`,
  },
  {
    name: "ab-tests",
    rule: "A mail has a variant of the A/B test of its campaign, and who is held out of it has none.",
    violations: `
      SELECT 'email ' || emails.id AS id, 'its campaign has no variant ' || emails.variant AS finding
      FROM emails JOIN campaigns ON campaigns.seq = emails.campaign_seq
      WHERE emails.variant IS NOT NULL
        AND NOT EXISTS (SELECT 1 FROM ab_variants v
                        WHERE v.campaign_seq = emails.campaign_seq AND v.id = emails.variant)
      UNION ALL
      SELECT 'email ' || emails.id, 'its contact is held out of the campaign'
      FROM ab_hold_outs h JOIN emails ON emails.campaign_seq = h.campaign_seq
                                     AND emails.contact_seq = h.contact_seq
      UNION ALL
      SELECT 'campaign ' || campaigns.id,
             format('%s, A/B test in %s, winner %s', campaigns.status, coalesce(phase, 'none'),
                    coalesce(winner_id, 'none'))
      FROM ab_tests JOIN campaigns ON campaigns.seq = ab_tests.campaign_seq
      WHERE (phase IS NULL) <> (campaigns.status IN ('DRAFT', 'SCHEDULED'))
            AND NOT (campaigns.status = 'CANCELLED' AND campaigns.started_at IS NULL)
         OR (campaigns.status = 'SENT' AND phase <> 'REST')
         OR (phase = 'REST' AND winner_id IS NULL AND has_rest AND share + hold_out < 100)
         OR (phase = 'WAITING' AND winner_by <> 'MANUAL' AND waits_until IS NULL)`,
  },
  {
    name: "campaign-category",
    rule: "The mails of a MARKETING campaign are marketing, and only those.",
    violations: `
      SELECT 'campaign ' || campaigns.id AS id,
             format('%s, but its content is %s', category,
                    iif(messages.is_marketing, 'marketing', 'no marketing')) AS finding
      FROM campaigns JOIN messages ON messages.seq = campaigns.message_seq
      WHERE messages.is_marketing <> (category = 'MARKETING')`,
  },
];
