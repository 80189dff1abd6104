/**
 * Queues of HTTP calls, for the deliveries to webhooks and for the calls of workflow steps. Each
 * webhook and each workflow has its own queue.
 *
 * 1. The rows contain the due times. `wake` says that a queue may have due calls.
 * 2. A due call is leased when the queue and its project have a free slot; queues take turns. The
 *    lease is only in memory, because one process uses the database: the row stays due until the
 *    result is stored, so a crash or a stop needs no release, and the next process repeats the call.
 * 3. `make` makes the call and stores its result, which is the end of the call or its next due time.
 * 4. The lease ends, which wakes the queue. If the result could not be stored, it ends a minute later,
 *    so that the call is not repeated again and again.
 */

import { type Clock, systemClock } from "./clock.ts";
import { createFairSlots } from "./fair-slots.ts";
import { createWorker, endsWithin } from "./worker.ts";

/** Ends calls when the server stops. */
export type CallStop = {
  /** Aborted when the calls under way have to end at once. */
  signal: AbortSignal;
  /** If true, a result that the storage refuses is not written again. */
  isStopping: () => boolean;
};

type CallQueuesOptions<Receiver extends { projectSeq: number }, Call extends { seq: number }> = {
  clock: Clock;
  /** Largest number of concurrent calls of all projects. */
  maxCalls: number;
  /** Largest number of concurrent calls of one project; 0 for no limit but a fair share. */
  maxCallsPerProject: number;
  /** Delay of the calls that are due at the start, because an earlier process may have made them. */
  repeatAfterMs: number;
  /** Queues with calls that are due now or later. */
  findQueues(): number[];
  /** Returns the receiver of a queue, for `make`; null if its calls may not be made now. */
  findReceiver(queueSeq: number): Receiver | null;
  /** Calls of a queue that are due at `now`, in the order of their due times. */
  findDue(queueSeq: number, now: number, limit: number): Call[];
  /** The earliest due time of a queue after `now`; null if there is none. */
  nextDueAt(queueSeq: number, now: number): number | null;
  /** The number of calls of a queue that may be under way now. */
  maxConcurrent(queueSeq: number): number;
  /** Makes a call and stores its result. Resolves to false if the result could not be stored. */
  make(call: Call, receiver: Receiver, stop: CallStop): Promise<boolean>;
  /** Reports a defect, or that calls could not be read. */
  onError(error: unknown): void;
};

/** The state of a queue that has calls which are due now or later, or which are leased. */
type CallQueue = {
  seq: number;
  /** No call of the queue is due before this time. */
  pollAt: number;
  /** The `seq` of the leased calls. */
  leased: Set<number>;
};

/** Time for starting calls before other work of the event loop runs. */
const SLICE_MS = 5;
const PAUSE_AFTER_ERROR_MS = 1_000;
/** Delay after which a call is repeated whose result could not be stored. */
const UNSTORED_LEASE_MS = 60_000;

export function createCallQueues<
  Receiver extends { projectSeq: number },
  Call extends { seq: number },
