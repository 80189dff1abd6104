/**
 * The relays of projects, beside the common way of all others. Each relay has a pool and a circuit breaker
 * of its own, and its project a route of its own, so that one that is slow or away holds up no other
 * project. A relay is opened with its first mail, and replaced when the project changes it; the mails
 * under way then end over the old one.
 */

import {
  type Busy,
  COMMON_ROUTE,
  deferWithoutSlot,
  type Slot,
  shareWaitList,
  type Transport,
  WITHDRAWN,
} from "../outcome.ts";
import type { Relay } from "../../protocols/smtp/relay-url.ts";
import type { RelayRole } from "./relay-gate.ts";
import type { RelayTransport } from "./relay.ts";

/** "unreadable" if the stored relay cannot be decrypted; null if the project has none of its own. */
type FindProjectRelay = (projectSeq: number) => Relay | "unreadable" | null;

type ProjectRelays = {
  common: Transport;
  find: FindProjectRelay;
  open: (relay: Relay, role: Required<RelayRole>) => RelayTransport;
};

/** Connections of one project; each carries one mail at a time. */
export const CONNECTIONS_PER_PROJECT = 10;
/** While the relays of projects have so many mails under way, each may have only a few. */
const SHARED_CONNECTIONS = 200;
const FEW_CONNECTIONS = 2;
const MAX_CONNECTIONS = 400;
const UNREADABLE_WAIT_MS = 60_000;
const UNREADABLE =
  "the password of the project's relay cannot be read, because the secret of this server has changed";

export function createRoutedTransport({ common, find, open }: ProjectRelays): Transport {
  /** The relays that are in use, by `seq` of the project. */
  const current = new Map<number, RelayTransport>();
  /** Relays that were replaced while they had mail under way. */
  let replaced: RelayTransport[] = [];

  const all = () => [...current.values(), ...replaced];

  function mostUnderWay(): number {
    const total = all().reduce((sum, relay) => sum + relay.underWay(), 0);
    if (total < SHARED_CONNECTIONS) return CONNECTIONS_PER_PROJECT;
    return total < MAX_CONNECTIONS ? FEW_CONNECTIONS : 0;
  }

  /** The relay of a project; null if it has none of its own. */
  function relayOf(projectSeq: number): RelayTransport | "unreadable" | null {
    const relay = find(projectSeq);
    const known = current.get(projectSeq);
    if (known !== undefined && known.relay === relay) return known;
    if (known !== undefined) {
      current.delete(projectSeq);
      replaced = [...replaced, known].filter((each) => each.underWay() > 0);
    }
    if (relay === null || relay === "unreadable") return relay;
    const route = routeName(projectSeq);
    const opened = open(relay, { route, waitList: shareWaitList(route), mostUnderWay });
    current.set(projectSeq, opened);
    return opened;
  }

  return {
    name: common.name,
    concurrency: common.concurrency,
    maxUnderWay: (common.maxUnderWay ?? common.concurrency) + MAX_CONNECTIONS,
    routeOf: (projectSeq) => (find(projectSeq) === null ? COMMON_ROUTE : routeName(projectSeq)),
    admit(to, isUrgent, mail) {
      const relay = mail === undefined ? null : relayOf(mail.projectSeq);
      if (mail !== undefined && relay === "unreadable") return unreadable(mail.projectSeq);
      if (relay !== null && relay !== "unreadable") return relay.admit();
      return common.admit?.(to, isUrgent, mail) ?? FREE_SLOT;
    },
    holdOf(waitList, projectSeq) {
      const relay = projectSeq === undefined ? null : relayOf(projectSeq);
      if (relay === "unreadable") {
        return { at: "relay", name: "", reason: UNREADABLE, retryAfterMs: UNREADABLE_WAIT_MS };
      }
      return relay === null ? (common.holdOf?.(waitList, projectSeq) ?? null) : relay.holdOf();
    },
    replacedHold: () => common.replacedHold?.() ?? null,
    probeRelays() {
      for (const relay of [common, ...all()]) relay.probeRelays?.();
    },
    start(mail) {
      const { slot } = mail;
      if (slot?.route === undefined) return common.start(mail);
      const relay = all().find((each) => each.relay === slot.relay);
      if (relay === undefined) mail.end(deferWithoutSlot(WITHDRAWN));
      else relay.start(mail);
    },
    withdrawWaiting() {
      for (const relay of [common, ...all()]) relay.withdrawWaiting();
    },
    async close() {
      await Promise.all([common, ...all()].map((relay) => relay.close()));
    },
  };
}

const FREE_SLOT: Slot = { kind: "slot", waitList: null, release: () => {} };

const routeName = (projectSeq: number): string => `relay of project ${projectSeq}`;

/** Mail does not leave by another relay than the one that the project chose. */
function unreadable(projectSeq: number): Busy {
  const route = routeName(projectSeq);
  return {
    kind: "busy",
    why: "paused",
    retryAfterMs: UNREADABLE_WAIT_MS,
    waitList: shareWaitList(route),
    route,
    reason: UNREADABLE,
  };
}
