/** Lets a server that runs beside the check copy its log: a read keeps the log from beginning anew. */

import type { Database } from "bun:sqlite";
import type { Clock } from "../../lib/clock.ts";

type Log = { log: number; checkpointed: number };

/** In pages; a log of this length begins anew when a server has copied it (db/durability/checkpoint.ts). */
const LONG_LOG = 16_000;
const STEP_MS = 50;
/** If nothing was copied for this long, no server is copying. */
const STILL_MS = 500;
const LIMIT_MS = 5_000;

/** Resolves when the log is short or no server copies it. Call it while no statement is open. */
export async function awaitShortLog(sqlite: Database, clock: Clock): Promise<void> {
  const readLog = () => sqlite.query<Log, []>("PRAGMA wal_checkpoint(NOOP)").get();
  const startedAt = clock.elapsed();
  let progressAt = startedAt;
  let copied = -1;
  for (let now = startedAt; now - startedAt < LIMIT_MS; now = clock.elapsed()) {
    const { log = 0, checkpointed = 0 } = readLog() ?? {};
    if (log < LONG_LOG) return;
    if (checkpointed !== copied) progressAt = now;
    if (now - progressAt > STILL_MS) return;
    copied = checkpointed;
    await new Promise<void>((resolve) => {
      clock.after(STEP_MS, resolve);
    });
  }
}
