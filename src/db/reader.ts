/**
 * Runs SELECTs that may read many rows in threads with connections of their own, so that the event
 * loop goes on meanwhile. A read sees all changes that were answered before it was asked for.
 *
 * - Threads start when they are needed, and then stay. A read waits until one is free. Projects take
 *   turns, and one project never has all threads.
 * - A read ends after its time limit (`in_time` in queries.ts). A statement without `in_time` cannot be
 *   ended. Its read is refused a moment later, and another thread takes the place of the one that it
 *   occupies.
 * - `hold` waits for a moment at which nothing is read, because SQLite restarts its write-ahead log only
 *   then (durability/checkpoint.ts).
 *
 * A database in memory has only one connection, which then reads as well.
 */

import { Worker } from "node:worker_threads";
import { systemClock } from "../lib/clock.ts";
import { AppError } from "../lib/errors.ts";
import { threadFile } from "../lib/thread-file.ts";
import { damageByCode } from "./fault.ts";
import type { Db } from "./open.ts";
import { createQueryRunner, type FoundRows, type ReadQuery, TIME_IS_OVER } from "./queries.ts";
import { isStorageCode } from "./refusal.ts";
import type { ReadAnswer, ReadTask, TaskFault } from "./reader-thread.ts";

export type DatabaseReader = {
  /** `owner`: `seq` of the project. */
  find(owner: number, query: ReadQuery, limitMs?: number): Promise<FoundRows>;
  /** Whether something is being read, also in a thread that was given up. */
  isReading(): boolean;
  /** Begins no read until `release`. Resolves to false if one did not end in time. */
  hold(): Promise<boolean>;
  release(): void;
  /** Refuses the reads that wait, and closes the connections. A later read opens new ones. */
  close(): Promise<void>;
};

const THREADS = 3;
const MAX_OF_PROJECT = THREADS - 1;
const LIMIT_MS = 10_000;
/** Then a statement has not called `in_time`. */
const GRACE_MS = 1_000;
/** Most reads of one project that wait. */
const MAX_WAITING = 100;
/** Most threads that were given up and still run. */
const MAX_LOST = 2;

const FILE = threadFile(import.meta.url, {
  beside: "./reader-thread.ts",
  inExecutable: "./db/reader-thread.js",
});

type Job = {
  owner: number;
  query: ReadQuery;
  limitMs: number;
  resolve: (found: FoundRows) => void;
  reject: (error: unknown) => void;
};

type Thread = { worker: Worker; job: Job | null; taskId: number; cancelLimit: () => void };

