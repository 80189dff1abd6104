/** Events are written to files for a data warehouse, each once, and stay until then. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { zstdDecompressSync } from "node:zlib";
import { openDatabase } from "../../src/db/open.ts";
import { testApp } from "../support/app.ts";
import { manualClock } from "../support/clock.ts";
import { mailstead } from "../support/command-line.ts";
import { stringAt } from "../support/json.ts";

const NOW = Date.parse("2027-01-31T14:30:00Z");

let parent: string;
let data: string;
let place: string;

const run = () => mailstead(["events", "export", "--data", data, "--events-to", place, "--json"]);
const files = () =>
  readdirSync(place, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".zst"))
    .toSorted();
const linesOf = (name: string): unknown[] =>
  zstdDecompressSync(readFileSync(join(place, name)))
    .toString()
    .trimEnd()
    .split("\n")
    .map((line): unknown => JSON.parse(line));

/** Runs a server on the data folder, and tracks an event with it. */
async function track(name: string, config: { eventsTo?: string } = {}): Promise<void> {
  const db = openDatabase(join(data, "mailstead.db"));
  const t = await testApp({ db, folder: data, clock: manualClock(NOW), config, project: name });
  await t.start();
  await t.call("POST", "/v1/track", {
    event: name,
    email: "ada@example.com",
    data: { plan: "a\n" },
  });
  await t.close();
  db.sqlite.close();
}

beforeAll(async () => {
  parent = mkdtempSync(join(tmpdir(), "event-export-"));
  [data = "", place = ""] = ["data", "events"].map((name) => join(parent, name));
  await mailstead(["project", "create", "Shop", "--data", data]);
});
afterAll(() => rmSync(parent, { recursive: true, force: true }));

test("each event is written once, in the order of the log", async () => {
  await track("first");
  expect((await run()).json).toMatchObject({ files: 1 });
  const [file = ""] = files();
  expect(file).toMatch(/^date=2027-01-31\/hour=14\/[0-9a-f]{8}-\d{15}\.ndjson\.zst$/);
  const written = linesOf(file);
  expect(written.at(-1)).toEqual({
    id: expect.any(String),
    createdAt: "2027-01-31T14:30:00.000Z",
    name: "first",
    projectId: expect.any(String),
    contactId: expect.any(String),
    email: "ada@example.com",
    emailId: null,
    data: { plan: "a\n" },
  });
  expect((await run()).json).toEqual({ files: 0, events: 0 });

  await track("second", { eventsTo: place });
  await run();
  const names = files()
    .flatMap(linesOf)
    .map((line) => stringAt(line, "name"));
  expect(names.filter((name) => name === "first" || name === "second")).toEqual([
    "first",
    "second",
  ]);
});

test("a server without --events-to keeps no events for an export", async () => {
  const readers = () => {
    const db = openDatabase(join(data, "mailstead.db"));
    const found = db.sqlite.query<{ name: string }, []>("SELECT name FROM readers").all();
    db.sqlite.close();
    return found.map(({ name }) => name);
  };
  expect(readers()).toContain("export");
  await track("third");
  expect(readers()).not.toContain("export");
});

test("without a place, the command says what it needs", async () => {
  const { code, stderr } = await mailstead(["events", "export", "--data", data]);
  expect(code).toBe(2);
  expect(stderr).toContain("--events-to is needed");
});
