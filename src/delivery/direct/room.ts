/** A site with those before its door: they have no place yet, and get one as places come free. */

import type { Clock } from "../../lib/clock.ts";
import type { Busy } from "../outcome.ts";
import { Site, type Stay } from "./site.ts";

/** At a site's door nobody is let to wait who is expected to need longer, and what it may become. */
const EXPECTED_WAIT_MS = 100;
const LONGEST_WAIT_MS = 500;

/** Bounds of when it is worth while to ask again. */
const SOONEST_RETURN_MS = 10;
const LATEST_RETURN_MS = 10_000;

/** Whoever it is; told apart by identity. */
export type Visitor = object;

type Waiter = { visitor: Visitor; tell: (entry: Stay | Busy) => void };

/** A site and those before its door. */
export class Room {
  readonly site = new Site();
  /** The line of those who are turned back here. */
  readonly name: string;
  /** On their way to the door, or waiting there: they have no place yet. */
  readonly coming = new Set<Visitor>();
  readonly #clock: Clock;
  #waiting: Waiter[] = [];

  constructor(name: string, clock: Clock) {
    this.name = name;
    this.#clock = clock;
  }

  get now(): number {
    return this.#clock.now();
  }

  /** Why nobody else should come, or null. */
  objection(): Busy | null {
    const pause = this.#pause();
    if (pause !== null) return pause;
    const expected = this.site.active + this.coming.size;
    const soon = Math.floor((EXPECTED_WAIT_MS * this.site.limit) / this.site.paceMs(this.now));
    return expected < this.site.limit + soon ? null : this.full();
  }

  full(): Busy {
    const turnMs = this.site.paceMs(this.now) / this.site.limit;
    const retryAfterMs = Math.min(Math.max(turnMs, SOONEST_RETURN_MS), LATEST_RETURN_MS);
    const reason = `${this.site.active} mails to its site are under way`;
    return this.#busy("full", Math.ceil(retryAfterMs), reason);
  }

  /** A place, at once or after a moment. */
  take(visitor: Visitor): Stay | Promise<Stay | Busy> {
    const isFree = !this.site.isFull && this.#waiting.length === 0;
    return isFree ? this.#letIn(visitor) : this.#wait(visitor);
  }

  /** Somebody has left, or the site has shown something: those at the door hear of it. */
  update(): void {
    const pause = this.#pause();
    this.#waiting = this.#waiting.filter(({ visitor, tell }) => {
      const isWithdrawn = !this.coming.has(visitor);
      if (pause === null && !isWithdrawn && this.site.isFull) return true;
      tell(pause ?? (isWithdrawn ? this.full() : this.#letIn(visitor)));
      return false;
    });
  }

  #pause(): Busy | null {
    const retryAfterMs = this.site.pauseMs(this.now);
    if (retryAfterMs === 0) return null;
    return this.#busy("paused", retryAfterMs, "its site asked for a pause");
  }

  #busy(why: Busy["why"], retryAfterMs: number, reason: string): Busy {
    return { kind: "busy", why, retryAfterMs, line: this.name, reason };
  }

  #letIn(visitor: Visitor): Stay {
    this.coming.delete(visitor);
    return this.site.begin(this.now);
  }

  #wait(visitor: Visitor): Promise<Stay | Busy> {
    return new Promise((resolve) => {
      const cancel = this.#clock.after(LONGEST_WAIT_MS, () => {
        this.#waiting = this.#waiting.filter((waiter) => waiter.visitor !== visitor);
        resolve(this.full());
      });
      const tell = (entry: Stay | Busy): void => {
        cancel();
        resolve(entry);
      };
      this.#waiting.push({ visitor, tell });
    });
  }
}
