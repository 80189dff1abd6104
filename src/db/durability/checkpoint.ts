/**
 * Makes checkpoints: copies the write-ahead log to the database and restarts the log without
 * blocking the event loop on the disk. SQLite's own checkpoint blocks twice, and the first commit
 * after a restart of the log blocks once more; on a busy disk each takes 50 ms and more. A round
 * has four steps, and only the third one takes time of the event loop:
 *
 * 1. A reader begins a read transaction. Until it ends, SQLite copies no newer frames and does not
 *    restart the log.
 * 2. A thread syncs the log.
 * 3. A connection with `synchronous=OFF` copies the frames: about 5 µs for each page.
 * 4. A thread syncs the database. The read transaction stays open until the next round.
 *
 * So a page is in the database file only after it is on disk in the log, and the log is overwritten
 * only after its pages are on disk in the database. SQLite needs both to survive a power cut.
 *
 * A log that has become long is restarted when few frames are left to copy. Writing pauses
 * meanwhile: a last round copies all frames, the read transaction ends, and one page is written
 * without a sync, which SQLite puts at the start of the log. Writing continues when this page is on
 * disk. Otherwise SQLite might, after a power cut, read the old frames in front of the new ones.
 *
 * `disk-sync.ts` lists the invariants.
 */

import { type Database, SQLiteError } from "bun:sqlite";
import { openSync, statSync } from "node:fs";
import { isExhaustion } from "../../lib/descriptors.ts";
import { openConnection } from "../connection.ts";
import type { FaultLatch } from "../fault.ts";
import type { LogFile } from "./wal-file.ts";
import { syncToDisk } from "./sync-to-disk.ts";

type Checkpoints = {
  /** Begins a round if enough frames were written since the last one. */
  consider(): void;
  /** While the log is restarted nothing may be written: resolves after the restart. Else null. */
  pause(): Promise<void> | null;
  /**
   * Resolves when no round is under way and the connections are closed; `consider` opens new ones.
   */
  close(): Promise<void>;
};

type CheckpointSizes = {
  /** Frames of a round; 600 hold the event loop for about 3 ms and the disk for about 10 ms. */
  roundPages: number;
  /** Length of the log, in frames, from which on it is restarted. */
  restartPages: number;
  /** Largest number of frames that are copied while writing pauses. */
  pausePages: number;
};

const SIZES: CheckpointSizes = { roundPages: 600, restartPages: 16_000, pausePages: 500 };

type Connections = {
  reader: Database;
  copier: Database;
  /** Descriptor of the database file, to sync it. */
  file: number;
};

/** Result of a checkpoint: frames in the log, and how many of them are in the database now. */
type CheckpointRow = { busy: number; log: number; checkpointed: number };

/** The frames that a round copied. "none" loses nothing: the log only stays longer for a while. */
type Copied = "none" | "some" | "all";

