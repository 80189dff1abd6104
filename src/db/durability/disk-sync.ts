/**
 * Makes commits durable without blocking the event loop on the disk. With `synchronous=FULL` each
 * COMMIT blocks until the write-ahead log is on disk, from tenths of a millisecond up to 100 ms.
 * With NORMAL a COMMIT only writes the log; a thread then syncs the log, and the write is answered
 * after that. `checkpoint.ts` copies the log into the database in the same manner, with the files of
 * `connections.ts`, and `copy-progress.ts` says how far it is. `contention.ts` notices other processes
 * that use the log, and `hold-report.ts` reports them. `wal-file.ts` reads the file of the log, and
 * `sync-to-disk.ts` is the system call.
 *
 * SQLite normally orders these steps itself. Because this folder does it instead, the following
 * invariants must hold so that a power cut loses no answered write and damages no database:
 *
 * 1. A write is answered only after a sync of the log that began after the COMMIT of the write.
 * 2. After a crash SQLite reads the log in order and stops at the first invalid frame. A synced
 *    transaction therefore never depends on frames after it, and all transactions before it are on
 *    disk as well.
 * 3. A checkpoint copies a frame into the database only after the frame is on disk in the log. It
 *    begins a read transaction before it syncs the log, and SQLite copies nothing that is newer
 *    than the oldest read transaction.
 * 4. SQLite overwrites frames only after the database file with their pages is on disk. The read
 *    transaction of a checkpoint stays open until the database is synced, and SQLite does not
 *    restart a log that a read transaction uses. After a failed sync, the read transaction stays
 *    open.
 * 5. While the log is restarted, this process commits nothing until the new header and the first
 *    frame are on disk (`pause`). A second frame could otherwise reach the disk before the header;
 *    SQLite would then replay the old first frame over newer pages.
 * 6. After a failed sync of the log or the database, it is unknown which changes are on disk. `sync`
 *    rejects from then on, no write is answered, and only a restart can find out.
 * 7. Files are opened by path, so the paths are checked: before a file is opened, before each
 *    checkpoint, and after each sync of the log. If a file was deleted, moved, replaced or
 *    truncated, the latch gets a fault and no write is answered.
 * 8. The descriptor of the database file is never closed, because closing it would release the
 *    locks that SQLite has on the file. SQLite has no locks on the file of the log.
 */

import type { Database } from "bun:sqlite";
import { systemClock } from "../../lib/clock.ts";
import { type CheckpointSizes, createCheckpoints, type LogReaders } from "./checkpoint.ts";
import { type Contention, createContention, type LogHold } from "./contention.ts";
import { createFileChecks } from "./file-checks.ts";
import { openLogFile } from "./wal-file.ts";
import type { Db } from "../open.ts";

export type DiskSync = {
  /**
   * Resolves when all changes that were committed before the call are on disk, in files that were
   * not deleted or moved. Rejects with StorageFaultError if they were. Any other error comes from
   * the disk: it is unknown which changes were stored, and only a restart can find out.
   */
  sync(): Promise<void>;
  /**
   * Returns false and raises a fault if a file was deleted, moved, replaced or truncated. It is
   * called every second.
   */
  verify(): boolean;
  /** While this is not null, nothing may be committed until the promise resolves. */
  pause(): Promise<void> | null;
  /**
   * Called when a transaction cannot begin because another process has the write lock: lets go of
   * all that the other process may be waiting for.
   */
  yieldLog(): void;
  /**
   * The hold of another process on the log; null if there is none, or if SQLite itself makes the
   * checkpoints. It is called every second.
   */
  findHold(): LogHold | null;
  /**
   * Copies the whole log into the database and makes its file short, so that it has none of the pages
   * that were written before. Resolves to false if another process or a long read keeps the log.
   */
  emptyLog(): Promise<boolean>;
  /** Closes the files; the next call opens them again. */
  release(): Promise<void>;
};

/**
 * At this length (256 MiB) of the log, SQLite makes a checkpoint itself and blocks the event loop.
 */
const LAST_RESORT_PAGES = 64_000;

type DiskSyncOptions = {
  contention?: Contention;
  readers?: LogReaders;
  /** Sizes of checkpoints, which tests make smaller. */
  sizes?: CheckpointSizes;
};

/** Changes the settings of the connection. Returns null for a database in memory. */
export function createDiskSync(
  db: Db,
  { contention = createContention(systemClock.elapsed), readers, sizes }: DiskSyncOptions = {},
): DiskSync | null {
  const { sqlite, fault } = db;
  if (!usesLog(sqlite)) return null;
  sqlite.run("PRAGMA synchronous = NORMAL");
  sqlite.run(`PRAGMA wal_autocheckpoint = ${LAST_RESORT_PAGES}`);
  const pageBytes = pageSizeOf(sqlite);
  const log = openLogFile(`${sqlite.filename}-wal`, pageBytes);
  const { verify, ensureSound, ensureInPlace } = createFileChecks({ db, log, pageBytes });
  let failure: { error: unknown } | null = null;
  const failed = (error: unknown) => void (failure ??= { error });

  const checkpoints = createCheckpoints({
    sqlite,
    log,
    fault,
    ensureSound,
    failed,
    contention,
    readers,
    sizes,
  });
  return {
    async sync() {
      // The log is opened by its path, which must lead to the log that SQLite writes.
      if (!log.isOpen()) ensureSound();
      await log.sync();
      if (failure !== null) throw failure.error;
      ensureInPlace();
      checkpoints.consider();
    },
    verify,
    pause: checkpoints.pause,
    yieldLog: checkpoints.yieldLog,
    findHold() {
      if (contention.isRecent()) checkpoints.probe();
      const heldMs = contention.heldMs();
      return heldMs === null ? null : { heldMs, logBytes: log.sizeBytes() };
    },
    async emptyLog() {
      if (!log.isOpen()) ensureSound();
      return checkpoints.empty();
    },
    async release() {
      await checkpoints.close();
      log.close();
    },
  };
}

/** False for a database in memory. */
export function usesLog(sqlite: Database): boolean {
  const mode = sqlite.query<{ journal_mode: string }, []>("PRAGMA journal_mode").get();
  return mode?.journal_mode === "wal";
}

export function pageSizeOf(sqlite: Database): number {
  const size = sqlite.query<{ page_size: number }, []>("PRAGMA page_size").get()?.page_size;
  if (size === undefined) throw new Error("SQLite did not report a page size");
  return size;
}
