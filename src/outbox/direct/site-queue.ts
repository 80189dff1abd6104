/**
 * The slots of one site, with the mails that hold a slot or wait for one. A mail waits here only if
 * a slot will soon be released; otherwise the caller learns when to ask again.
 */

import type { Clock } from "../../lib/clock.ts";
import type { Busy } from "../outcome.ts";
import type { Site, SiteSlot, Speed } from "./site.ts";

/** Longest expected and longest actual wait for a slot of the site, in milliseconds. */
const EXPECTED_WAIT_MS = 100;
const LONGEST_WAIT_MS = 500;

/** Bounds of the delay before a mail without a slot asks again. */
const SHORTEST_RETRY_MS = 10;
const LONGEST_RETRY_MS = 10_000;

/** A mail that holds a slot of the site or will ask for one. */
export type Holder = {
  readonly isOver: boolean;
  /** Counts the mail again after the speed of its site changed. */
  recount(): void;
};

type Waiter = { holder: Holder; resolve: (entry: SiteSlot | Busy) => void };

export class SiteQueue {
  readonly name: string;
  readonly site: Site;
  /** All mails that hold a slot of the site, wait for one, or are still in their DNS lookups. */
  readonly holders = new Set<Holder>();
  /** The networks that mails to this site have dialled (connection-limit.ts). */
  readonly networks = new Set<string>();
  readonly #clock: Clock;
  #speed: Speed;
  #waiting: Waiter[] = [];

  constructor(name: string, site: Site, clock: Clock) {
    this.name = name;
    this.site = site;
    this.#clock = clock;
    this.#speed = site.speedAt(this.now);
  }

  get now(): number {
    return this.#clock.elapsed();
  }

  /** As of the latest call of `update`. */
  get speed(): Speed {
    return this.#speed;
  }

  /** Why no further mail is admitted to the site; null if one is. */
  whyClosed(): Busy | null {
    const pause = this.#pause();
    if (pause !== null) return pause;
    const soon = Math.floor((EXPECTED_WAIT_MS * this.site.limit) / this.site.paceMs(this.now));
    return this.holders.size < this.site.limit + soon ? null : this.full();
  }

  full(): Busy {
    const slotMs = this.site.paceMs(this.now) / this.site.limit;
    const retryAfterMs = Math.min(Math.max(slotMs, SHORTEST_RETRY_MS), LONGEST_RETRY_MS);
    const reason = `${this.site.active} mails to its site are under way`;
    return this.#busy("full", Math.ceil(retryAfterMs), reason);
  }

  /** Acquires a slot, at once or after a short wait. */
  acquire(holder: Holder): SiteSlot | Promise<SiteSlot | Busy> {
    const isFree = !this.site.isFull && this.#waiting.length === 0;
    return isFree ? this.site.begin(this.now) : this.#wait(holder);
  }

  /** Takes back the slot of a mail that was over just when it got the slot. */
  takeBack(slot: SiteSlot): Busy {
    this.site.release(slot);
    this.update();
    return this.full();
  }

  /** `slot` is the slot of the mail; null if it has none. */
  leave(holder: Holder, slot: SiteSlot | null): void {
    this.holders.delete(holder);
    if (slot !== null) this.site.release(slot);
    this.update();
  }

  /** Call it after a slot was released or the site became slow: updates speed and wait queue. */
  update(): void {
    const speed = this.site.speedAt(this.now);
    if (speed !== this.#speed) {
      this.#speed = speed;
      for (const holder of this.holders) holder.recount();
    }
    if (this.#waiting.length > 0) this.#serve();
  }

  #serve(): void {
    const pause = this.#pause();
    this.#waiting = this.#waiting.filter(({ holder, resolve }) => {
      if (pause === null && !holder.isOver && this.site.isFull) return true;
      resolve(pause ?? (holder.isOver ? this.full() : this.site.begin(this.now)));
      return false;
    });
  }

  #pause(): Busy | null {
    const retryAfterMs = this.site.pauseMs(this.now);
    if (retryAfterMs === 0) return null;
    return this.#busy("paused", retryAfterMs, "its site asked for a pause");
  }

  #busy(why: Busy["why"], retryAfterMs: number, reason: string): Busy {
    return { kind: "busy", why, retryAfterMs, waitList: this.name, reason };
  }

  #wait(holder: Holder): Promise<SiteSlot | Busy> {
    return new Promise((resolve) => {
      const cancel = this.#clock.after(LONGEST_WAIT_MS, () => {
        this.#waiting = this.#waiting.filter((waiter) => waiter.holder !== holder);
        resolve(this.full());
      });
      const resolveEarly = (entry: SiteSlot | Busy): void => {
        cancel();
        resolve(entry);
      };
      this.#waiting.push({ holder, resolve: resolveEarly });
    });
  }
}
