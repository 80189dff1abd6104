/**
 * Who may start now (delivery rule S7). A mail needs a place in the house and one at its site. At a
 * site that is soon done with the mails before it, it waits for a moment; anywhere else it is told
 * at once when to come again, so that nobody stands in the way of a mail to another site.
 *
 * Places in the house are kept back for those who will soon be done: sites known to be slow share
 * half of them, sites not known yet four fifths, the rest is for sites known to be fast.
 */

import type { Clock } from "../../lib/clock.ts";
import { ExpiringMap } from "../../lib/expiring-map.ts";
import { Site, type SiteResult, type Stay } from "./site.ts";

/**
 * Not now, and nothing was tried.
 * - full: places come free as mails end; `retryAfterMs` says about when.
 * - paused: nobody gets in before `retryAfterMs` is over.
 */
export type Busy = {
  kind: "busy";
  why: "full" | "paused";
  retryAfterMs: number;
  /** For people. */
  reason: string;
};

export type Entry =
  | { kind: "entered" }
  | Busy
  /** Lately the site could not be reached: `reason` is what was wrong. */
  | { kind: "suspended"; reason: string };

/** One mail's places, in the house and at its site; whoever has it must end or release it. */
export type Pass = {
  kind: "pass";
  /** Goes to the site, now that it is known. If it does not get in, the pass is released. */
  enter(siteName: string): Promise<Entry>;
  /** Gives the places back, once; the site learns how it went. */
  end(result: SiteResult): void;
  /** Gives the places back, once; nothing was tried. */
  release(): void;
};

export type Admission = Pass | Busy;

export type GateOptions = {
  /** Mails under way at once. */
  places: number;
  clock: Clock;
};

const SHARES = { fast: 1, unknown: 0.8, slow: 0.5 } as const;

/** At a site's door nobody is let to wait who is expected to need longer, and what it may become. */
const EXPECTED_WAIT_MS = 100;
const LONGEST_WAIT_MS = 500;

/** Bounds of when it is worth while to ask again. */
const SOONEST_RETURN_MS = 10;
const LATEST_RETURN_MS = 10_000;
const HOUSE_RETURN_MS = 100;

const MOST_SITES = 10_000;
const MOST_DOMAINS = 50_000;
/** Forgotten after an hour without a mail. */
const MEMORY_MS = 3_600_000;

export class Gate {
  readonly #places: number;
  readonly #clock: Clock;
  readonly #rooms: ExpiringMap<Room>;
  readonly #siteNames: ExpiringMap<string>;
  #active = 0;

  constructor({ places, clock }: GateOptions) {
    this.#places = places;
    this.#clock = clock;
    this.#rooms = new ExpiringMap({ maxEntries: MOST_SITES, clock });
    this.#siteNames = new ExpiringMap({ maxEntries: MOST_DOMAINS, clock });
  }

  /** Mails under way, those that wait at a site's door included. */
  get active(): number {
    return this.#active;
  }

  /**
   * A place, or none; at once, and asking changes nothing. A domain whose site is not known yet is
   * treated as a site of its own: DNS can be slow, too.
   */
  admit(domain: string): Admission {
    const room = this.#roomOf(this.#siteNames.get(domain) ?? unresolved(domain));
    const busy = room.objection() ?? this.#houseIsFull(room);
    if (busy !== null) return busy;
    this.#active++;
    return new Visit(room, {
      roomOf: (siteName) => {
        this.#siteNames.set(domain, siteName, MEMORY_MS);
        return this.#roomOf(siteName);
      },
      leave: () => this.#active--,
    });
  }

