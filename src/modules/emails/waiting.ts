/** Finds out why a mail that was accepted was not sent yet. */

import type { CampaignStatus } from "../../db/schema/campaigns.ts";
import type { EmailStatus } from "../../db/schema/emails.ts";
import { isoTime, isoTimeOrNull } from "../../lib/clock.ts";
import type { Hold } from "../../outbox/outcome.ts";
import type { EmailWait } from "./record-model.ts";

/** The reason why the transport sends no mail of a project that is in a wait list; null if it sends mail. */
export type FindHold = (waitList: string, projectSeq: number) => Hold | null;

export type WaitingMail = {
  status: EmailStatus;
  projectSeq: number;
  /** Its wait list. */
  line: string;
  nextAt: number | null;
  lastError: string | null;
  /** The time that its sender chose; null for a mail that is sent at once. */
  scheduledAt: number | null;
  /** Null if the mail belongs to no campaign. */
  campaign: { name: string; status: CampaignStatus } | null;
  isProjectEnabled: boolean;
};

/** Null unless the mail is QUEUED. `now` is the wall clock. */
export function whyWaiting(mail: WaitingMail, holdOf: FindHold, now: number): EmailWait | null {
  const { status, projectSeq, line, nextAt, lastError, campaign } = mail;
  if (status !== "QUEUED") return null;
  if (!mail.isProjectEnabled) return { ...UNNAMED, cause: "PROJECT_DISABLED" };
  if (campaign?.status === "PAUSED") {
    return { ...UNNAMED, cause: "CAMPAIGN_PAUSED", name: campaign.name };
  }
  const { scheduledAt } = mail;
  if (scheduledAt !== null && scheduledAt > now) {
    return { ...UNNAMED, cause: "SCHEDULED", until: isoTime(scheduledAt) };
  }
  const hold = holdOf(line, projectSeq);
  if (hold !== null) {
    const { at, name, reason, retryAfterMs } = hold;
    return { cause: CAUSES[at], name, reason, until: isoTime(Math.ceil(now + retryAfterMs)) };
  }
  const cause = lastError === null ? "QUEUE" : "RETRY";
  return { cause, name: null, reason: lastError, until: isoTimeOrNull(nextAt) };
}

const CAUSES = { relay: "RELAY_DOWN", account: "RELAY_REFUSES", site: "SITE_PAUSED" } as const;

const UNNAMED = { name: null, reason: null, until: null };
