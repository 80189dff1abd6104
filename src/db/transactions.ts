/**
 * Transactions of the writer: each takes as many of the waiting changes as fit into its time, runs
 * each of them in its own savepoint, writes the tallies and commits.
 */

import { systemClock } from "../lib/clock.ts";
import { describeError, type Log } from "../lib/log.ts";
import type { Db } from "./open.ts";
import { isStorageError, storageRefused } from "./refusal.ts";
import { createTallies, type Tally } from "./tallies.ts";
import { createWriteLock } from "./write-lock.ts";

/** Longest time for the changes of one transaction. The rest waits for the next iteration. */
const BATCH_BUDGET_MS = 10;

/** A requested change. */
export type Job = {
  run: () => void;
  /** Called after the commit; null if the caller waits only for the disk. */
  onCommitted: (() => void) | null;
  /** Called when the commit is on disk. */
  onDurable: () => void;
  reject: (error: unknown) => void;
  effects: (() => void)[];
  /** Until then, by the monotonic clock, the change may wait for others that share its commit. */
  gatherUntil: number;
};

export function createTransactions(deps: { db: Db; log: Log; beginWork: () => void }) {
  const { log, beginWork } = deps;
  const { sqlite, fault } = deps.db;
  const lock = createWriteLock(sqlite);
  const commit = sqlite.prepare("COMMIT");
  const rollback = sqlite.prepare("ROLLBACK");
  const savepoint = sqlite.prepare("SAVEPOINT change");
  const release = sqlite.prepare("RELEASE change");
  const rollbackTo = sqlite.prepare("ROLLBACK TO change");
  /** The job whose change runs. */
  let current: Job | null = null;
  let healthy = true;
  const tallies = createTallies(() => {
    if (current === null) throw new Error("a tally was used outside a change");
  });

  /**
   * Commits jobs from the front of `jobs`, as many as fit into a batch, and returns them. Returns
   * null and takes none if another process has the write lock; the caller tries again later.
   */
  function commitTogether(jobs: Job[]): Job[] | null {
    const done: Job[] = [];
    beginWork();
    try {
      fault.check();
      if (!lock.tryBegin()) return null;
      const startedAt = systemClock.elapsed();
      while (jobs.length > 0 && systemClock.elapsed() - startedAt < BATCH_BUDGET_MS) {
        const job = jobs.shift();
        if (job !== undefined && runInSavepoint(job)) done.push(job);
      }
      // The effects of a tally run with those of the last change.
      current = done.at(-1) ?? null;
      tallies.write();
      fault.check(); // A change may have ignored the error of its statement.
      commit.run();
      recover();
      return done;
    } catch (error) {
      rejectAll([...done, ...jobs.splice(0)], error);
      return [];
    } finally {
      current = null;
      tallies.clear();
    }
  }

  /**
   * Returns false if the change failed. Throws if the storage failed and the transaction is lost.
   */
  function runInSavepoint(job: Job): boolean {
    current = job;
    tallies.beginChange();
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
      tallies.undoChange();
      job.reject(error);
      return false;
    } finally {
      current = null;
    }
  }

  /** Rejects the changes of a transaction that the storage refused. */
  function rejectAll(lost: readonly Job[], error: unknown): void {
    rollBack();
    // A fault is logged by the listener of the latch.
    const isLogged = fault.current() !== null;
    if (healthy && !isLogged) log.error("storage refuses writes", { error: describeError(error) });
    healthy = false;
    for (const job of lost) job.reject(storageRefused(error));
  }

  /**
   * Rolls back. A damaged database may refuse this too; the fault then prevents all later writes.
   */
  function rollBack(): void {
    if (!sqlite.inTransaction) return;
    try {
      rollback.run();
    } catch (error) {
      if (fault.current() === null) throw error;
      log.warn("a transaction could not be rolled back", { error: describeError(error) });
    }
  }

  function recover(): void {
    if (!healthy) log.info("storage accepts writes again");
    healthy = true;
  }

  return {
    commitTogether,

    /** Creates a tally (tallies.ts); it may be used inside a change only. */
    tally: <K>(apply: (key: K, sum: number) => void): Tally<K> => tallies.create(apply),

    afterCommit(effect: () => void): void {
      if (current === null) throw new Error("afterCommit was called outside a change");
      current.effects.push(effect);
    },

    /** False if the storage refused the last transaction. */
    isHealthy: () => healthy,
  };
}
