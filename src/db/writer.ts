/**
 * The one door for writes. Changes asked for in the same moment share one immediate transaction
 * (group commit): each runs in its own savepoint, so a refused one takes nothing with it, and all
 * are answered only after the commit reached the disk, which is waited for beside the event loop.
 */

import { systemClock } from "../lib/clock.ts";
import { describeError, type Log } from "../lib/log.ts";
import { createDiskSync, type DiskSync } from "./durability/disk-sync.ts";
import { StorageFaultError } from "./fault.ts";
import type { Db } from "./open.ts";
import { isStorageError, storageRefused } from "./refusal.ts";
import { createTallies } from "./tallies.ts";

/** An async change would commit at its first `await`; this makes it a type error. */
export type Sync<T> = T extends PromiseLike<unknown> ? never : T;

/** A set of writes that belong together; runs inside a transaction, never alone. */
export type Change<T> = () => T;

export type Writer = {
  /**
   * Runs `change` in a transaction and resolves once it is on disk. Rejects with what the change
   * threw, or with 503 SERVICE_UNAVAILABLE where the storage refused; then nothing was changed.
   * StorageFaultError is a refusal for good: the files are not what they were, and whether the
   * change is in them is unknown.
   */
  write<T>(change: Change<Sync<T>>): Promise<T>;
  /**
   * The same for whoever has something to do meanwhile: resolves as soon as `change` is committed. A
   * power cut may still undo it, until `onDisk` resolves. `onDisk` rejects with StorageFaultError.
   */
  commit<T>(change: Change<Sync<T>>): Promise<{ value: T; onDisk: Promise<void> }>;
  /** For use inside a change: runs `effect` after the commit, and not at all without one. */
  afterCommit(effect: () => void): void;
  /**
   * A sum that many changes of the same moment add to. What they add is put together, and `apply`
   * writes it once for each key, as the last thing in their transaction. The function returned is for
   * use inside a change; what a refused change added does not count.
   */
  tally<K>(apply: (key: K, sum: number) => void): (key: K, amount: number) => void;
  /** How many changes were asked for so far: whoever has much to do sees whether it is alone. */
  asked(): number;
  /** True unless the storage refused the last write, or has a fault. */
  isHealthy(): boolean;
  /** True once the storage has a fault that only an operator can repair: nothing is written again. */
  hasFault(): boolean;
  /** Whether the files of the database are still where they were; if they are not, that is a fault. */
  verifyFiles(): boolean;
  /** Resolves when nothing is waiting to be written; the database may be closed then. */
  drain(): Promise<void>;
};

/** Beyond this, the rest of the batch waits for the next turn of the event loop. */
const BATCH_BUDGET_MS = 10;
/**
 * As long as the disk is busy, changes gather up to so many: they could not be answered any sooner,
 * and one commit of many writes each page that they share once.
 */
const ENOUGH = 32;

type Job = {
  run: () => void;
  /** Called after the commit. */
  noteCommitted: (() => void) | null;
  /** Called once the disk has it. */
  settle: () => void;
  reject: (error: unknown) => void;
  effects: (() => void)[];
  /** To the sums of its transaction. */
  additions: (() => void)[];
};

