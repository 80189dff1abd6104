/** Writes what became of an attempt: state, next time, attempt record, event, suppression. */

import type { Db } from "../db/open.ts";
import type { Verdict } from "./attempt.ts";
import type { Consignment } from "./load.ts";
import { NO_LINE } from "./lines.ts";
import type { Busy, Outcome } from "./outcome.ts";
import { isPastLifetime, nextAttemptAt } from "./retry.ts";

export type Settlement = {
  mail: Consignment;
  verdict: Verdict;
  startedAt: number;
  durationMs: number;
  now: number;
};

export type EmailFact = {
  projectSeq: number;
  name: "email.sent" | "email.delivered" | "email.bounced" | "email.failed" | "email.suppressed";
  contactSeq: number | null;
  emailSeq: number;
  data?: unknown;
  at: number;
};

export type SettleDeps = {
  db: Db;
  random: () => number;
  recordFact: (fact: EmailFact) => void;
  /** A mail that nobody wants any more: no fact, but campaigns count it. */
  noteCancelled: (emailSeq: number) => void;
  /** An address that cannot receive mail (delivery rule R2). */
  suppress: (projectSeq: number, address: string, at: number) => void;
};

type State = {
  status: string;
  nextAt: number | null;
  sentAt: number | null;
  deliveredAt: number | null;
  bouncedAt: number | null;
  lastError: string | null;
};

/** Only whoever has the lease may write. */
type Ownership = { seq: number; attempts: number };
type PutBack = Ownership & { line: string; nextAt: number };

/** As it is when the outcome is written: the contact may have been deleted since it was loaded. */
type Recipient = { contactSeq: number | null; isDeleted: number };

/** Longest reason kept in a row; the attempt has the whole conversation. */
const LONGEST_REASON = 1000;

/** Part of a change. False if the lease was lost meanwhile; then nothing is written. */
export type Settle = (settlement: Settlement) => boolean;

export function createSettle(deps: SettleDeps): Settle {
  const { sqlite } = deps.db;
  const update = sqlite.prepare<
    Recipient,
    [State & Ownership & { attemptsMade: number; subject: string | null }]
  >(`
    UPDATE emails
    SET status = $status, attempts = $attemptsMade, next_at = $nextAt, sent_at = $sentAt, delivered_at = $deliveredAt,
        bounced_at = $bouncedAt, last_error = iif(to_address IS NULL, NULL, $lastError),
        subject = iif(to_address IS NULL, subject, coalesce($subject, subject))
    WHERE seq = +$seq AND status = 'SENDING' AND attempts = +$attempts
    RETURNING contact_seq AS contactSeq, to_address IS NULL AS isDeleted`);
  const putBack = sqlite.prepare<{ seq: number }, [PutBack]>(`
    UPDATE emails
    SET status = 'QUEUED', attempts = attempts - 1, line = $line, next_at = $nextAt
    WHERE seq = +$seq AND status = 'SENDING' AND attempts = +$attempts
    RETURNING seq`);
  const firstTry = sqlite.prepare<{ at: number | null }, [number]>(
    "SELECT min(started_at) AS at FROM attempts WHERE email_seq = +?",
  );
  const insertAttempt = sqlite.prepare<
    unknown,
    [number, number, number, number, string, string, string | null, string]
  >(`
    INSERT INTO attempts
      (email_seq, number, started_at, duration_ms, outcome, class, reason, conversations)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)`);
  const keepRaw = sqlite.prepare<unknown, [number, Uint8Array]>(`
    INSERT INTO captured_messages (email_seq, raw) VALUES (?, ?) ON CONFLICT DO NOTHING`);

  return function settle(settlement) {
    const { mail, verdict: found, now } = settlement;
    const untried = untriedOf(found);
    const since = lifetimeOf(settlement);
    if (untried !== null && !isPastLifetime({ ...mail, since, now })) {
      return putBack.get(placeAfter(settlement, untried)) !== null;
    }
    const timed = withDeadline(settlement, since, deps.random());
    const attemptsMade = untried === null ? mail.attempts : mail.attempts - 1;
    const state = { ...stateAfter(settlement, timed), attemptsMade };
    const subject = timed.kind === "accepted" ? (timed.subject ?? null) : null;
    const recipient = update.get({ ...state, subject, seq: mail.seq, attempts: mail.attempts });
    if (recipient === null) return false;
    const verdict = recipient.isDeleted === 1 ? withoutTraces(timed) : timed;
    if ("conversations" in verdict && untried === null) recordAttempt(settlement, verdict);
    recordFacts(settlement, verdict, recipient.contactSeq);
    return true;
  };

  /** When its lifetime began (retry.ts); only asked of what did not leave. */
  function lifetimeOf({ mail, verdict, startedAt }: Settlement): number {
    if (mail.priority === 0 || verdict.kind !== "deferred") return mail.acceptedAt;
    return firstTry.get(mail.seq)?.at ?? startedAt;
  }

  function recordAttempt(settlement: Settlement, outcome: Outcome): void {
    const { mail, startedAt, durationMs } = settlement;
    insertAttempt.run(
      mail.seq,
      mail.attempts,
      startedAt,
      durationMs,
      outcome.kind,
      outcome.class,
      outcome.kind === "accepted" ? null : outcome.reason.slice(0, LONGEST_REASON),
      JSON.stringify(outcome.conversations),
    );
    if (outcome.kind === "accepted" && outcome.captured !== undefined) {
      keepRaw.run(mail.seq, outcome.captured);
    }
  }

  function recordFacts(
    { mail, now }: Settlement,
    verdict: TimedVerdict,
    contactSeq: number | null,
  ): void {
    const { projectSeq, seq: emailSeq } = mail;
    const record = (name: EmailFact["name"], data?: unknown) =>
      deps.recordFact({ projectSeq, name, contactSeq, emailSeq, data, at: now });
    switch (verdict.kind) {
      case "accepted":
        record("email.sent");
        if (verdict.final) record("email.delivered");
        return;
      case "bounced":
        record("email.bounced", { class: verdict.class, reason: verdict.reason });
        if (verdict.class === "no_such_recipient" && mail.to !== null) {
          deps.suppress(projectSeq, mail.to, now);
        }
        return;
      case "failed":
        record("email.failed", { class: verdict.class, reason: verdict.reason });
        return;
      case "suppressed":
        record("email.suppressed", { reason: verdict.reason });
        return;
      case "cancelled":
        deps.noteCancelled(emailSeq);
    }
  }
}

