/** The threads that run: when another one may start, and the pause after one has failed. */

import type { Clock } from "../../lib/clock.ts";
import type { Log } from "../../lib/log.ts";
import type { ComposeJob } from "./job-queue.ts";
import type { Thread } from "./thread.ts";

/** After a thread has failed, none is started for this time. */
const RESTART_PAUSE_MS = 60_000;

export function createThreadSet(deps: { start: () => Thread; log: Log; clock: Clock }) {
  const { start, log, clock } = deps;
  const threads = new Set<Thread>();
  let failedAtMs = -Infinity;
  let isClosed = false;

  const has = (test: (thread: Thread) => boolean) => [...threads].some(test);
  const mayStart = () => !isClosed && clock.elapsed() - failedAtMs >= RESTART_PAUSE_MS;
  const isAnyUp = () => has((thread) => thread.isUp());

  /** Logs the first failure of several. */
  function noteFailure(reason: string): void {
    if (mayStart()) {
      log.warn("a thread that composes mail failed; the event loop composes it for a minute", {
        reason,
      });
    }
    failedAtMs = clock.elapsed();
  }

  return {
    all: (): Iterable<Thread> => threads,
    isAnyUp,
    isAnyHeld: () => has((thread) => thread.isHeld()),
    isClosed: () => isClosed,

    /** True if there is a thread, or one may start. */
    isAvailable: () => isAnyUp() || mayStart(),

    /** True if a thread besides this one can prepare mail that is not slow. */
    hasFreeBeside: (thread: Thread) =>
      has((other) => other !== thread && other.isUp() && !other.isHeld()),

    /** Starts a thread if there are fewer than wanted and none is starting. */
    startUpTo(wanted: number): void {
      if (!mayStart() || threads.size >= wanted || has((thread) => !thread.isUp())) return;
      try {
        threads.add(start());
      } catch (error) {
        noteFailure(String(error));
      }
    },

    /** False if no thread runs and none may start. */
    canWork: () => threads.size > 0 || mayStart(),
    remove: (thread: Thread) => void threads.delete(thread),
    noteFailure,

    /** Ends all threads and returns their jobs. */
    close(): ComposeJob[] {
      isClosed = true;
      const jobs = [...threads].flatMap((thread) => thread.end());
      threads.clear();
      return jobs;
    },
  };
}
