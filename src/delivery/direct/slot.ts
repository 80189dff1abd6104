/**
 * The connection slot of one mail: from its admission, over the DNS lookups and the wait for a slot
 * of its site, to the end of its delivery.
 */

import { type Busy, type Slot as AnySlot, shareWaitList } from "../outcome.ts";
import { type ConnectionLimit, networkOf } from "./connection-limit.ts";
import { type SiteResult, type SiteSlot, type Speed, speedOf } from "./site.ts";
import type { Holder, SiteQueue } from "./site-queue.ts";
import type { Aging, SlotAges } from "./slot-ages.ts";
import type { SlotBudget } from "./slot-budget.ts";

export type Entry =
  | { kind: "entered" }
  | Busy
  /** Lately the site could not be reached: `reason` says why. */
  | { kind: "suspended"; reason: string };

/** The holder of a slot must end or release it. */
export type DirectSlot = AnySlot & {
  /** Takes a slot of the site, as soon as the site is known. Otherwise the slot is released. */
  enter(siteName: string): Promise<Entry>;
  /** Asked before each connection: null, or why there must be none to this address for now. */
  reserve(address: string): Busy | null;
  /** True while slots are scarce and the site had no good session: its greeting must come soon. */
  isHurried(): boolean;
  /** Calls `stop` if the slot is given to other mail: the connection must end at once. */
  onPreempted(stop: () => void): void;
  /** Gives the slot back, once; the site learns how the delivery ended. */
  end(result: SiteResult): void;
};

/** What all slots of a gate share. */
export type SlotDeps = {
  budget: SlotBudget;
  ages: SlotAges<ConnectionSlot>;
  connections: ConnectionLimit;
  /** The domain is known to belong to this site from now on. */
  queueOf(domain: string, siteName: string): SiteQueue;
  /** The site of this queue has learnt something. */
  noteChange(queue: SiteQueue): void;
};

/** A mail without a slot in the budget asks again after this time, unless a slot comes free before. */
export const FULL_RETRY_MS = 100;
/** The same for a mail that waits for an address. */
const ADDRESS_RETRY_MS = 2_000;
/** A site that has answered before is given this time at least. */
const LEAST_PATIENCE_MS = 30_000;

export class ConnectionSlot implements DirectSlot, Holder, Aging {
  readonly kind = "slot";
  isOver = false;
  since: number;
  readonly #domain: string;
  readonly #deps: SlotDeps;
  #queue: SiteQueue;
  #siteSlot: SiteSlot | null = null;
  /** As it is counted in the budget. */
  #speed: Speed;
  #isOld = false;
  /** The network in which it has a connection, or will have one. */
  #network: string | null = null;
  /** The network in which it had a connection last. */
  #lastNetwork: string | null = null;
  #hasDialled = false;
  #stop: (() => void) | null = null;

