/**
 * Handles the events of campaign mail, in the transaction that writes them: it updates the counters
 * by campaign, link and hour, and runs the circuit breaker, which pauses a campaign whose bounces
 * or complaints harm the reputation of the sender, and one whose first mails all fail alike.
 */

import type { EventInput } from "../../events/log.ts";
import { isReportedLater } from "../../outbox/late-reports.ts";
import { type CampaignFailure, createFirstFailures } from "./first-failures.ts";
import { campaignLifecycle } from "./lifecycle.ts";
import { campaignStats } from "./stats.ts";
import type { App } from "../../core/app.ts";
import { perApp } from "../../lib/per-app.ts";
import { campaignLog } from "./log.ts";
import { UNSUBSCRIBE_EVENTS } from "./unsubscribe-events.ts";

type Limits = {
  /** Shares of the mails that left, 0 to 1. A campaign that exceeds one of them is paused. */
  bounceRate: number;
  complaintRate: number;
  /**
   * The circuit breaker ignores fewer mails than this, because one bounce would be a large share.
   */
  afterMails: number;
};

/**
 * Complaints that never pause a campaign. Each is of another recipient, because a contact gets a
 * campaign once and a mail has one complaint; one or two people must not stop the mail of all others.
 */
const FORGIVEN_COMPLAINTS = 2;

export const campaignHandlers = perApp(createCampaignHandlers);

function createCampaignHandlers(app: App) {
  const { config } = app;
  const [log, stats, lifecycle] = [campaignLog(app), campaignStats(app), campaignLifecycle(app)];
  const limits: Limits = {
    bounceRate: config.campaignBounceLimit,
    complaintRate: config.campaignComplaintLimit,
    afterMails: config.campaignLimitAfter,
  };
  const { sqlite } = app.db;
  const firstFailures = createFirstFailures({ stats });
  const findCampaign = sqlite.prepare<{ campaignSeq: number }, [number]>(
    // The join leaves out mails whose campaign was deleted: mails are stored longer than campaigns.
    `SELECT campaigns.seq AS campaignSeq FROM emails
     JOIN campaigns ON campaigns.seq = emails.campaign_seq WHERE emails.seq = +?`,
  );
  const countClicksOfLink = sqlite.prepare<{ n: number }, [number, string]>(`
    SELECT count(*) AS n FROM events
    WHERE email_seq = +? AND name = 'email.clicked' AND json_extract(data, '$.url') = +?`);

  const countUnsubscribed = sqlite.prepare<{ n: number }, [number]>(
    `SELECT count(*) AS n FROM events WHERE email_seq = +? AND name IN (${UNSUBSCRIBE_EVENTS})`,
  );

  function campaignOf(emailSeq: number | undefined): number | null {
    return emailSeq === undefined ? null : (findCampaign.get(emailSeq)?.campaignSeq ?? null);
  }

  /**
   * Counts a mail that left. Only the first one of each transaction checks the limits: a mail that
   * left lowers the shares, but it may be the one from which on the limits apply.
   */
  function noteSent(campaignSeq: number, at: number): void {
    if (stats.sent(campaignSeq, at)) breakIfHarmful(campaignSeq);
  }

  function noteClick(campaignSeq: number, event: EventInput): void {
    const { emailSeq = 0, data, at, isFirstOfMail = false } = event;
    const url = urlOf(data);
    // The log already contains this click, so a count of 1 means that it is the first.
    const isFirstOfLink = countClicksOfLink.get(emailSeq, url)?.n === 1;
    stats.click(campaignSeq, { at, url, isFirst: isFirstOfMail, isFirstOfLink });
  }

  /** Counts a mail once, even if its recipient unsubscribes and resubscribes several times. */
  function noteUnsubscribed(campaignSeq: number, { emailSeq = 0 }: EventInput): void {
    if (countUnsubscribed.get(emailSeq)?.n === 1) stats.add(campaignSeq, "unsubscribed");
  }

  function pause(campaignSeq: number, reason: string): void {
    const campaign = lifecycle.pauseBecause(campaignSeq, reason);
    if (campaign !== null) log.warn("a campaign was paused", { campaign, reason });
  }

  function breakIfHarmful(campaignSeq: number): void {
    const { left, bounced, complained } = stats.sinceResumed(campaignSeq);
    if (left < limits.afterMails) return;
    const reason =
      bounced / left > limits.bounceRate
        ? `${percent(bounced / left)} of the mails bounced, more than ${percent(limits.bounceRate)}`
        : complained > FORGIVEN_COMPLAINTS && complained / left > limits.complaintRate
          ? `${percent(complained / left)} complained, more than ${percent(limits.complaintRate)}`
          : null;
    if (reason !== null) pause(campaignSeq, reason);
  }

  /** Part of a change: counts a mail that did not leave. */
  function noteFailure(campaignSeq: number, failure: CampaignFailure): void {
    const reason = firstFailures.add(campaignSeq, failure);
    if (reason !== null) pause(campaignSeq, reason);
  }

  function noteBounce(campaignSeq: number, { data }: EventInput): void {
    stats.add(campaignSeq, "bounced");
    const isLater = isReportedLater(data);
    if (isLater) stats.add(campaignSeq, "bouncedLater");
    else noteFailure(campaignSeq, failureOf(data));
    breakIfHarmful(campaignSeq);
  }

  return {
    noteFailure,

    /** Part of a change: called for every event, right after it was written. */
    handle(event: EventInput): void {
      // This event names its campaign, and the counters ignore a campaign that was deleted meanwhile.
      const isKnown = event.name === "email.sent" && event.campaignSeq !== undefined;
      const campaignSeq = isKnown ? event.campaignSeq : campaignOf(event.emailSeq);
      if (campaignSeq === null || campaignSeq === undefined) return;
      switch (event.name) {
        case "email.sent":
          return noteSent(campaignSeq, event.at);
        case "email.delivered":
          return stats.add(campaignSeq, "delivered");
        case "email.failed":
          stats.add(campaignSeq, "failed");
          return noteFailure(campaignSeq, failureOf(event.data));
        case "email.cancelled":
          return stats.add(campaignSeq, "cancelled");
        case "email.suppressed":
          return stats.add(campaignSeq, "suppressed");
        case "contact.unsubscribed":
        case "contact.topic_unsubscribed":
          return noteUnsubscribed(campaignSeq, event);
        case "email.opened":
          return stats.open(campaignSeq, { at: event.at, isFirst: true });
        case "email.clicked":
          return noteClick(campaignSeq, event);
        case "email.bounced":
          return noteBounce(campaignSeq, event);
        case "email.complained":
          stats.add(campaignSeq, "complained");
          return breakIfHarmful(campaignSeq);
      }
    },

    /** Part of a change: counts the first open or click of a mail by a machine. */
    noteMachine(emailSeq: number, kind: "open" | "click"): void {
      const campaignSeq = campaignOf(emailSeq);
      if (campaignSeq === null) return;
      stats.add(campaignSeq, kind === "open" ? "machineOpens" : "machineClicks");
    },
  };
}

function urlOf(data: unknown): string {
  return textOf(data, "url");
}

function failureOf(data: unknown): CampaignFailure {
  return { class: textOf(data, "class"), reason: textOf(data, "reason") };
}

function textOf(data: unknown, name: string): string {
  const found: unknown = typeof data === "object" && data !== null ? Reflect.get(data, name) : null;
  return typeof found === "string" ? found : "";
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)}%`;
}
