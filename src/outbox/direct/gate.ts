/**
 * Admission of mail to direct delivery. A mail that is not admitted returns to the queue and learns
 * when to ask again, so that mail to other sites does not wait behind it. It waits here only if its site
 * will soon have a free slot, which would be empty while another mail is signed.
 *
 * Tarpits (servers that accept connections and stay silent) cannot use up the connections:
 * - Each speed of site has a share of the mails under way. The present speed counts: when an unknown
 *   site turns out to be silent, its mails no longer keep those to other unknown sites out.
 * - Up to four times as many mails may be under way as are admitted at once, because most of them then
 *   wait at slow sites. Beyond that, the mail that has waited longest is interrupted.
 * - All sites without a good session share two connections to a network.
 * - A site that has been silent for SLOW_MS is stored, so that it is known after a restart or a crash.
 *
 * A mail holds its slot while it waits for the pace. If the site has no other slot, an urgent mail takes
 * the slot of a mail that is not urgent, so that it does not wait for the pace of that mail.
 */

import { clientNetwork } from "../../lib/client-network.ts";
import type { Clock } from "../../lib/clock.ts";
import { ExpiringMap } from "../../lib/expiring-map.ts";
import { type Busy, type Hold, shareWaitList, type Slot } from "../outcome.ts";
import { Site, type SiteResult, type SiteSlot, SLOW_MS, type Speed, speedOf } from "./site.ts";
import type { SiteStore } from "./stores.ts";

export type Admission = DirectSlot | Busy;

type Entry =
  | { kind: "entered" }
  | Busy
  /** The site could not be reached recently; `reason` says why. */
  | { kind: "suspended"; reason: string };

/** The permission to deliver one mail. Its holder must end or release it. */
export type DirectSlot = Slot & {
  /** Must be called once the site is known. If it has no room, this releases the slot. */
  enter(siteName: string, isUrgent?: boolean): Promise<Entry>;
  /** Must be called before each connection: null, or why this address must not be dialled now. */
  reserve(address: string): Busy | null;
  /** True while many silent sites are dialled and this one never answered: it gets less time. */
  isHurried(): boolean;
  /** Calls `stop`, which must end the connection at once, if the slot is given to other mail. */
  onPreempted(stop: () => void): void;
  /**
   * Lets an urgent mail take the slot while `stop` returns true: then this mail waits for the pace, and
   * `stop` has taken it back.
   */
  onTaken(stop: (busy: Busy) => boolean): void;
  /** Releases the slot and records the result for the site; further calls do nothing. */
  end(result: SiteResult): void;
};

type SiteEntry = {
  name: string;
  site: Site;
  /** Its mails, also those that are still in their DNS lookups. */
  mails: Set<Mail>;
  /** The networks that mails to this site have dialled. */
  networks: Set<string>;
};

/** Share of the mails under way that each speed may have. */
const SHARES: Readonly<Record<Speed, number>> = {
  fast: 1,
  unknown: 0.8,
  slow: 0.5,
  unresponsive: 0.2,
};
/** The limit of all mails under way, as a multiple of those that are admitted at once. */
const TOTAL_FACTOR = 4;
/** A mail to a site that has answered before is not interrupted earlier than this. */
const MIN_WAIT_MS = 30_000;
const MAX_PER_NETWORK = 2;

/** The longest expected and the longest actual wait for a slot of the site. */
const EXPECTED_WAIT_MS = 100;
const LONGEST_WAIT_MS = 500;
/** A mail asks again after these times, or when a mail of its wait list ends. */
const FULL_RETRY_MS = 100;
const NETWORK_RETRY_MS = 2_000;
const SHORTEST_RETRY_MS = 10;
const LONGEST_RETRY_MS = 10_000;

const MAX_SITES = 10_000;
const MAX_DOMAINS = 50_000;
/** After this time without mail a site is removed from the memory of this process. */
const MEMORY_MS = 3_600_000;

export class Gate {
  readonly #clock: Clock;
  readonly #slots: number;
  readonly #store: SiteStore | null;
  readonly #sites: ExpiringMap<SiteEntry>;
  readonly #siteNames: ExpiringMap<string>;
  /** The mails under way, in the order in which they began to wait. */
  readonly #mails = new Set<Mail>();
  /** Connections by network, to sites without a good session. */
  readonly #connections = new Map<string, number>();
  /** True once the state of all sites is stored: then no further write is scheduled. */
  #isClosed = false;

  /** `slots`: largest number of mails under way while no site is slow. */
  constructor({
    slots,
    clock,
    store,
  }: {
    slots: number;
    clock: Clock;
    store?: SiteStore | undefined;
  }) {
    this.#clock = clock;
    this.#slots = slots;
    this.#store = store ?? null;
    this.#sites = new ExpiringMap({ maxEntries: MAX_SITES, clock });
    this.#siteNames = new ExpiringMap({ maxEntries: MAX_DOMAINS, clock });
  }

