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
import type { Relay } from "../../protocols/smtp/relay-url.ts";

/** The role of one of several relays; a gate without it is that of --relay-url. */
export type RelayRole = {
  /** The wait list of the mails that were leased before an outage. */
  waitList?: string | undefined;
  /** The route of which all mail leaves by this relay, if it has limits of its own. */
  route?: string | undefined;
  /** Returns how many mails may be under way; without it, the pool alone limits them. */
  mostUnderWay?: (() => number) | undefined;
};

type RelayGateOptions = RelayRole & {
  /** `host:port`, for the log. */
  relay: string;
  /** Named by the slots; absent for the relay of --relay-url. */
  target?: Relay | undefined;
  clock: Pick<Clock, "elapsed">;
  log: Log;
};

type RelayGate = {
  /** Returns a slot without I/O. While the relay is down there is only one slot: the probe's. */
  admit(): Slot | Busy;
  isDown(): boolean;
  /**
   * True if no session can be opened because the relay does not answer or is busy, so that mail may
   * leave by another relay (`showsUnreachable`).
   */
  isUnreachable(): boolean;
  /** Takes the slot of the probe, if one is due; null otherwise. */
  takeProbe(): Slot | null;
  /** Number of mails with a slot, if `mostUnderWay` limits them. */
  underWay(): number;
  /** True if the mail with this slot is the only one that is sent at present. */
  isProbe(slot: Slot): boolean;
  /** The reason why all mail waits; null while the relay is up. */
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
  isUnreachable: boolean;
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
/** The time after which other mails ask again while the probe is under way. */
const PROBE_WAIT_MS = 1_000;

/** Mails without a slot ask again after this time, if none is released before. */
const FULL_WAIT_MS = 1_000;

/** Mails that were leased before the outage wait in this list, so that they keep their rank. */
const WAIT_LIST = shareWaitList("relay");

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

export function createRelayGate(options: RelayGateOptions): RelayGate {
  const { relay, target, clock, log, waitList = WAIT_LIST, route, mostUnderWay } = options;
  const common = {
    kind: "slot",
    waitList,
    ...(target !== undefined && { relay: target }),
    ...(route !== undefined && { route }),
  } as const;
  const freeSlot: Slot = { ...common, release: () => {} };
  /** Null while the relay is up, as far as is known. */
  let outage: Outage | null = null;
  let underWay = 0;

  function admit(): Slot | Busy {
    if (outage === null) return mostUnderWay === undefined ? freeSlot : countedSlot(mostUnderWay());
    const waitMs = waitOf(outage);
    if (waitMs > 0) {
      const waiting = busy(outage, waitMs);
      // All mail has to wait, so none is moved to a wait list.
      return route === undefined ? { ...waiting, waitList: null } : waiting;
    }
    outage.probe = probe();
    return outage.probe;
  }

  function countedSlot(most: number): Slot | Busy {
    if (underWay >= most) {
      const reason = `all connections to the relay ${relay} are in use`;
      return held("full", FULL_WAIT_MS, reason);
    }
    underWay++;
    let isReleased = false;
    return {
      ...common,
      release() {
        if (!isReleased) underWay--;
        isReleased = true;
      },
    };
  }

  function held(why: Busy["why"], retryAfterMs: number, reason: string): Busy {
    const ofRoute = route === undefined ? {} : { route };
    return { kind: "busy", why, retryAfterMs, waitList, reason, ...ofRoute };
  }

  function busy(of: Outage, retryAfterMs: number): Busy {
    return held("paused", retryAfterMs, `${WORDS[of.at].reason}: ${of.reason}`);
  }

  function probe(): Slot {
    const slot: Slot = {
      ...common,
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

  function begin(at: Outage["at"], failed: Failed): Outage {
    const { reason, isUnreachable } = failed;
    const backoffMs = failed.backoff(null);
    const now = clock.elapsed();
    log.warn(WORDS[at].begin, { relay, reason });
    const probeAt = now + backoffMs;
    return { at, since: now, reason, isUnreachable, backoffMs, probeAt, probe: null };
  }

  function continueOutage({ at, since, backoffMs: before }: Outage, failed: Failed): Outage {
    const { reason, isUnreachable } = failed;
    const backoffMs = failed.backoff(before);
    log.debug(WORDS[at].probe, { relay, reason, nextProbeMs: backoffMs });
    const probeAt = clock.elapsed() + backoffMs;
    return { at, since, reason, isUnreachable, backoffMs, probeAt, probe: null };
  }

  /**
   * The state after a failure of the mail with this slot. Only the probe prolongs an outage; other
   * failures are of mails that were sent before it began.
   */
  function after(slot: Slot, at: Outage["at"], failed: Failed): Outage {
    if (outage === null) return begin(at, failed);
    if (outage.probe !== slot) return outage;
    return outage.at === at ? continueOutage(outage, failed) : begin(at, failed);
  }

  return {
    admit,
    isDown: () => outage !== null,
    isUnreachable: () => outage?.isUnreachable === true,
    takeProbe() {
      if (outage === null || waitOf(outage) > 0) return null;
      outage.probe = probe();
      return outage.probe;
    },
    underWay: () => underWay,
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
      outage = after(slot, "relay", { reason, backoff, isUnreachable: showsUnreachable(failure) });
      return busy(outage, Math.max(waitOf(outage), PROBE_WAIT_MS));
    },
    noteRefusal(slot, { reason, retryAfterMs = 0 }) {
      const backoff = (before: number | null) => {
        const ownMs = before === null ? FIRST_REFUSAL_MS : before * 2;
        return Math.min(Math.max(ownMs, retryAfterMs), LONGEST_REFUSAL_MS);
      };
      outage = after(slot, "account", { reason, backoff, isUnreachable: false });
      return busy(outage, Math.max(waitOf(outage), PROBE_WAIT_MS));
    },
  };
}

/** `backoff` returns the time until the next probe, from the one before, if there was one. */
type Failed = {
  reason: string;
  isUnreachable: boolean;
  backoff: (before: number | null) => number;
};

/**
 * True if a session failed because the relay is away for the moment: its name or its address does not
 * answer, it is silent, its TLS fails, or it replies 4xx before the mail begins. A refusal (5xx) and a
 * setting that cannot work are not mended by another relay: mail waits, and the operator is told.
 */
function showsUnreachable({ cause }: Failure): boolean {
  if (cause.kind === "reply") return cause.code >= 400 && cause.code < 500;
  return cause.kind !== "address" && cause.kind !== "auth";
}

/** After a refused login the backoff is longest, because servers block clients that repeat it. */
function backoffAfter({ step, cause }: Failure, before: number | null): number {
  const isRefusedLogin = step === "auth" && cause.kind === "reply" && cause.code >= 500;
  if (isRefusedLogin) return LONGEST_BACKOFF_MS;
  return before === null ? FIRST_BACKOFF_MS : Math.min(before * 2, LONGEST_BACKOFF_MS);
}
