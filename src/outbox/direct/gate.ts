/**
 * Admission of mail to direct delivery. A mail needs a connection slot, out of the budget for sites
 * of that speed, and a slot of its site. If the site will soon have a free slot, the mail waits for
 * it briefly. Otherwise the caller learns at once when to ask again, so that mail to other sites
 * does not wait behind it.
 *
 * Tarpits (servers that accept connections and stay silent) cannot use up the slots:
 * - A slot counts against the speed that its site has now (slot-budget.ts).
 * - All sites without a good session share two connections to an address (connection-limit.ts).
 * - When all slots of any speed are used, the mail that has waited longest is interrupted.
 */

import type { Clock } from "../../lib/clock.ts";
import { ExpiringMap } from "../../lib/expiring-map.ts";
import type { Busy, Hold } from "../outcome.ts";
import { ConnectionLimit } from "./connection-limit.ts";
import { Site } from "./site.ts";
import { SiteQueue } from "./site-queue.ts";
import type { SiteStore } from "./site-store.ts";
import { SlotAges } from "./slot-ages.ts";
import { SlotBudget } from "./slot-budget.ts";
import {
  ConnectionSlot,
  type DirectSlot,
  FULL_RETRY_MS,
  type SlotDeps,
  whyNotAdmitted,
} from "./slot.ts";

export type Admission = DirectSlot | Busy;

type GateOptions = {
  /** Largest number of mails under way while no site is slow. */
  slots: number;
  clock: Clock;
  /** Sites as an earlier process stored them. */
  store?: SiteStore | undefined;
};

const MAX_SITES = 10_000;
const MAX_DOMAINS = 50_000;
/** After this time without mail a site is removed from the memory of this process. */
const MEMORY_MS = 3_600_000;

export class Gate {
  readonly #clock: Clock;
  readonly #store: SiteStore | null;
  readonly #queues: ExpiringMap<SiteQueue>;
  readonly #siteNames: ExpiringMap<string>;
  readonly #budget: SlotBudget;
  readonly #ages = new SlotAges<ConnectionSlot>();
  readonly #slotDeps: SlotDeps;

  constructor({ slots, clock, store }: GateOptions) {
    this.#clock = clock;
    this.#store = store ?? null;
    this.#queues = new ExpiringMap({ maxEntries: MAX_SITES, clock });
    this.#siteNames = new ExpiringMap({ maxEntries: MAX_DOMAINS, clock });
    this.#budget = new SlotBudget(slots);
    this.#slotDeps = {
      budget: this.#budget,
      ages: this.#ages,
      connections: new ConnectionLimit(),
      queueOf: (domain, siteName) => {
        this.#siteNames.set(domain, siteName, MEMORY_MS);
        return this.#queueOf(siteName);
      },
      noteChange: ({ name, site }) => store?.note(name, site),
    };
  }

  /** Number of mails under way, including those that wait for a slot of their site. */
  get active(): number {
    return this.#budget.used;
  }

  /** Largest number of mails under way, including those that wait at slow sites. */
  get limit(): number {
    return this.#budget.limit;
  }

  /**
   * Returns a slot, or why there is none, without I/O. A domain whose site is not known yet is
   * treated as a site of its own, because its DNS servers can be slow as well.
   */
  admit(domain: string): Admission {
    this.#ages.advance(this.#clock.elapsed());
    const siteName = this.#siteNames.get(domain);
    const queue = siteName === undefined ? this.#lookupQueueOf(domain) : this.#queueOf(siteName);
    const busy = whyNotAdmitted(queue, this.#slotDeps) ?? this.#preemptIfFull();
    return busy ?? new ConnectionSlot(domain, queue, this.#slotDeps);
  }

  /** Why a site gets no mail at this moment; null if it does, or is not known. */
  holdOf(siteName: string): Hold | null {
    const known = this.#queues.get(siteName)?.site.pauseMs(this.#clock.elapsed());
    const retryAfterMs = known ?? this.#store?.find(siteName)?.pauseMs ?? 0;
    if (retryAfterMs === 0) return null;
    const reason = "its servers answered that too much mail arrives";
    return { at: "site", name: siteName, reason, retryAfterMs };
  }

  /** Stores the state of all sites. To be called before the sessions are closed. */
  async close(): Promise<void> {
    this.#ages.advance(this.#clock.elapsed());
    await this.#store?.close();
  }

  #queueOf(siteName: string): SiteQueue {
    return this.#remember(siteName, this.#queues.get(siteName) ?? this.#load(siteName));
  }

  #load(siteName: string): SiteQueue {
    const state = this.#store?.find(siteName) ?? null;
    return new SiteQueue(siteName, new Site(state, this.#clock.elapsed()), this.#clock);
  }

  #lookupQueueOf(domain: string): SiteQueue {
    const name = `? ${domain}`; // A host name cannot contain a space.
    const queue = this.#queues.get(name) ?? new SiteQueue(name, new Site(), this.#clock);
    return this.#remember(name, queue);
  }

  #remember(name: string, queue: SiteQueue): SiteQueue {
    this.#queues.set(name, queue, MEMORY_MS);
    return queue;
  }

  /** Returns null if a slot is free, or after interrupting the mail that has waited longest. */
  #preemptIfFull(): Busy | null {
    if (this.#budget.used < this.#budget.limit) return null;
    for (const slot of this.#ages.old()) if (slot.preempt()) return null;
    const reason = `${this.#budget.used} mails are under way`;
    return { kind: "busy", why: "full", retryAfterMs: FULL_RETRY_MS, waitList: null, reason };
  }
}
