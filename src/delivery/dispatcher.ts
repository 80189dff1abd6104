/**
 * Keeps mail moving: leases a few due mails ahead, so that one is ready whenever the valve lets the
 * next one go, attempts them and settles them. Memory never holds the only copy of anything; one
 * timer sleeps until the earliest due time.
 */

import { isStorageRefusal } from "../db/refusal.ts";
import type { Writer } from "../db/writer.ts";
import type { Clock } from "../lib/clock.ts";
import { describeError, type Log } from "../lib/log.ts";
import type { Attempt, Verdict } from "./attempt.ts";
import type { Consignment } from "./load.ts";
import { type Leave, Withdrawn } from "./outcome.ts";
import type { Pace } from "./pace.ts";
import type { Lease, Leasing, Queue } from "./queue.ts";
import { type Settle, type Settlement, untriedOf } from "./settle.ts";

export type DispatcherDeps = {
  queue: Queue;
  pace: Pace;
  load: (lease: Lease) => Consignment | null;
  attempt: Attempt;
  settle: Settle;
  writer: Writer;
  clock: Clock;
  log: Log;
  /** Where people find what was caught. */
  url: string;
  /** Time between two mails at the configured send rate, in milliseconds; 0 without a rate. */
  paceIntervalMs: number;
};

export type Dispatcher = {
  start(): Promise<void>;
  /** Something may be due. */
  wake(): void;
  isRunning(): boolean;
  /**
   * How long mail has been due while none was leased, sent or recorded, in milliseconds; 0 where
   * none is due. Mail of paused campaigns, sites and projects is not due.
   */
  stalledMs(): number;
  /** When the earliest mail that may leave was due; null if none waits. */
  nextDueAt(): number | null;
  /** Mails recorded since the start, by the kind of their outcome. */
  outcomes: ReadonlyMap<string, number>;
  /** Stops leasing and waits for what is under way, at most `graceMs`. True if all ended. */
  stop(graceMs: number): Promise<boolean>;
  /** Gives back what did not end in time; after the transport was closed. */
  returnLeases(): Promise<void>;
};

/** After the storage refused: long enough not to spin, short enough to be there when it is back. */
const STORAGE_PAUSE_MS = 1000;
/** What was due may be so no more when it is leased: then the next look is not at once. */
const EMPTY_PAUSE_MS = 1000;
/**
 * Between two looks that found mail only for which there is no place: places come free meanwhile,
 * and what need not be looked past need not be put into a line.
 */
const LOOK_PAUSE_MS = 5;
/**
 * A mail that waits for a connection three times as long as usual, within these bounds, no longer
 * counts against the prefetch limit: mails to servers that stay silent must not hold up the others.
 */
const PREFETCH_TIMEOUT_MS = { least: 200, most: 1000 };
const PREFETCH_TIMEOUT_FACTOR = 3;
/** Places of those ahead that campaign mail leaves free, so that a person's mail is the next to go. */
const KEPT = 1;
const URGENT = 1;
/** Weight of the latest mail in the mean. */
const LATEST = 0.1;
const NOTHING: Leasing = { leases: [], isWorthAnother: false };

