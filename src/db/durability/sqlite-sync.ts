/**
 * The plain alternative to `disk-sync.ts`: SQLite itself syncs the log at each commit
 * (`synchronous=FULL`) and makes the checkpoints. The event loop waits for the disk at each commit.
 * Replication and backup tools that hold read transactions or make checkpoints of their own expect
 * this behaviour. Only the checks of the files are ours.
 */

import type { Db } from "../open.ts";
import type { LogReaders } from "./checkpoint.ts";
import { type DiskSync, pageSizeOf, usesLog } from "./disk-sync.ts";
import { createFileChecks } from "./file-checks.ts";
import { openLogFile } from "./wal-file.ts";

/** The default of SQLite: a checkpoint when the log has this many pages (4 MiB). */
const CHECKPOINT_PAGES = 1000;

/** From this length on our own readers make room for a restart of the log, which needs a moment without. */
const RESTART_PAGES = 16_000;
const RESTART_MS = 200;

/** Changes the settings of the connection. Returns null for a database in memory. */
export function createSqliteSync(db: Db, readers?: LogReaders): DiskSync | null {
  const { sqlite } = db;
  if (!usesLog(sqlite)) return null;
  sqlite.run("PRAGMA synchronous = FULL");
  sqlite.run(`PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
  const pageBytes = pageSizeOf(sqlite);
  const log = openLogFile(`${sqlite.filename}-wal`, pageBytes);
  const { verify, ensureInPlace } = createFileChecks({ db, log, pageBytes });
  let isMakingRoom = false;

  /** The next commits copy and restart the log. */
  async function makeRoom(): Promise<void> {
    isMakingRoom = true;
    await readers?.hold();
    await Bun.sleep(RESTART_MS);
    readers?.release();
    isMakingRoom = false;
  }

  return {
    /** The commit has synced the log already. */
    async sync() {
      ensureInPlace();
      const isLong = !isMakingRoom && readers?.isReading() === true && log.hasFrame(RESTART_PAGES);
      if (isLong) void makeRoom();
    },
    verify,
    pause: () => null,
    yieldLog() {},
    findHold: () => null,
    async release() {
      log.close();
    },
  };
}
