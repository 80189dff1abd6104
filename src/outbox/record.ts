/**
 * Stores the outcome of an attempt, in the transaction of the caller: state and next due time of
 * the mail, the record of the attempt, its events, and a suppression if the address does not exist.
 * Reports that arrived meanwhile are applied.
 * A mail that got no slot goes back to the queue instead, as if it had not been leased.
 */

import type { Db } from "../db/open.ts";
import { bytesOfRow } from "../db/usage.ts";
import type { UsageCounter } from "../db/usage-counter.ts";
import type { LeasedMail } from "./lane/rows.ts";
import { compactJson } from "../protocols/smtp/conversation.ts";
import type { SuppressBounced } from "./bounce-suppression.ts";
import { isFrom, stateAfter, TRANSITIONS, type TransitionName } from "./states.ts";
import { NO_WAIT_LIST } from "./lane/wait-lists.ts";
import type { Busy, Outcome, Verdict } from "./outcome.ts";
import { createOutcomeUpdate, type OutcomeState } from "./outcome-rows.ts";
import { isPastLifetime, nextAttemptAt } from "./retry.ts";

type AttemptResult = {
  mail: LeasedMail;
  verdict: Verdict;
  /** The rendered subject of campaign mail; null for other mail, whose row has it. */
  subject: string | null;
  startedAt: number;
  durationMs: number;
  now: number;
};

type EventName = NonNullable<(typeof TRANSITIONS)[TransitionName]["event"]>;

type EmailEvent = {
  projectSeq: number;
  name: EventName;
  contactSeq: number | null;
  emailSeq: number;
  campaignSeq: number | null;
  data?: unknown;
  at: number;
};

type RecordDeps = {
  db: Db;
  usage: Pick<UsageCounter, "addBytes" | "addQueued">;
  random: () => number;
  recordEvent: (event: EmailEvent) => void;
  /** Suppresses an address that does not exist, or after repeated soft bounces. */
  suppressBounced: SuppressBounced;
  /** Applies the reports that arrived before the outcome (late-reports.ts). */
  applyReports: (emailSeq: number, at: number) => void;
  /** Called in the change that defers a mail of a campaign because its sender was refused. */
  onSenderRefused?: (campaignSeq: number, refusal: { class: string; reason: string }) => void;
  /** Called in the change that stores a captured message. */
  onCaptured?: OnCaptured;
};

export type OnCaptured = (
  mail: Pick<LeasedMail, "id" | "projectSeq" | "fromAddress" | "to">,
  message: Uint8Array,
) => void;

/** The changes of an outcome: the row of the mail, and the events with their data. */
type Transition = { state: OutcomeState; events: readonly EventName[]; data?: EventData };
type EventData = { class?: string; reason: string };

const UNSET = { nextAt: null, sentAt: null, deliveredAt: null, bouncedAt: null, lastError: null };

/** Identifies the lease: a row is written only while it still has this number of attempts. */
type LeaseKey = { seq: number; attempts: number };
type Requeue = LeaseKey & { line: string; nextAt: number };

/** Longest stored reason, in UTF-16 units; the attempt has the whole conversation. */
const LONGEST_REASON = 1000;

/** Change. Returns false, and writes nothing, if the lease was lost meanwhile. */
export type RecordOutcome = (settlement: AttemptResult) => boolean;