export function createCheckpoints(deps: {
  sqlite: Database;
  log: LogFile;
  fault: FaultLatch;
  /** Throws StorageFaultError if the paths do not lead to the files that `sqlite` has open. */
  ensureSound: () => void;
  /** Called with each failure of the disk and each StorageFaultError. */
  failed: (error: unknown) => void;
  sizes?: CheckpointSizes;
}): Checkpoints {
  const { sqlite, log, fault, ensureSound, failed, sizes = SIZES } = deps;
  let connections: Connections | null = null;
  let underway: Promise<void> | null = null;
  let pause: Promise<void> | null = null;
  /**
   * `copied`: frames of this generation of the log that are in the database. `retryAfter`: if a
   * round copied nothing, because another reader uses an older state, the next round begins
   * `roundPages` after this frame.
   */
  let progress = { generation: "", copied: 0, retryAfter: 0 };

  /** Opens the files by path, and throws StorageFaultError if a path leads to another file. */
  function connect(): Connections {
    const file = databaseFile(sqlite.filename);
    const [reader, copier] = [openOne(), openOne()];
    try {
      ensureSound();
    } catch (error) {
      for (const connection of [reader, copier]) connection.close();
      throw error;
    }
    copier.run("PRAGMA synchronous = OFF");
    return { reader, copier, file };
  }

  const openOne = () => openConnection(sqlite.filename, fault);

  /** Whether at least `pages` frames are left to copy. */
  function areLeft(pages: number): boolean {
    const generation = log.generation();
    if (generation !== progress.generation) progress = { generation, copied: 0, retryAfter: 0 };
    return log.hasFrame(Math.max(progress.copied, progress.retryAfter) + pages);
  }

  /**
   * Copies the frames that no reader holds back; none if another process makes a checkpoint.
   * Returns true if no frame is left.
   */
  function copy(copier: Database): boolean {
    const row = copier.query<CheckpointRow, []>("PRAGMA wal_checkpoint(PASSIVE)").get();
    if (row === null || row.checkpointed <= 0) return false;
    progress.copied = row.checkpointed;
    return row.checkpointed === row.log;
  }

  /** Returns null if no more files can be opened now. The next `consider` tries again. */
  function connected(): Connections | null {
    try {
      return (connections ??= connect());
    } catch (error) {
      if (error instanceof SQLiteError || isExhaustion(error)) return null;
      throw error;
    }
  }

  async function runRound(): Promise<Copied> {
    ensureSound();
    const open = connected();
    if (open === null) return "none";
    const { reader, copier, file } = open;
    const before = progress.copied;
    let isAll: boolean;
    try {
      if (reader.inTransaction) reader.run("COMMIT");
      reader.run("BEGIN");
      reader.query("SELECT 1 FROM sqlite_schema LIMIT 1").get();
      await log.sync();
      isAll = copy(copier);
    } catch (error) {
      if (error instanceof SQLiteError) return "none";
      throw error;
    }
    // If this fails, the read transaction stays open, so the log keeps the frames (invariant 4).
    await syncToDisk(file);
    if (isAll) return "all";
    if (progress.copied !== before) return "some";
    progress.retryAfter = Math.max(progress.copied, progress.retryAfter) + sizes.roundPages;
    return "none";
  }

  async function runRounds(): Promise<void> {
    while ((await runRound()) !== "none" && log.hasFrame(sizes.restartPages)) {
      if (areLeft(sizes.pausePages)) continue;
      const { promise, resolve } = Promise.withResolvers<void>();
      pause = promise;
      await restartLog().finally(() => {
        pause = null;
        resolve();
      });
      return;
    }
  }

  async function restartLog(): Promise<void> {
    if ((await runRound()) !== "all" || connections === null) return;
    const { reader, copier } = connections;
    reader.run("COMMIT");
    try {
      rewriteFirstPage(sqlite);
      copier.run("BEGIN IMMEDIATE"); // Prevents writes of other processes as well.
    } catch (error) {
      if (!(error instanceof SQLiteError)) throw error; // Another process has the write lock.
    }
    await log.sync();
    if (copier.inTransaction) copier.run("ROLLBACK");
  }

  return {
    consider() {
      if (underway !== null || !areLeft(sizes.roundPages)) return;
      underway = runRounds()
        .catch(failed)
        .finally(() => (underway = null));
    },
    pause: () => pause,
    async close() {
      await underway;
      connections?.reader.close();
      connections?.copier.close();
      connections = null;
    },
  };
}

/**
 * Writes the first page of the database to the log, without a sync. The page does not change:
 * SQLite writes it even if `user_version` stays the same.
 */
function rewriteFirstPage(sqlite: Database): void {
  const synchronous = pragma(sqlite, "synchronous");
  sqlite.run("PRAGMA synchronous = OFF");
  try {
    sqlite.run(`PRAGMA user_version = ${pragma(sqlite, "user_version")}`);
  } finally {
    sqlite.run(`PRAGMA synchronous = ${synchronous}`);
  }
}

function pragma(sqlite: Database, name: string): number {
  return Number(sqlite.query(`PRAGMA ${name}`).values()[0]?.[0]);
}

/**
 * Open descriptors of database files, by device and inode. They are never closed: a POSIX lock
 * belongs to the process, so closing any descriptor of a file releases the locks that SQLite has on
 * it.
 */
const databaseFiles = new Map<string, number>();

function databaseFile(path: string): number {
  const { dev, ino } = statSync(path);
  const key = `${dev}:${ino}`;
  const file = databaseFiles.get(key) ?? openSync(path, "r+");
  databaseFiles.set(key, file);
  return file;
}
