/** The database of before an upgrade is put back, also after an interruption at any place. */

import { afterEach, beforeEach, expect, test } from "bun:test";
import { Database } from "bun:sqlite";
import {
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readQueueHold } from "../../src/outbox/queue-hold.ts";
import {
  finishRollback,
  isRollbackUnfinished,
  readRollbackResult,
  requestRollback,
  requireNoRollback,
} from "../../src/upgrade/rollback.ts";
import { startMailstead } from "../support/command-line.ts";
import { migratedImage } from "../support/database.ts";

const NOW = Date.UTC(2026, 0, 2, 10);
const EVENT = `INSERT INTO events (id, project_seq, name, created_at) VALUES ('e', 1, 'n', 0)`;
const MAIL = `INSERT INTO emails (id, project_seq, message_seq, source, subject, status, priority, created_at)
              VALUES ('m', 1, 1, 'TRANSACTIONAL', 's', 'QUEUED', 0, 0)`;

let data: string;
let copy: string;
let aside: string;
const file = (name: string) => join(data, name);

/** The newer database, whose log was not copied into it: its server was killed. */
function writeNewer(...statements: string[]): void {
  const source = join(data, "source.db");
  writeFileSync(source, migratedImage());
  const sqlite = new Database(source);
  for (const sql of [
    "PRAGMA journal_mode = WAL",
    "PRAGMA wal_autocheckpoint = 0",
    "PRAGMA foreign_keys = OFF",
    "CREATE TABLE newer (seq INTEGER PRIMARY KEY)",
    ...statements,
  ]) {
    sqlite.run(sql);
  }
  copyFileSync(source, file("mailstead.db"));
  copyFileSync(`${source}-wal`, file("mailstead.db-wal"));
  sqlite.close();
  rmSync(source);
}

function isNewer(path: string): boolean {
  const sqlite = new Database(path);
  const found = sqlite.query("SELECT 1 FROM sqlite_schema WHERE name = 'newer'").get() !== null;
  sqlite.close();
  return found;
}

beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), "mailstead-rollback-"));
  mkdirSync(join(data, "upgrade/stopped"), { recursive: true });
  copy = join(data, "upgrade/stopped/mailstead.db");
  writeFileSync(copy, migratedImage());
  requestRollback(data, "2.0.0", NOW);
  aside = join(data, "newer-2.0.0-20260102T100000Z");
});
afterEach(() => rmSync(data, { recursive: true }));

function heldSince(): number | null {
  const sqlite = new Database(file("mailstead.db"));
  const since = readQueueHold({ sqlite });
  sqlite.close();
  return since;
}

test.each<[string, string[], { acceptedMails: number | null; isHeld: boolean }]>([
  ["and goes on if nothing happened", [], { acceptedMails: 0, isHeld: false }],
  ["and holds the queue after an event", [EVENT], { acceptedMails: 0, isHeld: true }],
  [
    "and counts the mails that are only in the newer one",
    [MAIL],
    { acceptedMails: 1, isHeld: true },
  ],
  [
    "and holds the queue if the newer one cannot be counted",
    ["ALTER TABLE events RENAME TO happenings"],
    { acceptedMails: null, isHeld: true },
  ],
])("the copy is put in place %s", (_, statements, expected) => {
  writeNewer(...statements);
  const result = finishRollback(data, NOW);
  expect(result).toEqual({ ...expected, keptAt: aside });
  expect([isNewer(file("mailstead.db")), isNewer(join(aside, "mailstead.db"))]).toEqual([
    false,
    true,
  ]);
  expect(heldSince()).toBe(expected.isHeld ? NOW : null);
  expect(isRollbackUnfinished(data)).toBe(false);
  expect(readRollbackResult(data)).toEqual(result);
  expect(finishRollback(data, NOW)).toBeNull();
});

/** The steps of the start in order: an interruption leaves the first ones done. */
const STEPS: readonly (readonly [string, () => void])[] = [
  ["before its beginning", () => {}],
  ["with the folder", () => mkdirSync(aside)],
  ["with the second name", () => linkSync(file("mailstead.db"), join(aside, "mailstead.db"))],
  [
    "with the log moved",
    () => renameSync(file("mailstead.db-wal"), join(aside, "mailstead.db-wal")),
  ],
  ["with the copy in place", () => renameSync(copy, file("mailstead.db"))],
];

test.each(STEPS.map(([name], last) => [name, last] as const))(
  "a start that was killed %s is continued by the next one",
  (_, last) => {
    writeNewer(MAIL);
    for (const [, step] of STEPS.slice(0, last + 1)) step();
    finishRollback(data, NOW);
    expect([isNewer(file("mailstead.db")), isNewer(join(aside, "mailstead.db"))]).toEqual([
      false,
      true,
    ]);
    const kept = new Database(join(aside, "mailstead.db"));
    expect(kept.query("SELECT id FROM emails").all()).toEqual([{ id: "m" }]);
    kept.close();
    expect([existsSync(copy), isRollbackUnfinished(data)]).toEqual([false, false]);
  },
);

test("a damaged request changes nothing", () => {
  writeNewer();
  const before = readFileSync(file("mailstead.db"));
  writeFileSync(join(data, "upgrade/rollback.json"), '{"version":"2.0.0","aside":"../elsewhere"}');
  expect(() => finishRollback(data, NOW)).toThrow("rollback.json is damaged");
  expect(readFileSync(file("mailstead.db")).equals(before)).toBe(true);
});

test("the start of a server puts it back, and commands before it say so", async () => {
  writeNewer(EVENT);
  writeFileSync(file("secret"), `${"s".repeat(43)}\n`);
  expect(() => requireNoRollback(data)).toThrow("An upgrade was interrupted");
  const server = await startMailstead(["serve", "--data", data, "--port", "0", "--json"]);
  const { code, log } = await server.stop();
  expect([code, log]).toEqual([0, expect.stringContaining("before the upgrade was put back")]);
  expect([isNewer(file("mailstead.db")), isNewer(join(aside, "mailstead.db"))]).toEqual([
    false,
    true,
  ]);
});
