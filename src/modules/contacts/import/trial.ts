/**
 * Tries the rows of an import without changing a contact: each row is compared with the contact as
 * the rows before it would have left it. These contacts are kept in a temporary database, because a
 * file may have millions of rows.
 */

import { Database } from "bun:sqlite";
import { rmSync } from "node:fs";
import type { Db } from "../../../db/open.ts";
import {
  CREATED,
  newState,
  nextState,
  refusable,
  type RowContent,
  type RowOutcome,
  type RowTarget,
  suppressionReasonFrom,
} from "./write.ts";

type Found = { isSubscribed: number; data: string };
type Tried = Found & { isSuppressed: number };

export type Trial = {
  /** Returns what the row would do after the rows that were tried before it, and keeps the contact. */
  try(row: RowContent, target: RowTarget): RowOutcome;
  /** Returns what the row would do now, and keeps nothing. */
  preview(row: RowContent, target: RowTarget): RowOutcome;
  close(): void;
};

/** `path` is a file that is made; null keeps all in memory. */
export function openTrial(deps: {
  db: Db;
  path: string | null;
  isSuppressed: (projectSeq: number, email: string) => boolean;
}): Trial {
  const { db, path, isSuppressed } = deps;
  const tried = openContacts(path);
  const findTried = tried.prepare<Tried, [string]>(`
    SELECT is_subscribed AS isSubscribed, data, is_suppressed AS isSuppressed FROM contacts
    WHERE email = ?`);
  const keep = tried.prepare<unknown, [string, number, string, number]>(
    "INSERT OR REPLACE INTO contacts (email, is_subscribed, data, is_suppressed) VALUES (?, ?, ?, ?)",
  );
  const findStored = db.sqlite.prepare<Found, [number, string]>(`
    SELECT is_subscribed AS isSubscribed, data FROM contacts
    WHERE project_seq = ? AND email = ?`);

  /** The next state of the contact, and what the row does. Throws if the row cannot be stored. */
  function stateOf(row: RowContent, target: RowTarget) {
    const before = findTried.get(row.email);
    const known = before ?? findStored.get(target.projectSeq, row.email);
    const state =
      known === null
        ? { is: "created" as const, ...CREATED, ...newState(row, target) }
        : { is: "updated" as const, ...nextState(row, contactOf(known), target) };
    const wasSuppressed =
      before === null ? isSuppressed(target.projectSeq, row.email) : before.isSuppressed === 1;
    const suppresses = suppressionReasonFrom(row.standing) !== null;
    return { ...state, wasSuppressed, isSuppressed: suppresses && !wasSuppressed };
  }

  return {
    try: (row, target) =>
      refusable(() => {
        const { data, wasSuppressed, ...outcome } = stateOf(row, target);
        const isSuppressedNow = wasSuppressed || outcome.isSuppressed;
        keep.run(row.email, Number(outcome.isSubscribed), data, Number(isSuppressedNow));
        return outcome;
      }),

    preview: (row, target) => refusable(() => stateOf(row, target)),

    close(): void {
      tried.close();
      if (path !== null) rmSync(path, { force: true });
    },
  };
}

/** A database without safety: its file is worth nothing after a crash. */
function openContacts(path: string | null): Database {
  if (path !== null) rmSync(path, { force: true });
  const sqlite = new Database(path ?? ":memory:");
  sqlite.run("PRAGMA journal_mode = OFF");
  sqlite.run("PRAGMA synchronous = OFF");
  sqlite.run(`CREATE TABLE contacts (
    email TEXT PRIMARY KEY, is_subscribed INTEGER NOT NULL, data TEXT NOT NULL,
    is_suppressed INTEGER NOT NULL
  ) WITHOUT ROWID`);
  sqlite.run("BEGIN");
  return sqlite;
}

const contactOf = ({ isSubscribed, data }: Found) => ({ isSubscribed: isSubscribed === 1, data });
