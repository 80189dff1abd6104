/**
 * The figures of an A/B test. They are counted from the mails of the test when they are asked for, in
 * a reader. Opens and clicks by machines do not count.
 */

import type { App } from "../../../core/app.ts";
import { inTimeBy, type Value } from "../../../db/queries.ts";
import type { campaigns } from "../../../db/schema/campaigns.ts";
import { statement } from "../../../db/statement.ts";
import { differencePValue, rateOf } from "../../../lib/significance.ts";
import { readCounts } from "../stats.ts";
import { VARIANT_IDS } from "./ab-model.ts";
import type { AbReport } from "./ab-report-model.ts";
import { type AbTestRow, hasAbRest, presentAbState, variantContent } from "./ab-tests.ts";
import { chanceOf, verdictOf } from "./ab-verdict.ts";

type Campaign = typeof campaigns.$inferSelect;

const COUNTERS = {
  sent: "sent_at",
  delivered: "delivered_at",
  opened: "opened_at",
  clicked: "clicked_at",
  bounced: "bounced_at",
  complained: "complained_at",
} as const;
type Counter = keyof typeof COUNTERS;
const NAMES: readonly Counter[] = [
  "sent",
  "delivered",
  "opened",
  "clicked",
  "bounced",
  "complained",
];

type Counts = Record<Counter | "recipients" | "events", number>;
export type VariantFigures = Counts & { id: string; hits: number };

const NONE: Counts = {
  recipients: 0,
  sent: 0,
  delivered: 0,
  opened: 0,
  clicked: 0,
  events: 0,
  bounced: 0,
  complained: 0,
};

const OF_CAMPAIGN = "e.campaign_seq = +? AND e.campaign_seq IS NOT NULL";

const COUNT_MAILS = `
  SELECT coalesce(e.variant, ''), count(*), ${NAMES.map((name) => `count(e.${COUNTERS[name]})`).join(", ")}
  FROM emails e INDEXED BY emails_campaign
  WHERE ${OF_CAMPAIGN} AND ${inTimeBy("e.seq")} GROUP BY 1`;

const COUNT_EVENTS = `
  SELECT e.variant, count(*) FROM emails e INDEXED BY emails_campaign
  CROSS JOIN contact_events c ON c.name_seq = +? AND c.contact_seq = e.contact_seq
    AND c.last_at >= e.sent_at
  WHERE ${OF_CAMPAIGN} AND e.variant IS NOT NULL AND ${inTimeBy("e.seq")} GROUP BY 1`;

const COUNT_UNSUBSCRIBED = `
  SELECT e.variant, count(DISTINCT e.seq)
  FROM events v INDEXED BY events_name CROSS JOIN emails e ON e.seq = v.email_seq
    AND e.campaign_seq = +? AND e.variant IS NOT NULL
  WHERE v.project_seq = +? AND v.name = 'contact.unsubscribed' AND v.created_at >= +?
    AND ${inTimeBy("v.seq")} GROUP BY 1`;

const COUNT_HELD_OUT = `
  SELECT count(*), count(c.name_seq) FROM ab_hold_outs h
  LEFT JOIN contact_events c ON c.name_seq = +? AND c.contact_seq = h.contact_seq
    AND c.last_at >= +?
  WHERE h.campaign_seq = +? AND ${inTimeBy("h.contact_seq")}`;

const COUNT_RECEIVERS = `
  SELECT count(*), count(c.name_seq) FROM emails e INDEXED BY emails_campaign
  LEFT JOIN contact_events c ON c.name_seq = +? AND c.contact_seq = e.contact_seq
    AND c.last_at >= +?
  WHERE ${OF_CAMPAIGN} AND e.sent_at IS NOT NULL AND e.contact_seq IS NOT NULL
    AND ${inTimeBy("e.seq")}`;

const findEventName = statement<{ seq: number }, [number, string | null]>(
  "SELECT seq FROM event_names WHERE project_seq = +? AND name = +?",
);

/** Null if no event of this name ever happened, which is the key of no row. */
const eventSeq = (app: App, { projectSeq }: Campaign, { eventName }: AbTestRow): number =>
  findEventName(app).get(projectSeq, eventName)?.seq ?? 0;

async function count(
  { reader }: App,
  { projectSeq }: Campaign,
  { limitMs, ...query }: { sql: string; values: readonly Value[]; limitMs?: number | undefined },
): Promise<Map<string, readonly number[]>> {
  const { rows } = await reader.find(projectSeq, query, limitMs);
  return new Map(rows.map(([key, ...counts]) => [String(key), counts.map(Number)]));
}