  /** Number of mails under way. */
  get active(): number {
    return this.#mails.size;
  }

  /** Largest number of mails under way, including those that wait at slow sites. */
  get limit(): number {
    return this.#slots * TOTAL_FACTOR;
  }

  get now(): number {
    return this.#clock.elapsed();
  }

  /**
   * Returns a slot, or why there is none, without I/O. A domain whose site is not known yet is
   * treated as a site of its own, because its DNS servers can be slow as well.
   */
  admit(domain: string, isUrgent = false): Admission {
    const entry = this.#entryOf(this.#siteNames.get(domain) ?? null, domain);
    const busy = this.whyNot(entry, { isUrgent }) ?? this.#preemptIfFull();
    return busy ?? new Mail(this, domain, entry);
  }

  /**
   * The reason why no further mail to this site is admitted; null if one is. An urgent mail takes the slot of
   * another mail if it can. `countedAs` is the speed that the mail has now.
   */
  whyNot(
    entry: SiteEntry,
    { isUrgent, countedAs }: { isUrgent: boolean; countedAs?: Speed },
  ): Busy | null {
    const { site, mails, networks } = entry;
    const pause = this.whyPaused(entry);
    if (pause !== null) return pause;
    const most = this.#mostMails(site);
    if (isUrgent) evictWaiting(entry, () => mails.size < most);
    if (mails.size >= most) return this.full(entry);
    const isFull = (network: string) => this.#connectionsTo(network) >= MAX_PER_NETWORK;
    const [network] = networks;
    if (!site.hasGoodSession && network !== undefined && [...networks].every(isFull)) {
      return awaitNetwork(network);
    }
    const speed = site.speedAt(this.now);
    return speed === countedAs || !this.isUsedUp(speed) ? null : this.#awaitShare(speed);
  }

  /** The slots of the site, plus the mails that soon get one if the site has answered before. */
  #mostMails(site: Site): number {
    if (!site.hasGoodSession) return site.limit;
    return site.limit + Math.floor((EXPECTED_WAIT_MS * site.limit) / site.paceMs(this.now));
  }

  whyPaused({ name, site }: SiteEntry): Busy | null {
    const pauseMs = site.pauseMs(this.now);
    return pauseMs === 0 ? null : busy("paused", pauseMs, name, "its site asked for a pause");
  }

  full({ name, site }: SiteEntry): Busy {
    const slotMs = site.paceMs(this.now) / site.limit;
    const retryMs = Math.ceil(Math.min(Math.max(slotMs, SHORTEST_RETRY_MS), LONGEST_RETRY_MS));
    return busy("full", retryMs, name, `${site.active} mails to its site are under way`);
  }

  isUsedUp(speed: Speed): boolean {
    return this.#count(speed) >= Math.max(1, Math.floor(this.#slots * SHARES[speed]));
  }

  #awaitShare(speed: Speed): Busy {
    const reason = `${this.#count(speed)} mails to ${speed} sites are under way`;
    // Nearly all mail goes to fast sites, so moving it to a wait list would take too long.
    if (speed === "fast") return busy("full", FULL_RETRY_MS, null, reason);
    // There is room again as soon as another site becomes slow: the next mail that will have waited
    // for SLOW_MS is the one with the longest wait below it.
    const waits = [...this.#mails].map(({ since }) => this.now - since);
    const longestMs = Math.max(0, ...waits.filter((ms) => ms < SLOW_MS));
    return busy("full", SLOW_MS - longestMs, shareWaitList(speed), reason);
  }

  #count(speed: Speed): number {
    let count = 0;
    for (const mail of this.#mails) if (mail.speed === speed) count++;
    return count;
  }

  /** Returns null if there is room, or after interrupting the mail that has waited longest. */
  #preemptIfFull(): Busy | null {
    if (this.active < this.limit) return null;
    for (const mail of this.#mails) if (mail.preempt()) return null;
    return busy("full", FULL_RETRY_MS, null, `${this.active} mails are under way`);
  }

  /** The reason why a site gets no mail at this moment; null if it does, or is not known. */
  holdOf(siteName: string): Hold | null {
    const known = this.#sites.get(siteName)?.site;
    const retryAfterMs = known?.pauseMs(this.now) ?? this.#store?.find(siteName)?.pauseMs ?? 0;
    if (retryAfterMs === 0) return null;
    const reason = known?.pauseReason ?? "its servers answered that too much mail arrives";
    return { at: "site", name: siteName, reason, retryAfterMs };
  }

  /** Stores the state of all sites. To be called before the sessions are closed. */
  async close(): Promise<void> {
    for (const mail of this.#mails) mail.storeSilence();
    this.#isClosed = true;
    await this.#store?.close();
  }

  /** The site of a domain, once its hosts are known. */
  siteOf(domain: string, siteName: string): SiteEntry {
    this.#siteNames.set(domain, siteName, MEMORY_MS);
    return this.#entryOf(siteName, domain);
  }

  #entryOf(siteName: string | null, domain: string): SiteEntry {
    const name = siteName ?? `? ${domain}`; // A host name cannot contain a space.
    const known = this.#sites.get(name);
    const stored = known === undefined && siteName !== null ? this.#store?.find(name) : null;
    const entry = known ?? {
      name,
      site: new Site(stored ?? null, this.now),
      mails: new Set<Mail>(),
      networks: new Set<string>(),
    };
    this.#sites.set(name, entry, MEMORY_MS);
    return entry;
  }

  /** A mail begins to wait, again if it waited before. */
  begin(mail: Mail): void {
    this.#mails.delete(mail);
    this.#mails.add(mail);
  }

  end(mail: Mail): void {
    this.#mails.delete(mail);
  }

  /** Calls `run` after `ms`; the returned function cancels it. */
  after(ms: number, run: () => void): () => void {
    return this.#clock.after(ms, run);
  }

  note({ name, site }: SiteEntry): void {
    if (!this.#isClosed) this.#store?.note(name, site);
  }

  connect(network: string): boolean {
    if (this.#connectionsTo(network) >= MAX_PER_NETWORK) return false;
    this.#connections.set(network, this.#connectionsTo(network) + 1);
    return true;
  }

  disconnect(network: string): void {
    const left = this.#connectionsTo(network) - 1;
    if (left > 0) this.#connections.set(network, left);
    else this.#connections.delete(network);
  }

  #connectionsTo(network: string): number {
    return this.#connections.get(network) ?? 0;
  }
}

