/** A server whose database files are damaged, deleted or replaced while it runs. */

import { afterEach, describe, expect, test } from "bun:test";
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type StorageFault, StorageFaultError } from "../../src/db/fault.ts";
import { type Db, openDatabase } from "../../src/db/open.ts";
import { createWriter, type Writer } from "../../src/db/writer.ts";
import { createLog, silentLog } from "../../src/lib/log.ts";
import { testApp } from "../support/app.ts";
import { cutShort, PAGE_BYTES, scramble, scrambleFrames } from "../support/damage.ts";
import { migratedImage } from "../support/database.ts";
import { settleEventLoop } from "../support/eventually.ts";
import { valueAt } from "../support/json.ts";
import { expectError } from "../support/refusal.ts";
import { ACCEPTED, DEFERRED, testTransport } from "../support/transport.ts";

const DAY = 24 * 60 * 60 * 1000;
const unavailable = { status: 503, code: "SERVICE_UNAVAILABLE" };
const mail = { to: "ada@example.com", from: "a@acme.test", subject: "Hi", body: "<p>Hi</p>" };
const FILES = ["mailstead.db", "mailstead.db-wal", "mailstead.db-shm", "lock"] as const;

const ends: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

const CONTACTS = `INSERT INTO contacts (id, project_seq, email, is_subscribed, data, created_at, updated_at)
  WITH numbers (n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM numbers WHERE n < 40)
  SELECT 'c' || n, 1, 'c' || n || '@example.com', 1,
    json_object('text', printf('%02000d', n)), 0, 0 FROM numbers`;

/** A database file of the server in a folder of its own, with a file that the server has open as well. */
async function openFile() {
  const parent = mkdtempSync(join(tmpdir(), "mailstead-fault-"));
  const folder = join(parent, "data");
  const file = join(folder, "mailstead.db");
  writeFileSync(join(parent, "other"), "");
  await Bun.write(join(folder, "lock"), "");
  await Bun.write(file, migratedImage());
  const db = openDatabase(file);
  db.files.add(join(folder, "lock"));
  ends.push(async () => rmSync(parent, { recursive: true, force: true }));
  return { db, folder, file };
}

/** The database of the server and its writer, with forty contacts in the log. */
async function startWriter() {
  const { db, folder, file } = await openFile();
  const writer = createWriter(db, silentLog);
  db.sqlite.run("INSERT INTO projects (seq, id, name, created_at) VALUES (1, 'p', 'acme', 0)");
  const insert = () => void db.sqlite.run(CONTACTS);
  await writer.write(insert);
  ends.push(async () => {
    await writer.drain().catch(() => undefined);
    db.sqlite.close();
  });
  const text = "SELECT sum(length(data)) FROM contacts";
  return {
    ...filesOf(db, folder, file, writer),
    /** Reads all contacts and changes one; resolves to the error. */
    change: () =>
      writer
        .write(() => {
          db.sqlite.query(text).get();
          db.sqlite.run("UPDATE contacts SET updated_at = updated_at + 1 WHERE id = 'c7'");
        })
        .then(
          () => null,
          (error: unknown) => error,
        ),
  };
}

function filesOf(
  db: Db,
  folder: string,
  file: string,
  writer: Pick<Writer, "drain" | "verifyFiles">,
) {
  return {
    db,
    folder,
    file,
    /** Copies all pages from the write-ahead log into the database file. */
    async checkpoint(): Promise<void> {
      await writer.drain();
      db.sqlite.run("PRAGMA wal_checkpoint(TRUNCATE)");
    },
    /** Makes the next statement read the files, as after a commit of another process. */
    dropPageCache: () => void db.sqlite.run("PRAGMA shrink_memory"),
    /** As once a second. */
    verify: () => writer.verifyFiles(),
  };
}

/** Starts an application on a database file, with a mail that waits for its next attempt. */
async function startWorld() {
  const { db, folder, file } = await openFile();
  const lines: string[] = [];
  const log = createLog({ level: "debug", format: "json", write: (line) => lines.push(line) });
  const transport = testTransport({ answer: DEFERRED });
  const t = await testApp({ db, folder, log, transport });
  ends.push(() => t.close().catch(() => undefined)); // The last writes after a fault are refused.
  await t.app.start();
  await t.app.writer.write(() => void db.sqlite.run(CONTACTS));
  expect((await t.call("POST", "/v1/send", mail)).status).toBe(200);
  await t.deliver();
  transport.answer = ACCEPTED;
  return {
    t,
    ...filesOf(db, folder, file, t.app.writer),
    transport,
    ready: () => t.call("GET", "/readyz", undefined, { key: null }),
    errors: () =>
      lines
        .map((line): unknown => JSON.parse(line))
        .filter((line) => valueAt(line, "level") === "error"),
  };
}

