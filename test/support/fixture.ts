/**
 * Fixtures: the database of a released version, filled with data of every kind, and the answers that
 * this version gave. They are in test/fixtures/VERSION, both compressed.
 */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { openDatabase } from "../../src/db/open.ts";
import { type TestApp, testApp } from "./app.ts";
import { manualClock } from "./clock.ts";
import { stringAt, valueAt } from "./json.ts";
import type { Answers } from "./records.ts";

export const FIXTURES = join(import.meta.dir, "../fixtures");

export const DATABASE_FILE = "mailstead.db.gz";
export const ANSWERS_FILE = "answers.json.gz";

export type Stored = {
  /** Time at which the answers were read, in milliseconds since the Unix epoch. */
  readAt: number;
  /** Secret key of the project whose records the answers are. */
  key: string;
  answers: Answers;
};

/**
 * Opens a data folder at a time of a fixture, with a project of its own, so that the records of the
 * project "acme" stay as they are.
 */
export function openFilled(folder: string, atMs: number): Promise<TestApp> {
  return testApp({
    db: openDatabase(join(folder, "mailstead.db")),
    folder,
    clock: manualClock(atMs),
    project: "observer",
  });
}

/** Reads the answers of a fixture. */
export function readStored(folder: string): Stored {
  const text = Buffer.from(Bun.gunzipSync(readFileSync(join(folder, ANSWERS_FILE)))).toString();
  const stored: unknown = JSON.parse(text);
  const answers = valueAt(stored, "answers");
  return {
    readAt: Number(valueAt(stored, "readAt")),
    key: stringAt(stored, "key"),
    answers: { ...(typeof answers === "object" ? answers : {}) },
  };
}

/** SHA-256 of each file in migrations/, by its name. */
export function migrationDigests(): Record<string, string> {
  const folder = join(import.meta.dir, "../../migrations");
  const files = readdirSync(folder).filter((file) => file.endsWith(".sql"));
  return Object.fromEntries(
    files
      .toSorted()
      .map((file) => [file, Bun.SHA256.hash(readFileSync(join(folder, file)), "hex")]),
  );
}

/** The migrations of the list `released` that are missing or have another digest. */
export function changedMigrations(
  released: Readonly<Record<string, unknown>>,
  present: Readonly<Record<string, unknown>>,
): string[] {
  return Object.keys(released).filter((file) => present[file] !== released[file]);
}