  constructor(domain: string, queue: SiteQueue, deps: SlotDeps) {
    this.#domain = domain;
    this.#deps = deps;
    this.#queue = queue;
    this.#speed = queue.speed;
    this.since = queue.now;
    deps.budget.add(this.#speed);
    deps.ages.start(this);
    queue.holders.add(this);
    this.#reserveKnown();
  }

  get waitList(): string {
    return this.#queue.name;
  }

  get secondWaitList(): string | null {
    return this.#lastNetwork === null ? null : networkWaitList(this.#lastNetwork);
  }

  async enter(siteName: string): Promise<Entry> {
    const busy = this.#moveTo(this.#deps.queueOf(this.#domain, siteName));
    const found = busy ?? (await this.#queue.take(this));
    if ("kind" in found) {
      this.release();
      return found;
    }
    if (this.isOver) return this.#giveBack(found);
    this.#siteSlot = found;
    this.#restart();
    const reason = this.#queue.site.suspensionAt(this.#queue.now);
    if (reason === null) return { kind: "entered" };
    this.release();
    return { kind: "suspended", reason };
  }

  reserve(address: string): Busy | null {
    if (this.isOver || this.#queue.site.hasGoodSession) return null;
    const network = networkOf(address);
    if (!this.#hasDialled) this.#queue.networks.clear();
    this.#hasDialled = true;
    this.#queue.networks.add(network);
    return this.#take(network) ? null : awaitNetwork(network);
  }

  isHurried(): boolean {
    return !this.#queue.site.hasGoodSession && this.#deps.budget.isScarce;
  }

  onPreempted(stop: () => void): void {
    this.#stop = stop;
  }

  /**
   * Gives the slot to other mail. False while the mail is still looked up, which soon ends, and at a
   * site that answered before and had not enough time.
   */
  preempt(): boolean {
    const stop = this.#stop;
    const isPatient = this.#speed !== "unresponsive";
    const waitedMs = this.#queue.now - this.since;
    if (stop === null || (isPatient && waitedMs < LEAST_PATIENCE_MS)) return false;
    this.end({ kind: "failed" });
    stop();
    return true;
  }

  becomeOld(): void {
    this.#isOld = true;
    if (this.#siteSlot === null) return this.recount();
    this.#queue.update();
    if (!this.#queue.site.hasGoodSession) this.#deps.noteChange(this.#queue);
  }

  recount(): void {
    const speed = this.#speedNow();
    if (this.isOver || speed === this.#speed) return;
    this.#deps.budget.remove(this.#speed);
    this.#deps.budget.add(speed);
    this.#speed = speed;
  }

  end(result: SiteResult): void {
    if (this.#siteSlot !== null && !this.isOver) {
      this.#queue.site.end(this.#siteSlot, result, this.#queue.now);
      this.#deps.noteChange(this.#queue);
    }
    this.release();
  }

  release(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.#stop = null;
    this.#queue.holders.delete(this);
    if (this.#siteSlot !== null) this.#queue.site.leave(this.#siteSlot);
    this.#releaseNetwork();
    this.#deps.ages.end(this);
    this.#deps.budget.remove(this.#speed);
    this.#queue.update();
  }

  /** The slot was released in the moment in which it got a slot of the site. */
  #giveBack(siteSlot: SiteSlot): Busy {
    this.#queue.site.leave(siteSlot);
    this.#queue.update();
    return this.#queue.full();
  }

  #moveTo(queue: SiteQueue): Busy | null {
    if (queue === this.#queue) return null;
    const { connections } = this.#deps;
    const isOtherSpeed = queue.speed !== this.#speed;
    const busy =
      queue.objection() ??
      findFullNetwork(queue, connections) ??
      (isOtherSpeed ? findFullBudget(queue, this.#deps) : null);
    if (busy !== null) return busy;
    this.#queue.holders.delete(this);
    this.#queue = queue;
    queue.holders.add(this);
    this.#reserveKnown();
    this.recount();
    return null;
  }

  /** The time for the lookups does not count as time at the site. */
  #restart(): void {
    this.#isOld = false;
    this.since = this.#queue.now;
    this.#deps.ages.start(this);
    this.recount();
  }

  /** A slow name server makes its own mails slow, not the other mails of their site. */
  #speedNow(): Speed {
    const { site, speed } = this.#queue;
    if (!this.#isOld || this.#siteSlot !== null) return speed;
    return speedOf({ isSlow: true, hasGoodSession: site.hasGoodSession });
  }

  /** Of many mails to one address no more are admitted than can connect. */
  #reserveKnown(): void {
    const { site, networks } = this.#queue;
    if (site.hasGoodSession) return;
    for (const network of networks) if (this.#take(network)) return;
  }

  #take(network: string): boolean {
    if (network === this.#network) return true;
    this.#releaseNetwork();
    if (!this.#deps.connections.take(network)) return false;
    this.#network = network;
    this.#lastNetwork = network;
    return true;
  }

  #releaseNetwork(): void {
    if (this.#network !== null) this.#deps.connections.release(this.#network);
    this.#network = null;
  }
}

/** Why no mail to sites of this speed is admitted, or null. */
export function findFullBudget(
  { speed, now }: SiteQueue,
  { budget, ages }: Pick<SlotDeps, "budget" | "ages">,
): Busy | null {
  if (!budget.isFull(speed)) return null;
  const reason = `${budget.usedBy(speed)} mails to ${speed} sites are under way`;
  // Mail to fast sites is nearly all mail: to look past it for other mail would take too long.
  if (speed === "fast") {
    return { kind: "busy", why: "full", retryAfterMs: FULL_RETRY_MS, waitList: null, reason };
  }
  // A slot comes free as soon as another one has become slow.
  const retryAfterMs = ages.nextMs(now);
  return { kind: "busy", why: "full", retryAfterMs, waitList: shareWaitList(speed), reason };
}

/** Why no mail can connect to a site without a good session, as far as its addresses are known. */
export function findFullNetwork(
  { site, networks }: SiteQueue,
  connections: ConnectionLimit,
): Busy | null {
  if (site.hasGoodSession) return null;
  let full: string | null = null;
  for (const network of networks) {
    if (!connections.isFull(network)) return null;
    full ??= network;
  }
  return full === null ? null : awaitNetwork(full);
}

function awaitNetwork(network: string): Busy {
  const reason = `${network} has as many connections as an address of new sites may have`;
  return {
    kind: "busy",
    why: "full",
    retryAfterMs: ADDRESS_RETRY_MS,
    waitList: networkWaitList(network),
    reason,
  };
}

/** No site has such a name. */
function networkWaitList(network: string): string {
  return `@ ${network}`;
}