/** One mail under way, from its admission to the end of its delivery. */
class Mail implements DirectSlot {
  readonly kind = "slot";
  since: number;
  readonly #gate: Gate;
  readonly #domain: string;
  #entry: SiteEntry;
  /** Null during the DNS lookups. */
  #siteSlot: SiteSlot | null = null;
  #isOver = false;
  #hasDialled = false;
  /** The network of its connection, if it is counted, and of its last one. */
  #network: string | null = null;
  #lastNetwork: string | null = null;
  #stop: (() => void) | null = null;
  #stopIfTaken: ((busy: Busy) => boolean) | null = null;
  #stopWaiting: () => void = () => {};
  #cancelTimer: () => void = () => {};

  constructor(gate: Gate, domain: string, entry: SiteEntry) {
    this.#gate = gate;
    this.#domain = domain;
    this.#entry = entry;
    this.since = gate.now;
    gate.begin(this);
    this.#join(entry);
  }

  get waitList(): string {
    return this.#entry.name;
  }

  get secondWaitList(): string | null {
    return this.#lastNetwork === null ? null : networkWaitList(this.#lastNetwork);
  }

  /** A slow name server makes only the mails that wait for it slow, not others to the same site. */
  get speed(): Speed {
    const { site } = this.#entry;
    const isSlow = this.#siteSlot === null && this.#waitedMs >= SLOW_MS;
    const { hasGoodSession } = site;
    return isSlow ? speedOf({ isSlow, hasGoodSession }) : site.speedAt(this.#gate.now);
  }

  get #waitedMs(): number {
    return this.#gate.now - this.since;
  }

