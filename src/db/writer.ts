/**
 * The writer: all changes of the database go through it. Changes that are requested at the same
 * time share one immediate transaction (group commit).
 *
 * 1. `write` and `commit` add a change to the queue (`waiting-changes.ts`). The queue is processed
 *    after the I/O callbacks of the current iteration of the event loop, or later if all its changes
 *    may wait for others.
 * 2. Each change runs in its own savepoint, so a change that fails undoes only its own writes
 *    (`transactions.ts`).
 * 3. The tallies are written and the transaction is committed.
 * 4. A thread syncs the log to disk (`durability/`). Changes that are committed meanwhile share the
 *    next sync.
 * 5. The changes are answered, and their effects (`afterCommit`) run.
 */

import { describeError, type Log } from "../lib/log.ts";
import type { LogHold } from "./durability/contention.ts";
import { createDiskSync, type DiskSync } from "./durability/disk-sync.ts";
import { StorageFaultError } from "./fault.ts";
import type { Db } from "./open.ts";
import type { Tally } from "./tallies.ts";
import { createTransactions, type Job } from "./transactions.ts";
import { createWaitingChanges, type WriteOptions } from "./waiting-changes.ts";

/** Makes an async change a type error, because it would be committed at its first `await`. */
export type Sync<T> = T extends PromiseLike<unknown> ? never : T;

/**
 * A function that writes inside the writer's transaction. Its writes are stored together or not at
 * all.
 */
export type Change<T> = () => T;

export type Writer = {
  /**
   * Runs `change` in a transaction and resolves when it is on disk. Rejects with the error that the
   * change threw, or with 503 SERVICE_UNAVAILABLE if the storage refused the transaction; then
   * nothing was changed. After a StorageFaultError the writer refuses all changes, and it is
   * unknown whether this change was stored.
   */
  write<T>(change: Change<Sync<T>>, options?: WriteOptions): Promise<T>;
  /**
   * Like `write`, but resolves as soon as `change` is committed. A power cut may still undo the
   * change until `onDisk` resolves. `onDisk` rejects with StorageFaultError. Inside a change, it joins
   * the same transaction, after the changes that are in it already.
   */
  commit<T>(change: Change<Sync<T>>): Promise<{ value: T; onDisk: Promise<void> }>;
  /** Commits the deferred changes soon. */
  hasten(): void;
  /**
   * For use inside a change, or when a tally is written: runs `effect` after the commit is on disk;
   * never if the change fails.
   */
  afterCommit(effect: () => void): void;
  /**
   * Creates a sum for each key, which the changes of one transaction add to. `apply` writes each
   * sum once, at the end of the transaction.
   */
  tally<K>(apply: (key: K, sum: number) => void): Tally<K>;
  /**
   * Number of changes requested since the start. Long work compares two values to find out whether
   * other work writes at the same time.
   */
  requestedWrites(): number;
  /** False if the storage refused the last write or has a fault. */
  isHealthy(): boolean;
  /** True after a fault that only an operator can repair. Nothing is written from then on. */
  hasFault(): boolean;
  /** Checks that the paths still lead to the database files, and raises a fault if they do not. */
  verifyFiles(): boolean;
  /** The hold of another process on the write-ahead log, see durability/contention.ts. */
  findLogHold(): LogHold | null;
  /**
   * Copies the write-ahead log into the database and empties the file. Resolves to false if something
   * else uses the log; then it may work later.
   */
  emptyLog(): Promise<boolean>;
  /** Resolves when no change is waiting. The database may be closed then. */
  drain(): Promise<void>;
};

/**
 * While a sync is under way, changes gather up to this number. They could not be answered sooner,
 * and one commit writes each page that they share only once.
 */
const MAX_GATHERED = 32;
/** Time between two attempts to get the write lock that another process has. */
const LOCK_RETRY_MS = 5;

/** A job before it enters the queue. */
type RequestedJob = Omit<Job, "effects" | "gatherUntil">;