/** `verify`: false if the path of the database leads to another file than the open one. */
export function createDatabaseReader(db: Db, verify: () => boolean = () => true): DatabaseReader {
  const { filename } = db.sqlite;
  if (filename === "" || filename === ":memory:") return createDirectReader(db);
  const { fault } = db;
  /** Reads that wait, by project, in the order in which projects get a thread. */
  const waiting = new Map<number, Job[]>();
  const threads = new Set<Thread>();
  const lost = new Set<Worker>();
  let lastId = 0;
  let isHeld = false;
  let whenQuiet: (() => void) | null = null;

  const isReading = () => lost.size > 0 || [...threads].some(({ job }) => job !== null);

  function start(): Thread {
    if (!verify()) fault.check();
    const worker = new Worker(FILE, { workerData: { file: filename } });
    const thread: Thread = { worker, job: null, taskId: 0, cancelLimit() {} };
    worker.on("message", (answer: ReadAnswer) => finish(thread, answer));
    worker.on("error", (error: unknown) => giveUp(thread, unavailable(String(error))));
    worker.on("exit", () => {
      lost.delete(worker);
      giveUp(thread, unavailable());
    });
    worker.unref();
    threads.add(thread);
    return thread;
  }

  function takeJob(): Job | null {
    const running = [...threads].map(({ job }) => job?.owner);
    for (const [owner, [job, ...others]] of waiting) {
      if (running.filter((other) => other === owner).length >= MAX_OF_PROJECT) continue;
      waiting.delete(owner);
      if (others.length > 0) waiting.set(owner, others);
      return job ?? null;
    }
    return null;
  }

  function runNext(): void {
    if (isHeld || waiting.size === 0) return;
    const idle = [...threads].find(({ job }) => job === null);
    if (idle === undefined && threads.size >= THREADS) return;
    const job = takeJob();
    if (job === null) return;
    try {
      if (lost.size >= MAX_LOST) throw unavailable();
      run(idle ?? start(), job);
    } catch (error) {
      job.reject(error);
    }
    runNext();
  }

  function run(thread: Thread, job: Job): void {
    const { query, limitMs } = job;
    thread.job = job;
    thread.taskId = ++lastId;
    thread.cancelLimit = systemClock.after(limitMs + GRACE_MS, () => giveUp(thread, tooSlow()));
    const task: ReadTask = { id: lastId, query, limitMs };
    thread.worker.postMessage(task);
  }

  function finish(thread: Thread, { id, found, fault }: ReadAnswer): void {
    const { job, taskId } = thread;
    if (job === null || id !== taskId) return;
    free(thread);
    if (found !== undefined) job.resolve(found);
    else job.reject(fault === undefined ? unavailable() : errorOf(fault));
    runNext();
  }

  function free(thread: Thread): void {
    thread.job = null;
    thread.cancelLimit();
    if (!isReading()) whenQuiet?.();
  }

  /** Ends a thread. One that runs a statement ends after it. */
  function giveUp(thread: Thread, error: unknown): void {
    if (!threads.delete(thread)) return void (isReading() || whenQuiet?.());
    const { job, worker } = thread;
    if (job !== null) lost.add(worker);
    void worker.terminate();
    free(thread);
    job?.reject(error);
    runNext();
  }

  function errorOf({ isLate, code, message }: TaskFault): unknown {
    if (isLate) return tooSlow();
    const damage = damageByCode(code, message, filename);
    if (damage !== null) return fault.raise(damage);
    return isStorageCode(code) ? unavailable(`${code}: ${message}`) : new Error(message);
  }

  return {
    find: (owner, query, limitMs = LIMIT_MS) =>
      new Promise((resolve, reject) => {
        requireLimit(query);
        const others = waiting.get(owner) ?? [];
        if (others.length >= MAX_WAITING) return reject(unavailable());
        waiting.set(owner, [...others, { owner, query, limitMs, resolve, reject }]);
        runNext();
      }),
    isReading,
    async hold() {
      isHeld = true;
      if (!isReading()) return true;
      const { promise, resolve } = Promise.withResolvers<boolean>();
      whenQuiet = () => resolve(true);
      const cancel = systemClock.after(LIMIT_MS + GRACE_MS, () => resolve(false));
      await promise.finally(() => (whenQuiet = null));
      cancel();
      return promise;
    },
    release() {
      isHeld = false;
      runNext();
    },
    async close() {
      for (const job of [...waiting.values()].flat()) job.reject(unavailable());
      waiting.clear();
      const ending = [...threads].map(
        ({ worker }) => new Promise((resolve) => worker.once("exit", resolve)),
      );
      for (const { worker } of threads) worker.postMessage(null);
      await Promise.all(ending);
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
    async close() {},
  };
}

function requireLimit({ sql }: ReadQuery): void {
  if (sql.includes("in_time(")) return;
  throw new Error("a statement that runs in a reader must call in_time()");
}

function tooSlow(): AppError {
  return new AppError(503, "SERVICE_UNAVAILABLE", "The search took too long.", {
    suggestion: "Narrow the filters, or try again later.",
    headers: { "Retry-After": "5" },
  });
}

function unavailable(cause?: string): AppError {
  return new AppError(503, "SERVICE_UNAVAILABLE", "The service cannot read this right now.", {
    suggestion: "Try again in a few seconds.",
    headers: { "Retry-After": "5" },
    cause,
  });
}