  async enter(siteName: string, isUrgent = false): Promise<Entry> {
    const entry = this.#gate.siteOf(this.#domain, siteName);
    const { site } = entry;
    const isMoving = entry !== this.#entry;
    const refusal = isMoving
      ? this.#gate.whyNot(entry, { isUrgent, countedAs: this.speed })
      : this.#gate.whyPaused(entry);
    const found = refusal ?? (this.#isOver ? this.#gate.full(entry) : null);
    if (found !== null) {
      this.release();
      return found;
    }
    if (isMoving) this.#join(entry);
    const { now } = this.#gate;
    const slot = site.isFull ? await this.#waitForSlot(entry, isUrgent) : site.begin(now);
    if (slot === null) {
      this.release();
      return this.#gate.whyPaused(entry) ?? this.#gate.full(entry);
    }
    this.#siteSlot = slot;
    const reason = site.suspensionAt(this.#gate.now);
    if (reason !== null) {
      this.release();
      return { kind: "suspended", reason };
    }
    // The time for the DNS lookups does not count as time at the site.
    this.since = this.#gate.now;
    this.#gate.begin(this);
    if (!site.hasGoodSession) {
      this.#cancelTimer = this.#gate.after(SLOW_MS, () => this.storeSilence());
    }
    return { kind: "entered" };
  }

  /**
   * Resolves to null if the slot would come too late, or if this mail is over meanwhile. An urgent mail
   * is the first to get a slot, which another one may give up for it.
   */
  #waitForSlot(entry: SiteEntry, isUrgent: boolean): Promise<SiteSlot | null> {
    return new Promise((resolve) => {
      let isWaiting = true;
      const cancelTimer = this.#gate.after(LONGEST_WAIT_MS, () => this.#stopWaiting());
      const resume = (slot: SiteSlot | null): void => {
        isWaiting = false;
        cancelTimer();
        resolve(slot);
      };
      this.#stopWaiting = entry.site.wait(resume, isUrgent);
      if (isUrgent) evictWaiting(entry, () => !isWaiting);
    });
  }

  /** Schedules a write of how long a site without a good session has been silent. */
  storeSilence(): void {
    const isAtSite = this.#siteSlot !== null && !this.#isOver;
    if (isAtSite && !this.#entry.site.hasGoodSession) this.#gate.note(this.#entry);
  }

  /** Reserves a connection at once, so that no more mails are admitted than can connect. */
  #join(entry: SiteEntry): void {
    this.#entry.mails.delete(this);
    this.#entry = entry;
    entry.mails.add(this);
    if (!entry.site.hasGoodSession) [...entry.networks].some((network) => this.#connect(network));
  }

  reserve(address: string): Busy | null {
    const { site, networks } = this.#entry;
    if (this.#isOver || site.hasGoodSession) return null;
    const network = clientNetwork(address);
    if (!this.#hasDialled) networks.clear();
    this.#hasDialled = true;
    networks.add(network);
    return this.#connect(network) ? null : awaitNetwork(network);
  }

  #connect(network: string): boolean {
    if (network === this.#network) return true;
    this.#disconnect();
    if (!this.#gate.connect(network)) return false;
    this.#network = network;
    this.#lastNetwork = network;
    return true;
  }

  #disconnect(): void {
    if (this.#network !== null) this.#gate.disconnect(this.#network);
    this.#network = null;
  }

  isHurried(): boolean {
    return !this.#entry.site.hasGoodSession && this.#gate.isUsedUp("unresponsive");
  }

  onPreempted(stop: () => void): void {
    this.#stop = stop;
  }

  /**
   * Releases the slot for other mail. Returns false during the DNS lookups, which end soon, before the
   * mail has waited long, and if the site has answered before and may answer again.
   */
  preempt(): boolean {
    const stop = this.#stop;
    const minMs = this.speed === "unresponsive" ? SLOW_MS : MIN_WAIT_MS;
    if (stop === null || this.#waitedMs < minMs) return false;
    this.end({ kind: "failed" });
    stop();
    return true;
  }

  onTaken(stop: (busy: Busy) => boolean): void {
    this.#stopIfTaken = stop;
  }

  /** Releases the slot for an urgent mail, if this mail waits for the pace. */
  giveUp(): void {
    const entry = this.#entry;
    if (this.#stopIfTaken?.(this.#gate.full(entry)) === true) this.release();
  }

  end(result: SiteResult): void {
    if (this.#siteSlot !== null && !this.#isOver) {
      this.#entry.site.end(this.#siteSlot, result, this.#gate.now);
      this.#gate.note(this.#entry);
    }
    this.release();
  }

  release(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#stop = null;
    this.#stopIfTaken = null;
    this.#cancelTimer();
    this.#stopWaiting();
    this.#disconnect();
    this.#gate.end(this);
    this.#entry.mails.delete(this);
    if (this.#siteSlot !== null) this.#entry.site.release(this.#siteSlot);
    this.#entry.site.serve(this.#gate.now);
  }
}

/** Evicts mails that wait for the pace, the latest first, until `isEnough` for an urgent mail. */
function evictWaiting({ mails }: SiteEntry, isEnough: () => boolean): void {
  for (const mail of [...mails].toReversed()) {
    if (isEnough()) return;
    mail.giveUp();
  }
}

function busy(
  why: Busy["why"],
  retryAfterMs: number,
  waitList: string | null,
  reason: string,
): Busy {
  return { kind: "busy", why, retryAfterMs, waitList, reason };
}

function awaitNetwork(network: string): Busy {
  const reason = `${network} has reached the connection limit for addresses of sites without a good session`;
  return busy("full", NETWORK_RETRY_MS, networkWaitList(network), reason);
}

/** The name of a network's wait list; a host name cannot contain "@" or a space. */
const networkWaitList = (network: string) => `@ ${network}`;
