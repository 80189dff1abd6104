/**
 * The log beside a second process that reads in transactions and makes checkpoints, as replication
 * tools do.
 */

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createContention } from "../../../src/db/durability/contention.ts";
import { createDiskSync } from "../../../src/db/durability/disk-sync.ts";
import { createHoldReport } from "../../../src/db/durability/hold-report.ts";
import { readInstallationValue } from "../../../src/db/installation-values.ts";
import { migrate } from "../../../src/db/migrate.ts";
import { type Db, openDatabase } from "../../../src/db/open.ts";
import { createWriter, type Writer } from "../../../src/db/writer.ts";
import { systemClock } from "../../../src/lib/clock.ts";
import { createLog } from "../../../src/lib/log.ts";
import { valueAt } from "../../support/json.ts";

const LIMITS = { noticeAfterMs: 1_000, minSigns: 3, overAfterMs: 5_000 };
const TEST_LIMIT_MS = 60_000;
const MIB = 1024 * 1024;

let folder: string;
let file: string;
let db: Db;
let writer: Writer;
let lines: string[];
let report: ReturnType<typeof createHoldReport>;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "mailstead-shared-"));
  file = join(folder, "mailstead.db");
  db = openDatabase(file);
  migrate(db.sqlite);
  db.sqlite.run("CREATE TABLE things (bytes BLOB)");
  lines = [];
  const log = createLog({ level: "info", format: "json", write: (line) => lines.push(line) });
  const disk = createDiskSync(db, createContention(systemClock.elapsed, LIMITS));
  writer = createWriter(db, log, disk);
  report = createHoldReport({ db, writer, clock: systemClock, log });
});

afterEach(async () => {
  await writer.drain();
  db.sqlite.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Starts a process that runs `script` with a connection `db` of its own. */
function startOther(script: string) {
  const source = `
    import { Database } from "bun:sqlite";
    const db = new Database(process.env.FILE);
    const read = () => db.query("SELECT count(*) FROM things").get();
    const truncate = (busyMs) => {
      db.run("PRAGMA busy_timeout = " + busyMs);
      return db.query("PRAGMA wal_checkpoint(TRUNCATE)").get();
    };
    ${script}`;
  return Bun.spawn([process.execPath, "-e", source], {
    env: { ...process.env, FILE: file },
    stdout: "pipe",
    stderr: "inherit",
  });
}

const add = (pages: number) =>
  writer.write(() => void db.sqlite.run("INSERT INTO things VALUES (zeroblob(?))", [pages * 4096]));

/** Writes and reports until the process ends. Returns the longest time of a write. */
async function writeBeside(other: ReturnType<typeof startOther>, pages: number) {
  let [writes, longestMs] = [0, 0];
  while (other.exitCode === null) {
    const startedAt = performance.now();
    await add(pages);
    longestMs = Math.max(longestMs, performance.now() - startedAt);
    writes++;
    await report.check();
    await Bun.sleep(10);
  }
  return { writes, longestMs };
}

async function reportUntil(isDone: () => boolean): Promise<void> {
  while (!isDone()) {
    await report.check();
    await Bun.sleep(50);
  }
}

const messages = () => lines.map((line) => String(valueAt(JSON.parse(line), "message")));
const heldSince = () => readInstallationValue(db, "log_held_since");

const ROUNDS_OF_CHECKPOINTS = "for (let i = 0; i < 80; i++)";
const ROUNDS = "for (let i = 0; i < 12; i++)";
const TOOLS: [what: string, script: string][] = [
  [
    "reads, and makes checkpoints that wait for readers",
    `${ROUNDS} { db.run("BEGIN"); read(); await Bun.sleep(250); db.run("COMMIT"); truncate(4000); }`,
  ],
  [
    "reads, and makes checkpoints that do not wait",
    `${ROUNDS} { db.run("BEGIN"); read(); await Bun.sleep(250); db.run("COMMIT"); truncate(0); }`,
  ],
  // It is noticed only when a checkpoint ends between a commit and the next one, so it runs longer.
  ["only makes checkpoints", `${ROUNDS_OF_CHECKPOINTS} { truncate(4000); await Bun.sleep(100); }`],
];

describe("a second process that", () => {
  test.each(TOOLS)(
    "%s: it is noticed once, writing goes on, the log stays short, and the end is noticed",
    async (_, script) => {
      const { writes, longestMs } = await writeBeside(startOther(script), 30);
      // A write that waits for a checkpoint, which waits for a reader of ours, takes 4 s.
      expect(longestMs).toBeLessThan(3_000);
      expect(messages()).toEqual([
        expect.stringMatching(/another process holds the write-ahead log.*--durability sqlite/),
      ]);
      expect(heldSince()).toMatch(/^20\d\d-/);
      expect(statSync(`${file}-wal`).size).toBeLessThan(100 * MIB);
      await reportUntil(() => heldSince() === null);
      expect(messages().slice(1)).toEqual(["no other process holds the write-ahead log any more"]);
      const count = db.sqlite.query("SELECT count(*) AS n FROM things").get();
      expect(count).toEqual({ n: writes });
      expect(db.sqlite.query("PRAGMA integrity_check").values()).toEqual([["ok"]]);
    },
    TEST_LIMIT_MS,
  );

  test(
    "keeps one read transaction open: it is noticed until it ends, also while little is written",
    async () => {
      const other = startOther(
        'db.run("BEGIN"); read(); console.log("reads"); await Bun.sleep(6000);',
      );
      await other.stdout.getReader().read();
      for (let i = 0; i < 160; i++) await add(30);
      await reportUntil(() => heldSince() !== null || other.exitCode !== null);
      expect(other.exitCode).toBeNull();
      expect(valueAt(JSON.parse(lines[0] ?? ""), "logMiB")).toBeGreaterThan(3);
      await reportUntil(() => other.exitCode !== null);
      expect(messages()).toHaveLength(1);
      await reportUntil(() => heldSince() === null);
      expect(messages()).toHaveLength(2);
    },
    TEST_LIMIT_MS,
  );

  test(
    "only reads for moments: it is not reported",
    async () => {
      const other = startOther("for (let i = 0; i < 150; i++) { read(); await Bun.sleep(20); }");
      await writeBeside(other, 30);
      expect(messages()).toEqual([]);
    },
    TEST_LIMIT_MS,
  );
});

test("the value of a server that was killed during a hold is removed by the first check", async () => {
  const insert = "INSERT INTO installation_values VALUES ('log_held_since', '2026-01-01')";
  db.sqlite.run(insert);
  await report.check();
  expect([heldSince(), messages()]).toEqual([null, []]);
});
