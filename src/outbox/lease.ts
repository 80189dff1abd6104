/**
 * The queue is the emails table: QUEUED rows with a due time. In order:
 *
 * 1. Due mail is grouped into flows: each project's transactional mail is one, each campaign that
 *    is SENDING is one. Transactional flows go first, then the others, both in round robin. A
 *    paused or cancelled campaign and a disabled project have no flow, so none of their rows need
 *    to change.
 * 2. The transport is asked for a slot for each mail. A mail that gets one is leased: its row
 *    becomes SENDING and gets the time at which it is due again if this process dies, so a crash
 *    delays a mail and never sends it again at once.
 * 3. A mail without a slot joins, once, the wait list of those that need the same slot
 *    (wait-lists.ts), and its flow goes on with the next mail. From then on it is read only when
 *    its wait list is polled, so mail to other sites does not wait behind the mail of one slow
 *    site.
 */

import type { Db } from "../db/open.ts";
import type { DueShift } from "../lib/steady-clock.ts";
import { type Busy, isShareWaitList, type Slot } from "./outcome.ts";
import { type Campaign, type Candidate, prepareQueue } from "./lease-rows.ts";
import { isPastLifetime } from "./retry.ts";
import { createRoundRobin, type Leveled, levelsOf } from "./round-robin.ts";
import { createWaitLists, NO_WAIT_LIST } from "./wait-lists.ts";

/** A settlement is stored only if the row still has this number of attempts. */
export type Lease = {
  seq: number;
  attempts: number;
  /** The due time before the lease. */
  dueAt: number;
  /** The slot, which the holder of the lease must release; null if it needs none or got none. */
  slot: Slot | null;
  /** Set if the mail got no slot before its lifetime ended: it leaves the queue unattempted. */
  busy: Busy | null;
};

export type Leasing = {
  leases: Lease[];
  /** True if polling again at once may lease more. */
  mayHaveMore: boolean;
};

export type LeaseQueue = {
  /**
   * Change: leases up to `limit` due mails, transactional ones first. `reserved` of the limit are
   * for transactional mail only.
   */
  lease(limit: number, now: number, reserved?: number): Leasing;
  /** When the next mail is due, or the next transactional one; null if none waits. */
  nextDueAt(isUrgent?: boolean): number | null;
  /** Change: mails leased by an earlier process become QUEUED and keep their due time. */
  returnLeases(): number;
  /**
   * Change, after the clock was set: due mail stays due, and mail that waits for a later time (a
   * retry, the rate of a campaign) waits for as long as before.
   */
  shift(shift: DueShift): void;
  /** A mail released its slot. */
  noteSlotReleased(slot: Slot): void;
  /** A mail joined this wait list, which need not be polled before `until`. */
  noteWaiting(waitList: string, until: number): void;
};

/** Delay until a lease that was never settled is due again; it doubles with each attempt. */
const ORPHAN_DELAY_MS = 30_000;
const MAX_DOUBLINGS = 9;
const SECOND_MS = 1000;
/** Longest delay that a campaign with its own rate may make up for by sending faster. */
const MAX_CATCH_UP_MS = 1_000;
/** Mails that one scan moves to wait lists, because a scan blocks the event loop. */
const MAX_MOVES = 250;
/** Wait lists that one scan polls; the others are polled by the next scans. */
const MAX_WAIT_LISTS = 100;
/**
 * Bounds of the time after which a wait list for a share of the capacity is polled again. It is
 * woken when a mail ends, but slots can be released without that. The wait list of the share itself
 * is polled after the time that the transport estimates, within these bounds. The wait lists of
 * sites, of which there may be many, are polled after the longer time.
 */
const SHARE_REST_MS = { least: 50, most: 2_000 };

type Flow = Leveled & {
  waitList: string;
  /** `seq` of the project or campaign. */
  key: number;
  kind: "transactional" | "campaign";
  rate: number | null;
};

/** The state of one scan of the queue. */
type Scan = {
  now: number;
  limit: number;
  leases: Lease[];
  moves: number;
  /** Number of wait lists that turned out to be empty. */
  emptied: number;
  /** Wait lists for which there is no slot for now. */
  resting: Set<string>;
  isCapacityFull: boolean;
};

