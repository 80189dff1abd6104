/**
 * The plain alternative to `disk-sync.ts`: SQLite itself syncs the log at each commit
 * (`synchronous=FULL`) and makes the checkpoints. The event loop waits for the disk at each commit.
 * Replication and backup tools that hold read transactions or make checkpoints of their own expect
 * this behaviour. Only the checks of the files are ours.
 */

import { SQLiteError } from "bun:sqlite";
import { systemClock } from "../../lib/clock.ts";
import { type Db, LOCK_TIMEOUT_MS } from "../open.ts";
import type { LogReaders } from "./checkpoint.ts";
import { type DiskSync, pageSizeOf, usesLog } from "./disk-sync.ts";
import { createFileChecks } from "./file-checks.ts";
import { openLogFile } from "./wal-file.ts";

/** The default of SQLite: a checkpoint when the log has this many pages (4 MiB). */
const CHECKPOINT_PAGES = 1000;

type PauseSizes = {
  /**
   * Length of the log from which on the threads that read pause, so that SQLite can copy all frames. A
   * commit restarts a log that is copied, and later reads do not prevent it.
   */
  restartPages: number;
  /** Length from which on the pause waits for the slowest read. */
  urgentPages: number;
  /** The time between two pauses: another process may hold the log, so that a pause does not help. */
  intervalMs: number;
};

const SIZES: PauseSizes = { restartPages: 16_000, urgentPages: 32_000, intervalMs: 5_000 };

const HOLD_MS = 250;
const URGENT_HOLD_MS = 11_000;

/** Changes the settings of the connection. Returns null for a database in memory. */
export function createSqliteSync(
  db: Db,
  readers?: LogReaders,
  { restartPages, urgentPages, intervalMs } = SIZES,
): DiskSync | null {
  const { sqlite } = db;
  if (!usesLog(sqlite)) return null;
  sqlite.run("PRAGMA synchronous = FULL");
  sqlite.run(`PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
  const pageBytes = pageSizeOf(sqlite);
  const log = openLogFile(`${sqlite.filename}-wal`, pageBytes);
  const { verify, ensureInPlace } = createFileChecks({ db, log, pageBytes });
  let isCopying = false;
  let nextAt = 0;

  async function copyWithoutReads({ hold, release }: LogReaders): Promise<void> {
    isCopying = true;
    if (await hold(log.hasFrame(urgentPages) ? URGENT_HOLD_MS : HOLD_MS)) {
      nextAt = systemClock.elapsed() + intervalMs;
      try {
        sqlite.run("PRAGMA wal_checkpoint(PASSIVE)");
      } catch (error) {
        // The next commit makes a checkpoint too, and reports the fault.
        if (!(error instanceof SQLiteError)) throw error;
      } finally {
        release();
      }
    }
    isCopying = false;
  }

  return {
    /** The commit has synced the log already. */
    async sync() {
      ensureInPlace();
      if (readers === undefined || isCopying || systemClock.elapsed() < nextAt) return;
      if (readers.isReading() && log.hasFrame(restartPages)) void copyWithoutReads(readers);
    },
    verify,
    pause: () => null,
    yieldLog() {},
    findHold: () => null,
    async emptyLog() {
      if (readers !== undefined && !(await readers.hold(HOLD_MS))) return false;
      sqlite.run("PRAGMA busy_timeout = 0"); // The event loop must not wait for another process.
      try {
        const [row] = sqlite.query("PRAGMA wal_checkpoint(TRUNCATE)").values();
        return row?.[0] === 0;
      } finally {
        sqlite.run(`PRAGMA busy_timeout = ${LOCK_TIMEOUT_MS}`);
        readers?.release();
      }
    },
    async release() {
      log.close();
    },
  };
}
