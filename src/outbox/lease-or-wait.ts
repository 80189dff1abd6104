/** Leases one due mail if the transport has a slot for it; otherwise it joins a wait list. */

import type { Candidate, QueueRows } from "./lease-rows.ts";
import { type Busy, isShareWaitList, type Slot } from "./outcome.ts";
import { isPastLifetime } from "./retry.ts";
import { NO_WAIT_LIST, type WaitLists } from "./wait-lists.ts";

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

/** The state of one scan of the queue. */
export type QueueScan = {
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

type LeaseOrWaitDeps = {
  rows: Pick<QueueRows, "lease" | "move">;
  waitLists: WaitLists;
  admit: (to: string) => Slot | Busy | null;
  /** Called if no mail gets a slot before `until`. */
  onCapacityFull: (until: number) => void;
};

export type LeaseOrWait = ReturnType<typeof createLeaseOrWait>;

export function createLeaseOrWait(deps: LeaseOrWaitDeps) {
  const { rows, waitLists, admit } = deps;
  return leaseOrWait;

  /** True if the mail was leased; otherwise it joined a wait list, or its flow has to wait. */
  function leaseOrWait(mail: Candidate, waitList: string, scan: QueueScan): boolean {
    const admission = admit(mail.to ?? "");
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

export function isOver({ leases, limit, moves, isCapacityFull }: QueueScan): boolean {
  return leases.length >= limit || moves >= MAX_MOVES || isCapacityFull;
}
