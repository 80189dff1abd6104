/**
 * Pauses the check while a running server checkpoints its write-ahead log. SQLite cannot restart
 * the log while a reader uses it, so without pauses the log would grow during the whole check.
 */

import type { Database } from "bun:sqlite";
import type { Clock } from "../../lib/clock.ts";

type LogState = { log: number; checkpointed: number };

/**
 * Length in pages from which a server restarts its log after a checkpoint
 * (db/durability/checkpoint.ts).
 */
const LONG_LOG_PAGES = 16_000;
const POLL_MS = 50;
/** If no page was copied for this long, no server is running a checkpoint. */
const NO_PROGRESS_MS = 500;
const LIMIT_MS = 5_000;

/** Resolves when the log is short or no server copies it. No statement may be open meanwhile. */
export async function awaitShortLog(sqlite: Database, clock: Clock): Promise<void> {
  const readLog = () => sqlite.query<LogState, []>("PRAGMA wal_checkpoint(NOOP)").get();
  const startedAt = clock.elapsed();
  let progressAt = startedAt;
  let copied = -1;
  for (let now = startedAt; now - startedAt < LIMIT_MS; now = clock.elapsed()) {
    const { log = 0, checkpointed = 0 } = readLog() ?? {};
    if (log < LONG_LOG_PAGES) return;
    if (checkpointed !== copied) progressAt = now;
    if (now - progressAt > NO_PROGRESS_MS) return;
    copied = checkpointed;
    await new Promise<void>((resolve) => {
      clock.after(POLL_MS, resolve);
    });
  }
}
