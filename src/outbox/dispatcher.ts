/**
 * Sends mail, in order: lease due mails and prefetch a few of them (prefetch.ts), so that a prepared
 * mail is ready whenever the pace allows the next one; attempt each of them (timed-attempt.ts);
 * store its outcome (store-outcome.ts). If nothing is due, one timer sleeps until the earliest due
 * time. The database is always complete without this memory.
 *
 * This loop is not that of lib/worker.ts, which repeats a step if it was woken meanwhile. Each mail
 * that ends during a lease wakes this one; without a free slot, another lease at once would only
 * move more mail to wait lists (see `NO_SLOT_PAUSE_MS`).
 */

import { STORAGE_PAUSE_MS } from "../db/write-result.ts";
import { describeError } from "../lib/log.ts";
import { endsWithin } from "../lib/worker.ts";
import type { LeaseQueue } from "./lease.ts";
import type { Lease, LeasedMail } from "./lease-rows.ts";
import { createPrefetch, TRANSACTIONAL_RESERVE } from "./prefetch.ts";
import type { Leasing } from "./queue-scan.ts";
import { createStoreOutcome, type StoreOutcomeDeps } from "./store-outcome.ts";
import { createTimedAttempt, type TimedAttemptDeps } from "./timed-attempt.ts";

type DispatcherDeps = StoreOutcomeDeps &
  TimedAttemptDeps & {
    queue: LeaseQueue;
    load: (lease: Lease) => LeasedMail | null;
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
  const { queue, pace, writer, clock, log } = deps;
  let running = false;
  /** True during the pause after a storage error: nothing is leased. */
  let isPausing = false;
  let leasing: Promise<void> | null = null;
  let isRefillScheduled = false;
  const underWay = new Set<Promise<void>>();
  let cancelTimer = () => {};
  /** When a mail was last leased, sent or recorded (monotonic milliseconds). */
  let movedAt = clock.elapsed();
  const prefetch = createPrefetch({ pace, clock, onRelease: refillSoon });
  const noteMove = () => {
    movedAt = clock.elapsed();
  };
  const { attemptTimed, isAnyWaiting, withdrawWaiting } = createTimedAttempt(
    deps,
    prefetch,
    noteMove,
  );
  const { settle, counts } = createStoreOutcome(deps, () => running);

  /** Polls at most once for all that happens in one iteration of the event loop. */
  function refillSoon(): void {
    if (isRefillScheduled || !running) return;
    isRefillScheduled = true;
    setImmediate(() => {
      isRefillScheduled = false;
      refill();
    });
  }

  function refill(): void {
    if (!running || isPausing || leasing !== null) return;
    // If the limit is reached, the start of the next mail calls this again.
    const capacity = prefetch.capacity(underWay.size);
    if (capacity === 0) return;
    try {
      leaseOrSleep(clock.now(), capacity <= TRANSACTIONAL_RESERVE);
    } catch (error) {
      pauseAfter(error);
    }
  }

  /** `isUrgent` means that the remaining prefetch capacity is reserved for transactional mail. */
  function leaseOrSleep(now: number, isUrgent: boolean): void {
    cancelTimer();
    const next = queue.nextDueAt(isUrgent);
    if (next === null) return;
    if (next <= now) leasing = leaseDue();
    else sleep(next - now);
  }

  async function leaseDue(): Promise<void> {
    let leases: readonly Lease[] = [];
    try {
      const { value, onDisk } = await writer.commit(() => {
        const found = running
          ? queue.lease(prefetch.capacity(underWay.size), clock.now(), TRANSACTIONAL_RESERVE)
          : NO_LEASES;
        leases = found.leases;
        return { ...found, mails: leases.map(deps.load) };
      });
      const { mails, mayHaveMore } = value;
      if (mails.length > 0) noteMove();
      mails.forEach((mail, i) => (mail === null ? releaseSlot(leases[i]) : start(mail, onDisk)));
      if (mails.length > 0) refillSoon();
      else sleep(mayHaveMore ? NO_SLOT_PAUSE_MS : EMPTY_PAUSE_MS);
    } catch (error) {
      leases.forEach(releaseSlot);
      pauseAfter(error);
    } finally {
      leasing = null;
    }
  }

  function releaseSlot(lease: Pick<Lease, "slot"> | undefined): void {
    const slot = lease?.slot ?? null;
    if (slot === null) return;
    slot.release();
    queue.noteSlotReleased(slot);
  }

  function sleep(delayMs: number): void {
    cancelTimer();
    if (running) cancelTimer = clock.after(delayMs, refill);
  }

  function start(mail: LeasedMail, onDisk: Promise<void>): void {
    const delivery = deliver(mail, onDisk).finally(() => {
      underWay.delete(delivery);
      // A retry may be due before the timer ends.
      refillSoon();
    });
    underWay.add(delivery);
  }

  async function deliver(mail: LeasedMail, onDisk: Promise<void>): Promise<void> {
    const settlement = await attemptTimed(mail, onDisk).finally(() => releaseSlot(mail));
    refillSoon(); // The released slot can be used before the outcome is on disk.
    if (await settle(settlement)) noteMove();
  }

  function pauseAfter(error: unknown): void {
    if (isPausing || !running) return;
    log.warn("no mail is sent after an error of the storage", { error: describeError(error) });
    isPausing = true;
    cancelTimer();
    cancelTimer = clock.after(STORAGE_PAUSE_MS, () => {
      isPausing = false;
      refill();
    });
  }

  /** Resolves when no mail is under way; call it after `running` was set to false. */
  async function allEnded(): Promise<void> {
    await leasing;
    await Promise.all(underWay);
  }

  return {
    async start() {
      const returned = await writer.write(() => queue.returnLeases());
      if (returned > 0)
        log.info("mails leased by an earlier process are due again later", { returned });
      running = true;
      refill();
    },
    wake: refillSoon,
    isRunning: () => running,
    nextDueAt: () => queue.nextDueAt(),
    outcomes: counts,
    stalledMs() {
      const dueAt = isAnyWaiting() ? -Infinity : queue.nextDueAt();
      const dueForMs = dueAt === null ? 0 : clock.now() - dueAt;
      return Math.max(0, Math.min(dueForMs, clock.elapsed() - movedAt - deps.paceIntervalMs));
    },
    async stop(graceMs) {
      running = false;
      cancelTimer();
      withdrawWaiting();
      return endsWithin(clock, graceMs, allEnded());
    },
    async returnLeases() {
      await writer.write(() => queue.returnLeases());
    },
  };
}
