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
import { type Busy, type Pass as AnyPass, shareLine } from "../outcome.ts";
import { Room } from "./room.ts";
import type { SiteResult, Stay } from "./site.ts";

export type Entry =
  | { kind: "entered" }
  | Busy
  /** Lately the site could not be reached: `reason` is what was wrong. */
  | { kind: "suspended"; reason: string };

/** One mail's places, in the house and at its site; whoever has it must end or release it. */
export type Pass = AnyPass & {
  /** Goes to the site, now that it is known. If it does not get in, the pass is released. */
  enter(siteName: string): Promise<Entry>;
  /** Gives the places back, once; the site learns how it went. */
  end(result: SiteResult): void;
};

export type Admission = Pass | Busy;

export type GateOptions = {
  /** Mails under way at once. */
  places: number;
  clock: Clock;
};

const SHARES = { fast: 1, unknown: 0.8, slow: 0.5 } as const;

/** When it is worth while to ask again for a place in the house. */
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
    const room = this.#rooms.get(name) ?? new Room(name, this.#clock);
    this.#rooms.set(name, room, MEMORY_MS);
    return room;
  }

  #houseIsFull(room: Room): Busy | null {
    const speed = room.site.speedAt(this.#clock.now());
    if (this.#active < Math.max(1, Math.floor(this.#places * SHARES[speed]))) return null;
    const reason = `${this.#active} mails are under way`;
    const line = this.#active < this.#places ? shareLine(speed) : null;
    return { kind: "busy", why: "full", retryAfterMs: HOUSE_RETURN_MS, line, reason };
  }
}

/** No host has such a name. */
function unresolved(domain: string): string {
  return `? ${domain}`;
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

  get line(): string {
    return this.#room.name;
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
