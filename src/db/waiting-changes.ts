/**
 * The changes that wait for a commit of the writer. Most of them need one at once. A deferred change
 * is committed together with the next one that does, or when its time is over.
 */

import { createCommitDelay } from "./commit-delay.ts";
import type { Job } from "./transactions.ts";

export type WriteOptions = {
  /**
   * While changes arrive quickly, this one may wait so many milliseconds for further changes that
   * share its commit. 0 without it.
   */
  gatherMs?: number;
  /**
   * The change is committed with the next change of another caller, at the latest after so many
   * milliseconds, or when `hasten` is called. 0 without it.
   */
  deferMs?: number;
};

/** `onDue` is called when the time of a deferred change is over. */
export function createWaitingChanges(onDue: () => void) {
  const delay = createCommitDelay();
  let jobs: Job[] = [];
  let isNeeded = false;
  let timer: ReturnType<typeof setTimeout> | null = null;

  function endTimer(): void {
    if (timer !== null) clearTimeout(timer);
    timer = null;
  }

  return {
    count: () => jobs.length,
    /** True while a change waits that is not deferred, or no longer. */
    isCommitNeeded: () => isNeeded && jobs.length > 0,
    /** True if a commit that waits for further changes would probably have more of them. */
    isDelayWorthwhile: () => delay.isWorthwhile(jobs),

    add(job: Omit<Job, "gatherUntil">, { gatherMs = 0, deferMs = 0 }: WriteOptions): void {
      jobs.push({ ...job, gatherUntil: deferMs > 0 ? Infinity : delay.until(gatherMs) });
      if (deferMs > 0) timer ??= setTimeout(onDue, deferMs);
      else isNeeded = true;
    },

    /** All changes that wait need a commit now. Returns false if there are none. */
    endDeferral(): boolean {
      for (const job of jobs) job.gatherUntil = 0;
      isNeeded = jobs.length > 0;
      endTimer();
      return isNeeded;
    },

    /** Returns all changes for a commit. */
    take(): Job[] {
      const taken = jobs;
      jobs = [];
      isNeeded = false;
      endTimer();
      delay.noteCommit(taken.length);
      return taken;
    },

    /**
     * Puts those back that the commit did not take, ahead of newer ones. They have waited for that
     * commit, and the timer of a deferred one has ended, so the next commit waits for nothing.
     */
    putBack(rest: readonly Job[]): void {
      if (rest.length === 0) return;
      for (const job of rest) job.gatherUntil = 0;
      jobs = [...rest, ...jobs];
      isNeeded = true;
    },
  };
}
