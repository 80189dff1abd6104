/**
 * The queue is the emails table: QUEUED rows with a due time. In order:
 *
 * 1. Due mail is grouped into flows: each project's transactional mail is one, each campaign that is
 *    SENDING is one, in each wait list and outside of them. Transactional flows go first, then the
 *    others, both in round robin. A paused or cancelled campaign and a disabled project have no flow, so
 *    none of their rows need to change.
 * 2. The transport is asked for a slot for each mail. A mail that gets one is leased: its row becomes
 *    SENDING and gets the time at which it is due again if this process dies, so a crash delays a mail
 *    and never sends it again at once.
 * 3. A mail without a slot joins, once, the wait list of those that need the same slot
 *    (wait-lists.ts), and its flow goes on with the next mail. From then on it is read only when
 *    its wait list is polled, so mail to other sites does not wait behind the mail of one slow
 *    site.
 */

import type { Db } from "../../db/open.ts";
import type { DueShift } from "../../lib/steady-clock.ts";
import {
  type AdmittedMail,
  type Busy,
  COMMON_ROUTE,
  isShareWaitList,
  type Slot,
} from "../outcome.ts";
import { isPastLifetime } from "../retry.ts";
import { createCampaignRates } from "./campaign-rates.ts";
import { type Campaign, prepareBulkChanges, prepareQueue } from "./queue-rows.ts";
import { createRoundRobin, levelsOf } from "./round-robin.ts";
import { type Candidate, type LeasedRow, prepareLeases } from "./rows.ts";
import { createWaitLists, NO_WAIT_LIST } from "./wait-lists.ts";

type Leasing = {
  leases: LeasedRow[];
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
  /** Another transport was put in use, so that each mail that waits for a slot may get one. */
  wakeAll(): void;
};

type Flow = {
  /** Names from the project down to the flow itself, for the round robin. */
  levels: readonly string[];
  waitList: string;
  /** The route by which its mail leaves (`Transport.routeOf`). */
  route: string;
  /** `seq` of the project or campaign. */
  key: number;
  kind: "transactional" | "campaign";
  rate: number | null;
  /** Due mails that were found and are not leased yet, the next one last. */
  found: Candidate[];
};

