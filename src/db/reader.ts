/**
 * Runs SELECTs that may read many rows in threads with connections of their own, so that the event
 * loop goes on meanwhile. A read sees all changes that were answered before it was asked for.
 *
 * - Threads start when they are needed, and end after a minute without a read. A read waits until one is
 *   free. Projects take turns, and one project never has all threads.
 * - A read ends after its time limit, which includes the time in which it waits (`in_time` in
 *   queries.ts). A statement without `in_time` cannot be ended. Its read is refused a moment later, and
 *   another thread takes the place of the one that it occupies.
 * - `hold` waits for a moment at which nothing is read, because SQLite restarts its write-ahead log only
 *   then (durability/checkpoint.ts).
 * - After a storage fault no thread starts. The connection of the server reads then, which has the right
 *   file open.
 *
 * A database in memory has only one connection, which then reads as well.
 */

import { Worker } from "node:worker_threads";
import { type Clock, systemClock } from "../lib/clock.ts";
import { hasFreeDescriptors } from "../lib/descriptors.ts";
import { AppError } from "../lib/errors.ts";
import { takeRoundRobin } from "../lib/job-round-robin.ts";
import { threadFile } from "../lib/thread-file.ts";
import { damageByCode } from "./fault.ts";
import type { Db } from "./open.ts";
import { createQueryRunner, type FoundRows, type ReadQuery, TIME_IS_OVER } from "./queries.ts";
import { isStorageCode } from "./refusal.ts";
import type { ReadAnswer, ReadTask, TaskFault } from "./reader-thread.ts";

export type DatabaseReader = {
  /** `owner`: `seq` of the project, or `NO_OWNER`. */
  find(owner: number, query: ReadQuery, limitMs?: number): Promise<FoundRows>;
  /** Whether something is being read, also in a thread that was given up. */
  isReading(): boolean;
  /**
   * Begins no read until `release`, and resolves to true when none is under way. Resolves to false if
   * one has not ended in time: then nothing is held.
   */
  hold(limitMs: number): Promise<boolean>;
  release(): void;
  /** Ends the reads that are under way and refuses all others, because the server stops. */
  endReads(): void;
  /** Closes the connections, after `endReads`. */
  close(): Promise<void>;
};

/** For what the service itself reads. */
export const NO_OWNER = 0;

const THREADS = 3;
const MAX_OF_PROJECT = THREADS - 1;
const LIMIT_MS = 10_000;
/** A read for which a part is enough runs for this long even if it has waited for its whole time. */
const MIN_PART_MS = 50;
const GRACE_MS = 1_000;
/** A thread without a read ends after this time, because it takes 5 MiB. */
const IDLE_MS = 60_000;
/** Most reads of one project that wait. */
const MAX_WAITING = 400;
/** Most threads that were given up and still run. */
const MAX_LOST = 2;
/** The pause after a hold for which a read did not end in time. */
const HOLD_PAUSE_MS = 1_000;
/** The runtime ends the whole process if a thread that starts finds no descriptor. */
const DESCRIPTORS_OF_START = 32;
/** The longest read on the event loop after a storage fault. */
const AFTER_FAULT_MS = 250;

const FILE = threadFile(import.meta.url, {
  beside: "./reader-thread.ts",
  inExecutable: "./db/reader-thread.js",
});

type Job = {
  owner: number;
  query: ReadQuery;
  endsAt: number;
  resolve: (found: FoundRows) => void;
  reject: (error: unknown) => void;
};

type Thread = {
  worker: Worker;
  job: Job | null;
  taskId: number;
  /** Whether the path of the database led to the open file after the thread had opened it. */
  isVerified: boolean;
  /** Cancels the timer of the limit, or of the end of an idle thread. */
  cancelTimer: () => void;
};

type ReaderOptions = {
  /** False if the path of the database leads to another file than the open one. */
  verify?: () => boolean;
  /** The time after the limit of a read. Then its statement has not called `in_time`. */
  graceMs?: number;
  clock?: Pick<Clock, "elapsed" | "after">;
};

