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

type Entry =
  | { kind: "entered" }
  | Busy
  /** The site could not be reached recently; `reason` says why. */
  | { kind: "suspended"; reason: string };

/** The slot of one mail in direct delivery. Its holder must end or release it. */
export type DirectSlot = AnySlot & {
  /** Acquires a slot of the site, once the site is known. If there is none, releases this slot. */
  enter(siteName: string): Promise<Entry>;
  /** Must be called before each connection: null, or why this address must not be dialled now. */
  reserve(address: string): Busy | null;
  /**
   * True while slots are scarce and the site had no good session: the greeting timeout is short.
   */
  isHurried(): boolean;
  /** Calls `stop`, which must end the connection at once, if the slot is given to other mail. */
  onPreempted(stop: () => void): void;
  /** Releases the slot and records the result for the site; further calls do nothing. */
  end(result: SiteResult): void;
};

/** The dependencies that all slots of a gate share. */
export type SlotDeps = {
  budget: SlotBudget;
  ages: SlotAges<ConnectionSlot>;
  connections: ConnectionLimit;
  /** Returns the queue of a site, and remembers that the domain belongs to it. */
  queueOf(domain: string, siteName: string): SiteQueue;
  /** The state of the site of this queue has changed. */
  noteChange(queue: SiteQueue): void;
};

/** A mail without a slot in the budget asks again after this time, or when a slot is released. */
export const FULL_RETRY_MS = 100;
/** The same for a mail that waits for a connection to an address. */
const ADDRESS_RETRY_MS = 2_000;
/** A mail to a site that has answered before is not interrupted earlier than this. */
const MIN_WAIT_MS = 30_000;

export class ConnectionSlot implements DirectSlot, Holder, Aging {
  readonly kind = "slot";
  isOver = false;
  since: number;
  readonly #domain: string;
  readonly #deps: SlotDeps;
  #queue: SiteQueue;
  #siteSlot: SiteSlot | null = null;
  /** The speed under which the budget counts this slot. */
  #speed: Speed;
  #isOld = false;
  /** The network of its current or reserved connection. */
  #network: string | null = null;
  /** The network of its last connection. */
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
    this.#reserveAnyNetwork();
  }

  get waitList(): string {
    return this.#queue.name;
  }

  get secondWaitList(): string | null {
    return this.#lastNetwork === null ? null : networkWaitList(this.#lastNetwork);
  }

  async enter(siteName: string): Promise<Entry> {
    const busy = this.#moveTo(this.#deps.queueOf(this.#domain, siteName));
    const found = busy ?? (await this.#queue.acquire(this));
    if ("kind" in found) {
      this.release();
      return found;
    }
    if (this.isOver) return this.#returnSiteSlot(found);
    this.#siteSlot = found;
    this.#restartWait();
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
    return this.#acquireNetwork(network) ? null : awaitNetwork(network);
  }

  isHurried(): boolean {
    return !this.#queue.site.hasGoodSession && this.#deps.budget.isScarce;
  }

  onPreempted(stop: () => void): void {
    this.#stop = stop;
  }

  /**
   * Releases the slot for other mail. Returns false during the DNS lookups, which end soon, and if
   * the site has answered before and the mail has not waited long enough.
   */
  preempt(): boolean {
    const stop = this.#stop;
    const hasAnswered = this.#speed !== "unresponsive";
    const waitedMs = this.#queue.now - this.since;
    if (stop === null || (hasAnswered && waitedMs < MIN_WAIT_MS)) return false;
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
    if (this.#siteSlot !== null) this.#queue.site.release(this.#siteSlot);
    this.#releaseNetwork();
    this.#deps.ages.end(this);
    this.#deps.budget.remove(this.#speed);
    this.#queue.update();
  }

  /** This slot was released just when the site granted one of its own. */
  #returnSiteSlot(siteSlot: SiteSlot): Busy {
    this.#queue.site.release(siteSlot);
    this.#queue.update();
    return this.#queue.full();
  }

  #moveTo(queue: SiteQueue): Busy | null {
    if (queue === this.#queue) return null;
    const { connections } = this.#deps;
    const isOtherSpeed = queue.speed !== this.#speed;
    const busy =
      queue.whyClosed() ??
      findFullNetwork(queue, connections) ??
      (isOtherSpeed ? findFullBudget(queue, this.#deps) : null);
    if (busy !== null) return busy;
    this.#queue.holders.delete(this);
    this.#queue = queue;
    queue.holders.add(this);
    this.#reserveAnyNetwork();
    this.recount();
    return null;
  }

  /** The time for the DNS lookups does not count as time at the site. */
  #restartWait(): void {
    this.#isOld = false;
    this.since = this.#queue.now;
    this.#deps.ages.start(this);
    this.recount();
  }

  /** A slow name server makes only the mails that wait for it slow, not others to the same site. */
  #speedNow(): Speed {
    const { site, speed } = this.#queue;
    if (!this.#isOld || this.#siteSlot !== null) return speed;
    return speedOf({ isSlow: true, hasGoodSession: site.hasGoodSession });
  }

  /** Reserves a connection at admission, so that no more mails are admitted than can connect. */
  #reserveAnyNetwork(): void {
    const { site, networks } = this.#queue;
    if (site.hasGoodSession) return;
    for (const network of networks) if (this.#acquireNetwork(network)) return;
  }

  #acquireNetwork(network: string): boolean {
    if (network === this.#network) return true;
    this.#releaseNetwork();
    if (!this.#deps.connections.acquire(network)) return false;
    this.#network = network;
    this.#lastNetwork = network;
    return true;
  }

  #releaseNetwork(): void {
    if (this.#network !== null) this.#deps.connections.release(this.#network);
    this.#network = null;
  }
}

/** Why no mail to sites of this speed is admitted; null if one is. */
export function findFullBudget(
  { speed, now }: SiteQueue,
  { budget, ages }: Pick<SlotDeps, "budget" | "ages">,
): Busy | null {
  if (!budget.isFull(speed)) return null;
  const reason = `${budget.usedBy(speed)} mails to ${speed} sites are under way`;
  // Nearly all mail goes to fast sites, so moving it to a wait list would take too long.
  if (speed === "fast") {
    return { kind: "busy", why: "full", retryAfterMs: FULL_RETRY_MS, waitList: null, reason };
  }
  // The budget has room again as soon as the site of another slot becomes slow.
  const retryAfterMs = ages.nextMs(now);
  return { kind: "busy", why: "full", retryAfterMs, waitList: shareWaitList(speed), reason };
}

/** Why no mail can connect to any known address of a site without a good session, or null. */
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
  const reason = `${network} has reached the connection limit for addresses of sites without a good session`;
  return {
    kind: "busy",
    why: "full",
    retryAfterMs: ADDRESS_RETRY_MS,
    waitList: networkWaitList(network),
    reason,
  };
}

/** The name of a network's wait list; a host name cannot contain "@" or a space. */
function networkWaitList(network: string): string {
  return `@ ${network}`;
}
