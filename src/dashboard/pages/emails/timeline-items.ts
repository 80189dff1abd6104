/** Lists the events of an email in the order of time. */

import type { Email } from "../../../modules/emails/record-model.ts";
import type { TimelineItem } from "../../ui/timeline.tsx";
import { explainClass } from "../../ui/message/explain.ts";

export type AddressSuppression = { reason: string; createdAt: string };

/**
 * `suppression` is that of the recipient's address; null if there is none. `areDeliveriesKnown` is false
 * if mail leaves through a relay, which does not report them.
 */
export function timelineOf(
  email: Email,
  suppression: AddressSuppression | null,
  areDeliveriesKnown = true,
): TimelineItem[] {
  const past = [
    ...milestones(email, areDeliveriesKnown),
    ...deferrals(email),
    ...endOf(email),
    ...reportsOf(email),
    ...(suppression === null ? [] : [suppressionItem(suppression)]),
  ].toSorted((one, other) => timeOf(one) - timeOf(other));
  return [...past, ...nextAttempt(email)];
}

const timeOf = ({ at }: TimelineItem): number =>
  at === null ? Number.POSITIVE_INFINITY : new Date(at).getTime();

function milestones(email: Email, areDeliveriesKnown: boolean): TimelineItem[] {
  const { createdAt, sentAt, deliveredAt, openedAt, clickedAt, bouncedAt, complainedAt } = email;
  const items: TimelineItem[] = [
    { key: "queued", tone: "waiting", title: "Accepted and queued", at: createdAt },
    {
      key: "sent",
      tone: "good",
      title: "Sent",
      at: sentAt,
      detail: sentDetail(email, areDeliveriesKnown),
    },
    { key: "delivered", tone: "good", title: "Delivered", at: deliveredAt },
    { key: "opened", tone: "seen", title: "Opened", at: openedAt, detail: "For the first time" },
    {
      key: "clicked",
      tone: "acted",
      title: "Clicked",
      at: clickedAt,
      detail: "For the first time",
    },
    { key: "bounced", tone: "failed", title: "Bounced", at: bouncedAt, detail: email.lastError },
    { key: "complained", tone: "complained", title: "Reported as spam", at: complainedAt },
  ];
  // A report says more about the end that it caused.
  const reported = email.reports.map(({ kind }) => (kind === "BOUNCE" ? "bounced" : "complained"));
  return items.filter(({ key, at }) => at !== null && !reported.some((end) => end === key));
}

function sentDetail(email: Email, areDeliveriesKnown: boolean): string | undefined {
  const host = hostOf(email);
  if (host === null) return undefined;
  return areDeliveriesKnown || email.deliveredAt !== null
    ? `A mail server accepted it: ${host}`
    : `Your relay accepted it: ${host}. It does not report deliveries.`;
}

const hostOf = ({ attempts }: Email): string | null =>
  attempts.findLast(({ outcome }) => outcome === "accepted")?.conversations.at(-1)?.host ?? null;

const deferrals = ({ attempts }: Email): TimelineItem[] =>
  attempts
    .filter(({ outcome }) => outcome === "deferred")
    .map((attempt) => ({
      key: `attempt ${attempt.number}`,
      tone: "held",
      title: `Deferred: ${explainClass(attempt.class).title.toLowerCase()}`,
      at: attempt.startedAt,
      detail: attempt.reason,
    }));

/** Bounces and complaints that arrived after a server had accepted the mail. */
const reportsOf = ({ reports }: Email): TimelineItem[] =>
  reports.map((report, i) => ({
    key: `report ${i}`,
    tone: report.kind === "BOUNCE" ? "failed" : "complained",
    title: report.kind === "BOUNCE" ? "Bounced, by a report" : "Reported as spam",
    at: report.receivedAt,
    detail: [report.reason, report.reportingMta]
      .filter((part) => part !== null && part !== "")
      .join(" · "),
  }));

/** The ends that have no time of their own. */
function endOf({ status, attempts, lastError }: Email): TimelineItem[] {
  const title = ENDS[status];
  if (title === undefined) return [];
  const at = attempts.at(-1)?.startedAt ?? null;
  const tone = status === "FAILED" ? "failed" : status === "SUPPRESSED" ? "held" : "waiting";
  return [{ key: "end", tone, title, at, detail: lastError }];
}

const ENDS: Readonly<Record<string, string>> = {
  FAILED: "Failed",
  SUPPRESSED: "Not sent: the address is suppressed",
  CANCELLED: "Cancelled",
};

const suppressionItem = ({ reason, createdAt }: AddressSuppression): TimelineItem => ({
  key: "suppressed",
  tone: "held",
  title: "Address suppressed",
  at: createdAt,
  detail: `Reason: ${reason.toLowerCase().replaceAll("_", " ")}. The project sends it no mail.`,
});

function nextAttempt({ nextAttemptAt, attempts }: Email): TimelineItem[] {
  if (nextAttemptAt === null) return [];
  const title = attempts.length === 0 ? "First attempt" : "Next attempt";
  return [{ key: "next", tone: "waiting", title, at: nextAttemptAt, detail: "Due" }];
}