type World = Awaited<ReturnType<typeof startWorld>>;

/**
 * Expects that nothing is written, leased or sent any more, and that the reason was logged once.
 */
async function expectEnd(world: World, reason: string): Promise<void> {
  const { t, transport, ready, errors } = world;
  const answer = await ready();
  expectError(answer, unavailable);
  expect(answer.text("error.message")).toBe(reason);
  expect((await t.call("GET", "/livez", undefined, { key: null })).status).toBe(200);
  const bodies = {
    "/v1/send": mail,
    "/v1/track": { event: "x", email: "new@example.com" },
    "/contacts": { email: "new@example.com" },
  };
  for (const [path, body] of Object.entries(bodies)) {
    expectError(await t.call("POST", path, body), unavailable);
  }
  const handed = transport.handed.length;
  t.clock.advance(DAY);
  await settleEventLoop();
  expect(transport.handed.length).toBe(handed);
  expect(errors()).toHaveLength(1);
}

type Files = ReturnType<typeof filesOf>;
type Damage = (files: Files) => void | Promise<void>;

const onDatabase =
  (damage: (file: string) => void): Damage =>
  async ({ file, checkpoint }) => {
    await checkpoint();
    damage(file);
  };
const onLog =
  (damage: (file: string) => void): Damage =>
  ({ file }) =>
    damage(`${file}-wal`);

/** Damage that SQLite does not notice while the pages are in memory. */
const cuts: [name: string, damage: Damage][] = [
  ["half of its pages missing", onDatabase((file) => cutShort(file, 20 * PAGE_BYTES))],
  ["nothing left in it", onDatabase((file) => cutShort(file, 0))],
  ["half of its log missing", onLog((file) => cutShort(file, 30 * PAGE_BYTES))],
  ["nothing left in its log", onLog((file) => cutShort(file, 0))],
];
const damages: [name: string, damage: Damage][] = [
  ["random bytes in its pages", onDatabase((file) => scramble(file, PAGE_BYTES))],
  ["random bytes at its beginning", onDatabase((file) => scramble(file, 0))],
  ["random bytes in the pages of its log", onLog(scrambleFrames)],
  ["random bytes all over its log", onLog((file) => scramble(file, 0))],
  ...cuts,
];

/** Expects that no change is made any more. */
async function expectFault(
  { db, change }: Awaited<ReturnType<typeof startWriter>>,
  kind: StorageFault["kind"],
): Promise<void> {
  const error = await change();
  expect(error).toBeInstanceOf(StorageFaultError);
  expect(db.fault.current()?.kind).toBe(kind);
  expect(await change()).toBe(error);
}

describe("a database file with", () => {
  for (const [name, damage] of damages) {
    test(`${name} is a fault for ever, also if the bytes come back`, async () => {
      const world = await startWriter();
      const { folder, file, dropPageCache } = world;
      const sound = FILES.filter((each) => existsSync(join(folder, each))).map(
        (each) => [join(folder, each), readFileSync(join(folder, each))] as const,
      );
      await damage(world);
      dropPageCache();
      await expectFault(world, "damaged");
      expect(world.db.fault.current()?.file).toStartWith(file);
      for (const [path, bytes] of sound) writeFileSync(path, bytes, { flag: "r+" });
      dropPageCache();
      await expectFault(world, "damaged");
    });
  }

  for (const [name, damage] of cuts) {
    test(`${name} is noticed before SQLite reads it, also after later writes`, async () => {
      const world = await startWriter();
      const isLog = name.includes("log");
      if (!isLog) await world.checkpoint();
      expect(world.verify()).toBe(true);
      await damage(world);
      if (isLog) await world.change();
      expect(world.verify()).toBe(false);
      await expectFault(world, "damaged");
    });
  }
});