export function createWriter(
  db: Db,
  log: Log,
  disk: DiskSync | null = createDiskSync(db),
  /** Called when a batch of changes begins, so that the watchdog can name it (lib/loop-watch.ts). */
  beginWork: () => void = () => {},
): Writer {
  const transactions = createTransactions({ db, log, beginWork });
  const waiting = createWaitingChanges(() => hasten());
  let requested = 0;
  /** Committed changes that may not be on disk yet. */
  let committed: Job[] = [];
  /** The changes of the transaction that runs, the next one first; null outside of it. */
  let running: Job[] | null = null;
  let isSyncing = false;
  let isScheduled = false;
  /** True while nothing can be committed: the log is restarted, or another process has the lock. */
  let isBlocked = false;
  /** A caller waits for the commit and not for the disk, so the commit cannot wait for the sync. */
  let isCommitAwaited = false;
  const idle: (() => void)[] = [];

  function schedule(): void {
    if (isScheduled || isBlocked) return;
    isScheduled = true;
    // This runs after the I/O callbacks, so requests that arrived together are committed together.
    setImmediate(flush);
  }

  function flush(): void {
    isScheduled = false;
    if (isSyncing && !isCommitAwaited && waiting.count() < MAX_GATHERED) return;
    if (waiting.isDelayWorthwhile()) return schedule();
    commitWaiting();
    void answerCommitted();
  }

  function commitWaiting(): void {
    if (isBlocked) return;
    const pause = disk?.pause() ?? null;
    if (pause !== null) return resumeAfter(pause);
    const jobs = waiting.take();
    running = jobs;
    const done = transactions.commitTogether(jobs);
    running = null;
    if (done !== null) isCommitAwaited = false;
    for (const job of done ?? []) {
      job.onCommitted?.();
      committed.push(job);
    }
    waiting.putBack(jobs);
    if (done === null) {
      disk?.yieldLog();
      resumeAfter(Bun.sleep(LOCK_RETRY_MS));
    } else if (waiting.isCommitNeeded()) schedule();
  }

  function resumeAfter(obstacle: Promise<void>): void {
    isBlocked = true;
    void obstacle.finally(() => {
      isBlocked = false;
      schedule();
    });
  }

  /** Syncs and answers committed changes. Changes committed during a sync share the next one. */
  async function answerCommitted(): Promise<void> {
    if (isSyncing) return;
    isSyncing = true;
    while (committed.length > 0) {
      const jobs = committed;
      committed = [];
      const failure = disk === null ? null : await syncOrFault(disk, log);
      for (const job of jobs)
        if (failure === null) answer(job, log);
        else job.reject(failure);
      if (committed.length > 0 && waiting.isCommitNeeded()) commitWaiting();
    }
    isSyncing = false;
    if (waiting.count() === 0) settleIdle();
    else if (waiting.isCommitNeeded()) schedule();
  }

  const hasFault = () => db.fault.current() !== null;
  const hasten = () => (waiting.endDeferral() ? schedule() : undefined);

  function settleIdle(): void {
    for (const resolve of idle.splice(0)) resolve();
  }

  function enqueue(job: RequestedJob, options: WriteOptions = {}): void {
    const error = db.fault.error();
    if (error !== null) return job.reject(error);
    requested++;
    if (running !== null && job.onCommitted !== null) {
      running.push({ ...job, effects: [], gatherUntil: 0 });
      return;
    }
    waiting.add({ ...job, effects: [] }, options);
    isCommitAwaited ||= job.onCommitted !== null;
    if (waiting.isCommitNeeded()) schedule();
  }

  return {
    write: (change, options) =>
      new Promise((resolve, reject) => enqueue(durableJob(change, { resolve, reject }), options)),
    commit: (change) =>
      new Promise((resolve, reject) => enqueue(committedJob(change, { resolve, reject }))),
    hasten,
    afterCommit: transactions.afterCommit,
    tally: transactions.tally,
    requestedWrites: () => requested,
    isHealthy: () => transactions.isHealthy() && !hasFault(),
    hasFault,
    verifyFiles: () => disk?.verify() ?? true,
    findLogHold: () => (hasFault() ? null : (disk?.findHold() ?? null)),
    emptyLog: () =>
      hasFault() ? Promise.resolve(false) : (disk?.emptyLog() ?? Promise.resolve(true)),
    async drain() {
      hasten();
      if (waiting.count() > 0 || isSyncing)
        await new Promise<void>((resolve) => idle.push(resolve));
      await disk?.release();
    },
  };
}

type Answer<T> = { resolve: (value: T) => void; reject: (error: unknown) => void };

/** The job of `write`: it is answered when its commit is on disk. */
function durableJob<T>(change: Change<T>, { resolve, reject }: Answer<T>): RequestedJob {
  let result: T;
  return {
    run: () => void (result = change()),
    onCommitted: null,
    onDurable: () => resolve(result),
    reject,
  };
}

/** The job of `commit`: it is answered when it is committed, with a promise for the disk. */
function committedJob<T>(
  change: Change<T>,
  { resolve, reject }: Answer<{ value: T; onDisk: Promise<void> }>,
): RequestedJob {
  const disk = Promise.withResolvers<void>();
  // If the change fails, the caller never gets `onDisk`, so its rejection is handled here.
  disk.promise.catch(() => {});
  let value: T;
  return {
    run: () => void (value = change()),
    onCommitted: () => resolve({ value, onDisk: disk.promise }),
    onDurable: disk.resolve,
    reject: (error) => {
      reject(error);
      disk.reject(error);
    },
  };
}

/** Returns null when the committed changes are on disk, or the fault that prevents it. */
function syncOrFault(disk: DiskSync, log: Log): Promise<StorageFaultError | null> {
  return disk.sync().then(
    () => null,
    (error: unknown) => faultOf(error, log),
  );
}

/** Ends the process after a disk error: only a restart can find out which changes were stored. */
function faultOf(error: unknown, log: Log): StorageFaultError {
  if (error instanceof StorageFaultError) return error;
  log.error("a sync to disk failed", { error: describeError(error) });
  process.exit(1);
}

function answer(job: Job, log: Log): void {
  job.onDurable();
  for (const effect of job.effects) runEffect(effect, log);
}

/** Logs the error of an effect. The change stays committed. */
function runEffect(effect: () => void, log: Log): void {
  try {
    effect();
  } catch (error) {
    log.error("an effect after a commit failed", { error: describeError(error) });
  }
}
