/**
 * The circuit breaker of the relay. All mail uses the same relay, so once no session with it can be
 * opened, further attempts would fail as well. No mail gets a slot until the backoff is over; then
 * a single mail is sent as a probe, and the others follow once the probe has a session.
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
  /** Why all mail waits; null while the relay is up. */
  hold(): Hold | null;
  /** A session was opened, so the relay is up. */
  noteSession(): void;
  /** An older session answered the mail with this slot; this matters only for the probe. */
  noteAnswer(slot: Slot): void;
  /** No session could be opened for the mail with this slot. Returns when to ask again. */
  noteFailure(slot: Slot, failure: Failure): Busy;
};

/** Times are milliseconds of the monotonic clock. */
type Outage = {
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
/** How long other mails wait before they ask again while the probe is under way. */
const PROBE_WAIT_MS = 1_000;

/** Mails that were leased before the outage wait in this list, so that they keep their rank. */
const WAIT_LIST = shareWaitList("relay");

const FREE_SLOT: Slot = { kind: "slot", waitList: WAIT_LIST, release: () => {} };

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

  function noteSession(): void {
    if (outage === null) return;
    const awayMs = clock.elapsed() - outage.since;
    outage = null;
    log.info("the relay is back; mail is sent again", { relay, awayMs });
  }

  function beginOutage(failure: Failure): Outage {
    const now = clock.elapsed();
    const reason = describeFailure(failure);
    log.warn("the relay cannot be reached; no mail is sent until it answers", { relay, reason });
    const backoffMs = backoffAfter(failure, FIRST_BACKOFF_MS);
    return { since: now, reason, backoffMs, probeAt: now + backoffMs, probe: null };
  }

  function continueOutage({ since, backoffMs: before }: Outage, failure: Failure): Outage {
    const reason = describeFailure(failure);
    const backoffMs = backoffAfter(failure, before * 2);
    log.debug("the relay still cannot be reached", { relay, reason, nextProbeMs: backoffMs });
    return { since, reason, backoffMs, probeAt: clock.elapsed() + backoffMs, probe: null };
  }

  return {
    admit,
    isDown: () => outage !== null,
    hold: () =>
      outage === null
        ? null
        : { at: "relay", name: relay, reason: outage.reason, retryAfterMs: waitOf(outage) },
    noteSession,
    noteAnswer(slot) {
      if (outage?.probe === slot) noteSession();
    },
    noteFailure(slot, failure) {
      // Only the probe prolongs the outage; other failures are of mails sent before it began.
      if (outage === null) outage = beginOutage(failure);
      else if (outage.probe === slot) outage = continueOutage(outage, failure);
      return busy(outage, Math.max(waitOf(outage), PROBE_WAIT_MS));
    },
  };
}

/** After a refused login the backoff is longest, because servers block clients that repeat it. */
function backoffAfter({ step, cause }: Failure, backoffMs: number): number {
  const isRefusedLogin = step === "auth" && cause.kind === "reply" && cause.code >= 500;
  return isRefusedLogin ? LONGEST_BACKOFF_MS : Math.min(backoffMs, LONGEST_BACKOFF_MS);
}

function busy(outage: Outage, retryAfterMs: number): Busy {
  const reason = `the relay cannot be reached: ${outage.reason}`;
  return { kind: "busy", why: "paused", retryAfterMs, waitList: WAIT_LIST, reason };
}
