/**
 * Who may leave while the relay is away. All mail goes the same way: once no session with the relay
 * can be opened, it is not worth an attempt of every mail to find that out. Nothing is admitted for
 * a while; then a single mail goes ahead as a probe, and the others follow once it has a session.
 */

import type { Clock } from "../../lib/clock.ts";
import type { Log } from "../../lib/log.ts";
import { type Busy, type Slot, shareWaitList } from "../outcome.ts";
import { describeFailure, type Failure } from "../smtp/failure.ts";

export type RelayGateOptions = {
  /** `host:port`, for the log. */
  relay: string;
  clock: Pick<Clock, "elapsed">;
  log: Log;
};

export type RelayGate = {
  /** At once. While the relay is away the slot is that of the probe, and there is only one. */
  admit(): Slot | Busy;
  isAway(): boolean;
  /** A session was opened: the relay is there. */
  noteSession(): void;
  /** The mail with this slot was answered over a session from before: proof for a probe alone. */
  noteAnswer(slot: Slot): void;
  /** No session could be opened for the mail with this slot; when it is worth while to ask again. */
  noteFailure(slot: Slot, failure: Failure): Busy;
};

/** Its moments are milliseconds of the monotonic clock. */
type Outage = {
  since: number;
  /** What went wrong last. */
  reason: string;
  backoffMs: number;
  /** The earliest moment of the next probe. */
  probeAt: number;
  /** Under way; null if there is none. */
  probe: Slot | null;
};

const FIRST_BACKOFF_MS = 2_000;
const LONGEST_BACKOFF_MS = 60_000;
/** How long the others wait while the probe is under way. */
const PROBE_MS = 1_000;

/** Mails that came back untried stand apart, so that they keep their rank. */
const WAIT_LIST = shareWaitList("relay");

const FREE_SLOT: Slot = { kind: "slot", waitList: WAIT_LIST, release: () => {} };

export function createRelayGate({ relay, clock, log }: RelayGateOptions): RelayGate {
  /** Null: the relay is there, as far as is known. */
  let outage: Outage | null = null;

  function admit(): Slot | Busy {
    if (outage === null) return FREE_SLOT;
    const waitMs = waitOf(outage);
    // It is for all mail alike: nobody needs to be looked past.
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

  /** 0: it is time for a probe. */
  function waitOf({ probeAt, probe: underWay }: Outage): number {
    return Math.max(probeAt - clock.elapsed(), underWay === null ? 0 : PROBE_MS);
  }

  function noteSession(): void {
    if (outage === null) return;
    const awayMs = clock.elapsed() - outage.since;
    outage = null;
    log.info("the relay is back; mail leaves again", { relay, awayMs });
  }

  function begin(failure: Failure): Outage {
    const now = clock.elapsed();
    const reason = describeFailure(failure);
    log.warn("the relay cannot be reached; nothing leaves until it answers", { relay, reason });
    const backoffMs = backoffAfter(failure, FIRST_BACKOFF_MS);
    return { since: now, reason, backoffMs, probeAt: now + backoffMs, probe: null };
  }

  function goOn({ since, backoffMs: before }: Outage, failure: Failure): Outage {
    const reason = describeFailure(failure);
    const backoffMs = backoffAfter(failure, before * 2);
    log.debug("the relay still cannot be reached", { relay, reason, nextProbeMs: backoffMs });
    return { since, reason, backoffMs, probeAt: clock.elapsed() + backoffMs, probe: null };
  }

  return {
    admit,
    isAway: () => outage !== null,
    noteSession,
    noteAnswer(slot) {
      if (outage?.probe === slot) noteSession();
    },
    noteFailure(slot, failure) {
      // Mails that were on their way when it began say nothing new.
      if (outage === null) outage = begin(failure);
      else if (outage.probe === slot) outage = goOn(outage, failure);
      return busy(outage, Math.max(waitOf(outage), PROBE_MS));
    },
  };
}

/** A wrong password does not mend itself, and servers lock out whoever repeats it. */
function backoffAfter({ step, cause }: Failure, backoffMs: number): number {
  const isRefusedLogin = step === "auth" && cause.kind === "reply" && cause.code >= 500;
  return isRefusedLogin ? LONGEST_BACKOFF_MS : Math.min(backoffMs, LONGEST_BACKOFF_MS);
}

function busy(outage: Outage, retryAfterMs: number): Busy {
  const reason = `the relay cannot be reached: ${outage.reason}`;
  return { kind: "busy", why: "paused", retryAfterMs, waitList: WAIT_LIST, reason };
}