/** No place was found for it: it is no attempt (delivery rule S7). */
export function untriedOf(verdict: Verdict): Busy | null {
  return verdict.kind === "deferred" ? (verdict.untried ?? null) : null;
}

/** In its line it keeps the rank that it had; the clock may have been set back since it was leased. */
function placeAfter({ mail, now }: Settlement, { line, retryAfterMs }: Busy): PutBack {
  const { seq, attempts, dueAt } = mail;
  const nextAt = line === null ? now + retryAfterMs : Math.min(dueAt, now);
  return { seq, attempts, line: line ?? NO_LINE, nextAt };
}

/** A deferral knows its next time; one whose time is up has become a bounce (4.4.7). */
type TimedVerdict = Exclude<Verdict, { kind: "deferred" }> | (Deferred & { nextAt: number });
type Deferred = Extract<Outcome, { kind: "deferred" }>;

function withDeadline(
  { mail, verdict, now }: Settlement,
  since: number,
  random: number,
): TimedVerdict {
  if (verdict.kind !== "deferred") return verdict;
  const { attempts, priority } = mail;
  const { retryAfterMs } = verdict;
  const nextAt = nextAttemptAt({ attempts, since, now, priority, retryAfterMs, random });
  if (nextAt !== null) return { ...verdict, nextAt };
  const reason = `4.4.7 Given up after too many attempts; last: ${verdict.reason}`;
  return { kind: "bounced", class: verdict.class, reason, conversations: verdict.conversations };
}

/** Of a contact that was deleted meanwhile nothing is kept that tells who it was. */
function withoutTraces(verdict: TimedVerdict): TimedVerdict {
  const reason = "The contact was deleted.";
  if (!("conversations" in verdict)) return { ...verdict, reason };
  if (verdict.kind !== "accepted") return { ...verdict, reason, conversations: [] };
  const { captured: _, ...rest } = verdict;
  return { ...rest, reason, conversations: [] };
}

function stateAfter({ now }: Settlement, verdict: TimedVerdict): State {
  const state = { nextAt: null, sentAt: null, deliveredAt: null, bouncedAt: null, lastError: null };
  if (verdict.kind === "accepted") {
    return verdict.final
      ? { ...state, status: "DELIVERED", sentAt: now, deliveredAt: now }
      : { ...state, status: "SENT", sentAt: now };
  }
  const lastError = verdict.reason.slice(0, LONGEST_REASON);
  switch (verdict.kind) {
    case "deferred":
      return { ...state, status: "QUEUED", nextAt: verdict.nextAt, lastError };
    case "bounced":
      return { ...state, status: "BOUNCED", bouncedAt: now, lastError };
    case "failed":
      return { ...state, status: "FAILED", lastError };
    case "suppressed":
      return { ...state, status: "SUPPRESSED", lastError };
    case "cancelled":
      return { ...state, status: "CANCELLED", lastError };
  }
}