/** The state of one scan of the queue. */
type Scan = {
  now: number;
  limit: number;
  leases: LeasedRow[];
  moves: number;
  /** Number of wait lists that turned out to be empty. */
  emptied: number;
  /** Wait lists for which there is no slot for now. */
  resting: Set<string>;
  /** Routes for which there is no slot for now. */
  full: Set<string>;
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

type Admit = (to: string, isUrgent: boolean, mail: AdmittedMail) => Slot | Busy | null;

export function createLeaseQueue(
  db: Db,
  admit: Admit,
  routeOf: (projectSeq: number) => string = () => COMMON_ROUTE,
): LeaseQueue {
  const rows = { ...prepareQueue(db), ...prepareLeases(db) };
  const bulk = prepareBulkChanges(db);
  const rates = createCampaignRates();
  const waitLists = createWaitLists();
  const nextTransactional = createRoundRobin<Flow>();
  const nextOfCampaigns = createRoundRobin<Flow>();
  /** By route: no mail gets a slot before this time, unless a slot is released. */
  const fullUntil = new Map<string, number>();
  /** The wait lists of routes of their own. */
  const ownLists = new Set<string>();
  /** Identifies the campaigns that were SENDING, and the disabled projects, at the last scan. */
  let lastActive = "";
  /** Projects that were disabled at the last scan. */
  let disabled: ReadonlySet<number> = new Set();

  // The wait lists of an earlier process still contain mail.
  for (const waitList of rows.waitLists()) waitLists.add(waitList);

  function lease(limit: number, now: number, reserved = 0): Leasing {
    const { leases, moves, emptied, resting, full } = scanQueue(limit, now, reserved);
    const hasChanged = leases.length + moves + emptied + resting.size > 0;
    return { leases, mayHaveMore: hasChanged && !full.has(COMMON_ROUTE) };
  }

  function scanQueue(limit: number, now: number, reserved: number): Scan {
    const scan: Scan = {
      now,
      limit,
      leases: [],
      moves: 0,
      emptied: 0,
      resting: new Set(),
      full: new Set(),
    };
    const polled = waitLists.takeReady(now, MAX_WAIT_LISTS);
    const lists = [...polled, NO_WAIT_LIST];
    const campaigns = findSending();
    const allowed = campaigns.filter((campaign) => rates.allowsAt(campaign) <= now);
    try {
      const urgent = [...polled.flatMap(flowsOfProjects), ...dueFlowsOfProjects(now)];
      leaseInOrder(urgent, nextTransactional, scan);
      scan.limit = Math.max(scan.leases.length, limit - reserved);
      const open = scan.full.has(COMMON_ROUTE) ? allowed.filter(hasOwnRoute) : allowed;
      const others = isOver(scan)
        ? []
        : lists.flatMap((list) => flowsOfCampaigns(list, open)).filter(isOpenAt(now));
      leaseInOrder(others, nextOfCampaigns, scan);
      if (isOver(scan) || scan.full.has(COMMON_ROUTE)) return scan;
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

  /** Projects with transactional mail in a wait list, found by skipping from one to the next. */
  function flowsOfProjects(waitList: string): Flow[] {
    const flows: Flow[] = [];
    const next = (key: number) => rows.nextProject.get({ line: waitList, key })?.key;
    for (let key = next(0); typeof key === "number"; key = next(key)) {
      if (disabled.has(key)) continue;
      const levels = levelsOf([key, ...levelsOfList(waitList)]);
      const route = routeOf(key);
      flows.push({ levels, waitList, route, key, kind: "transactional", rate: null, found: [] });
    }
    return flows;
  }

  /** Flows outside of the wait lists whose first mail is due: many projects may have later mail only. */
  function dueFlowsOfProjects(now: number): Flow[] {
    return flowsOfProjects(NO_WAIT_LIST)
      .filter(isOpenAt(now))
      .filter(({ key }) => (dueInProject(key) ?? Infinity) <= now);
  }

  const hasOwnRoute = ({ projectSeq }: Campaign) => routeOf(projectSeq) !== COMMON_ROUTE;

  /** False for a flow outside of the wait lists whose own route is known to have no slot. */
  function isOpenAt(now: number): (flow: Flow) => boolean {
    return ({ waitList, route }) =>
      waitList !== NO_WAIT_LIST || route === COMMON_ROUTE || (fullUntil.get(route) ?? 0) <= now;
  }

  function dueInProject(key: number): number | null {
    return rows.dueInProject.get({ line: NO_WAIT_LIST, key })?.at ?? null;
  }

  function flowsOfCampaigns(waitList: string, campaigns: readonly Campaign[]): Flow[] {
    return campaigns
      .filter(({ key }) => waitList === NO_WAIT_LIST || firstDueAt(waitList, key) !== null)
      .map(({ key, projectSeq, rate }) => {
        const levels = levelsOf([projectSeq, key, ...levelsOfList(waitList)]);
        const route = routeOf(projectSeq);
        return { levels, waitList, route, key, kind: "campaign", rate, found: [] };
      });
  }

  /** The time at which the first mail of a campaign in a wait list is due; null if there is none. */
  function firstDueAt(line: string, key: number): number | null {
    return rows.dueInCampaign.get({ line, key })?.at ?? null;
  }

  /** Serves the flows round robin, with one mail each. */
  function leaseInOrder(
    flows: readonly Flow[],
    next: (open: readonly Flow[]) => Flow | null,
    scan: Scan,
  ): void {
    let open = flows;
    while (!isOver(scan)) {
      open = open.filter((each) => !isHeldUp(each, scan));
      const flow = next(open);
      if (flow === null) return;
      const share = Math.ceil((scan.limit - scan.leases.length) / open.length);
      const most = open.length === 1 ? share : 1;
      for (let i = 0; i < most && !isOver(scan) && !isHeldUp(flow, scan); i++) {
        if (leaseFrom(flow, share, scan)) continue;
        open = open.filter((other) => other !== flow);
        break;
      }
    }
  }

  /** Leases the next mail of a flow, or lets it wait. False if the flow has no due mail any more. */
  function leaseFrom(flow: Flow, share: number, scan: Scan): boolean {
    const { key, kind, waitList, rate, found } = flow;
    // The campaign may have sent from another wait list in this scan.
    if (rates.allowsAt({ key, rate }) > scan.now) return false;
    if (found.length === 0) {
      const find = kind === "campaign" ? rows.findOfCampaign : rows.findTransactional;
      const limit = rate === null ? share : 1;
      found.push(...find.all({ line: waitList, key, now: scan.now, limit }).toReversed());
    }
    const mail = found.pop();
    if (mail === undefined) return false;
    const isLeased = leaseOrWait(mail, flow, scan);
    return !isLeased || rate === null || rates.delay(key, rate, scan.now) === "more";
  }

  /** True if the mail was leased; otherwise it joined a wait list, or its flow has to wait. */
  function leaseOrWait(mail: Candidate, flow: Flow, scan: Scan): boolean {
    const admission = admit(mail.to ?? "", flow.kind === "transactional", mail);
    if (admission === null) return leaseMail(mail, { slot: null, busy: null }, scan);
    if (admission.kind === "slot") return leaseMail(mail, { slot: admission, busy: null }, scan);
    if (isPastLifetime({ ...mail, now: scan.now })) {
      return leaseMail(mail, { slot: null, busy: admission }, scan);
    }
    wait(mail, flow, admission, scan);
    return false;
  }

  function leaseMail(
    mail: Candidate,
    { slot, busy }: { slot: Slot | null; busy: Busy | null },
    scan: Scan,
  ): true {
    const { seq, attempts, dueAt } = mail;
    const orphanDelayMs = ORPHAN_DELAY_MS * 2 ** Math.min(attempts, MAX_DOUBLINGS);
    scan.leases.push({ seq, attempts: attempts + 1, dueAt, slot, busy, mail });
    rows.lease.run(scan.now + orphanDelayMs, seq);
    return true;
  }

  function wait(mail: Candidate, { waitList }: Flow, busy: Busy, scan: Scan): void {
    const until = scan.now + busy.retryAfterMs;
    const { route = COMMON_ROUTE } = busy;
    if (busy.waitList === null || busy.route !== undefined) {
      scan.full.add(route);
      fullUntil.set(route, until);
      // All mail of the route waits, so none is moved, except out of the wait list of others.
      if (busy.waitList === null || waitList === NO_WAIT_LIST) return;
    }
    if (busy.route !== undefined) ownLists.add(busy.waitList);
    const isShare = busy.route === undefined && isShareWaitList(busy.waitList);
    // Mail in the wait list of a site stays there while its share of the capacity is used up.
    const stays = isShare && waitList !== NO_WAIT_LIST && !isShareWaitList(waitList);
    const { least, most } = SHARE_REST_MS;
    const shareRestMs = stays ? most : Math.min(Math.max(busy.retryAfterMs, least), most);
    const rest = (list: string) =>
      isShare ? waitLists.rest(list, scan.now + shareRestMs, true) : waitLists.rest(list, until);
    if (busy.waitList === waitList || stays) {
      scan.resting.add(waitList);
      rest(waitList);
      return;
    }
    const isNew = !waitLists.has(busy.waitList);
    rows.move.run(busy.waitList, mail.seq);
    waitLists.add(busy.waitList);
    scan.moves++;
    if (isNew) rest(busy.waitList);
  }

  /** Decides when to poll a wait list again in which the scan found no flow. */
  function noteEmpty(waitList: string, campaigns: readonly Campaign[]): void {
    const times = campaigns
      .filter(({ key }) => firstDueAt(waitList, key) !== null)
      .map(rates.allowsAt);
    if (times.length > 0) waitLists.rest(waitList, Math.min(...times));
    // Its mail is of paused campaigns or disabled projects; `findSending` wakes the list later.
    else if (rows.hasMail(waitList)) waitLists.rest(waitList, Infinity);
    else waitLists.forget(waitList);
  }

  function campaignDueAt({ key, projectSeq, rate }: Campaign): number[] {
    const at = firstDueAt(NO_WAIT_LIST, key);
    return at === null ? [] : [openAt(projectSeq, Math.max(at, rates.allowsAt({ key, rate })))];
  }

  function transactionalDueAt(): number[] {
    return flowsOfProjects(NO_WAIT_LIST).flatMap(({ key }) => {
      const at = dueInProject(key);
      return at === null ? [] : [openAt(key, at)];
    });
  }

  /** The time from which on mail of a project that is due then may get a slot. */
  function openAt(projectSeq: number, at: number): number {
    return Math.max(at, fullUntil.get(routeOf(projectSeq)) ?? 0);
  }

  /** The lists of routes of their own do not wait for the common one. */
  function waitListsDueAt(): number[] {
    const common = fullUntil.get(COMMON_ROUTE) ?? 0;
    return waitLists.times().map(([list, at]) => (ownLists.has(list) ? at : Math.max(at, common)));
  }

  function othersDueAt(): number[] {
    return [...findSending().flatMap(campaignDueAt), ...waitListsDueAt()];
  }

  return {
    lease,
    nextDueAt(isUrgent = false) {
      // The other flows come first, because they find out which projects are disabled now.
      const others = isUrgent ? [] : othersDueAt();
      const times = [...transactionalDueAt(), ...others];
      return times.length === 0 ? null : Math.min(...times);
    },
    returnLeases: bulk.returnLeases,
    shift(shift) {
      bulk.shift(shift);
      waitLists.shift(shift);
      rates.shift(shift);
      for (const [route, until] of fullUntil) {
        if (until > shift.after) fullUntil.set(route, until + shift.byMs);
      }
    },
    noteSlotReleased({ waitList, secondWaitList = null, route = COMMON_ROUTE }) {
      fullUntil.delete(route);
      waitLists.noteSlotReleased(waitList);
      if (secondWaitList !== null) waitLists.wake(secondWaitList);
    },
    noteWaiting: (waitList, until) => waitLists.rest(waitList, until),
    wakeAll() {
      fullUntil.clear();
      waitLists.wakeAll();
    },
  };
}

/** Round robin levels: all wait lists together are served as often as the mail in none of them. */
function levelsOfList(waitList: string): [string, string] {
  return [waitList === NO_WAIT_LIST ? "new" : "waiting", waitList];
}

function isOver({ leases, limit, moves }: Scan): boolean {
  return leases.length >= limit || moves >= MAX_MOVES;
}

/**
 * True if the next mail of the flow would get no slot. Mail in the wait list of a site is asked for all the
 * same if its own route has no slot, because it moves to the wait list of that route.
 */
function isHeldUp({ waitList, route }: Flow, { resting, full }: Scan): boolean {
  const isForeign =
    route !== COMMON_ROUTE && waitList !== NO_WAIT_LIST && !isShareWaitList(waitList);
  return resting.has(waitList) || (full.has(route) && !isForeign);
}