export function createDatabaseReader(
  db: Db,
  { verify = () => true, graceMs = GRACE_MS, clock = systemClock }: ReaderOptions = {},
): DatabaseReader {
  const { filename } = db.sqlite;
  if (filename === "" || filename === ":memory:") return createDirectReader(db);
  const { fault } = db;
  const { elapsed } = clock;
  /** Reads that wait, by project, in the order in which projects get a thread. */
  const waiting = new Map<number, Job[]>();
  const threads = new Set<Thread>();
  const lost = new Set<Worker>();
  /** The threads look at it: 1 ends each read. */
  const stop = new Int32Array(new SharedArrayBuffer(4));
  let direct: DatabaseReader | null = null;
  let lastId = 0;
  let isHeld = false;
  let isEnding = false;
  let nextHoldAt = 0;
  let whenQuiet: (() => void) | null = null;

  const isReading = () => lost.size > 0 || [...threads].some(({ job }) => job !== null);

  function start(): Thread {
    if (!hasFreeDescriptors(DESCRIPTORS_OF_START)) throw unavailable(NO_DESCRIPTORS);
    const worker = new Worker(FILE, { workerData: { file: filename, stop } });
    const thread: Thread = { worker, job: null, taskId: 0, isVerified: false, cancelTimer() {} };
    worker.on("message", (answer: ReadAnswer) => finish(thread, answer));
    worker.on("error", (error: unknown) => giveUp(thread, unavailable(String(error))));
    worker.on("exit", () => {
      const isKnown = threads.has(thread);
      if (isKnown) giveUp(thread, unavailable("the thread ended"));
      lost.delete(worker);
      if (!isReading()) whenQuiet?.();
    });
    worker.unref();
    threads.add(thread);
    return thread;
  }

  const owners = () => [...threads].map(({ job }) => job?.owner);

  function runNext(): void {
    for (;;) {
      if (isHeld || waiting.size === 0) return;
      const idle = [...threads].find(({ job }) => job === null);
      if (idle === undefined && threads.size >= THREADS) return;
      const job = takeRoundRobin(waiting, owners(), MAX_OF_PROJECT);
      if (job === null) return;
      try {
        if (lost.size >= MAX_LOST) throw unavailable("two statements cannot be ended");
        run(job, idle);
      } catch (error) {
        job.reject(error);
      }
    }
  }

  function run(job: Job, idle: Thread | undefined): void {
    const leftMs = job.endsAt - elapsed();
    const limitMs = job.query.isPartial === true ? Math.max(leftMs, MIN_PART_MS) : leftMs;
    if (limitMs <= 0) throw tooSlow();
    const thread = idle ?? start();
    thread.cancelTimer();
    thread.job = job;
    thread.taskId = ++lastId;
    thread.cancelTimer = clock.after(limitMs + graceMs, () => giveUp(thread, tooSlow()));
    const task: ReadTask = { id: lastId, query: job.query, limitMs };
    thread.worker.postMessage(task);
  }

  function finish(thread: Thread, { id, found, fault: problem }: ReadAnswer): void {
    const { job, taskId } = thread;
    if (job === null || id !== taskId) return;
    thread.isVerified ||= verify();
    if (!thread.isVerified) return giveUp(thread, unavailable("the database file was replaced"));
    free(thread);
    thread.cancelTimer = clock.after(IDLE_MS, () => end(thread));
    // In the next iteration of the event loop: otherwise, answers that come one after another would let
    // no timer run and no request in.
    if (found !== undefined) setImmediate(() => job.resolve(found));
    else job.reject(problem === undefined ? unavailable("no answer") : errorOf(problem));
    runNext();
  }

  function free(thread: Thread): void {
    thread.job = null;
    thread.cancelTimer();
    if (!isReading()) whenQuiet?.();
  }

  /** Ends an idle thread, which closes its connection. */
  function end(thread: Thread): void {
    threads.delete(thread);
    thread.worker.postMessage(null);
  }

  /** Ends a thread. One that runs a statement ends after it. */
  function giveUp(thread: Thread, error: unknown): void {
    if (!threads.delete(thread)) return;
    const { job, worker } = thread;
    if (job !== null) lost.add(worker);
    void worker.terminate();
    free(thread);
    job?.reject(error);
    runNext();
  }

  function errorOf({ isLate, code, message }: TaskFault): unknown {
    if (isLate) return isEnding ? stopping() : tooSlow();
    const damage = damageByCode(code, message, filename);
    if (damage !== null) return fault.raise(damage);
    return isStorageCode(code) ? unavailable(`${code}: ${message}`) : new Error(message);
  }

  function enqueue(owner: number, job: Job): void {
    const others = waiting.get(owner) ?? [];
    if (others.length >= MAX_WAITING) throw unavailable("too many reads wait");
    waiting.set(owner, [...others, job]);
  }

  function release(): void {
    isHeld = false;
    runNext();
  }

  function endReads(): void {
    isEnding = true;
    Atomics.store(stop, 0, 1);
    for (const job of [...waiting.values()].flat()) job.reject(stopping());
    waiting.clear();
  }

  return {
    async find(owner, query, limitMs = LIMIT_MS) {
      requireLimit(query);
      if (isEnding) throw stopping();
      if (fault.current() !== null) {
        direct ??= createDirectReader(db);
        return direct.find(owner, query, AFTER_FAULT_MS);
      }
      return new Promise((resolve, reject) => {
        enqueue(owner, { owner, query, endsAt: elapsed() + limitMs, resolve, reject });
        runNext();
      });
    },
    isReading,
    async hold(limitMs) {
      if (lost.size > 0 || elapsed() < nextHoldAt) return false;
      isHeld = true;
      if (!isReading()) return true;
      const { promise, resolve } = Promise.withResolvers<boolean>();
      whenQuiet = () => resolve(true);
      const cancel = clock.after(limitMs, () => resolve(false));
      const isQuiet = await promise;
      whenQuiet = null;
      cancel();
      if (!isQuiet) {
        nextHoldAt = elapsed() + HOLD_PAUSE_MS;
        release();
      }
      return isQuiet;
    },
    release,
    endReads,
    async close() {
      endReads();
      const workers = [...lost, ...[...threads].map(({ worker }) => worker)];
      const ending = workers.map((worker) => new Promise((done) => worker.once("exit", done)));
      for (const thread of threads) {
        thread.cancelTimer();
        thread.worker.postMessage(null);
      }
      const { promise: isLate, resolve } = Promise.withResolvers<void>();
      const cancel = clock.after(graceMs, resolve);
      await Promise.race([Promise.all(ending), isLate]);
      cancel();
    },
  };
}

