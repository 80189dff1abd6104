/**
 * The queue is the emails table: QUEUED rows with a due time. In order:
 *
 * 1. Due mail is grouped into flows (flows.ts): each project's transactional mail is one, each
 *    campaign that is SENDING is one. Transactional flows go first, then the others, both in round
 *    robin. A paused or cancelled campaign and a disabled project have no flow, so none of their
 *    rows need to change.
 * 2. The transport is asked for a slot for each mail (lease-or-wait.ts). A mail that gets one is
 *    leased: its row becomes SENDING and gets the time at which it is due again if this process
 *    dies, so a crash delays a mail and never sends it again at once.
 * 3. A mail without a slot joins, once, the wait list of those that need the same slot
 *    (wait-lists.ts), and its flow goes on with the next mail. From then on it is read only when
 *    its wait list is polled, so mail to other sites does not wait behind the mail of one slow
 *    site.
 */

import type { Db } from "../db/open.ts";
import type { DueShift } from "../lib/steady-clock.ts";
import { createCampaignRates } from "./campaign-rates.ts";
import { createFlows, type Flow } from "./flows.ts";
import { createLeaseOrWait, isOver, type Lease, type QueueScan } from "./lease-or-wait.ts";
import { type Campaign, prepareQueue } from "./lease-rows.ts";
import type { Busy, Slot } from "./outcome.ts";
import { createRoundRobin } from "./round-robin.ts";
import { createWaitLists, NO_WAIT_LIST } from "./wait-lists.ts";

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

/** Wait lists that one scan polls; the others are polled by the next scans. */
const MAX_WAIT_LISTS = 100;

export function createLeaseQueue(db: Db, admit: (to: string) => Slot | Busy | null): LeaseQueue {
  const rows = prepareQueue(db);
  const transactionalOrder = createRoundRobin<Flow>();
  const campaignOrder = createRoundRobin<Flow>();
  /** No mail gets a slot before this time, unless a slot is released. */
  let capacityFullUntil = 0;
  const rates = createCampaignRates();
  const waitLists = createWaitLists();
  const flows = createFlows(rows);
  const leaseOrWait = createLeaseOrWait({
    rows,
    waitLists,
    admit,
    onCapacityFull: (until) => {
      capacityFullUntil = until;
    },
  });
  /** Identifies the campaigns that were SENDING, and the disabled projects, at the last scan. */
  let lastActive = "";
  /** Projects that were disabled at the last scan. */
  let disabled: ReadonlySet<number> = new Set();

  // The wait lists of an earlier process still contain mail.
  for (const waitList of rows.waitLists()) waitLists.add(waitList);

  /** A single flow is leased from in one query; several flows take turns with one mail each. */
  function leaseInOrder(
    found: readonly Flow[],
    { next }: typeof campaignOrder,
    scan: QueueScan,
  ): void {
    let open = found;
    while (!isOver(scan)) {
      open = open.filter(({ waitList }) => !scan.resting.has(waitList));
      const flow = next(open);
      if (flow === null) return;
      const wanted = open.length === 1 ? scan.limit - scan.leases.length : 1;
      if (leaseFrom(flow, wanted, scan) === "empty") open = open.filter((other) => other !== flow);
    }
  }

  function leaseFrom(flow: Flow, wanted: number, scan: QueueScan): "empty" | "more" {
    const { key, kind, waitList, rate } = flow;
    // The campaign may have sent from another wait list in this scan.
    if (rates.allowsAt({ key, rate }) > scan.now) return "empty";
    const limit = rate === null ? wanted : 1;
    const find = kind === "campaign" ? rows.findOfCampaign : rows.findTransactional;
    const candidates = find.all({ line: waitList, key, now: scan.now, limit });
    for (const mail of candidates) {
      const isLeased = leaseOrWait(mail, waitList, scan);
      if (isLeased && rate !== null) return rates.delay(key, rate, scan.now);
      if (isOver(scan) || scan.resting.has(waitList)) return "more";
    }
    return candidates.length < limit ? "empty" : "more";
  }

  /** Decides when to poll a wait list again in which the scan found no flow. */
  function noteEmpty(waitList: string, campaigns: readonly Campaign[]): void {
    const times = campaigns
      .filter(({ key }) => flows.firstDueAt(waitList, key) !== null)
      .map(rates.allowsAt);
    if (times.length > 0) waitLists.rest(waitList, Math.min(...times));
    // Its mail is of paused campaigns or disabled projects; `findSending` wakes the list later.
    else if (rows.hasMail(waitList)) waitLists.rest(waitList, Infinity);
    else waitLists.forget(waitList);
  }

  function scanQueue(limit: number, now: number, reserved: number): QueueScan {
    const scan: QueueScan = {
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
    const allowed = campaigns.filter((campaign) => rates.allowsAt(campaign) <= now);
    try {
      const urgent = lists.flatMap((list) => flows.ofProjects(list, disabled));
      leaseInOrder(urgent, transactionalOrder, scan);
      scan.limit = Math.max(scan.leases.length, limit - reserved);
      const others = isOver(scan) ? [] : lists.flatMap((list) => flows.ofCampaigns(list, allowed));
      leaseInOrder(others, campaignOrder, scan);
      if (isOver(scan)) return scan;
      const withFlow = new Set([...urgent, ...others].map(({ waitList }) => waitList));
      for (const waitList of polled.filter((each) => !withFlow.has(each))) {
        noteEmpty(waitList, campaigns);
        scan.emptied++;
      }
      return scan;
    } catch (error) {
      for (const { slot } of scan.leases) slot?.release();
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
    const at = flows.firstDueAt(NO_WAIT_LIST, key);
    return at === null ? [] : [Math.max(at, rates.allowsAt({ key, rate }))];
  }

  function transactionalDueAt(): number[] {
    return flows
      .ofProjects(NO_WAIT_LIST, disabled)
      .flatMap(({ key }) => rows.dueInProject.get({ line: NO_WAIT_LIST, key })?.at ?? []);
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
      rates.shift(shift);
      if (capacityFullUntil > shift.after) capacityFullUntil += shift.byMs;
    },
    noteSlotReleased({ waitList, secondWaitList = null }) {
      capacityFullUntil = 0;
      waitLists.noteSlotReleased(waitList);
      if (secondWaitList !== null) waitLists.wake(secondWaitList);
    },
    noteWaiting: (waitList, until) => waitLists.rest(waitList, until),
  };
}
