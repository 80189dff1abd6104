/**
 * Keeps mail moving: asks the valve for as many permits as mails are due, leases a mail when a
 * permit is used, attempts it and settles it. Memory never holds the only copy of anything; one
 * timer sleeps until the earliest due time.
 */

import { isStorageRefusal, type Writer } from "../db/writer.ts";
import type { Clock } from "../lib/clock.ts";
import { describeError, type Log } from "../lib/log.ts";
import type { Attempt, Verdict } from "./attempt.ts";
import type { Consignment } from "./load.ts";
import type { Pace } from "./pace.ts";
import type { Lease, Queue } from "./queue.ts";
import type { Settle, Settlement } from "./settle.ts";

export type DispatcherDeps = {
  queue: Queue;
  pace: Pace;
  load: (lease: Lease) => Consignment | null;
  attempt: Attempt;
  settle: Settle;
  writer: Writer;
  clock: Clock;
  log: Log;
  /** Mails under way at once. */
  concurrency: number;
};

export type Dispatcher = {
  start(): Promise<void>;
  /** Something may be due. */
  wake(): void;
  isRunning(): boolean;
  /** Stops leasing and waits for what is under way, at most `graceMs`. True if all ended. */
  stop(graceMs: number): Promise<boolean>;
  /** Gives back what did not end in time; after the transport was closed. */
  returnLeases(): Promise<void>;
};

/** After the storage refused: long enough not to spin, short enough to be there when it is back. */
const STORAGE_PAUSE_MS = 1000;

export function createDispatcher(deps: DispatcherDeps): Dispatcher {
  const { queue, pace, writer, clock, log, concurrency } = deps;
  let running = false;
  /** The storage refused: nothing is leased until the pause is over. */
  let isPausing = false;
  /** Permits that have not led to a lease yet. */
  let claims = 0;
  let takers: ((mail: Consignment | null) => void)[] = [];
  let isRefillScheduled = false;
  let cancelTimer = () => {};

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
    if (!running || isPausing) return;
    const free = concurrency - pace.waiting() - pace.active();
    // Where no place is free, the end of an attempt leads here again.
    if (free <= 0) return;
    try {
      claimDue(free, clock.now());
    } catch (error) {
      pauseAfter(error);
    }
  }

  function claimDue(free: number, now: number): void {
    const unclaimed = queue.dueCount(claims + free, now) - claims;
    for (let i = Math.min(free, unclaimed); i > 0; i--) claim();
    sleepUntilDue(now);
  }

  function claim(): void {
    claims++;
    pace.add(deliverOne);
  }

  /** Where a permit is still to be used, its lease leads here again. */
  function sleepUntilDue(now: number): void {
    cancelTimer();
    const next = claims > 0 ? null : queue.nextDueAt();
    if (next === null || next <= now) return;
    cancelTimer = clock.after(next - now, refill);
  }

  async function deliverOne(): Promise<void> {
    const mail = await take();
    if (mail === null) return;
    await settle(await attemptTimed(mail));
    // This task still holds its place; its end frees it.
    refillSoon();
  }

  /** Permits used in the same moment lease together, in one transaction. */
  function take(): Promise<Consignment | null> {
    return new Promise((resolve) => {
      takers.push(resolve);
      if (takers.length === 1) void leaseForTakers();
    });
  }

  async function leaseForTakers(): Promise<void> {
    let waiting: typeof takers = [];
    let mails: (Consignment | null)[] = [];
    try {
      mails = await writer.write(() => {
        waiting = takers.splice(0);
        return running ? queue.lease(waiting.length, clock.now()).map(deps.load) : [];
      });
    } catch (error) {
      if (waiting.length === 0) waiting = takers.splice(0);
      pauseAfter(error);
    }
    claims -= waiting.length;
    waiting.forEach((resolve, i) => resolve(mails[i] ?? null));
    // More may have come due, and the timer for what comes next was not set while permits waited.
    refillSoon();
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

  async function attemptTimed(mail: Consignment): Promise<Settlement> {
    const startedAt = clock.now();
    const startedMs = performance.now();
    const verdict = await deps.attempt(mail).catch((error: unknown) => defect(mail, error));
    const durationMs = Math.round(performance.now() - startedMs);
    return { mail, verdict, startedAt, durationMs, now: clock.now() };
  }

  /** A fault of ours: the mail is kept and tried again, and the log says so. */
  function defect(mail: Consignment, error: unknown): Verdict {
    log.error("an attempt failed unexpectedly", { email: mail.id, error: describeError(error) });
    const reason = "An unexpected error on our side; the log has it.";
    return { kind: "deferred", class: "infrastructure", reason, conversations: [] };
  }

  /** What happened out there must be written down, however long the storage takes to recover. */
  async function settle(settlement: Settlement): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        const isOurs = await writer.write(() => deps.settle(settlement));
        return report(settlement, isOurs);
      } catch (error) {
        if (tries === 1) logUnsettled(settlement, error);
        // A fault of ours does not mend itself: the lease stays, and ends with this process.
        if (!running || !isStorageRefusal(error)) return;
        await new Promise<void>((resolve) => clock.after(STORAGE_PAUSE_MS, resolve));
      }
    }
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
    if (!isOurs) log.warn("the outcome came after its lease was lost", fields);
    else if (isOperatorsMatter(verdict)) log.warn("delivery needs attention", fields);
    else log.debug("delivery", fields);
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
    async stop(graceMs) {
      running = false;
      cancelTimer();
      claims -= pace.waiting();
      pace.clear();
      const { promise: graceOver, resolve } = Promise.withResolvers<boolean>();
      const cancelGrace = clock.after(graceMs, () => resolve(false));
      const allEnded = await Promise.race([pace.idle().then(() => true), graceOver]);
      cancelGrace();
      return allEnded;
    },
    async returnLeases() {
      await writer.write(() => queue.returnLeases());
    },
  };
}

/** Delivery rule R2: blocks, authentication and infrastructure are not the recipient's fault. */
function isOperatorsMatter(verdict: Verdict): boolean {
  if (!("class" in verdict)) return false;
  return ["reputation", "authentication", "infrastructure"].includes(verdict.class);
}