/** Reads with the connection of the database itself, as the writer does. */
export function createDirectReader(
  db: Pick<Db, "sqlite">,
  elapsed = systemClock.elapsed,
): DatabaseReader {
  const run = createQueryRunner(db.sqlite, elapsed);
  return {
    async find(_, query, limitMs = LIMIT_MS) {
      requireLimit(query);
      try {
        return run(query, limitMs);
      } catch (error) {
        throw error === TIME_IS_OVER ? tooSlow() : error;
      }
    },
    isReading: () => false,
    hold: async () => true,
    release() {},
    endReads() {},
    async close() {},
  };
}

function requireLimit({ sql, total }: ReadQuery): void {
  if (sql.includes("in_time(") && (total === undefined || total.sql.includes("in_time("))) return;
  throw new Error("a statement that runs in a reader must call in_time()");
}

function tooSlow(): AppError {
  return new AppError(503, "SERVICE_UNAVAILABLE", "The search took too long.", {
    suggestion: "Narrow the filters, or try again later.",
    headers: { "Retry-After": "5" },
  });
}

function unavailable(cause: string): AppError {
  return new AppError(503, "SERVICE_UNAVAILABLE", "The service cannot read this right now.", {
    suggestion: "Try again in a few seconds.",
    headers: { "Retry-After": "5" },
    cause,
  });
}

const NO_DESCRIPTORS = "too few free descriptors";
const STOPPING = "the server stops";
const stopping = (): AppError => unavailable(STOPPING);

/** Tells whether a read ended because the server stops. Its caller continues after the next start. */
export const isEndOfReads = (error: unknown): boolean =>
  error instanceof AppError && error.cause === STOPPING;

/**
 * Whether a read found too few free descriptors, of which the operator is warned once
 * (lib/descriptors.ts). Recurring work reads again when it is due next.
 */
export const lacksDescriptors = (error: unknown): boolean =>
  error instanceof AppError && error.cause === NO_DESCRIPTORS;
