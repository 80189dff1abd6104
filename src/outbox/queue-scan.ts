/**
 * One scan of the queue: it takes due mail of all flows, in round robin. Each mail is leased if the
 * transport has a slot for it; otherwise it joins a wait list.
 */

import type { CampaignRates } from "./campaign-rates.ts";
import { createRoundRobin, type Flow, type Flows } from "./flows.ts";
import type { Candidate, Lease, LeaseRows } from "./lease-rows.ts";
import { type Busy, isShareWaitList, type Slot } from "./outcome.ts";
import type { Campaign, QueueRows } from "./queue-rows.ts";
import { isPastLifetime } from "./retry.ts";
import { NO_WAIT_LIST, type WaitLists } from "./wait-lists.ts";

export type Leasing = {
  leases: Lease[];
  /** True if polling again at once may lease more. */
  mayHaveMore: boolean;
};

/** The state of one scan of the queue. */
type QueueScan = {
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

/** Wait lists that one scan polls; the others are polled by the next scans. */
const MAX_WAIT_LISTS = 100;
/** Delay until a lease that was never settled is due again; it doubles with each attempt. */
const ORPHAN_DELAY_MS = 30_000;
const MAX_DOUBLINGS = 9;
/** Mails that one scan moves to wait lists, because a scan blocks the event loop. */
const MAX_MOVES = 250;
/**
 * Bounds of the time after which a wait list for a share of the capacity is polled again. It is
 * woken when a mail ends, but slots can be released without that. The wait list of the share itself
 * is polled after the time that the transport estimates, within these bounds. The wait lists of
 * sites, of which there may be many, are polled after the longer time.
 */
const SHARE_REST_MS = { least: 50, most: 2_000 };

export function createQueueScan(deps: {
  rows: QueueRows & LeaseRows;
  rates: CampaignRates;
  waitLists: WaitLists;
  flows: Flows;
  leaseOrWait: LeaseOrWait;
}) {
  const { rows, rates, waitLists, flows, leaseOrWait } = deps;
  const transactionalOrder = createRoundRobin<Flow>();
  const campaignOrder = createRoundRobin<Flow>();
  /** Identifies the campaigns that were SENDING, and the disabled projects, at the last scan. */
  let lastActive = "";
  /** Projects that were disabled at the last scan. */
  let disabled: ReadonlySet<number> = new Set();

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
      const isLeased = leaseOrWait(mail, flow, scan);
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

  /** Change: leases due mails, as `LeaseQueue` describes. */
  function lease(limit: number, now: number, reserved = 0): Leasing {
    const { leases, moves, emptied, resting, isCapacityFull } = scanQueue(limit, now, reserved);
    const hasChanged = leases.length + moves + emptied + resting.size > 0;
    return { leases, mayHaveMore: hasChanged && !isCapacityFull };
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

  /**
   * Finds the campaigns that send. After a campaign or project became active again, its mail may be
   * in idle wait lists.
   */
  function findSending(): Campaign[] {
    disabled = new Set(rows.findDisabled.all().map(({ seq }) => seq));
    const campaigns = rows.findCampaigns.all().filter((each) => !disabled.has(each.projectSeq));
    const active = [...campaigns.map(({ key }) => key), "", ...disabled].join();
    if (active !== lastActive) waitLists.wakeIdle();
    lastActive = active;
    return campaigns;
  }

  return {
    lease,
    findSending,
    /** The flows of transactional mail in no wait list, without those of disabled projects. */
    newTransactional: (): Flow[] => flows.ofProjects(NO_WAIT_LIST, disabled),
  };
}

type LeaseOrWaitDeps = {
  rows: Pick<LeaseRows, "lease" | "move">;
  waitLists: WaitLists;
  admit: (to: string, isUrgent: boolean) => Slot | Busy | null;
  /** Called if no mail gets a slot before `until`. */
  onCapacityFull: (until: number) => void;
};

type LeaseOrWait = ReturnType<typeof createLeaseOrWait>;

export function createLeaseOrWait(deps: LeaseOrWaitDeps) {
  const { rows, waitLists, admit } = deps;
  return leaseOrWait;

  /** True if the mail was leased; otherwise it joined a wait list, or its flow has to wait. */
  function leaseOrWait(
    mail: Candidate,
    { waitList, kind }: Pick<Flow, "waitList" | "kind">,
    scan: QueueScan,
  ): boolean {
    const admission = admit(mail.to ?? "", kind === "transactional");
    if (admission === null) return lease(mail, { slot: null, busy: null }, scan);
    if (admission.kind === "slot") return lease(mail, { slot: admission, busy: null }, scan);
    if (isPastLifetime({ ...mail, now: scan.now })) {
      return lease(mail, { slot: null, busy: admission }, scan);
    }
    return wait(mail, waitList, admission, scan);
  }

  function wait(mail: Candidate, waitList: string, busy: Busy, scan: QueueScan): false {
    const until = scan.now + busy.retryAfterMs;
    if (busy.waitList === null) {
      scan.isCapacityFull = true;
      deps.onCapacityFull(until);
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

  function moveTo(waitList: string, { seq }: Candidate, scan: QueueScan): void {
    rows.move.run(waitList, seq);
    waitLists.add(waitList);
    scan.moves++;
  }

  function lease(
    { seq, attempts, dueAt }: Candidate,
    { slot, busy }: Pick<Lease, "slot" | "busy">,
    scan: QueueScan,
  ): true {
    const orphanDelayMs = ORPHAN_DELAY_MS * 2 ** Math.min(attempts, MAX_DOUBLINGS);
    scan.leases.push({ seq, attempts: attempts + 1, dueAt, slot, busy });
    rows.lease.run(scan.now + orphanDelayMs, seq);
    return true;
  }
}

function isOver({ leases, limit, moves, isCapacityFull }: QueueScan): boolean {
  return leases.length >= limit || moves >= MAX_MOVES || isCapacityFull;
}
