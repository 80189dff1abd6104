/**
 * The connection slot of one mail: from its admission, over the DNS lookups and the wait for a slot
 * of its site, to the end of its delivery.
 */

import { type Busy, type Slot as AnySlot, shareWaitList } from "../outcome.ts";
import { type ConnectionLimit, CountedConnection, findFullNetwork } from "./connection-limit.ts";
import { type SiteResult, type SiteSlot, type Speed, speedOf } from "./site.ts";
import type { Holder, SiteQueue } from "./site-queue.ts";
import type { Aging, SlotAges } from "./slot-ages.ts";
import { CountedSlot, type SlotBudget } from "./slot-budget.ts";

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
/** A mail to a site that has answered before is not interrupted earlier than this. */
const MIN_WAIT_MS = 30_000;

export class ConnectionSlot implements DirectSlot, Holder, Aging {
  readonly kind = "slot";
  isOver = false;
  readonly #domain: string;
  readonly #deps: SlotDeps;
  readonly #connection: CountedConnection;
  readonly #counted: CountedSlot;
  #queue: SiteQueue;
  #siteSlot: SiteSlot | null = null;
  #stop: (() => void) | null = null;

  constructor(domain: string, queue: SiteQueue, deps: SlotDeps) {
    this.#domain = domain;
    this.#deps = deps;
    this.#queue = queue;
    this.#connection = new CountedConnection(deps.connections);
    this.#counted = new CountedSlot(deps.budget, queue.speed);
    deps.ages.start(this, queue.now);
    queue.holders.add(this);
    this.#connection.reserveAny(queue);
  }

  get waitList(): string {
    return this.#queue.name;
  }

  get secondWaitList(): string | null {
    return this.#connection.waitList;
  }

  async enter(siteName: string): Promise<Entry> {
    const busy = this.#moveTo(this.#deps.queueOf(this.#domain, siteName));
    const found = busy ?? (await this.#queue.acquire(this));
    if ("kind" in found) {
      this.release();
      return found;
    }
    if (this.isOver) return this.#queue.takeBack(found);
    this.#siteSlot = found;
    // The time for the DNS lookups does not count as time at the site.
    this.#deps.ages.start(this, this.#queue.now);
    this.recount();
    const reason = this.#queue.site.suspensionAt(this.#queue.now);
    if (reason === null) return { kind: "entered" };
    this.release();
    return { kind: "suspended", reason };
  }

  reserve(address: string): Busy | null {
    return this.isOver ? null : this.#connection.reserve(address, this.#queue);
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
    const hasAnswered = this.#counted.speed !== "unresponsive";
    const waitedMs = this.#deps.ages.waitedMs(this, this.#queue.now);
    if (stop === null || (hasAnswered && waitedMs < MIN_WAIT_MS)) return false;
    this.end({ kind: "failed" });
    stop();
    return true;
  }

  becomeOld(): void {
    if (this.#siteSlot === null) return this.recount();
    this.#queue.update();
    if (!this.#queue.site.hasGoodSession) this.#deps.noteChange(this.#queue);
  }

  /** A slow name server makes only the mails that wait for it slow, not others to the same site. */
  recount(): void {
    if (this.isOver) return;
    const { hasGoodSession } = this.#queue.site;
    const isSlow = this.#siteSlot === null && this.#deps.ages.isOld(this);
    this.#counted.countAs(isSlow ? speedOf({ isSlow, hasGoodSession }) : this.#queue.speed);
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
    this.#connection.release();
    this.#deps.ages.end(this);
    this.#counted.release();
    this.#queue.leave(this, this.#siteSlot);
  }

  #moveTo(queue: SiteQueue): Busy | null {
    if (queue === this.#queue) return null;
    const busy = whyNotAdmitted(queue, this.#deps, this.#counted.speed);
    if (busy !== null) return busy;
    this.#queue.holders.delete(this);
    this.#queue = queue;
    queue.holders.add(this);
    this.#connection.reserveAny(queue);
    this.recount();
    return null;
  }
}

/**
 * Why a mail is not admitted to this site; null if it is. `countedAs` is the speed under which the
 * budget counts the mail already; null if it does not.
 */
export function whyNotAdmitted(
  queue: SiteQueue,
  deps: SlotDeps,
  countedAs: Speed | null = null,
): Busy | null {
  return (
    queue.whyClosed() ??
    findFullNetwork(queue, deps.connections) ??
    (queue.speed === countedAs ? null : findFullBudget(queue, deps))
  );
}

/** Why no mail to sites of this speed is admitted; null if one is. */
function findFullBudget(
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