export function createWriter(
  db: Db,
  log: Log,
  disk: DiskSync | null = createDiskSync(db),
  /** Told when a batch of changes begins, so that a hold of the event loop is explained. */
  beginWork: () => void = () => {},
): Writer {
  const { sqlite, fault } = db;
  const begin = sqlite.prepare("BEGIN IMMEDIATE");
  const commit = sqlite.prepare("COMMIT");
  const rollback = sqlite.prepare("ROLLBACK");
  const savepoint = sqlite.prepare("SAVEPOINT change");
  const release = sqlite.prepare("RELEASE change");
  const rollbackTo = sqlite.prepare("ROLLBACK TO change");

  let waiting: Job[] = [];
  let asked = 0;
  /** Committed, but perhaps not on disk yet. */
  let committed: Job[] = [];
  let isSyncing = false;
  let current: Job | null = null;
  let isScheduled = false;
  /** Somebody waits for the commit, not for the disk. */
  let isPressing = false;
  let healthy = true;
  let idle: (() => void)[] = [];
  const tallies = createTallies();

  function schedule(): void {
    if (isScheduled) return;
    isScheduled = true;
    // After the I/O of this turn: whatever arrived together commits together.
    setImmediate(flush);
  }

  function flush(): void {
    isScheduled = false;
    if (isSyncing && !isPressing && waiting.length < ENOUGH) return;
    commitWaiting();
    void answerCommitted();
  }

  function commitWaiting(): void {
    const pause = disk?.pause() ?? null;
    if (pause !== null) return void pause.then(schedule);
    isPressing = false;
    const jobs = waiting;
    waiting = [];
    for (const job of commitTogether(jobs)) {
      job.noteCommitted?.();
      committed.push(job);
    }
    // What did not fit into this batch goes before what has come since.
    waiting = [...jobs, ...waiting];
    if (waiting.length > 0) schedule();
  }

  /** What is committed while the disk is busy shares the next sync. */
  async function answerCommitted(): Promise<void> {
    if (isSyncing) return;
    isSyncing = true;
    while (committed.length > 0) {
      const jobs = committed;
      committed = [];
      const lost = disk === null ? null : await disk.sync().then(() => null, faultOf);
      for (const job of jobs)
        if (lost === null) answer(job);
        else job.reject(lost);
      if (committed.length > 0 && waiting.length > 0) commitWaiting();
    }
    isSyncing = false;
    if (waiting.length === 0) settleIdle();
    else schedule();
  }

  /** Takes from the front of `jobs` what fits into one batch; returns those to be answered. */
  function commitTogether(jobs: Job[]): Job[] {
    const done: Job[] = [];
    beginWork();
    try {
      fault.check();
      begin.run();
      const startedAt = systemClock.elapsed();
      while (jobs.length > 0 && systemClock.elapsed() - startedAt < BATCH_BUDGET_MS) {
        const job = jobs.shift();
        if (job !== undefined && runInSavepoint(job)) done.push(job);
      }
      tallies.write(done.flatMap(({ additions }) => additions));
      fault.check(); // A change may have caught the error of its statement.
      commit.run();
      recover();
      return done;
    } catch (error) {
      abandon([...done, ...jobs.splice(0)], error);
      return [];
    }
  }

  /** False if the change was refused; throws if the storage failed and took the transaction with it. */
  function runInSavepoint(job: Job): boolean {
    current = job;
    try {
      savepoint.run();
      job.run();
      release.run();
      return true;
    } catch (error) {
      if (isStorageError(error) || !sqlite.inTransaction) {
        job.reject(storageRefused(error));
        throw error;
      }
      rollbackTo.run();
      release.run();
      job.reject(error);
      return false;
    } finally {
      current = null;
    }
  }

  /** The transaction is lost, and with it every change that had not been answered yet. */
  function abandon(lost: readonly Job[], error: unknown): void {
    rollBack();
    // Whoever made the latch tells of a fault, once.
    const isTold = fault.current() !== null;
    if (healthy && !isTold) log.error("storage refuses writes", { error: describeError(error) });
    healthy = false;
    for (const job of lost) job.reject(storageRefused(error));
  }

  /** A damaged database may refuse even that; then its fault is known, and nothing is written again. */
  function rollBack(): void {
    if (!sqlite.inTransaction) return;
    try {
      rollback.run();
    } catch (error) {
      if (fault.current() === null) throw error;
      log.warn("a transaction could not be rolled back", { error: describeError(error) });
    }
  }

  /** What this process believes to be stored may be lost: only a new start can tell what is there. */
  function faultOf(error: unknown): StorageFaultError {
    if (error instanceof StorageFaultError) return error;
    log.error("the disk failed to keep what was written", { error: describeError(error) });
    process.exit(1);
  }

  function recover(): void {
    if (!healthy) log.info("storage accepts writes again");
    healthy = true;
  }

  function answer(job: Job): void {
    job.settle();
    for (const effect of job.effects) runEffect(effect);
  }

  /** What was committed stays so, whatever an effect does. */
  function runEffect(effect: () => void): void {
    try {
      effect();
    } catch (error) {
      log.error("something after a commit failed", { error: describeError(error) });
    }
  }

  const hasFault = () => fault.current() !== null;

  function settleIdle(): void {
    const resolvers = idle;
    idle = [];
    for (const resolve of resolvers) resolve();
  }

  function ask(job: Omit<Job, "effects" | "additions">): void {
    const error = fault.error();
    if (error !== null) return job.reject(error);
    waiting.push({ ...job, effects: [], additions: [] });
    isPressing ||= job.noteCommitted !== null;
    asked++;
    schedule();
  }

  return {
    write<T>(change: Change<Sync<T>>) {
      return new Promise<T>((resolve, reject) => {
        let result: T;
        ask({
          run: () => void (result = change()),
          noteCommitted: null,
          settle: () => resolve(result),
          reject,
        });
      });
    },
    commit<T>(change: Change<Sync<T>>) {
      return new Promise<{ value: T; onDisk: Promise<void> }>((resolve, reject) => {
        const { promise: onDisk, resolve: settle, reject: lose } = Promise.withResolvers<void>();
        // Before the commit the caller hears of a failure by the other promise alone.
        onDisk.catch(() => {});
        let value: T;
        ask({
          run: () => void (value = change()),
          noteCommitted: () => resolve({ value, onDisk }),
          settle,
          reject: (error) => {
            reject(error);
            lose(error);
          },
        });
      });
    },
    afterCommit(effect) {
      if (current === null) throw new Error("afterCommit outside a change");
      current.effects.push(effect);
    },
    tally<K>(apply: (key: K, sum: number) => void) {
      const addition = tallies.create(apply);
      return (key: K, amount: number) => {
        if (current === null) throw new Error("tally outside a change");
        current.additions.push(addition(key, amount));
      };
    },
    asked: () => asked,
    isHealthy: () => healthy && !hasFault(),
    hasFault,
    verifyFiles: () => disk?.verify() ?? true,
    async drain() {
      const isBusy = waiting.length > 0 || isSyncing;
      if (isBusy) await new Promise<void>((resolve) => idle.push(resolve));
      await disk?.release();
    },
  };
}
