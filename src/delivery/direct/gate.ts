/**
 * Who may start now (delivery rule S7). A mail needs a place at its site and a place in the house;
 * where there is none it is told at once when to come again, so that nobody who waits for one site
 * stands in the way of a mail to another.
 *
 * Places in the house are kept back for those who will soon be done: sites known to be slow share
 * half of them, sites not known yet four fifths, the rest is for sites known to be fast.
 */

import type { Clock } from "../../lib/clock.ts";
import { ExpiringMap } from "../../lib/expiring-map.ts";
import { HIGHEST_LIMIT, Site, type SiteResult, type Stay } from "./site.ts";

/** Not now, and nothing was tried. */
export type Busy = {
  kind: "busy";
  /** When a place may be free. */
  retryAfterMs: number;
  /** How far apart mails to this domain may follow one another from then on. */
  spacingMs: number;
  reason: string;
};

/** One mail's places, in the house and at its site; whoever has it must end or release it. */
export type Pass = {
  kind: "pass";
  /** Goes over to the site, now that it is known. Without a place there, the pass is released. */
  enter(siteName: string): Entry;
  /** Gives the places back, once; the site learns how it went. */
  end(result: SiteResult): void;
  /** Gives the places back, once; nothing was tried. */
  release(): void;
};

export type Entry =
  | { kind: "entered" }
  | Busy
  /** Lately the site could not be reached: `reason` is what was wrong. */
  | { kind: "suspended"; reason: string };

export type Admission = Pass | Busy;

export type GateOptions = {
  /** Mails under way at once. */
  places: number;
  clock: Pick<Clock, "now">;
};

const SHARES = { fast: 1, unknown: 0.8, slow: 0.5 } as const;

const MOST_SITES = 10_000;
const MOST_DOMAINS = 50_000;
/** Forgotten after an hour without a mail. */
const MEMORY_MS = 3_600_000;

const SHORTEST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 10_000;

export class Gate {
  readonly #places: number;
  readonly #now: Clock["now"];
  readonly #sites: ExpiringMap<Site>;
  readonly #siteNames: ExpiringMap<string>;
  #active = 0;

  constructor({ places, clock }: GateOptions) {
    this.#places = places;
    this.#now = clock.now;
    this.#sites = new ExpiringMap({ maxEntries: MOST_SITES, clock });
    this.#siteNames = new ExpiringMap({ maxEntries: MOST_DOMAINS, clock });
  }

  /** Mails under way. */
  get active(): number {
    return this.#active;
  }

  /** A domain whose site is not known yet is treated as a site of its own: DNS can be slow, too. */
  admit(domain: string): Admission {
    const site = this.#siteOf(this.#siteNames.get(domain) ?? unresolved(domain));
    const busy = this.#objection(site) ?? this.#houseIsFull(site);
    if (busy !== null) return busy;
    this.#active++;
    return this.#makePass(domain, site);
  }

  #makePass(domain: string, first: Site): Pass {
    let site = first;
    let stay: Stay = site.begin(this.#now());
    let isOver = false;
    const once = (act: () => void): void => {
      if (isOver) return;
      isOver = true;
      this.#active--;
      act();
    };
    const release = () => once(() => site.leave(stay));
    return {
      kind: "pass",
      release,
      end: (result) => once(() => site.end(stay, result, this.#now())),
      enter: (siteName) => {
        this.#siteNames.set(domain, siteName, MEMORY_MS);
        const next = this.#siteOf(siteName);
        const busy = next === site ? null : this.#objection(next);
        if (busy !== null) {
          release();
          return busy;
        }
        if (next !== site) {
          site.leave(stay);
          site = next;
          stay = site.begin(this.#now());
        }
        const reason = site.suspensionAt(this.#now());
        if (reason === null) return { kind: "entered" };
        release();
        return { kind: "suspended", reason };
      },
    };
  }

  #siteOf(name: string): Site {
    const site = this.#sites.get(name) ?? new Site();
    this.#sites.set(name, site, MEMORY_MS);
    return site;
  }

  #objection(site: Site): Busy | null {
    const pauseMs = site.pauseMs(this.#now());
    if (pauseMs > 0) return busy(site, pauseMs, "the site asked for a pause");
    if (!site.isFull) return null;
    const turnMs = site.serviceMs / site.limit;
    const waitMs = Math.min(Math.max(turnMs, SHORTEST_WAIT_MS), LONGEST_WAIT_MS);
    return busy(site, waitMs, `${site.active} mails to the site are under way`);
  }

  #houseIsFull(site: Site): Busy | null {
    const share = SHARES[site.speedAt(this.#now())];
    if (this.#active < Math.max(1, Math.floor(this.#places * share))) return null;
    return busy(site, SHORTEST_WAIT_MS, `${this.#active} mails are under way`);
  }
}

/** No host has such a name. */
function unresolved(domain: string): string {
  return `? ${domain}`;
}

function busy(site: Site, retryAfterMs: number, reason: string): Busy {
  const spacingMs = Math.ceil(site.serviceMs / HIGHEST_LIMIT);
  return { kind: "busy", retryAfterMs: Math.ceil(retryAfterMs), spacingMs, reason };
}
