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
 * A log that has become long is restarted when few frames are left to copy and no thread reads
 * (`hold` in reader.ts). Writing pauses meanwhile: a last round copies all frames, the read transaction ends, and one page is written
 * without a sync, which SQLite puts at the start of the log. Writing continues when this page is on
 * disk. Otherwise SQLite might, after a power cut, read the old frames in front of the new ones.
 *
 * Another process may use the log as well (`contention.ts`). Its checkpoints wait for our read
 * transaction and keep us from writing meanwhile, so while it does, no read transaction stays open
 * after a round. SQLite may then restart the log with any commit. It syncs the new header itself,
 * which blocks the event loop, but is as safe.
 *
 * `disk-sync.ts` lists the invariants.
 */

import { type Database, SQLiteError } from "bun:sqlite";
import type { FaultLatch } from "../fault.ts";
import { JOURNAL_SIZE_LIMIT_BYTES } from "../open.ts";
import { type Connections, tryConnect } from "./connections.ts";
import type { Contention } from "./contention.ts";
import { type CheckpointRow, createCopyProgress } from "./copy-progress.ts";
import type { DatabaseReader } from "../reader.ts";
import type { LogFile } from "./wal-file.ts";
import { syncToDisk } from "./sync-to-disk.ts";

type Checkpoints = {
  /** Begins a round if enough frames were written since the last one. */
  consider(): void;
  /** Copies also a few frames, to find out whether another process still holds the log. */
  probe(): void;
  /**
   * Ends the read transaction as soon as its frames are on disk in the database: another process
   * has the write lock, and may be waiting for the end of this transaction.
   */
  yieldLog(): void;
  /** While the log is restarted nothing may be written: resolves after the restart. Else null. */
  pause(): Promise<void> | null;
  /**
   * Copies all frames and makes the file of the log short. Resolves to false if a read or another
   * process keeps the log.
   */
  empty(): Promise<boolean>;
  /** Resolves when no round is under way and the connections are closed; `consider` opens new ones. */
  close(): Promise<void>;
};

export type CheckpointSizes = {
  /**
   * Frames of a round. The larger it is, the more of them are of pages that the round copies only once,
   * and the longer it holds the event loop and the disk: 2,000 frames hold the loop for about 3 ms under
   * load, and for 10 ms if all their pages are different.
   */
  roundPages: number;
  /** Length of the log, in frames, from which on it is restarted. */
  restartPages: number;
  /** Largest number of frames that are copied while writing pauses. */
  pausePages: number;
  /** Length of the log from which on a restart waits for the slowest read. */
  urgentPages: number;
};

const SIZES: CheckpointSizes = {
  roundPages: 2_000,
  restartPages: 16_000,
  pausePages: 500,
  urgentPages: 32_000,
};

/** The time that all other reads wait for the reads that keep the log from being restarted. */
const HOLD_MS = 250;
/** The same for a log that is very long: then the slowest read has ended, or was given up. */
const URGENT_HOLD_MS = 11_000;
/** Rounds in which the whole log is copied and emptied, while other changes go on. */
const EMPTYING_ROUNDS = 6;
/** A log of at most so many frames was just restarted. */
const SHORT_LOG_PAGES = 64;
const LOG_HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
/** Rounds while nothing is read. Each copies the pages that were written during the round before it. */
const HELD_ROUNDS = 2;

/** The threads that read: SQLite restarts the log, and copies its last frames, while none reads. */
export type LogReaders = Pick<DatabaseReader, "isReading" | "hold" | "release">;

