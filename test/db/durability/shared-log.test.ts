/**
 * The log beside a second process that reads in transactions and makes checkpoints, as replication
 * tools do. The second process runs each statement when the test asks for it, and the signs of it
 * happen at the times of the test's clock.
 */

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { statSync } from "node:fs";
import { createContention } from "../../../src/db/durability/contention.ts";
import { createDiskSync } from "../../../src/db/durability/disk-sync.ts";
import { createHoldReport } from "../../../src/db/durability/hold-report.ts";
import { readInstallationValue } from "../../../src/db/installation-values.ts";
import type { Db } from "../../../src/db/open.ts";
import { createWriter, type Writer } from "../../../src/db/writer.ts";
import { createLog } from "../../../src/lib/log.ts";
import { type ManualClock, manualClock } from "../../support/clock.ts";
import { migratedFile } from "../../support/database.ts";
import { waitUntil } from "../../support/eventually.ts";
import { valueAt } from "../../support/json.ts";
import { type OtherProcess, READ_THINGS, startOtherProcess } from "./other-process.ts";

/** Sizes for a log of some MiB. A pause allows several writes of `PAGES`, as in the server. */
const SIZES = { roundPages: 60, restartPages: 480, pausePages: 20, urgentPages: 960 };
const PAGES = 3;
const PAGE_BYTES = 4096;

let db: Db;
let file: string;
let clock: ManualClock;
let writer: Writer;
let lines: string[];
let report: ReturnType<typeof createHoldReport>;
let signs: number;
let written: number;

beforeEach(() => {
  db = migratedFile();
  file = db.sqlite.filename;
  db.sqlite.run("CREATE TABLE things (bytes BLOB)");
  clock = manualClock();
  lines = [];
  signs = 0;
  written = 0;
  const log = createLog({ level: "info", format: "json", write: (line) => lines.push(line) });
  const contention = createContention(clock.elapsed);
  const note = () => (signs++, contention.note());
  const disk = createDiskSync(db, { contention: { ...contention, note }, sizes: SIZES });
  writer = createWriter(db, log, disk);
  report = createHoldReport({ db, writer, clock, log });
});

afterEach(async () => {
  for (const other of others.splice(0)) await other.end();
  await writer.drain();
  db.sqlite.close();
});

const others: OtherProcess[] = [];

function startOther(busyMs: number): OtherProcess {
  const other = startOtherProcess(file, busyMs);
  others.push(other);
  return other;
}

/** Longer than a test may take: one in which a checkpoint waits for our read transaction fails. */
const PATIENT_MS = 60_000;

async function add(count = 1, pages = PAGES): Promise<void> {
  for (let i = 0; i < count; i++) {
    const insert = () =>
      void db.sqlite.run("INSERT INTO things VALUES (zeroblob(?))", [pages * PAGE_BYTES]);
    await writer.write(insert);
    written++;
  }
}

/**
 * Writes until `end`. A checkpoint that waits for our read transaction has the write lock, so the next
 * write must end that transaction.
 */
async function addUntil(end: Promise<unknown>): Promise<void> {
  const state = { isOver: false };
  void end.then(() => (state.isOver = true));
  while (!state.isOver) await add(5);
}

/** Lets time pass, with the check that runs every second. */
async function advance(seconds: number): Promise<void> {
  for (let i = 0; i < seconds; i++) {
    clock.advance(1_000);
    await report.check();
  }
}

const logPages = () => statSync(`${file}-wal`).size / (PAGE_BYTES + 24);
const messages = () => lines.map((line) => String(valueAt(JSON.parse(line), "message")));
const heldSince = () => readInstallationValue(db, "log_held_since");

/** Expects that the hold was reported once, and its end once when no sign follows. */
async function expectOneHold(): Promise<void> {
  expect(messages()).toEqual([
    expect.stringMatching(/another process holds the write-ahead log.*--durability sqlite/),
  ]);
  expect(heldSince()).toMatch(/^2026-03-02T10:00:0/);
  await advance(12);
  expect(heldSince()).toBeNull();
  expect(messages().slice(1)).toEqual(["no other process holds the write-ahead log any more"]);
  const count = db.sqlite.query("SELECT count(*) AS n FROM things").get();
  expect(count).toEqual({ n: written });
  expect(db.sqlite.query("PRAGMA integrity_check").values()).toEqual([["ok"]]);
}

const TOOLS: [what: string, tool: { reads: boolean; busyMs: number }][] = [
  ["reads, and makes checkpoints that wait for readers", { reads: true, busyMs: PATIENT_MS }],
  ["reads, and makes checkpoints that do not wait", { reads: true, busyMs: 0 }],
  ["only makes checkpoints", { reads: false, busyMs: PATIENT_MS }],
];

describe("a second process that", () => {
  test.each(TOOLS)(
    "%s: it is noticed once, writing goes on, the log stays short, and the end is noticed",
    async (_, { reads, busyMs }) => {
      const { run, beginRead, truncate } = startOther(busyMs);
      const before = statSync(file).size;
      await add(20);
      // The checkpoint of the first round is over, so its read transaction is open.
      await waitUntil(() => statSync(file).size > before);
      let longest = 0;
      for (let round = 0; round < 12; round++) {
        if (reads) await beginRead();
        await add(20);
        clock.advance(500);
        if (reads) await run("COMMIT");
        // After a sign no read transaction stays open, so a checkpoint needs no write to get on.
        await (signs > 0 && round % 2 === 1 ? truncate() : addUntil(truncate()));
        longest = Math.max(longest, logPages());
        await report.check();
      }
      expect(longest).toBeLessThan(2 * SIZES.urgentPages);
      await expectOneHold();
    },
  );

  test("keeps one read transaction open: it is noticed until it ends, also while little is written", async () => {
    const { run, beginRead } = startOther(0);
    await beginRead();
    while (heldSince() === null) {
      await add(10, 30);
      await advance(1);
    }
    expect(clock.elapsed()).toBeLessThan(10_000);
    expect(valueAt(JSON.parse(lines[0] ?? ""), "logMiB")).toBeGreaterThan(3);
    for (let second = 0; second < 30; second++) {
      const noted = signs;
      clock.advance(1_000);
      // A check does nothing while the round of the one before it is under way.
      await waitUntil(() => (void report.check(), signs > noted));
    }
    await run("COMMIT");
    await expectOneHold();
  });

  test("only reads for moments: it is not reported", async () => {
    const { run } = startOther(0);
    for (let i = 0; i < 60; i++) {
      await Promise.all([run(READ_THINGS), add()]);
      clock.advance(200);
      await report.check();
    }
    expect(messages()).toEqual([]);
  });
});

test("the value of a server that was killed during a hold is removed by the first check", async () => {
  const insert = "INSERT INTO installation_values VALUES ('log_held_since', '2026-01-01')";
  db.sqlite.run(insert);
  await report.check();
  expect([heldSince(), messages()]).toEqual([null, []]);
});
