/**
 * Tries the rows of an import without changing a contact: each row is compared with the contact as
 * the rows before it would have left it. These contacts are kept in a temporary database, because a
 * file may have millions of rows.
 */

import { Database } from "bun:sqlite";
import { rmSync } from "node:fs";
import type { Db } from "../../../db/open.ts";
import type { TopicWish } from "./rows.ts";
import {
  CREATED,
  hasNewTopics,
  newState,
  nextState,
  nextTopics,
  refusable,
  type RowContent,
  type RowOutcome,
  type RowTarget,
  suppressionReasonFrom,
  type TopicState,
  unknownTopic,
} from "./write.ts";

type Found = { isSubscribed: number; data: string; seq?: number };
type Tried = Found & { isSuppressed: number };

export type Trial = {
  /** Returns the outcome of the row after the rows that were tried before it, and keeps the contact. */
  try(row: RowContent, target: RowTarget): RowOutcome;
  /** Returns the outcome of the row now, and keeps nothing. */
  preview(row: RowContent, target: RowTarget): RowOutcome;
  close(): void;
};

/** `path` is a file that is made; null keeps all in memory. */
export function openTrial(deps: {
  db: Db;
  path: string | null;
  isSuppressed: (projectSeq: number, email: string) => boolean;
  /** Null without a topic with this key. */
  topicState: (projectSeq: number, key: string, contactSeq: number | null) => TopicState | null;
}): Trial {
  const { db, path, isSuppressed, topicState } = deps;
  const tried = openContacts(path);
  const contacts = triedContacts(tried);
  const findStored = db.sqlite.prepare<Found, [number, string]>(`
    SELECT is_subscribed AS isSubscribed, data, seq FROM contacts
    WHERE project_seq = ? AND email = ?`);
  const choices = triedChoices(tried);

  function stateOfTopic({ email }: RowContent, { projectSeq }: RowTarget, key: string): TopicState {
    const stored = () =>
      topicState(projectSeq, key, findStored.get(projectSeq, email)?.seq ?? null);
    const state = choices.find(email, key) ?? stored();
    if (state === null) throw unknownTopic(key);
    return state;
  }

  /** The next state of the contact, and the outcome of the row. Throws if the row cannot be stored. */
  function stateOf(row: RowContent, target: RowTarget) {
    const before = contacts.find(row.email);
    const known = before ?? findStored.get(target.projectSeq, row.email);
    const next =
      known === null
        ? { is: "created" as const, ...CREATED, ...newState(row, target) }
        : { is: "updated" as const, ...nextState(row, contactOf(known), target) };
    const { choices: chosen, counts } = nextTopics(row, (key) => stateOfTopic(row, target, key), {
      subscribe: known === null || known.isSubscribed === 1,
      resubscribe: known !== null && target.resubscribes,
    });
    const isUnchanged = next.isUnchanged && !hasNewTopics(counts);
    const wasSuppressed =
      before === null ? isSuppressed(target.projectSeq, row.email) : before.isSuppressed === 1;
    const suppresses = suppressionReasonFrom(row.standing) !== null && !wasSuppressed;
    return { ...next, ...counts, isUnchanged, chosen, wasSuppressed, isSuppressed: suppresses };
  }

  return {
    try: (row, target) =>
      refusable(() => {
        const { data, wasSuppressed, chosen, ...outcome } = stateOf(row, target);
        const isSuppressedNow = wasSuppressed || outcome.isSuppressed;
        contacts.keep(row.email, { ...outcome, data, isSuppressed: isSuppressedNow });
        for (const choice of chosen) choices.keep(row.email, choice);
        return outcome;
      }),

    preview: (row, target) => refusable(() => stateOf(row, target)),

    close(): void {
      tried.close();
      if (path !== null) rmSync(path, { force: true });
    },
  };
}

/** The contacts as the rows before have left them. */
function triedContacts(tried: Database) {
  const find = tried.prepare<Tried, [string]>(`
    SELECT is_subscribed AS isSubscribed, data, is_suppressed AS isSuppressed FROM contacts
    WHERE email = ?`);
  const keep = tried.prepare<unknown, [string, number, string, number]>(
    "INSERT OR REPLACE INTO contacts (email, is_subscribed, data, is_suppressed) VALUES (?, ?, ?, ?)",
  );
  type State = { isSubscribed: boolean; data: string; isSuppressed: boolean };
  return {
    find: (email: string) => find.get(email),
    keep: (email: string, { isSubscribed, data, isSuppressed }: State) =>
      void keep.run(email, Number(isSubscribed), data, Number(isSuppressed)),
  };
}

/** The choices of topics that the rows before have made. */
function triedChoices(tried: Database) {
  const find = tried.prepare<{ isIn: number }, [string, string]>(
    "SELECT is_in AS isIn FROM choices WHERE email = ? AND key = ?",
  );
  const keep = tried.prepare<unknown, [string, string, number]>(
    "INSERT OR REPLACE INTO choices (email, key, is_in) VALUES (?, ?, ?)",
  );
  return {
    find(email: string, key: string): TopicState | null {
      const row = find.get(email, key);
      return row === null ? null : { isIn: row.isIn === 1, isChosen: true };
    },
    keep: (email: string, { key, isSubscribed }: TopicWish) =>
      void keep.run(email, key, Number(isSubscribed)),
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
  sqlite.run(`CREATE TABLE choices (
    email TEXT NOT NULL, key TEXT NOT NULL, is_in INTEGER NOT NULL, PRIMARY KEY (email, key)
  ) WITHOUT ROWID`);
  sqlite.run("BEGIN");
  return sqlite;
}

const contactOf = ({ isSubscribed, data }: Found) => ({ isSubscribed: isSubscribed === 1, data });