  #roomOf(name: string): Room {
    const room = this.#rooms.get(name) ?? new Room(this.#clock);
    this.#rooms.set(name, room, MEMORY_MS);
    return room;
  }

  #houseIsFull(room: Room): Busy | null {
    const share = SHARES[room.site.speedAt(this.#clock.now())];
    if (this.#active < Math.max(1, Math.floor(this.#places * share))) return null;
    const reason = `${this.#active} mails are under way`;
    return { kind: "busy", why: "full", retryAfterMs: HOUSE_RETURN_MS, reason };
  }
}

/** No host has such a name. */
function unresolved(domain: string): string {
  return `? ${domain}`;
}

type Waiter = { visit: Visit; tell: (entry: Stay | Busy) => void };

/** A site and those before its door. */
class Room {
  readonly site = new Site();
  /** On their way to the door, or waiting there: they have no place yet. */
  readonly coming = new Set<Visit>();
  readonly #clock: Clock;
  #waiting: Waiter[] = [];

  constructor(clock: Clock) {
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
    return { kind: "busy", why: "full", retryAfterMs: Math.ceil(retryAfterMs), reason };
  }

  /** A place, at once or after a moment. */
  take(visit: Visit): Stay | Promise<Stay | Busy> {
    const isFree = !this.site.isFull && this.#waiting.length === 0;
    return isFree ? this.#letIn(visit) : this.#wait(visit);
  }

  /** Somebody has left, or the site has shown something: those at the door hear of it. */
  update(): void {
    const pause = this.#pause();
    this.#waiting = this.#waiting.filter(({ visit, tell }) => {
      const isWithdrawn = !this.coming.has(visit);
      if (pause === null && !isWithdrawn && this.site.isFull) return true;
      tell(pause ?? (isWithdrawn ? this.full() : this.#letIn(visit)));
      return false;
    });
  }

  #pause(): Busy | null {
    const retryAfterMs = this.site.pauseMs(this.now);
    if (retryAfterMs === 0) return null;
    return { kind: "busy", why: "paused", retryAfterMs, reason: "its site asked for a pause" };
  }

  #letIn(visit: Visit): Stay {
    this.coming.delete(visit);
    return this.site.begin(this.now);
  }

  #wait(visit: Visit): Promise<Stay | Busy> {
    return new Promise((resolve) => {
      const cancel = this.#clock.after(LONGEST_WAIT_MS, () => {
        this.#waiting = this.#waiting.filter((waiter) => waiter.visit !== visit);
        resolve(this.full());
      });
      const tell = (entry: Stay | Busy): void => {
        cancel();
        resolve(entry);
      };
      this.#waiting.push({ visit, tell });
    });
  }
}

type House = {
  /** The site's room; the domain is known to belong there from now on. */
  roomOf(siteName: string): Room;
  leave(): void;
};

class Visit implements Pass {
  readonly kind = "pass";
  readonly #house: House;
  #room: Room;
  #stay: Stay | null = null;
  #isOver = false;

  constructor(room: Room, house: House) {
    this.#room = room;
    this.#house = house;
    room.coming.add(this);
  }

  async enter(siteName: string): Promise<Entry> {
    const busy = this.#moveTo(this.#house.roomOf(siteName));
    const stay = busy ?? (await this.#room.take(this));
    if ("kind" in stay) {
      this.release();
      return stay;
    }
    this.#stay = stay;
    if (this.#isOver) return this.#giveUp(stay);
    const reason = this.#room.site.suspensionAt(this.#room.now);
    if (reason === null) return { kind: "entered" };
    this.release();
    return { kind: "suspended", reason };
  }

  end(result: SiteResult): void {
    const { site, now } = this.#room;
    if (this.#stay !== null && !this.#isOver) site.end(this.#stay, result, now);
    this.release();
  }

  release(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#room.coming.delete(this);
    if (this.#stay !== null) this.#room.site.leave(this.#stay);
    this.#room.update();
    this.#house.leave();
  }

  /** It was released in the moment in which it got in. */
  #giveUp(stay: Stay): Busy {
    this.#room.site.leave(stay);
    this.#room.update();
    return this.#room.full();
  }

  #moveTo(room: Room): Busy | null {
    if (room === this.#room) return null;
    const busy = room.objection();
    if (busy !== null) return busy;
    this.#room.coming.delete(this);
    this.#room = room;
    room.coming.add(this);
    return null;
  }
}