test("a damaged file ends all writing and sending permanently, and the operator gets the steps", async () => {
  const world = await startWorld();
  await world.checkpoint();
  scramble(world.file, PAGE_BYTES);
  world.dropPageCache();
  expectError(await world.t.call("POST", "/v1/send", mail), unavailable);
  await expectEnd(world, "The database is damaged.");
  const [line] = world.errors();
  expect(valueAt(line, "file")).toStartWith(world.file);
  expect(valueAt(line, "recovery")).toContain("mailstead check");
});

test("damage found by a read gets 503 without details, and ends all writing", async () => {
  const world = await startWorld();
  await world.checkpoint();
  scramble(world.file, PAGE_BYTES);
  world.dropPageCache();
  const answer = await world.t.call("GET", "/contacts?limit=100");
  expectError(answer, unavailable);
  expect(JSON.stringify(answer.body)).not.toMatch(/sqlite|malformed|mailstead\.db/i);
  await expectEnd(world, "The database is damaged.");
});

const displacements: [name: string, damage: Damage][] = [
  ["its folder was moved", ({ folder }) => renameSync(folder, `${folder}-moved`)],
  ["its folder was deleted", ({ folder }) => rmSync(folder, { recursive: true })],
  ...FILES.flatMap((name): [string, Damage][] => [
    [`${name} was deleted`, ({ folder }) => rmSync(join(folder, name))],
    [
      `${name} was replaced by a copy`,
      ({ folder }) => {
        copyFileSync(join(folder, name), join(folder, "copy"));
        renameSync(join(folder, "copy"), join(folder, name));
      },
    ],
  ]),
];

/** Every commit checks for these, because they would lose the next mail. */
const AT_ONCE = /^its folder|^mailstead\.db was|^mailstead\.db-wal was deleted/;

describe("after", () => {
  for (const [name, damage] of displacements) {
    test(`${name}, the next change and all later ones are refused`, async () => {
      const world = await startWriter();
      await damage(world);
      if (!AT_ONCE.test(name)) expect(world.verify()).toBe(false);
      await expectFault(world, "displaced");
    });
  }
});

test("a file that was moved away ends all writing and sending", async () => {
  const world = await startWorld();
  renameSync(world.folder, `${world.folder}-moved`);
  expectError(await world.t.call("POST", "/v1/send", mail), unavailable);
  await expectEnd(world, "A file of the database was deleted, moved or replaced.");
});

test("leased mail is not sent any more, and reads still succeed", async () => {
  const world = await startWorld();
  const { t, transport, folder } = world;
  transport.answer = null; // A mail is under way until the test ends it.
  for (let n = 0; n < 30; n++) {
    expect((await t.call("POST", "/v1/send", mail)).status).toBe(200);
  }
  await settleEventLoop();
  const [first] = transport.open();
  const handed = transport.handed.length;
  expect(t.countRows("emails WHERE status = 'QUEUED' OR status = 'SENDING'")).toBeGreaterThan(
    handed,
  );
  rmSync(join(folder, "mailstead.db"));
  expectError(await world.ready(), unavailable);
  first?.end(ACCEPTED);
  await settleEventLoop();
  expect(transport.handed.length).toBe(handed);
  expect((await t.call("GET", "/contacts")).status).toBe(200);
  for (const each of transport.open()) each.end(ACCEPTED);
});

test("/readyz answers 503 if the data folder cannot be examined", async () => {
  const t = await testApp({ folder: join(tmpdir(), `mailstead-nowhere-${crypto.randomUUID()}`) });
  ends.push(t.close);
  await t.app.start();
  const answer = await t.call("GET", "/readyz", undefined, { key: null });
  expectError(answer, unavailable);
  expect(answer.text("error.message")).toBe("The data folder cannot be examined.");
});

test("files that become shorter by VACUUM or a checkpoint are no damage", async () => {
  const { t, file, ready, errors, checkpoint } = await startWorld();
  await checkpoint();
  const other = openDatabase(file);
  other.sqlite.run("UPDATE contacts SET data = '{}'");
  const before = statSync(file).size;
  for (const statement of ["VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)"]) {
    await t.app.writer.drain();
    other.sqlite.run(statement);
    expect((await ready()).status).toBe(200);
    expect((await t.call("POST", "/v1/send", mail)).status).toBe(200);
  }
  expect(statSync(file).size).toBeLessThan(before);
  other.sqlite.close();
  expect(errors()).toEqual([]);
});
