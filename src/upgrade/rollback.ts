/**
 * Goes back to the database that was there before an upgrade whose server never became ready. The
 * upgrade writes a request into the data folder, beside the copy that it made while the server was
 * stopped. The next start of a server, which has the lock of the folder, puts the copy in place of the newer
 * database and keeps that one in a folder of its own; nothing is deleted. An interruption leaves a state
 * that the next start continues from: the request is removed last.
 *
 * The newer version may have accepted and sent mail. The result says how much; if something happened, the queue
 * of the old database is held, because its mail may have left.
 */

import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import {
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { syncPath } from "../backup/files.ts";
import { openForReading, openStoredDatabase } from "../db/open-stored.ts";
import { isoTime } from "../lib/clock.ts";
import { holdQueue } from "../outbox/queue-hold.ts";
import { UpgradeError } from "./refusal.ts";

/** The folder of upgrades in the data folder. */
export const UPGRADE_FOLDER = "upgrade";
const REQUEST = "rollback.json";
/** The copy of the database that was made while the server was stopped. */
export const STOPPED_FOLDER = "stopped";
const DATABASE = "mailstead.db";
const RESULT = "rollback-result.json";

const Request = Type.Object({
  /** The version whose database is moved aside. */
  version: Type.String(),
  /** Name of the folder in the data folder to which it is moved. */
  aside: Type.String({ pattern: "^newer-[\\w.+-]{1,120}$" }),
});

const Result = Type.Object({
  /** Where the newer database is, an absolute path. */
  keptAt: Type.String(),
  /** Mails that the newer version accepted; null if its database could not be read. */
  acceptedMails: Type.Union([Type.Integer(), Type.Null()]),
  /** True if anything happened in the newer version, so that the queue is held. */
  isHeld: Type.Boolean(),
});
export type RollbackResult = Static<typeof Result>;

const folderOf = (data: string) => join(data, UPGRADE_FOLDER);
const requestOf = (data: string) => join(folderOf(data), REQUEST);

export function isRollbackUnfinished(data: string): boolean {
  return existsSync(requestOf(data));
}

/** Throws UpgradeError if an interrupted upgrade has asked for it, and no server has started since. */
export function requireNoRollback(data: string): void {
  if (!isRollbackUnfinished(data)) return;
  throw new UpgradeError(
    "An upgrade was interrupted while it went back to the old version.",
    "Start the server, which ends it, and then try again.",
  );
}

/** Asks the next start to go back. The caller has the lock of the data folder. */
export function requestRollback(data: string, version: string, now: number): void {
  const aside = `newer-${version}-${isoTime(now).replaceAll(/[-:]|\.\d+/g, "")}`;
  const request: Static<typeof Request> = { version, aside };
  rmSync(join(folderOf(data), RESULT), { force: true });
  writeDurably(requestOf(data), request);
}

/** The findings of the start that went back; null if none did. */
export function readRollbackResult(data: string): RollbackResult | null {
  const file = join(folderOf(data), RESULT);
  if (!existsSync(file)) return null;
  const value: unknown = JSON.parse(readFileSync(file, "utf8"));
  return Value.Check(Result, value) ? value : null;
}

/** Goes back, if an upgrade has asked for it. The caller has the lock of the data folder. */
export function finishRollback(data: string, now: number): RollbackResult | null {
  if (!isRollbackUnfinished(data)) return null;
  const request: unknown = JSON.parse(readFileSync(requestOf(data), "utf8"));
  if (!Value.Check(Request, request)) {
    throw new UpgradeError(`${requestOf(data)} is damaged.`, "Restore the newest backup.");
  }
  const copy = join(folderOf(data), STOPPED_FOLDER, DATABASE);
  const aside = join(data, request.aside);
  // Without the copy, an interrupted start has put it in place already.
  if (existsSync(copy)) putBack(data, copy, aside, now);
  rmSync(requestOf(data));
  syncPath(folderOf(data));
  return readRollbackResult(data);
}

function putBack(data: string, copy: string, aside: string, now: number): void {
  const database = join(data, DATABASE);
  mkdirSync(aside, { recursive: true, mode: 0o700 });
  // The newer database gets a second name, so that its first one is never without a database.
  if (!existsSync(join(aside, DATABASE))) {
    // It is counted before its log is moved away from it.
    const counts = countNewer(database, copy);
    if (counts.isHeld) hold(copy, now);
    writeDurably(join(folderOf(data), RESULT), { ...counts, keptAt: aside });
    linkSync(database, join(aside, DATABASE));
  }
  if (existsSync(`${database}-wal`)) renameSync(`${database}-wal`, join(aside, `${DATABASE}-wal`));
  rmSync(`${database}-shm`, { force: true });
  syncPath(aside);
  syncPath(data);
  renameSync(copy, database);
  syncPath(data);
}

/** Compares the newer database with the copy. Its tables may have another form, so that this may fail. */
function countNewer(newer: string, copy: string): Omit<RollbackResult, "keptAt"> {
  try {
    const [mails, events] = [countMore(newer, copy, "emails"), countMore(newer, copy, "events")];
    return { acceptedMails: mails, isHeld: mails > 0 || events > 0 };
  } catch {
    return { acceptedMails: null, isHeld: true }; // The result tells that nothing is known.
  }
}

/** The number of rows that were added to a table after the copy was made. */
function countMore(newer: string, copy: string, table: "emails" | "events"): number {
  const last = readNumber(copy, `SELECT COALESCE(MAX(seq), 0) AS n FROM ${table}`);
  return readNumber(newer, `SELECT COUNT(*) AS n FROM ${table} WHERE seq > ${last}`);
}

function readNumber(file: string, sql: string): number {
  const { sqlite } = openForReading(file);
  try {
    return sqlite.query<{ n: number }, []>(sql).get()?.n ?? 0;
  } finally {
    sqlite.close();
  }
}

function hold(copy: string, now: number): void {
  const db = openStoredDatabase(copy);
  try {
    holdQueue(db, now);
    // The whole content must be in the file, because only this file gets a new name.
    db.sqlite.run("PRAGMA wal_checkpoint(TRUNCATE)");
  } finally {
    db.sqlite.close();
  }
}

function writeDurably(file: string, value: unknown): void {
  writeFileSync(file, `${JSON.stringify(value)}\n`, { mode: 0o600, flush: true });
  syncPath(join(file, ".."));
}