export function createRecordOutcome(deps: RecordDeps): RecordOutcome {
  const { usage } = deps;
  const { sqlite } = deps.db;
  const updateMail = createOutcomeUpdate(deps.db);
  const requeue = sqlite.prepare<unknown, [Requeue]>(`
    UPDATE emails
    SET status = ${stateAfter("requeue")}, attempts = attempts - 1, line = $line, next_at = $nextAt
    WHERE seq = +$seq AND ${isFrom("requeue")} AND attempts = +$attempts`);
  const firstAttempt = sqlite.prepare<{ at: number | null }, [number]>(
    "SELECT min(started_at) AS at FROM attempts WHERE email_seq = +?",
  );
  const insertAttempt = sqlite.prepare<
    unknown,
    [number, number, number, number, string, string, string | null, string]
  >(`
    INSERT INTO attempts
      (email_seq, number, started_at, duration_ms, outcome, class, reason, conversations)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)`);
  const insertCaptured = sqlite.prepare<unknown, [number, Uint8Array]>(`
    INSERT INTO captured_messages (email_seq, raw) VALUES (?, ?) ON CONFLICT DO NOTHING`);

  return (settlement) => {
    if (!settle(settlement)) return false;
    deps.applyReports(settlement.mail.seq, settlement.now);
    return true;
  };

  function settle(settlement: AttemptResult): boolean {
    const { mail, now } = settlement;
    const busy = busyOf(settlement.verdict);
    const since = lifetimeOf(settlement);
    if (busy !== null && !isPastLifetime({ ...mail, since, now })) {
      return requeue.run(requeueOf(settlement, busy)).changes > 0;
    }
    const { verdict, nextAt } = withDeadline(settlement, since, deps.random());
    const { seq, attempts, projectSeq, campaignSeq } = mail;
    const attemptsMade = busy === null ? attempts : attempts - 1;
    const transition = transitionOf(verdict, nextAt, now);
    const subject = verdict.kind === "accepted" ? settlement.subject : null;
    const recipient = updateMail(mail, { ...transition.state, attemptsMade, subject });
    if (recipient === null) return false;
    if (nextAt === null && campaignSeq === null) usage.addQueued(projectSeq, -1);
    const isDeleted = recipient.isDeleted === 1;
    const stored = isDeleted ? withoutPersonalData(verdict) : verdict;
    if ("conversations" in stored && busy === null) recordAttempt(settlement, stored);
    const { events, data } = isDeleted ? transitionOf(stored, nextAt, now) : transition;
    const { contactSeq } = recipient;
    for (const name of events) {
      deps.recordEvent({ projectSeq, name, contactSeq, emailSeq: seq, campaignSeq, data, at: now });
    }
    if (verdict.kind === "deferred" && verdict.isSenderRefused === true && campaignSeq !== null) {
      deps.onSenderRefused?.(campaignSeq, { class: verdict.class, reason: verdict.reason });
    }
    if (stored.kind === "bounced") {
      const bounced = { seq, projectSeq, contactSeq, to: mail.to, class: stored.class, at: now };
      deps.suppressBounced(bounced);
    }
    return true;
  }

  /** Start of the mail's lifetime (retry.ts), which matters only for a deferral. */
  function lifetimeOf({ mail, verdict, startedAt }: AttemptResult): number {
    if (mail.priority === 0 || verdict.kind !== "deferred") return mail.acceptedAt;
    return firstAttempt.get(mail.seq)?.at ?? startedAt;
  }

  function recordAttempt(settlement: AttemptResult, outcome: Outcome): void {
    const { mail, startedAt, durationMs } = settlement;
    // Nearly all attempts are accepted; report-effects.ts reads the conversations of the others in SQL.
    const isAccepted = outcome.kind === "accepted";
    const conversations = isAccepted
      ? compactJson(outcome.conversations)
      : JSON.stringify(outcome.conversations);
    insertAttempt.run(
      mail.seq,
      mail.attempts,
      startedAt,
      durationMs,
      outcome.kind,
      outcome.class,
      outcome.kind === "accepted" ? null : outcome.reason.slice(0, LONGEST_REASON),
      conversations,
    );
    usage.addBytes(mail.projectSeq, bytesOfRow("attempts", { conversations }));
    if (outcome.kind === "accepted" && outcome.captured !== undefined) {
      insertCaptured.run(mail.seq, outcome.captured);
      deps.onCaptured?.(mail, outcome.captured);
    }
  }
}

/** The reason why the mail got no slot; null if it was attempted (docs/delivery.md#S7). */
export function busyOf(verdict: Verdict): Busy | null {
  return verdict.kind === "deferred" ? (verdict.notAttempted ?? null) : null;
}

/** Keeps the mail's rank in its wait list, even if the clock was set back since the lease. */
function requeueOf({ mail, now }: AttemptResult, { waitList, retryAfterMs }: Busy): Requeue {
  const { seq, attempts, dueAt } = mail;
  const nextAt = waitList === null ? now + retryAfterMs : Math.min(dueAt, now);
  return { seq, attempts, line: waitList ?? NO_WAIT_LIST, nextAt };
}

/** The verdict with the time of the retry; at the end of its lifetime the mail bounces (4.4.7). */
function withDeadline(
  { mail, verdict, now }: AttemptResult,
  since: number,
  random: number,
): { verdict: Verdict; nextAt: number | null } {
  if (verdict.kind !== "deferred") return { verdict, nextAt: null };
  const { attempts, priority } = mail;
  const { retryAfterMs, conversations } = verdict;
  const nextAt = nextAttemptAt({ attempts, since, now, priority, retryAfterMs, random });
  if (nextAt !== null) return { verdict, nextAt };
  const reason = `4.4.7 The delivery time expired; the last attempt: ${verdict.reason}`;
  return {
    verdict: { kind: "bounced", class: verdict.class, reason, conversations },
    nextAt: null,
  };
}

/** Removes all personal data, for a contact that was deleted meanwhile. */
function withoutPersonalData(verdict: Verdict): Verdict {
  const reason = "The contact was deleted.";
  if (!("conversations" in verdict)) return { ...verdict, reason };
  if (verdict.kind !== "accepted") return { ...verdict, reason, conversations: [] };
  const { captured: _, ...rest } = verdict;
  return { ...rest, reason, conversations: [] };
}

/** `nextAt` is the time of the retry after a deferral. */
function transitionOf(verdict: Verdict, nextAt: number | null, now: number): Transition {
  const { send, deliver, requeue, bounce, fail, suppress, cancel } = TRANSITIONS;
  if (verdict.kind === "accepted") {
    return verdict.final
      ? {
          state: { ...UNSET, status: deliver.to, sentAt: now, deliveredAt: now },
          events: [send.event, deliver.event],
        }
      : { state: { ...UNSET, status: send.to, sentAt: now }, events: [send.event] };
  }
  const { reason } = verdict;
  const state = { ...UNSET, lastError: reason.slice(0, LONGEST_REASON) };
  switch (verdict.kind) {
    case "deferred":
      return { state: { ...state, status: requeue.to, nextAt }, events: [] };
    case "bounced": {
      const data = { class: verdict.class, reason };
      return {
        state: { ...state, status: bounce.to, bouncedAt: now },
        events: [bounce.event],
        data,
      };
    }
    case "failed": {
      const data = { class: verdict.class, reason };
      return { state: { ...state, status: fail.to }, events: [fail.event], data };
    }
    case "suppressed":
      return {
        state: { ...state, status: suppress.to },
        events: [suppress.event],
        data: { reason },
      };
    case "cancelled":
      return { state: { ...state, status: cancel.to }, events: [cancel.event], data: { reason } };
  }
}
