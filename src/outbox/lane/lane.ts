/**
 * The lane sends all mail of the queue. It works in cycles. A cycle is one change of the database, which
 * settles the mails that have ended and leases the next ones (queue.ts). While the disk syncs, their
 * messages are composed; when the leases are on disk, the transport gets the mails and sends them as
 * fast as its sessions and the pace allow. The next cycle follows when enough mails have ended, or a
 * moment later. If nothing is due, a timer sleeps until the earliest due time.
 *
 * The database is always complete without this memory: a mail whose process was killed is due again
 * when its lease is over.
 */

import { isStorageRefusal } from "../../db/refusal.ts";
import type { Writer } from "../../db/writer.ts";
import type { Clock } from "../../lib/clock.ts";
import { describeError, type Log } from "../../lib/log.ts";
import { endsWithin } from "../../lib/worker.ts";
import type { Composer } from "../compose/composer.ts";
import { deferWithoutSlot, type Slot, type Transport, WITHDRAWN } from "../outcome.ts";
import { busyOf, type RecordOutcome } from "../record.ts";
import { type CapacityOptions, createCapacity } from "./capacity.ts";
import { deferred, LaneMail, logOutcome, unprepared, whyNotSent } from "./mail.ts";
import type { IdFields } from "../id-field.ts";
import type { LeaseQueue } from "./queue.ts";
import type { LeasedMail, LeasedRow } from "./rows.ts";

type LaneDeps = CapacityOptions & {
  queue: LeaseQueue;
  load: (leases: readonly LeasedRow[]) => (LeasedMail | null)[];
  composer: Pick<Composer, "prepare" | "release">;
  /** The transport in use. */
  transport: () => Transport;
  settle: RecordOutcome;
  isSenderVerified: (projectSeq: number, domain: string) => boolean;
  isCampaignSending: (campaignSeq: number) => boolean;
  /** The address to which bounces are sent (docs/delivery.md#C5). */
  returnPathOf: (mail: LeasedMail) => string;
  /** The header field that the relay of a mail wants (id-field.ts). */
  idFields?: IdFields;
  /** The address of the page of a captured mail, for the log. */
  pageOf: (mail: { projectSeq: number; id: string }) => string;
  writer: Writer;
  clock: Clock;
  log: Log;
};

export type Lane = {
  start(): Promise<void>;
  /** Polls the queue soon, because a mail may be due. */
  wake(): void;
  /** Part of a change that queues mail: its transaction leases the mail as well, if it has capacity. */
  join(): void;
  isRunning(): boolean;
  /**
   * The time for which mail has been due while none was leased, sent or recorded, in milliseconds; 0 if
   * none is due. Mail of paused campaigns, sites and projects is not due.
   */
  stalledMs(): number;
  /** The time at which the next mail is due; null if none waits. */
  nextDueAt(): number | null;
  /** Number of mails that are leased and have no stored outcome. */
  underWay(): number;
  /** Resolves when the transport has each leased mail, or it has ended. More may be leased meanwhile. */
  allGiven(): Promise<void>;
  /** Number of stored outcomes since the start, by kind. */
  outcomes: ReadonlyMap<string, number>;
  /** Stops leasing and waits at most `graceMs` for the mails under way. True if all ended. */
  stop(graceMs: number): Promise<boolean>;
  /** Stores the outcomes of the mails that ended meanwhile; call it after the transport was closed. */
  settleEnded(): Promise<void>;
};

/** A cycle follows at once when so many mails have ended, or this share of those under way. */
const BATCH = 64;
const ENDED_SHARE = 0.25;
/** A cycle follows at the latest so many milliseconds after a mail has ended. */
const MAX_CYCLE_DELAY_MS = 20;
/** While fewer mails are leased, a queued mail causes a cycle at once, and leased ones are composed at once. */
const FEW = 16;
/** Delay before polling again after a lease found no due mail, so that nothing polls in a busy loop. */
const EMPTY_PAUSE_MS = 1_000;
/**
 * Delay before polling again after a lease found only mail without a slot. Slots are released
 * meanwhile, so that less mail has to be moved to wait lists.
 */