>(options: CallQueuesOptions<Receiver, Call>) {
  const { clock, onError } = options;
  /** The owners of the slots are projects. */
  const slots = createFairSlots({
    total: options.maxCalls,
    maxPerOwner: options.maxCallsPerProject,
  });
  /** In round-robin order. */
  const queues = new Map<number, CallQueue>();
  const underWay = new Set<Promise<void>>();
  const cancelTimers = new Set<() => void>();
  let abortController = new AbortController();
  const worker = createWorker({ clock, step: poll, onError, pauseMs: PAUSE_AFTER_ERROR_MS });

  function wake(seqs: Iterable<number>): void {
    for (const seq of seqs) {
      const queue = queues.get(seq);
      if (queue !== undefined) queue.pollAt = 0;
      else queues.set(seq, { seq, pollAt: 0, leased: new Set() });
    }
    worker.wake();
  }

  /** Starts due calls. Returns the delay until the next one is due. */
  function poll(): "more" | number | null {
    const now = clock.now();
    const endsAt = systemClock.elapsed() + SLICE_MS;
    // startDue moves each queue to the end of the map, so the loop runs over a copy.
    for (const queue of Array.from(queues.values())) {
      const before = underWay.size;
      startDue(queue, now);
      if (underWay.size > before && systemClock.elapsed() > endsAt) return "more";
    }
    let next = Infinity;
    for (const { pollAt } of queues.values()) if (pollAt > now) next = Math.min(next, pollAt);
    return next === Infinity ? null : next - now;
  }

  function startDue(queue: CallQueue, now: number): void {
    if (queue.pollAt > now) return;
    const receiver = options.findReceiver(queue.seq);
    if (receiver === null)
      queue.pollAt = Infinity; // wake is called when its calls may be made.
    else {
      const freeOfQueue = options.maxConcurrent(queue.seq) - queue.leased.size;
      const free = Math.min(freeOfQueue, slots.available(receiver.projectSeq));
      if (free <= 0) return;
      for (const call of findStartable(queue, free, now)) start(queue, receiver, call);
    }
    // Round robin: the next poll begins with another queue.
    queues.delete(queue.seq);
    if (queue.pollAt < Infinity || queue.leased.size > 0) queues.set(queue.seq, queue);
  }

  function findStartable(queue: CallQueue, free: number, now: number): Call[] {
    const limit = free + queue.leased.size;
    const due = options.findDue(queue.seq, now, limit);
    if (due.length < limit) queue.pollAt = options.nextDueAt(queue.seq, now) ?? Infinity;
    return due.filter(({ seq }) => !queue.leased.has(seq)).slice(0, free);
  }

  function start(queue: CallQueue, receiver: Receiver, call: Call): void {
    slots.acquire(receiver.projectSeq);
    queue.leased.add(call.seq);
    const work = makeAndRelease(queue, receiver, call).finally(() => underWay.delete(work));
    underWay.add(work);
  }

  async function makeAndRelease(queue: CallQueue, receiver: Receiver, call: Call): Promise<void> {
    const { signal } = abortController;
    const stop = { signal, isStopping: () => !worker.isRunning() };
    const isStored = await options.make(call, receiver, stop).catch((error: unknown) => {
      onError(error);
      return false;
    });
    slots.release(receiver.projectSeq);
    if (isStored) endLease(queue, call.seq);
    else {
      endLeaseAfter(UNSTORED_LEASE_MS, queue, call.seq);
      wake([queue.seq]);
    }
  }

  function endLease(queue: CallQueue, callSeq: number): void {
    queue.leased.delete(callSeq);
    wake([queue.seq]);
  }

  function endLeaseAfter(delayMs: number, queue: CallQueue, callSeq: number): void {
    const cancel = clock.after(delayMs, () => {
      cancelTimers.delete(cancel);
      endLease(queue, callSeq);
    });
    cancelTimers.add(cancel);
  }

  /** Leases the calls that an earlier process may have made, until it is time to repeat them. */
  function leaseForRepetition(): void {
    for (const queue of queues.values()) {
      const limit = options.maxConcurrent(queue.seq);
      for (const { seq } of options.findDue(queue.seq, clock.now(), limit)) {
        queue.leased.add(seq);
        endLeaseAfter(options.repeatAfterMs, queue, seq);
      }
    }
  }

  return {
    /** Polls these queues soon. Called when they may have due calls. */
    wake,

    /** Polls all queues, for example after the clock was set. */
    wakeAll: (): void => wake(options.findQueues()),

    start(): void {
      abortController = new AbortController();
      worker.start();
      wake(options.findQueues());
      if (options.repeatAfterMs > 0) leaseForRepetition();
    },

    isBusy: (): boolean => worker.isBusy() || underWay.size > 0,

    /** Resolves when the calls that are under way now have ended. */
    async idle(): Promise<void> {
      await worker.idle();
      await Promise.all(underWay);
    },

    /** Waits up to `graceMs` for calls under way, then aborts them; those are still due. */
    async stop(graceMs: number): Promise<void> {
      await worker.stop();
      if (!(await endsWithin(clock, graceMs, Promise.all(underWay)))) {
        abortController.abort();
        await Promise.all(underWay);
      }
      for (const cancel of cancelTimers) cancel();
      cancelTimers.clear();
      queues.clear();
    },
  };
}
