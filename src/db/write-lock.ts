/**
 * Begins transactions of the writer. While another process has the write lock, SQLite would wait for
 * it and block the event loop. Here it waits only for a moment, and the caller tries again later,
 * until the timeout of the connection has passed.
 */

import type { Database } from "bun:sqlite";
import { systemClock } from "../lib/clock.ts";
import { isLocked } from "./refusal.ts";

/** Longest time for which the event loop waits for the lock. */
const BLOCKING_WAIT_MS = 30;

/** Changes the timeout of the connection. */
export function createWriteLock(sqlite: Database) {
  const begin = sqlite.prepare("BEGIN IMMEDIATE");
  const [row] = sqlite.query<{ timeout: number }, []>("PRAGMA busy_timeout").all();
  const timeoutMs = row?.timeout ?? 0;
  /** Monotonic time at which another process was found to have the lock; null if none has. */
  let lockedAt: number | null = null;

  const waitFor = (waitMs: number) => sqlite.run(`PRAGMA busy_timeout = ${waitMs}`);
  waitFor(BLOCKING_WAIT_MS);

  return {
    /**
     * Begins a transaction. Returns false if another process has the lock, and throws the error of
     * SQLite if it has had it for too long.
     */
    tryBegin(): boolean {
      try {
        begin.run();
      } catch (error) {
        if (!isLocked(error)) throw error;
        if (lockedAt === null) waitFor(0);
        lockedAt ??= systemClock.elapsed();
        if (systemClock.elapsed() - lockedAt < timeoutMs) return false;
        throw error;
      }
      if (lockedAt !== null) waitFor(BLOCKING_WAIT_MS);
      lockedAt = null;
      return true;
    },
  };
}
