/**
 * The circuit breaker of the relay. All mail uses the same relay, so once no session with it can be
 * opened, or once it refuses everything of our account, further attempts would fail as well. No mail
 * gets a slot until the backoff is over; then a single mail is sent as a probe. The others follow once
 * the probe has a session, or after a refusal of the account, once the relay answers the probe
 * otherwise.
 */

import type { Clock } from "../../lib/clock.ts";
import type { Log } from "../../lib/log.ts";
import { type Busy, type Hold, type Slot, shareWaitList } from "../outcome.ts";
import { describeFailure, type Failure } from "../../protocols/smtp/failure.ts";

type RelayGateOptions = {
  /** `host:port`, for the log. */
  relay: string;
  clock: Pick<Clock, "elapsed">;
  log: Log;
};

type RelayGate = {
  /** Returns a slot without I/O. While the relay is down there is only one slot: the probe's. */
  admit(): Slot | Busy;
  isDown(): boolean;
  /** True if the mail with this slot is the only one that is sent at present. */
  isProbe(slot: Slot): boolean;
  /** Why all mail waits; null while the relay is up. */
  hold(): Hold | null;
  /** A session was opened, so the relay is up. */
  noteSession(): void;
  /** An older session answered the mail with this slot; this matters only for the probe. */
  noteAnswer(slot: Slot): void;
  /** No session could be opened for the mail with this slot. Returns when to ask again. */
  noteFailure(slot: Slot, failure: Failure): Busy;
  /**
   * The relay refused the mail with this slot because of our account: its quota, its log-in, its IP
   * address. `retryAfterMs` is the time that it named. Returns when to ask again.
   */
  noteRefusal(slot: Slot, refusal: { reason: string; retryAfterMs?: number | undefined }): Busy;
};

/** Times are milliseconds of the monotonic clock. */
type Outage = {
  /** "account" if the relay answers, but refuses everything of our account. */
  at: "relay" | "account";
  since: number;
  /** The latest failure. */
  reason: string;
  backoffMs: number;
  /** Earliest time of the next probe. */
  probeAt: number;
  /** The probe under way; null if there is none. */
  probe: Slot | null;
};

const FIRST_BACKOFF_MS = 2_000;
const LONGEST_BACKOFF_MS = 60_000;
/** A quota or the state of an account seldom changes within a minute. */
const FIRST_REFUSAL_MS = 60_000;
const LONGEST_REFUSAL_MS = 60 * 60_000;
/** How long other mails wait before they ask again while the probe is under way. */
const PROBE_WAIT_MS = 1_000;

/** Mails that were leased before the outage wait in this list, so that they keep their rank. */
const WAIT_LIST = shareWaitList("relay");

const FREE_SLOT: Slot = { kind: "slot", waitList: WAIT_LIST, release: () => {} };

const WORDS = {
  relay: {
    begin: "the relay cannot be reached; no mail is sent until it answers",
    probe: "the relay still cannot be reached",
    end: "the relay is back; mail is sent again",
    reason: "the relay cannot be reached",
  },
  account: {
    begin: "the relay refuses the mail of this account; no mail is sent until it takes mail again",
    probe: "the relay still refuses the mail of this account",
    end: "the relay takes mail of this account again",
    reason: "the relay refuses the mail of this account",
  },
} as const;

export function createRelayGate({ relay, clock, log }: RelayGateOptions): RelayGate {
  /** Null while the relay is up, as far as is known. */
  let outage: Outage | null = null;

  function admit(): Slot | Busy {
    if (outage === null) return FREE_SLOT;
    const waitMs = waitOf(outage);
    // All mail has to wait, so none is moved to a wait list.
    if (waitMs > 0) return { ...busy(outage, waitMs), waitList: null };
    outage.probe = probe();
    return outage.probe;
  }

  function probe(): Slot {
    const slot: Slot = {
      kind: "slot",
      waitList: WAIT_LIST,
      release() {
        if (outage?.probe === slot) outage.probe = null;
      },
    };
    return slot;
  }

  /** Milliseconds until the next probe; 0 if it may be sent now. */
  function waitOf({ probeAt, probe: underWay }: Outage): number {
    return Math.max(probeAt - clock.elapsed(), underWay === null ? 0 : PROBE_WAIT_MS);
  }

  function end(): void {
    if (outage === null) return;
    const awayMs = clock.elapsed() - outage.since;
    log.info(WORDS[outage.at].end, { relay, awayMs });
    outage = null;
  }

  function begin(at: Outage["at"], reason: string, backoffMs: number): Outage {
    const now = clock.elapsed();
    log.warn(WORDS[at].begin, { relay, reason });
    return { at, since: now, reason, backoffMs, probeAt: now + backoffMs, probe: null };
  }

  function continueOutage({ at, since }: Outage, reason: string, backoffMs: number): Outage {
    log.debug(WORDS[at].probe, { relay, reason, nextProbeMs: backoffMs });
    return { at, since, reason, backoffMs, probeAt: clock.elapsed() + backoffMs, probe: null };
  }

  /**
   * The state after a failure of the mail with this slot. Only the probe prolongs an outage; other
   * failures are of mails that were sent before it began.
   */
  function after(slot: Slot, at: Outage["at"], failure: Failed): Outage {
    const { reason, backoff } = failure;
    if (outage === null) return begin(at, reason, backoff(null));
    if (outage.probe !== slot) return outage;
    if (outage.at !== at) return begin(at, reason, backoff(null));
    return continueOutage(outage, reason, backoff(outage.backoffMs));
  }

  return {
    admit,
    isDown: () => outage !== null,
    isProbe: (slot) => outage?.probe === slot,
    hold: () =>
      outage === null
        ? null
        : { at: outage.at, name: relay, reason: outage.reason, retryAfterMs: waitOf(outage) },
    noteSession() {
      if (outage?.at === "relay") end();
    },
    noteAnswer(slot) {
      if (outage?.probe === slot) end();
    },
    noteFailure(slot, failure) {
      const reason = describeFailure(failure);
      const backoff = (before: number | null) => backoffAfter(failure, before);
      outage = after(slot, "relay", { reason, backoff });
      return busy(outage, Math.max(waitOf(outage), PROBE_WAIT_MS));
    },
    noteRefusal(slot, { reason, retryAfterMs = 0 }) {
      const backoff = (before: number | null) => {
        const ownMs = before === null ? FIRST_REFUSAL_MS : before * 2;
        return Math.min(Math.max(ownMs, retryAfterMs), LONGEST_REFUSAL_MS);
      };
      outage = after(slot, "account", { reason, backoff });
      return busy(outage, Math.max(waitOf(outage), PROBE_WAIT_MS));
    },
  };
}

/** `backoff` returns the time until the next probe, from the one before, if there was one. */
type Failed = { reason: string; backoff: (before: number | null) => number };

/** After a refused login the backoff is longest, because servers block clients that repeat it. */
function backoffAfter({ step, cause }: Failure, before: number | null): number {
  const isRefusedLogin = step === "auth" && cause.kind === "reply" && cause.code >= 500;
  if (isRefusedLogin) return LONGEST_BACKOFF_MS;
  return before === null ? FIRST_BACKOFF_MS : Math.min(before * 2, LONGEST_BACKOFF_MS);
}

function busy(outage: Outage, retryAfterMs: number): Busy {
  const reason = `${WORDS[outage.at].reason}: ${outage.reason}`;
  return { kind: "busy", why: "paused", retryAfterMs, waitList: WAIT_LIST, reason };
}
