/**
 * Sends mail, in order: lease due mails and prefetch a few of them (prefetch.ts), so that a prepared
 * mail is ready whenever the pace allows the next one; deliver each of them (deliveries.ts). If
 * nothing is due, one timer sleeps until the earliest due time (poll-timer.ts). The database is
 * always complete without this memory.
 *
 * This loop is not that of lib/worker.ts, which repeats a step if it was woken meanwhile. Each mail
 * that ends during a lease wakes this one; without a free slot, another lease at once would only
 * move more mail to wait lists (see `NO_SLOT_PAUSE_MS`).
 */

import { createSharedWait } from "../lib/shared-wait.ts";
import { endsWithin } from "../lib/worker.ts";
import { createMailDeliveries, type DeliveryDeps } from "./deliveries.ts";
import type { LeaseQueue } from "./lease.ts";
import type { Lease, LeasedMail } from "./lease-rows.ts";
import { createPollTimer } from "./poll-timer.ts";
import { createPrefetch } from "./prefetch.ts";
import type { Leasing } from "./queue-scan.ts";

type DispatcherDeps = DeliveryDeps & {
  queue: LeaseQueue;
  /** Largest number of mails to prefetch while mails leave fast (`Transport`). */
  maxFastPrefetch: number;
  load: (leases: readonly Lease[]) => (LeasedMail | null)[];
  /** Time between two mails at the configured send rate, in milliseconds; 0 without a rate. */
  paceIntervalMs: number;
};

export type Dispatcher = {
  start(): Promise<void>;
  /** Polls the queue soon, because a mail may be due. */
  wake(): void;
  isRunning(): boolean;
  /**
   * How long mail has been due while none was leased, sent or recorded, in milliseconds; 0 if none
   * is due. Mail of paused campaigns, sites and projects is not due.
   */
  stalledMs(): number;
  /** When the next mail is due; null if none waits. */
  nextDueAt(): number | null;
  /** Number of mails that are being sent, or wait to be sent at the configured rate. */
  underWay(): number;
  /** Number of stored outcomes since the start, by kind. */
  outcomes: ReadonlyMap<string, number>;
  /** Stops leasing and waits at most `graceMs` for the mails under way. True if all ended. */
  stop(graceMs: number): Promise<boolean>;
  /** Returns the leases that did not end in time; call it after the transport was closed. */
  returnLeases(): Promise<void>;
};

/**
 * Delay before polling again after a lease found no due mail, so that nothing polls in a busy loop.
 */
const EMPTY_PAUSE_MS = 1000;
/**
 * Delay before polling again after a lease found only mail without a slot. Slots are released
 * meanwhile, so that less mail has to be moved to wait lists.
 */
const NO_SLOT_PAUSE_MS = 5;
const NO_LEASES: Leasing = { leases: [], mayHaveMore: false };

export function createDispatcher(deps: DispatcherDeps): Dispatcher {
  const { queue, writer, clock, log } = deps;
  let leasing: Promise<void> | null = null;
  /** True if the queue was to be polled during a lease. */
  let isPollWanted = false;
  /** When a mail was last leased, sent or recorded (monotonic milliseconds). */
  let movedAt = clock.elapsed();
  const noteMove = () => {
    movedAt = clock.elapsed();
  };
  const timer = createPollTimer({ clock, log, onPoll: refill });
  const { isRunning, isPollScheduled, pollSoon } = timer;
  const prefetch = createPrefetch({ ...deps, onRelease: pollIfWorth });
  const deliveries = createMailDeliveries(deps, {
    prefetch,
    isRunning,
    releaseSlot,
    noteMove,
    onFree: pollIfWorth,
  });
  const capacity = () => prefetch.capacity(deliveries.count());

  /** While mails leave fast, the next lease waits until it can take many of them. */
  function pollIfWorth(): void {
    if (!isPollScheduled() && prefetch.isWorthLeasing(deliveries.count())) pollSoon();
  }

  function refill(): void {
    if (leasing !== null) {
      isPollWanted = true;
      return;
    }
    // If the limit is reached, the start of the next mail calls this again.
    const free = capacity();
    if (free === 0) return;
    try {
      leaseOrSleep(clock.now(), free <= prefetch.reserved());
    } catch (error) {
      timer.pauseAfter(error);
    }
  }

  /** `isUrgent` means that the remaining prefetch capacity is reserved for transactional mail. */
  function leaseOrSleep(now: number, isUrgent: boolean): void {
    timer.cancelDelay();
    const next = queue.nextDueAt(isUrgent);
    if (next === null) return;
    if (next <= now) leasing = leaseDue();
    else timer.pollAfter(next - now);
  }

  async function leaseDue(): Promise<void> {
    let leases: readonly Lease[] = [];
    try {
      const { value, onDisk } = await writer.commit(() => {
        const found = isRunning()
          ? queue.lease(capacity(), clock.now(), prefetch.reserved())
          : NO_LEASES;
        leases = found.leases;
        return { ...found, mails: deps.load(leases) };
      });
      const { mails, mayHaveMore } = value;
      if (mails.length > 0) noteMove();
      const waitForDisk = createSharedWait(onDisk);
      mails.forEach((mail, i) =>
        mail === null ? releaseSlot(leases[i]) : deliveries.start(mail, waitForDisk),
      );
      if (mails.length > 0) pollIfWorth();
      else timer.pollAfter(mayHaveMore ? NO_SLOT_PAUSE_MS : EMPTY_PAUSE_MS);
    } catch (error) {
      leases.forEach(releaseSlot);
      timer.pauseAfter(error);
    } finally {
      leasing = null;
      // A mail that was queued during the lease may be urgent.
      if (isPollWanted) pollSoon();
      isPollWanted = false;
    }
  }

  function releaseSlot(lease: Pick<Lease, "slot"> | undefined): void {
    const slot = lease?.slot ?? null;
    if (slot === null) return;
    slot.release();
    queue.noteSlotReleased(slot);
  }

  /** Resolves when no mail is under way; call it after the timer was stopped. */
  async function allEnded(): Promise<void> {
    await leasing;
    await deliveries.allEnded();
  }

  return {
    async start() {
      const returned = await writer.write(() => queue.returnLeases());
      if (returned > 0)
        log.info("mails leased by an earlier process are due again later", { returned });
      timer.start();
    },
    wake: pollSoon,
    isRunning,
    nextDueAt: () => queue.nextDueAt(),
    underWay: deliveries.count,
    outcomes: deliveries.outcomes,
    stalledMs() {
      const dueAt = deliveries.isAnyWaiting() ? -Infinity : queue.nextDueAt();
      const dueForMs = dueAt === null ? 0 : clock.now() - dueAt;
      return Math.max(0, Math.min(dueForMs, clock.elapsed() - movedAt - deps.paceIntervalMs));
    },
    async stop(graceMs) {
      timer.stop();
      deliveries.withdrawWaiting();
      return endsWithin(clock, graceMs, allEnded());
    },
    async returnLeases() {
      await writer.write(() => queue.returnLeases());
    },
  };
}