/** The figures of the variants, in their order. Throws if they are not counted within the limit. */
export async function abFigures(
  app: App,
  { campaign, test, limitMs }: { campaign: Campaign; test: AbTestRow; limitMs?: number },
): Promise<VariantFigures[]> {
  const mails = await count(app, campaign, { sql: COUNT_MAILS, values: [campaign.seq], limitMs });
  const events =
    test.winnerBy === "EVENT"
      ? await count(app, campaign, {
          sql: COUNT_EVENTS,
          values: [eventSeq(app, campaign, test), campaign.seq],
          limitMs,
        })
      : new Map<string, readonly number[]>();
  return test.variants.map(({ id }) => {
    const [recipients = 0, ...counts] = mails.get(id) ?? [];
    const counted: Counts = { ...NONE, recipients, events: events.get(id)?.[0] ?? 0 };
    for (const [place, name] of NAMES.entries()) counted[name] = counts[place] ?? 0;
    return { id, ...counted, hits: hitsOf(test, counted) };
  });
}

function hitsOf({ winnerBy }: AbTestRow, { opened, clicked, events }: Counts): number {
  if (winnerBy === "OPENS") return opened;
  return winnerBy === "EVENT" ? events : clicked;
}

/** Null for a campaign without an A/B test, or one that was not sent yet. */
export async function readAbReport(
  app: App,
  campaign: Campaign,
  test: AbTestRow,
): Promise<AbReport | null> {
  const state = presentAbState(test);
  if (state === null) return null;
  const { startedAt } = campaign;
  const figures = await abFigures(app, { campaign, test });
  const unsubscribed = await count(app, campaign, {
    sql: COUNT_UNSUBSCRIBED,
    values: [campaign.seq, campaign.projectSeq, startedAt ?? 0],
  });
  const shares = figures.map(({ id, hits, sent }) => ({
    id,
    hits: Math.min(hits, sent),
    total: sent,
  }));
  const verdict = verdictOf(shares);
  return {
    state,
    hasRest: hasAbRest(test),
    variants: figures.map((each, place) => {
      const variant = test.variants[place];
      const share = shares[place] ?? { hits: 0, total: 0 };
      const { subject } = variant === undefined ? campaign : variantContent(campaign, variant);
      return {
        ...each,
        id: variantId(each.id) ?? "A",
        name: variant?.name ?? null,
        subject,
        unsubscribed: unsubscribed.get(each.id)?.[0] ?? 0,
        rate: rateOf(share),
        decidedSent: variant?.decidedSent ?? null,
        decidedHits: variant?.decidedHits ?? null,
      };
    }),
    rest: restOf(app, campaign, figures),
    verdict: { ...verdict, bestId: variantId(verdict.bestId) },
    holdOut: test.holdOut === 0 ? null : await holdOutEffect(app, campaign, test),
  };
}

const variantId = (id: string | null) => VARIANT_IDS.find((each) => each === id) ?? null;

/** The figures of the campaign without the mails of the test. */
function restOf(
  app: App,
  campaign: Campaign,
  figures: readonly VariantFigures[],
): AbReport["rest"] {
  const all = readCounts(app, campaign.seq);
  const without = (total: number, name: "recipients" | "sent" | "opened" | "clicked") =>
    Math.max(
      0,
      figures.reduce((left, each) => left - each[name], total),
    );
  return {
    recipients: without(all.totalRecipients, "recipients"),
    sent: without(all.sent, "sent"),
    opened: without(all.opened, "opened"),
    clicked: without(all.clicked, "clicked"),
  };
}

/** Both groups are counted from the start of the campaign, so that the time is the same. */
async function holdOutEffect(
  app: App,
  campaign: Campaign,
  test: AbTestRow,
): Promise<AbReport["holdOut"]> {
  const { reader } = app;
  const key = eventSeq(app, campaign, test);
  const since = campaign.startedAt ?? 0;
  const held = await reader.find(campaign.projectSeq, {
    sql: COUNT_HELD_OUT,
    values: [key, since, campaign.seq],
  });
  const [contacts = 0, events = 0] = (held.rows[0] ?? []).map(Number);
  if (test.eventName === null) {
    return {
      contacts,
      events: null,
      receivers: null,
      receiverEvents: null,
      pValue: null,
      text: null,
    };
  }
  const received = await reader.find(campaign.projectSeq, {
    sql: COUNT_RECEIVERS,
    values: [key, since, campaign.seq],
  });
  const [receivers = 0, receiverEvents = 0] = (received.rows[0] ?? []).map(Number);
  const [without, withMail] = [
    { hits: events, total: contacts },
    { hits: receiverEvents, total: receivers },
  ];
  const pValue = differencePValue(without, withMail);
  const text = effectText(rateOf(withMail), rateOf(without), pValue);
  return { contacts, events, receivers, receiverEvents, pValue, text };
}

function effectText(withMail: number, without: number, pValue: number): string {
  const rates = `${percent(withMail)} of those who got a mail, and ${percent(without)} of those who got none`;
  if (pValue > 0.05) return `${rates}, had the event. This may be chance.`;
  return `${rates}, had the event: ${chanceOf(pValue)}.`;
}

const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;
