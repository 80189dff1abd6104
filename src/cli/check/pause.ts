/** Lets a server that runs beside the check copy its log: a read keeps the log from beginning anew. */

import type { Database } from "bun:sqlite";

type Log = { log: number; checkpointed: number };

/** In pages; a log of this length begins anew when a server has copied it (db/checkpoint.ts). */
const LONG_LOG = 16_000;
const STEP_MS = 50;
/** Without any progress for this long, no server is copying. */
const PATIENCE_MS = 500;
const LIMIT_MS = 5_000;

/** Resolves when the log is short or not being copied. To be called while nothing is read. */
export async function awaitShortLog(sqlite: Database): Promise<void> {
  const look = () => sqlite.query<Log, []>("PRAGMA wal_checkpoint(NOOP)").get();
  const startedAt = performance.now();
  let movedAt = startedAt;
  let copied = -1;
  for (let now = startedAt; now - startedAt < LIMIT_MS; now = performance.now()) {
    const { log = 0, checkpointed = 0 } = look() ?? {};
    if (log < LONG_LOG) return;
    if (checkpointed !== copied) movedAt = now;
    if (now - movedAt > PATIENCE_MS) return;
    copied = checkpointed;
    await Bun.sleep(STEP_MS);
  }
}