const NO_READERS: LogReaders = { isReading: () => false, hold: async () => true, release() {} };

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
  contention: Pick<Contention, "note" | "isRecent">;
  readers?: LogReaders | undefined;
  sizes?: CheckpointSizes | undefined;
}): Checkpoints {
  const { sqlite, log, fault, ensureSound, failed, contention, sizes = SIZES } = deps;
  const { readers = NO_READERS } = deps;
  let connections: Connections | null = null;
  let underway: Promise<void> | null = null;
  let pause: Promise<void> | null = null;
  /** False while the database file may contain pages that are not on disk. */
  let isSynced = true;
  /** True if the frames that a round could not copy may be held back by our own readers. */
  let hasReaders = false;
  const progress = createCopyProgress(log, {
    note: () => (hasReaders || readers.isReading() ? undefined : contention.note()),
  });

  async function runRound(): Promise<Copied> {
    ensureSound();
    connections ??= tryConnect({ path: sqlite.filename, fault, ensureSound });
    if (connections === null) return "none";
    const { reader, copier, file } = connections;
    const before = progress.copied();
    hasReaders = readers.isReading();
    let isAll: boolean;
    try {
      if (reader.inTransaction) reader.run("COMMIT");
      reader.run("BEGIN");
      reader.query("SELECT 1 FROM sqlite_schema LIMIT 1").get();
      const last = progress.lastFrame();
      await log.sync();
      isSynced = false;
      const row = copier.query<CheckpointRow, []>("PRAGMA wal_checkpoint(PASSIVE)").get();
      isAll = progress.record(row, last);
    } catch (error) {
      if (error instanceof SQLiteError) return "none";
      throw error;
    }
    // If this fails, the read transaction stays open, so the log keeps the frames (invariant 4).
    await syncToDisk(file);
    isSynced = true;
    if (contention.isRecent()) endRead();
    if (isAll) return "all";
    if (progress.copied() !== before) return "some";
    progress.postpone(sizes.roundPages);
    return "none";
  }

  /** Ends the read transaction if all frames that it protects are on disk in the database. */
  function endRead(): void {
    const isOpen = connections?.reader.inTransaction === true;
    if (isOpen && isSynced) connections?.reader.run("COMMIT");
  }

  async function runRounds(): Promise<void> {
    for (;;) {
      const copied = await runRound();
      if (!log.hasFrame(sizes.restartPages)) return;
      if (hasReaders) return restartWithoutReads();
      if (copied === "none") return;
      if (!progress.areLeft(sizes.pausePages)) return restartWithoutReads();
    }
  }

  /** Gives up, until the next round, if a read or many writes go on. */
  async function restartWithoutReads(): Promise<void> {
    const isUrgent = log.hasFrame(sizes.urgentPages);
    if (!(await readers.hold(isUrgent ? URGENT_HOLD_MS : HOLD_MS))) return;
    try {
      for (let round = 0; round < HELD_ROUNDS; round++) {
        if (!progress.areLeft(sizes.pausePages)) return await restartPaused();
        if ((await runRound()) === "none") return;
      }
      if (!progress.areLeft(sizes.pausePages)) await restartPaused();
    } finally {
      readers.release();
    }
  }

  function isShort(): boolean {
    const frameBytes = FRAME_HEADER_BYTES + pragma(sqlite, "page_size");
    return log.sizeBytes() <= LOG_HEADER_BYTES + SHORT_LOG_PAGES * frameBytes;
  }

  /** The log is short after it, unless something else keeps it. */
  async function emptyWithoutReads(): Promise<boolean> {
    if (!(await readers.hold(HOLD_MS))) return false;
    const before = log.header();
    try {
      for (let round = 0; round < EMPTYING_ROUNDS; round++) {
        if (progress.areLeft(sizes.pausePages)) await runRound();
        else await restartPaused(true);
        if (log.header() !== before && isShort()) return true;
      }
      return false;
    } finally {
      readers.release();
    }
  }

  async function restartPaused(isShortened = false): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    pause = promise;
    await restartLog(isShortened).finally(() => {
      pause = null;
      resolve();
    });
  }

  /**
   * One race is accepted. SQLite gives no way to keep the write lock across a commit, so another
   * process may commit after the first page and before BEGIN IMMEDIATE, some microseconds later, or
   * prevent BEGIN IMMEDIATE. Its frame may then reach the disk before the header (invariant 5). A
   * power cut does harm only in the milliseconds until the next sync, ours or that of the other
   * process, and only if the disk has stored the second frame and neither the header nor the first
   * frame. The other processes that write are commands of Mailstead. A process that commits before
   * the first page restarts the log itself, and SQLite syncs the header.
   */
  async function restartLog(isShortened: boolean): Promise<void> {
    if ((await runRound()) !== "all" || connections === null) return;
    const { copier } = connections;
    endRead();
    try {
      // SQLite makes the file as short as this limit with the first commit after a restart.
      if (isShortened) sqlite.run("PRAGMA journal_size_limit = 0");
      rewriteFirstPage(sqlite);
      copier.run("BEGIN IMMEDIATE"); // Prevents writes of other processes as well.
    } catch (error) {
      if (!(error instanceof SQLiteError)) throw error; // Another process has the write lock.
    } finally {
      if (isShortened) sqlite.run(`PRAGMA journal_size_limit = ${JOURNAL_SIZE_LIMIT_BYTES}`);
    }
    await log.sync();
    if (copier.inTransaction) copier.run("ROLLBACK");
  }

  function begin(): void {
    underway = runRounds()
      .catch(failed)
      .finally(() => (underway = null));
  }

  return {
    consider() {
      if (underway === null && progress.areLeft(sizes.roundPages)) begin();
    },
    probe() {
      if (underway === null && progress.isBehind()) begin();
    },
    yieldLog() {
      contention.note();
      // A round that is under way ends the transaction itself.
      if (underway === null) endRead();
    },
    pause: () => pause,
    async empty() {
      // Another round may begin before this one continues.
      for (let current = underway; current !== null; current = underway) await current;
      let isEmpty = false;
      underway = emptyWithoutReads()
        .then((done) => void (isEmpty = done))
        .catch(failed)
        .finally(() => (underway = null));
      await underway;
      return isEmpty;
    },
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