export function createDispatcher(deps: DispatcherDeps): Dispatcher {
  const { queue, pace, writer, clock, log } = deps;
  let running = false;
  /** The storage refused: nothing is leased until the pause is over. */
  let isPausing = false;
  let leasing: Promise<void> | null = null;
  let isRefillScheduled = false;
  const underWay = new Set<Promise<void>>();
  /** Of those that are ready: withdraws them. */
  const waiting = new Set<() => void>();
  /** How many of them are ready for their turn, or nearly so. */
  let ahead = 0;
  /** How long the way to their turn takes, sessions that have to be opened included. */
  let wayMs = 0;
  let cancelTimer = () => {};
  /** When a mail was last leased, sent or recorded (monotonic milliseconds). */
  let movedAt = clock.elapsed();
  const outcomes = new Map<string, number>();

  /** Whatever happens in one turn of the event loop is one reason to look, not many. */
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
    // Where enough mails are ready, the turn of the next one leads here again.
    const room = roomAhead();
    if (room === 0) return;
    try {
      leaseOrSleep(clock.now(), room <= KEPT);
    } catch (error) {
      pauseAfter(error);
    }
  }

  function roomAhead(): number {
    const most = pace.aheadFor(wayMs) + KEPT;
    const room = Math.min(most - ahead, most + pace.concurrency - underWay.size);
    return Math.max(0, room);
  }

  /** `isUrgent`: the room that is left is for transactional mail alone. */
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
        const found = running ? queue.lease(roomAhead(), clock.now(), KEPT) : NOTHING;
        leases = found.leases;
        return { ...found, mails: leases.map(deps.load) };
      });
      const { mails, isWorthAnother } = value;
      if (mails.length > 0) movedAt = clock.elapsed();
      mails.forEach((mail, i) => (mail === null ? giveUp(leases[i]) : start(mail, onDisk)));
      if (mails.length > 0) refillSoon();
      else sleep(isWorthAnother ? LOOK_PAUSE_MS : EMPTY_PAUSE_MS);
    } catch (error) {
      leases.forEach(giveUp);
      pauseAfter(error);
    } finally {
      leasing = null;
    }
  }

  /** Its place is free for another one. */
  function giveUp(lease: Pick<Lease, "pass"> | undefined): void {
    const pass = lease?.pass ?? null;
    if (pass === null) return;
    pass.release();
    queue.noteFree(pass);
  }

  function sleep(delayMs: number): void {
    cancelTimer();
    if (running) cancelTimer = clock.after(delayMs, refill);
  }

  function start(mail: Consignment, onDisk: Promise<void>): void {
    const delivery = deliver(mail, onDisk).finally(() => {
      underWay.delete(delivery);
      // A deferral may be due before what the timer waits for.
      refillSoon();
    });
    underWay.add(delivery);
  }

  async function deliver(mail: Consignment, onDisk: Promise<void>): Promise<void> {
    const settlement = await attemptTimed(mail, onDisk).finally(() => giveUp(mail));
    refillSoon(); // Its place is free, and need not wait for the disk.
    await settle(settlement);
  }

  function pauseAfter(error: unknown): void {
    if (isPausing || !running) return;
    log.warn("no mail leaves while the storage refuses", { error: describeError(error) });
    isPausing = true;
    cancelTimer();
    cancelTimer = clock.after(STORAGE_PAUSE_MS, () => {
      isPausing = false;
      refill();
    });
  }

  /**
   * The time that counts is from the mail's turn on, if it gets one. It is made ready while its lease
   * is on its way to the disk, and nothing leaves before that is there.
   */
  async function attemptTimed(mail: Consignment, onDisk: Promise<void>): Promise<Settlement> {
    let startedAt = clock.now();
    let startedMs = clock.elapsed();
    const place = comeForward();
    const leave: Leave = async (transact) => {
      await onDisk.catch(withdrawn);
      noteWay(clock.elapsed() - startedMs);
      place.keep();
      const turn = () => {
        place.leave();
        movedAt = clock.elapsed();
        startedAt = clock.now();
        startedMs = clock.elapsed();
        return transact();
      };
      return awaitTurn(turn, mail.campaignSeq === null ? URGENT : 0);
    };
    const verdict = await deps.attempt(mail, leave).catch((error: unknown) => defect(mail, error));
    place.leave();
    const durationMs = Math.round(clock.elapsed() - startedMs);
    return { mail, verdict, startedAt, durationMs, now: clock.now() };
  }

  /** Rejects with `Withdrawn` where this process is to end before the turn has come. */
  function awaitTurn<T>(turn: () => Promise<T>, urgency: number): Promise<T> {
    return new Promise((resolve, reject) => {
      const withdraw = () => reject(new Withdrawn());
      waiting.add(withdraw);
      const begin = () => {
        // What becomes of a mail could not be stored any more: it must not leave.
        if (waiting.delete(withdraw) && !writer.hasFault()) return turn();
        throw new Withdrawn();
      };
      pace.run(begin, urgency).then(resolve, reject);
    });
  }

  /** Counts a mail as being ahead, until its turn has come or its way there takes too long. */
  function comeForward(): { keep: () => void; leave: () => void } {
    let isAhead = true;
    ahead++;
    const leave = () => {
      keep();
      if (!isAhead) return;
      isAhead = false;
      ahead--;
      refillSoon();
    };
    const { least, most } = PREFETCH_TIMEOUT_MS;
    const timeoutMs = Math.min(Math.max(PREFETCH_TIMEOUT_FACTOR * wayMs, least), most);
    const keep = clock.after(timeoutMs, leave);
    return { keep, leave };
  }

  function noteWay(ms: number): void {
    wayMs += LATEST * (Math.min(ms, PREFETCH_TIMEOUT_MS.most) - wayMs);
  }

  /** A fault of ours: the mail is kept and tried again, and the log says so. */
  function defect(mail: Consignment, error: unknown): Verdict {
    log.error("an attempt failed unexpectedly", { email: mail.id, error: describeError(error) });
    const reason = "An unexpected error on our side; the log has it.";
    return { kind: "deferred", class: "infrastructure", reason, conversations: [] };
  }

  /** What happened out there must be written down, however long the storage takes to recover. */
  async function settle(settlement: Settlement): Promise<void> {
    const endedMs = clock.elapsed();
    // Computed anew in the change that stores it: the clock may have been set since.
    const endedAt = () => clock.now() - Math.round(clock.elapsed() - endedMs);
    for (let tries = 1; ; tries++) {
      try {
        const isOurs = await writer.write(() => deps.settle({ ...settlement, now: endedAt() }));
        noteWaiting(settlement);
        movedAt = clock.elapsed();
        return report(settlement, isOurs);
      } catch (error) {
        if (tries === 1) logUnsettled(settlement, error);
        // A fault of ours does not mend itself: the lease stays, and ends with this process.
        if (!running || !isStorageRefusal(error)) return;
        await new Promise<void>((resolve) => clock.after(STORAGE_PAUSE_MS, resolve));
      }
    }
  }

  function noteWaiting({ verdict }: Settlement): void {
    const busy = untriedOf(verdict);
    if (busy !== null && busy.line !== null)
      queue.noteWaiting(busy.line, clock.now() + busy.retryAfterMs);
  }

  function logUnsettled({ mail, verdict }: Settlement, error: unknown): void {
    log.error("an outcome could not be stored", {
      email: mail.id,
      outcome: verdict.kind,
      willTryAgain: running && isStorageRefusal(error),
      error: describeError(error),
    });
  }

  function report({ mail, verdict, durationMs }: Settlement, isOurs: boolean): void {
    const fields = {
      email: mail.id,
      attempt: mail.attempts,
      outcome: verdict.kind,
      ms: durationMs,
      ...(verdict.kind === "accepted" ? {} : { reason: verdict.reason }),
    };
    outcomes.set(verdict.kind, (outcomes.get(verdict.kind) ?? 0) + 1);
    if (!isOurs) log.warn("the outcome came after its lease was lost", fields);
    else if (isOperatorsMatter(verdict)) log.warn("delivery needs attention", fields);
    else log.debug("delivery", fields);
    const isCaught = verdict.kind === "accepted" && verdict.captured !== undefined;
    if (!isOurs || !isCaught) return;
    const { to, subject, id } = mail;
    log.info("caught a mail", { to, subject, see: `${deps.url}/emails/${id}/raw` });
  }

  /** Once it does not run any more. */
  async function nothingUnderWay(): Promise<true> {
    await leasing;
    await Promise.all(underWay);
    return true;
  }

  return {
    async start() {
      const returned = await writer.write(() => queue.returnLeases());
      if (returned > 0) log.info("mails of a stopped process wait for their time", { returned });
      running = true;
      refill();
    },
    wake: refillSoon,
    isRunning: () => running,
    nextDueAt: () => queue.nextDueAt(),
    outcomes,
    stalledMs() {
      const dueAt = waiting.size > 0 ? -Infinity : queue.nextDueAt();
      const dueForMs = dueAt === null ? 0 : clock.now() - dueAt;
      return Math.max(0, Math.min(dueForMs, clock.elapsed() - movedAt - deps.paceIntervalMs));
    },
    async stop(graceMs) {
      running = false;
      cancelTimer();
      for (const withdraw of waiting) withdraw();
      waiting.clear();
      const { promise: graceOver, resolve } = Promise.withResolvers<boolean>();
      const cancelGrace = clock.after(graceMs, () => resolve(false));
      const allEnded = await Promise.race([nothingUnderWay(), graceOver]);
      cancelGrace();
      return allEnded;
    },
    async returnLeases() {
      await writer.write(() => queue.returnLeases());
    },
  };
}

/** The lease did not reach the disk, so another process may have the mail. */
function withdrawn(): never {
  throw new Withdrawn();
}

/** Delivery rule R2: blocks, authentication and infrastructure are not the recipient's fault. */
function isOperatorsMatter(verdict: Verdict): boolean {
  if (!("class" in verdict)) return false;
  return ["reputation", "authentication", "infrastructure"].includes(verdict.class);
}
