/**
 * The slots of one site, with the mails that hold them or come for one. A mail waits here for a slot
 * only if it will get one soon; otherwise it is told when to ask again.
 */

import type { Clock } from "../../lib/clock.ts";
import type { Busy } from "../outcome.ts";
import type { Site, SiteSlot, Speed } from "./site.ts";

/** Longest expected and longest actual wait for a slot of the site, in milliseconds. */
const EXPECTED_WAIT_MS = 100;
const LONGEST_WAIT_MS = 500;

/** Bounds of the time after which a mail without a slot is asked for again. */
const SHORTEST_RETRY_MS = 10;
const LONGEST_RETRY_MS = 10_000;

/** A mail that holds a slot of the site or comes for one. */
export type Holder = {
  readonly isOver: boolean;
  /** The speed of the site has changed. */
  recount(): void;
};

type Waiter = { holder: Holder; tell: (entry: SiteSlot | Busy) => void };

export class SiteQueue {
  readonly name: string;
  readonly site: Site;
  /** All mails that hold a slot of the site, wait for one, or are on their way to it. */
  readonly holders = new Set<Holder>();
  /** The networks of its addresses, as far as mails came there (connection-limit.ts). */
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

  /** Why no further mail is admitted to the site, or null. */
  objection(): Busy | null {
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

  /** A slot, at once or after a moment. */
  take(holder: Holder): SiteSlot | Promise<SiteSlot | Busy> {
    const isFree = !this.site.isFull && this.#waiting.length === 0;
    return isFree ? this.site.begin(this.now) : this.#wait(holder);
  }

  /** After a mail has left, or the site has become slow: counts the speed and serves the waiters. */
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
    this.#waiting = this.#waiting.filter(({ holder, tell }) => {
      if (pause === null && !holder.isOver && this.site.isFull) return true;
      tell(pause ?? (holder.isOver ? this.full() : this.site.begin(this.now)));
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
      const tell = (entry: SiteSlot | Busy): void => {
        cancel();
        resolve(entry);
      };
      this.#waiting.push({ holder, tell });
    });
  }
}
