/** One scan of the queue: it leases due mail of all flows, in round robin, while there are slots. */

import type { CampaignRates } from "./campaign-rates.ts";
import type { Flow, Flows } from "./flows.ts";
import { isOver, type LeaseOrWait, type QueueScan } from "./lease-or-wait.ts";
import type { Campaign, QueueRows } from "./lease-rows.ts";
import { createRoundRobin } from "./round-robin.ts";
import { NO_WAIT_LIST, type WaitLists } from "./wait-lists.ts";

/** Wait lists that one scan polls; the others are polled by the next scans. */
const MAX_WAIT_LISTS = 100;

export function createQueueScan(deps: {
  rows: QueueRows;
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
    scanQueue,
    findSending,
    /** The flows of transactional mail in no wait list, without those of disabled projects. */
    newTransactional: (): Flow[] => flows.ofProjects(NO_WAIT_LIST, disabled),
  };
}