export function createLeaseQueue(db: Db, admit: (to: string) => Slot | Busy | null): LeaseQueue {
  const rows = prepareQueue(db);
  const transactionalOrder = createRoundRobin<Flow>();
  const campaignOrder = createRoundRobin<Flow>();
  /** Campaigns with their own rate → when the rate allows the next mail. */
  const allowedAt = new Map<number, number>();
  const waitLists = createWaitLists();
  /** No mail gets a slot before this time, unless a slot is released. */
  let capacityFullUntil = 0;
  /** Identifies the campaigns that were SENDING, and the disabled projects, at the last scan. */
  let lastActive = "";
  /** Projects that were disabled at the last scan. */
  let disabled: ReadonlySet<number> = new Set();

  // The wait lists of an earlier process still contain mail.
  for (const waitList of rows.waitLists()) waitLists.add(waitList);

  /** Projects with transactional mail in a wait list, found by skipping from one to the next. */
  function projectFlows(line: string): Flow[] {
    const flows: Flow[] = [];
    for (let key = rows.nextProject.get({ line, key: 0 })?.key; typeof key === "number";) {
      const levels = levelsOf([key, ...levelsOfList(line)]);
      if (!disabled.has(key)) {
        flows.push({ levels, waitList: line, key, kind: "transactional", rate: null });
      }
      key = rows.nextProject.get({ line, key })?.key;
    }
    return flows;
  }

  function campaignFlows(waitList: string, campaigns: readonly Campaign[]): Flow[] {
    return campaigns
      .filter(({ key }) => waitList === NO_WAIT_LIST || firstDueAt(waitList, key) !== null)
      .map(({ key, projectSeq, rate }) => {
        const levels = levelsOf([projectSeq, key, ...levelsOfList(waitList)]);
        return { levels, waitList, key, kind: "campaign", rate };
      });
  }

  /** When the first mail of a campaign in a wait list is due; null if there is none. */
  function firstDueAt(line: string, key: number): number | null {
    return rows.dueInCampaign.get({ line, key })?.at ?? null;
  }

  function rateAllowsAt({ key, rate }: Pick<Campaign, "key" | "rate">): number {
    return rate === null ? 0 : (allowedAt.get(key) ?? 0);
  }

  /** A single flow is leased from in one query; several flows take turns with one mail each. */
  function leaseInOrder(flows: readonly Flow[], { next }: typeof campaignOrder, scan: Scan): void {
    let open = flows;
    while (!isOver(scan)) {
      open = open.filter(({ waitList }) => !scan.resting.has(waitList));
      const flow = next(open);
      if (flow === null) return;
      const wanted = open.length === 1 ? scan.limit - scan.leases.length : 1;
      if (leaseFrom(flow, wanted, scan) === "empty") open = open.filter((other) => other !== flow);
    }
  }

  function leaseFrom(flow: Flow, wanted: number, scan: Scan): "empty" | "more" {
    const { key, kind, waitList, rate } = flow;
    // The campaign may have sent from another wait list in this scan.
    if (rateAllowsAt({ key, rate }) > scan.now) return "empty";
    const limit = rate === null ? wanted : 1;
    const find = kind === "campaign" ? rows.findOfCampaign : rows.findTransactional;
    const candidates = find.all({ line: waitList, key, now: scan.now, limit });
    for (const mail of candidates) {
      const isLeased = leaseOrWait(mail, waitList, scan);
      if (isLeased && rate !== null) return delayByRate(key, rate, scan.now);
      if (isOver(scan) || scan.resting.has(waitList)) return "more";
    }
    return candidates.length < limit ? "empty" : "more";
  }

  /**
   * Sets when the campaign's rate allows its next mail. A mail that left late does not delay the
   * next one, because neither the pace nor the mail of others may slow a campaign down below its
   * rate.
   */
  function delayByRate(campaign: number, rate: number, now: number): "empty" | "more" {
    const intervalMs = SECOND_MS / rate;
    const intended = Math.max(allowedAt.get(campaign) ?? now, now - MAX_CATCH_UP_MS);
    allowedAt.set(campaign, intended + intervalMs);
    return intended + intervalMs <= now ? "more" : "empty";
  }

  /** True if the mail was leased; otherwise it joined a wait list, or its flow has to wait. */
  function leaseOrWait(mail: Candidate, waitList: string, scan: Scan): boolean {
    const admission = admit(mail.to ?? "");
    if (admission === null) return lease(mail, { slot: null, busy: null }, scan);
    if (admission.kind === "slot") return lease(mail, { slot: admission, busy: null }, scan);
    if (isPastLifetime({ ...mail, now: scan.now })) {
      return lease(mail, { slot: null, busy: admission }, scan);
    }
    return wait(mail, waitList, admission, scan);
  }

  function wait(mail: Candidate, waitList: string, busy: Busy, scan: Scan): false {
    const until = scan.now + busy.retryAfterMs;
    if (busy.waitList === null) {
      scan.isCapacityFull = true;
      capacityFullUntil = until;
      return false;
    }
    const isShare = isShareWaitList(busy.waitList);
    // Mail in the wait list of a site stays there while its share of the capacity is used up.
    const stays = isShare && waitList !== NO_WAIT_LIST && !isShareWaitList(waitList);
    const { least, most } = SHARE_REST_MS;
    const shareRestMs = stays ? most : Math.min(Math.max(busy.retryAfterMs, least), most);
    const rest = (list: string) =>
      isShare ? waitLists.rest(list, scan.now + shareRestMs, true) : waitLists.rest(list, until);
    if (busy.waitList === waitList || stays) {
      scan.resting.add(waitList);
      rest(waitList);
      return false;
    }
    const isNew = !waitLists.has(busy.waitList);
    moveTo(busy.waitList, mail, scan);
    if (isNew) rest(busy.waitList);
    return false;
  }

  function moveTo(waitList: string, { seq }: Candidate, scan: Scan): void {
    rows.move.run(waitList, seq);
    waitLists.add(waitList);
    scan.moves++;
  }

  function lease(
    { seq, attempts, dueAt }: Candidate,
    { slot, busy }: Pick<Lease, "slot" | "busy">,
    scan: Scan,
  ): true {
    const orphanDelayMs = ORPHAN_DELAY_MS * 2 ** Math.min(attempts, MAX_DOUBLINGS);
    scan.leases.push({ seq, attempts: attempts + 1, dueAt, slot, busy });
    rows.lease.run(scan.now + orphanDelayMs, seq);
    return true;
  }

  /** Decides when to poll a wait list again in which the scan found no flow. */
  function noteEmpty(waitList: string, campaigns: readonly Campaign[]): void {
    const times = campaigns
      .filter(({ key }) => firstDueAt(waitList, key) !== null)
      .map(rateAllowsAt);
    if (times.length > 0) waitLists.rest(waitList, Math.min(...times));
    // Its mail is of paused campaigns or disabled projects; `findSending` wakes the list later.
    else if (rows.hasMail(waitList)) waitLists.rest(waitList, Infinity);
    else waitLists.forget(waitList);
  }

  function scanQueue(limit: number, now: number, reserved: number): Scan {
    const scan: Scan = {
      now,
      limit,
      leases: [],
      moves: 0,
      emptied: 0,
      resting: new Set(),
      isCapacityFull: false,
    };
    const polled = waitLists.takeReady(now, MAX_WAIT_LISTS);
    const lists = [...polled, NO_WAIT_LIST];
    const campaigns = findSending();
    const allowed = campaigns.filter((campaign) => rateAllowsAt(campaign) <= now);
    try {
      const urgent = lists.flatMap(projectFlows);
      leaseInOrder(urgent, transactionalOrder, scan);
      scan.limit = Math.max(scan.leases.length, limit - reserved);
      const others = isOver(scan) ? [] : lists.flatMap((list) => campaignFlows(list, allowed));
      leaseInOrder(others, campaignOrder, scan);
      if (isOver(scan)) return scan;
      const withFlow = new Set([...urgent, ...others].map(({ waitList }) => waitList));
      for (const waitList of polled.filter((each) => !withFlow.has(each))) {
        noteEmpty(waitList, campaigns);
        scan.emptied++;
      }
      return scan;
    } catch (error) {
      for (const { slot: pass } of scan.leases) pass?.release();
      throw error;
    }
  }

  /** After a campaign or project became active again, its mail may be in idle wait lists. */
  function findSending(): Campaign[] {
    disabled = new Set(rows.findDisabled.all().map(({ seq }) => seq));
    const campaigns = rows.findCampaigns.all().filter((each) => !disabled.has(each.projectSeq));
    const active = [...campaigns.map(({ key }) => key), "", ...disabled].join();
    if (active !== lastActive) waitLists.wakeIdle();
    lastActive = active;
    return campaigns;
  }

  function campaignDueAt({ key, rate }: Campaign): number[] {
    const at = firstDueAt(NO_WAIT_LIST, key);
    return at === null ? [] : [Math.max(at, rateAllowsAt({ key, rate }))];
  }

  function transactionalDueAt(): number[] {
    return projectFlows(NO_WAIT_LIST).flatMap(
      ({ key }) => rows.dueInProject.get({ line: NO_WAIT_LIST, key })?.at ?? [],
    );
  }

  function othersDueAt(): number[] {
    const ofCampaigns = findSending().flatMap(campaignDueAt);
    const ofWaitLists = waitLists.nextAt();
    return [...ofCampaigns, ...(ofWaitLists === null ? [] : [ofWaitLists])];
  }

  return {
    lease(limit, now, reserved = 0) {
      const { leases, moves, emptied, resting, isCapacityFull } = scanQueue(limit, now, reserved);
      const hasChanged = leases.length + moves + emptied + resting.size > 0;
      return { leases, mayHaveMore: hasChanged && !isCapacityFull };
    },
    nextDueAt(isUrgent = false) {
      const times = [...transactionalDueAt(), ...(isUrgent ? [] : othersDueAt())];
      return times.length === 0 ? null : Math.max(Math.min(...times), capacityFullUntil);
    },
    returnLeases: rows.returnLeases,
    shift(shift) {
      rows.shift(shift);
      waitLists.shift(shift);
      const { byMs, after } = shift;
      for (const [key, at] of allowedAt) if (at > after) allowedAt.set(key, at + byMs);
      if (capacityFullUntil > after) capacityFullUntil += byMs;
    },
    noteSlotReleased({ waitList, secondWaitList = null }) {
      capacityFullUntil = 0;
      waitLists.noteSlotReleased(waitList);
      if (secondWaitList !== null) waitLists.wake(secondWaitList);
    },
    noteWaiting: (waitList, until) => waitLists.rest(waitList, until),
  };
}

function isOver({ leases, limit, moves, isCapacityFull }: Scan): boolean {
  return leases.length >= limit || moves >= MAX_MOVES || isCapacityFull;
}

/** Round robin levels: all wait lists together are served as often as the mail in none of them. */
function levelsOfList(waitList: string): [string, string] {
  return [waitList === NO_WAIT_LIST ? "new" : "waiting", waitList];
}
