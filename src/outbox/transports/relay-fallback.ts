/**
 * A relay with a fallback relay. Mail leaves by the fallback only while no session with the first one can
 * be opened (`isUnreachable`). In order, for each mail:
 *
 * 1. A mail that one of the two has answered, or may have accepted, keeps to it: it would otherwise
 *    arrive twice, or evade a refusal. It waits until that relay is back.
 * 2. All others take the first relay, and the fallback while the first is away. Meanwhile sessions
 *    without a mail probe the first one, so that no mail waits for a relay that is silent.
 *
 * A refusal of the account at the first relay is not mended here: all mail waits, and the operator is told.
 */

import {
  type AdmittedMail,
  type Busy,
  type Slot,
  shareWaitList,
  type Transport,
} from "../outcome.ts";
import type { Relay } from "../../protocols/smtp/relay-url.ts";
import type { RelayTransport } from "./relay.ts";

/** The wait list of the mails that keep to a relay that is away. */
const KEPT_LIST = shareWaitList("kept relay");
/** The wait list of the mails that the fallback relay did not take. */
export const FALLBACK_LIST = shareWaitList("fallback relay");

type RelayPair = {
  first: RelayTransport;
  fallback: RelayTransport;
  /** Finds the relay that has answered a mail, or may have accepted it; null if there is none. */
  findKept: (emailSeq: number) => Pick<Relay, "host" | "port"> | null;
};

export function relayWithFallback({ first, fallback, findKept }: RelayPair): Transport {
  function keptBy({ seq, attempts }: AdmittedMail): RelayTransport | null {
    const kept = attempts === 0 ? null : findKept(seq);
    return [first, fallback].find(({ relay }) => isSame(relay, kept)) ?? null;
  }

  function admitKept(relay: RelayTransport): Slot | Busy {
    const hold = relay.isUnreachable() ? relay.holdOf() : null;
    if (hold !== null) relay.probe();
    const admission: Slot | Busy =
      hold === null ? relay.admit() : { kind: "busy", why: "paused", waitList: KEPT_LIST, ...hold };
    return admission.kind === "slot" ? admission : { ...admission, waitList: KEPT_LIST };
  }

  function admit(_to: string, _isUrgent: boolean, mail?: AdmittedMail): Slot | Busy {
    const kept = mail === undefined ? null : keptBy(mail);
    if (kept !== null) return admitKept(kept);
    const relay = usedRelay();
    const admission = relay.admit();
    if (admission.kind === "slot" || relay === first) return admission;
    const firstMs = first.holdOf()?.retryAfterMs ?? 0;
    return { ...admission, retryAfterMs: Math.min(admission.retryAfterMs, firstMs) };
  }

  /** The relay of a mail that keeps to none. */
  function usedRelay(): RelayTransport {
    if (!first.isUnreachable()) return first;
    first.probe();
    return fallback;
  }

  return {
    name: "relay",
    concurrency: first.concurrency,
    maxUnderWay: (first.maxUnderWay ?? 0) + (fallback.maxUnderWay ?? 0),
    admit,
    holdOf(waitList) {
      const hold = first.holdOf();
      const isAway = waitList !== KEPT_LIST && first.isUnreachable();
      return isAway && fallback.holdOf() === null ? null : hold;
    },
    replacedHold: () =>
      first.isUnreachable() && fallback.holdOf() === null ? first.holdOf() : null,
    probeRelays() {
      first.probeRelays();
      fallback.probeRelays();
    },
    start(mail) {
      const relay = mail.slot === null ? usedRelay() : null;
      (relay ?? (mail.slot?.relay === fallback.relay ? fallback : first)).start(mail);
    },
    withdrawWaiting() {
      first.withdrawWaiting();
      fallback.withdrawWaiting();
    },
    async close() {
      await Promise.all([first.close(), fallback.close()]);
    },
  };
}

function isSame(relay: Relay, other: Pick<Relay, "host" | "port"> | null): boolean {
  return relay.host === other?.host && relay.port === other.port;
}
