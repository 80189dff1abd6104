/** A log that another process truncates or restarts while its length is checked is not damaged. */

import { afterEach, expect, test } from "bun:test";
import { Database } from "bun:sqlite";
import { type LogFile, openLogFile } from "../../src/db/durability/wal-file.ts";
import { createFileLengths } from "../../src/db/file-lengths.ts";
import type { Db } from "../../src/db/open.ts";
import { migratedFile } from "../support/database.ts";

const PAGE_BYTES = 4096;
const READS = ["sizeBytes", "header", "hasFrameBefore"] as const;
const opened: Db[] = [];

afterEach(() => {
  for (const db of opened.splice(0)) db.sqlite.close();
});

/** The log, whose reader `name` is interrupted once by `change`, before or after it reads. */
function interrupted(
  log: LogFile,
  { name, isAfter }: { name: (typeof READS)[number]; isAfter: boolean },
  change: () => void,
) {
  let isDue = false;
  const read = (end: number) => {
    if (isDue && !isAfter) change();
    const answer = log[name](end);
    if (isDue && isAfter) change();
    isDue = false;
    return answer;
  };
  const changed: LogFile = { ...log, [name]: read };
  return { log: changed, interruptNext: () => void (isDue = true) };
}

const cases = READS.flatMap((name) =>
  [true, false].flatMap((isAfter) =>
    [true, false].map((isRestarted) => ({ name, isAfter, isRestarted })),
  ),
);

test.each(cases)("$name, after it: $isAfter, with new frames: $isRestarted", (when) => {
  const db = migratedFile();
  opened.push(db);
  db.sqlite.run("CREATE TABLE things (bytes BLOB)");
  const write = (pages: number) =>
    db.sqlite.run("INSERT INTO things VALUES (zeroblob(?))", [pages * PAGE_BYTES]);
  write(20);
  const other = new Database(db.sqlite.filename);
  const file = openLogFile(`${db.sqlite.filename}-wal`, PAGE_BYTES);
  const { log, interruptNext } = interrupted(file, when, () => {
    other.run("PRAGMA wal_checkpoint(TRUNCATE)");
    if (when.isRestarted) write(2);
  });
  const lengths = createFileLengths(db.sqlite, log, PAGE_BYTES);
  expect(lengths.findTruncated()).toBeNull();
  write(20); // The check looks for the last frame that it saw only if the log has grown.
  interruptNext();
  expect(lengths.findTruncated()).toBeNull();
  expect(lengths.findTruncated()).toBeNull();
  other.close();
  file.close();
});