const NO_SLOT_PAUSE_MS = 5;
/** Delay after the storage refused a cycle. */
const STORAGE_PAUSE_MS = 1_000;

export function createLane(deps: LaneDeps): Lane {
  const { queue, composer, writer, clock, log } = deps;
  const capacity = createCapacity(clock, deps);
  const outcomes = new Map<string, number>();
  /** The mails that are leased and have no stored outcome. */
  const leased = new Set<LaneMail>();
  /** Number of those that take no capacity of others (capacity.ts). */
  let apart = 0;
  /** The mails whose outcome the storage has refused before. */
  const refused = new WeakSet<LaneMail>();
  /** The leased mails that have ended. */
  let ended: LaneMail[] = [];
  let isRunning = false;
  let isInCycle = false;
  let lastCycle = Promise.resolve();
  /** Another cycle was requested during this one. */
  let isCycleWanted = false;
  let isScheduled = false;
  /** The storage refused a cycle: nothing is done before the pause is over. */
  let isPausing = false;
  /** The last lease took as many as it could, so another one may find more. */
  let mayHaveMore = false;
  let cancelPoll = () => {};
  let delayedCycle: ReturnType<typeof setTimeout> | null = null;
  /** When a mail was last leased, sent or recorded (monotonic milliseconds). */
  let movedAt = clock.elapsed();
  const waiting: { isOver: () => boolean; resolve: () => void }[] = [];

  const events = {
    begins(mail: LaneMail): boolean {
      const { campaignSeq } = mail.leased;
      // With a faulty writer the outcome could not be stored, so the mail must not be sent.
      if (!isRunning || writer.hasFault()) return false;
      if (campaignSeq !== null && !deps.isCampaignSending(campaignSeq)) return false;
      if (mail.waitsFor === "server") capacity.noteReady(clock.elapsed() - mail.leasedMs);
      capacity.noteDeparture();
      mail.hasBegun = true;
      mail.startedAt = clock.now();
      mail.startedMs = clock.elapsed();
      movedAt = mail.startedMs;
      // While few are leased, the place of each mail that left is given to another one at once.
      if (shared() < BATCH) scheduleIfWorth();
      return true;
    },
    isReady(mail: LaneMail): void {
      capacity.noteReady(clock.elapsed() - mail.leasedMs);
    },
    ended(mail: LaneMail): void {
      mail.endedMs = clock.elapsed();
      const { slot } = mail.leased;
      ended.push(mail);
      if (slot !== null) releaseSlot(slot);
      if (mail.isPrepared) composer.release(mail.leased, mail.message);
      noteProgress();
      if (isBatch()) scheduleCycle();
      else delayCycle();
    },
    failed(mail: LaneMail, error: unknown): void {
      const fields = { email: mail.leased.id, error: describeError(error) };
      log.error("an attempt failed unexpectedly", fields);
      mail.end(deferred("An unexpected error of this server; the log has the details."));
    },
  };

  /** At most one cycle for all that happens in one iteration of the event loop. */
  function scheduleCycle(): void {
    if (isScheduled) return;
    isScheduled = true;
    setImmediate(() => {
      isScheduled = false;
      startCycle();
    });
  }

  const shared = (): number => leased.size - apart;

  function remove(mail: LaneMail): void {
    if (leased.delete(mail) && mail.isApart) apart--;
  }

  /** True if enough mails have ended for a cycle. */
  function isBatch(): boolean {
    return ended.length > 0 && ended.length >= Math.min(BATCH, shared() * ENDED_SHARE);
  }

  function delayCycle(): void {
    delayedCycle ??= setTimeout(scheduleCycle, MAX_CYCLE_DELAY_MS);
  }

  /** While mails leave fast, those that are queued meanwhile share the next cycle. */
  function wake(): void {
    if (shared() < FEW) scheduleCycle();
    else delayCycle();
  }

  function join(): void {
    if (!isRunning || isInCycle || isPausing || shared() >= FEW) return;
    const available = capacity.of(leased);
    if (available.isWorth && available.free > available.reserved) lastCycle = runCycle(available);
  }

  function scheduleIfWorth(): void {
    if (!isScheduled && !isInCycle && capacity.of(leased).isWorth) scheduleCycle();
  }

  function startCycle(): void {
    if (isInCycle || isPausing) {
      isCycleWanted = true;
      return;
    }
    if (delayedCycle !== null) clearTimeout(delayedCycle);
    delayedCycle = null;
    try {
      const available = wantedLeases();
      if (ended.length > 0 || available.free > 0) lastCycle = runCycle(available);
    } catch (error) {
      pauseAfter(error);
    }
  }

  /** The number of mails to lease now: none if none is due, and then a timer waits for the next one. */
  function wantedLeases(): { free: number; reserved: number } {
    if (!isRunning) return NONE;
    const available = capacity.of(leased);
    const isFull = available.free <= available.reserved;
    if (mayHaveMore && !isFull && available.isWorth) return available;
    cancelPoll();
    const now = clock.now();
    // Only transactional mail is worth a lease of few mails while there are many.
    const isForUrgent = isFull || mayHaveMore;
    const next = available.free > 0 ? queue.nextDueAt(isForUrgent) : null;
    if (next !== null && next <= now)
      return isForUrgent ? { free: available.free, reserved: available.free } : available;
    // Mails that wait for silent servers no longer count soon, and then others can be leased.
    const moreInMs = isForUrgent ? available.moreInMs : Infinity;
    const waitMs = Math.min(moreInMs, next === null ? Infinity : next - now);
    if (waitMs < Infinity) pollAfter(waitMs);
    return NONE;
  }

  function pollAfter(delayMs: number): void {
    cancelPoll();
    cancelPoll = clock.after(delayMs, scheduleCycle);
  }

  async function runCycle({ free, reserved }: { free: number; reserved: number }): Promise<void> {
    isInCycle = true;
    const batch = ended;
    ended = [];
    let leases: readonly LeasedRow[] = [];
    try {
      const { value, onDisk } = await writer.commit(() => {
        const isOurs = batch.map(settleOne);
        const found = free > 0 && isRunning ? queue.lease(free, clock.now(), reserved) : NO_LEASES;
        leases = found.leases;
        return { isOurs, mails: deps.load(leases), mayHaveMore: found.mayHaveMore };
      });
      batch.forEach((mail, i) => noteSettled(mail, value.isOurs[i] === true));
      if (free > 0) noteLeases(value.mails, value.mayHaveMore);
      send(value.mails, leases, onDisk);
    } catch (error) {
      for (const { slot } of leases) slot?.release();
      await settleAfter(error, batch);
    } finally {
      isInCycle = false;
      noteProgress();
      // A mail that was queued during the cycle may be urgent.
      if (isCycleWanted || isBatch()) scheduleCycle();
      else if (free === 0 || leases.length > 0) scheduleIfWanted();
      isCycleWanted = false;
    }
  }

  function releaseSlot(slot: Slot): void {
    slot.release();
    queue.noteSlotReleased(slot);
  }

  /** Schedules a cycle if mails are to be leased, and sets the timer otherwise. */
  function scheduleIfWanted(): void {
    if (isPausing) return;
    try {
      if (wantedLeases().free > 0) scheduleCycle();
    } catch (error) {
      pauseAfter(error);
    }
  }

  /** Part of a change. The time is computed again for each try: the clock may have been set meanwhile. */
  function settleOne(mail: LaneMail): boolean {
    const { leased: row, verdict, startedAt, startedMs, endedMs, subject } = mail;
    if (verdict === null) return false;
    return deps.settle({
      mail: row,
      verdict,
      subject,
      startedAt,
      durationMs: Math.round(endedMs - startedMs),
      now: clock.now() - Math.round(clock.elapsed() - endedMs),
    });
  }

  function noteLeases(mails: readonly (LeasedMail | null)[], more: boolean): void {
    mayHaveMore = more && mails.length > 0;
    if (mails.length > 0) movedAt = clock.elapsed();
    else pollAfter(more ? NO_SLOT_PAUSE_MS : EMPTY_PAUSE_MS);
  }

  /** Composes the leased mails, and gives them to the transport when their leases are on disk. */
  function send(
    rows: readonly (LeasedMail | null)[],
    leases: readonly LeasedRow[],
    onDisk: Promise<void>,
  ): void {
    const mails: LaneMail[] = [];
    const [now, elapsedMs] = [clock.now(), clock.elapsed()];
    rows.forEach((row, i) => {
      if (row === null) {
        const slot = leases[i]?.slot ?? null;
        return slot === null ? undefined : releaseSlot(slot);
      }
      capacity.noteLease(row);
      const mail = new LaneMail(row, { events, now, elapsedMs });
      mails.push(mail);
      leased.add(mail);
      if (mail.isApart) apart++;
    });
    void startAll(mails, onDisk);
    const composeAll = () => mails.forEach(compose);
    // The transaction of many mails has held the event loop for some milliseconds.
    if (mails.length < FEW) composeAll();
    else setImmediate(composeAll);
  }

  async function startAll(mails: readonly LaneMail[], onDisk: Promise<void>): Promise<void> {
    try {
      await onDisk;
    } catch {
      // The file of the database is lost, so nothing can be stored any more.
      for (const mail of mails) remove(mail);
      return noteProgress();
    }
    for (const mail of mails) {
      mail.isDurable = true;
      startIfReady(mail);
    }
  }

  function compose(mail: LaneMail): void {
    try {
      const verdict = whyNotSent(mail.leased, deps.isSenderVerified, deps.clock.now());
      if (verdict !== null) return mail.end(verdict);
      mail.setReturnPath(deps.returnPathOf(mail.leased));
      composer.prepare(mail.leased, {
        resolve(prepared) {
          if (prepared.kind !== "prepared") return mail.end(unprepared(prepared));
          mail.setMessage(prepared, deps.idFields);
          startIfReady(mail);
        },
        reject: (error) => mail.fail(error),
      });
    } catch (error) {
      mail.fail(error);
    }
  }

  function startIfReady(mail: LaneMail): void {
    if (!mail.isDurable || !mail.isPrepared || mail.verdict !== null) return;
    // The process is about to end, and has withdrawn the mails that waited.
    if (!isRunning) return mail.end(deferWithoutSlot(WITHDRAWN));
    try {
      mail.isGiven = true;
      deps.transport().start(mail);
    } catch (error) {
      mail.fail(error);
    }
    noteProgress();
  }

  function noteSettled(mail: LaneMail, isOurs: boolean): void {
    const { verdict } = mail;
    remove(mail);
    if (verdict === null) return;
    movedAt = clock.elapsed();
    const busy = busyOf(verdict);
    if (busy !== null && busy.waitList !== null)
      queue.noteWaiting(busy.waitList, clock.now() + busy.retryAfterMs);
    outcomes.set(verdict.kind, (outcomes.get(verdict.kind) ?? 0) + 1);
    try {
      logOutcome(log, { mail, verdict, isOurs, see: () => deps.pageOf(mail.leased) });
    } catch (error) {
      // The outcome is stored, and the mails of the same cycle must be sent.
      log.error("an outcome could not be reported", { error: describeError(error) });
    }
  }

  /**
   * After a change that failed. Outcomes are tried again for as long as the storage refuses, because the
   * mails were sent. After another error, each is stored alone, so that only the faulty one fails: its
   * lease stays until this process ends.
   */
  async function settleAfter(error: unknown, batch: readonly LaneMail[]): Promise<void> {
    if (isStorageRefusal(error)) {
      for (const mail of batch) {
        if (!refused.has(mail)) logUnsettled(mail, error);
        refused.add(mail);
      }
      if (isRunning) ended = [...batch, ...ended];
      else for (const mail of batch) remove(mail);
      return pauseAfter(error);
    }
    if (batch.length === 0) return pauseAfter(error);
    for (const mail of batch) {
      try {
        noteSettled(mail, await writer.write(() => settleOne(mail)));
      } catch (fault) {
        logUnsettled(mail, fault);
        if (isRunning && isStorageRefusal(fault)) ended.push(mail);
        else remove(mail);
      }
    }
    // The change may have leased mail as well, which was undone with it.
    scheduleCycle();
  }

  function pauseAfter(error: unknown): void {
    if (isPausing || !isRunning) return;
    log.warn("no mail is sent after an error of the storage", { error: describeError(error) });
    isPausing = true;
    cancelPoll();
    cancelPoll = clock.after(STORAGE_PAUSE_MS, () => {
      isPausing = false;
      startCycle();
    });
  }

  function noteProgress(): void {
    if (waiting.length === 0) return;
    for (const each of waiting.filter(({ isOver }) => isOver())) {
      waiting.splice(waiting.indexOf(each), 1);
      each.resolve();
    }
  }

  function until(isOver: () => boolean): Promise<void> {
    if (isOver()) return Promise.resolve();
    return new Promise((resolve) => waiting.push({ isOver, resolve }));
  }

  const isIdle = (): boolean => leased.size === 0 && !isInCycle;
  const isAllGiven = (): boolean =>
    !isInCycle && [...leased].every(({ isGiven, verdict }) => isGiven || verdict !== null);

  function logUnsettled({ leased: { id }, verdict }: LaneMail, error: unknown): void {
    log.error("an outcome could not be stored", {
      email: id,
      outcome: verdict?.kind,
      willTryAgain: isRunning && isStorageRefusal(error),
      error: describeError(error),
    });
  }

  return {
    async start() {
      const returned = await writer.write(() => queue.returnLeases());
      if (returned > 0)
        log.info("mails leased by an earlier process are due again later", { returned });
      isRunning = true;
      startCycle();
    },
    wake,
    join,
    isRunning: () => isRunning,
    nextDueAt: () => queue.nextDueAt(),
    underWay: () => leased.size,
    allGiven: () => until(isAllGiven),
    outcomes,
    stalledMs() {
      const isAnyWaiting = [...leased].some(
        ({ waitsFor, hasBegun }) => waitsFor === "turn" && !hasBegun,
      );
      const dueAt = isAnyWaiting ? -Infinity : queue.nextDueAt();
      const dueForMs = dueAt === null ? 0 : clock.now() - dueAt;
      const paceMs = deps.ratePerSecond === 0 ? 0 : 1_000 / deps.ratePerSecond;
      return Math.max(0, Math.min(dueForMs, clock.elapsed() - movedAt - paceMs));
    },
    async stop(graceMs) {
      isRunning = false;
      cancelPoll();
      deps.transport().withdrawWaiting();
      // Outcomes that the storage refused are tried once more.
      isPausing = false;
      if (ended.length > 0) scheduleCycle();
      return endsWithin(clock, graceMs, until(isIdle));
    },
    async settleEnded() {
      // A mail ends some microtasks after its session.
      await new Promise((resolve) => setImmediate(resolve));
      await lastCycle;
      isPausing = false;
      startCycle();
      await lastCycle;
    },
  };
}

const NONE = { free: 0, reserved: 0 };
const NO_LEASES = { leases: [], mayHaveMore: false };
