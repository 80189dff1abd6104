/**
 * The queue is the emails table: QUEUED rows with a due time. In order:
 *
 * 1. Due mail is grouped into flows (flows.ts): each project's transactional mail is one, each
 *    campaign that is SENDING is one. Transactional flows go first, then the others, both in round
 *    robin. A paused or cancelled campaign and a disabled project have no flow, so none of their
 *    rows need to change.
 * 2. The transport is asked for a slot for each mail (queue-scan.ts). A mail that gets one is
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
import { createFlows } from "./flows.ts";
import { prepareLeases } from "./lease-rows.ts";
import type { Busy, Slot } from "./outcome.ts";
import { type Campaign, prepareBulkChanges, prepareQueue } from "./queue-rows.ts";
import { createLeaseOrWait, createQueueScan, type Leasing } from "./queue-scan.ts";
import { createWaitLists, NO_WAIT_LIST } from "./wait-lists.ts";

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

export function createLeaseQueue(
  db: Db,
  admit: (to: string, isUrgent: boolean) => Slot | Busy | null,
): LeaseQueue {
  const rows = { ...prepareQueue(db), ...prepareLeases(db) };
  const bulk = prepareBulkChanges(db);
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
  const { lease, findSending, newTransactional } = createQueueScan({
    rows,
    rates,
    waitLists,
    flows,
    leaseOrWait,
  });

  // The wait lists of an earlier process still contain mail.
  for (const waitList of rows.waitLists()) waitLists.add(waitList);

  function campaignDueAt({ key, rate }: Campaign): number[] {
    const at = flows.firstDueAt(NO_WAIT_LIST, key);
    return at === null ? [] : [Math.max(at, rates.allowsAt({ key, rate }))];
  }

  function transactionalDueAt(): number[] {
    return newTransactional().flatMap(
      ({ key }) => rows.dueInProject.get({ line: NO_WAIT_LIST, key })?.at ?? [],
    );
  }

  function othersDueAt(): number[] {
    const ofCampaigns = findSending().flatMap(campaignDueAt);
    const ofWaitLists = waitLists.nextAt();
    return [...ofCampaigns, ...(ofWaitLists === null ? [] : [ofWaitLists])];
  }

  return {
    lease,
    nextDueAt(isUrgent = false) {
      // The other flows come first, because they find out which projects are disabled now.
      const others = isUrgent ? [] : othersDueAt();
      const times = [...transactionalDueAt(), ...others];
      return times.length === 0 ? null : Math.max(Math.min(...times), capacityFullUntil);
    },
    returnLeases: bulk.returnLeases,
    shift(shift) {
      bulk.shift(shift);
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
