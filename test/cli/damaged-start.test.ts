/**
 * Starts on data folders that are damaged or incomplete. Each fails with one sentence, or succeeds.
 */

import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { mailstead, startMailstead, stopServers } from "../support/command-line.ts";
import { TEST_SECRET } from "../support/app.ts";
import { cutShort, PAGE_BYTES, scramble, scramblePage } from "../support/damage.ts";
import { DATABASE_FILE, FIXTURES } from "../support/fixture.ts";
import { waitUntil } from "../support/eventually.ts";
import { valueAt, listAt, stringAt } from "../support/json.ts";

let parent: string;
let whole: string;
/** The same folder as a killed server leaves it, with a write-ahead log. */
let killed: string;

beforeAll(async () => {
  parent = mkdtempSync(join(tmpdir(), "mailstead-start-"));
  whole = join(parent, "whole");
  await mailstead(["project", "create", "Shop", "--data", whole]);
  const running = join(parent, "running");
  cpSync(whole, running, { recursive: true });
  const server = await serve(running);
  const url = stringAt(JSON.parse(server.greeting), "url");
  expect((await fetch(`${url}/readyz`)).status).toBe(200);
  killed = copyOf(running, "killed").data;
  await server.stop();
  expect(statSync(join(killed, "mailstead.db-wal")).size).toBeGreaterThan(0);
});

afterAll(async () => {
  await stopServers();
  rmSync(parent, { recursive: true, force: true });
});

const serve = (data: string) => startMailstead(["serve", "--data", data, "--port", "0", "--json"]);

/** Copies an installation and returns the path of its database file. */
function copyOf(origin: string, name: string): { data: string; file: string } {
  const data = join(parent, name);
  cpSync(origin, data, { recursive: true });
  return { data, file: join(data, "mailstead.db") };
}

type Case = { name: string; from: () => string; damage: (file: string) => void; message: RegExp };

const createTable = (file: string, table: string) => {
  const other = new Database(file, { create: true });
  other.run("PRAGMA journal_mode = WAL");
  if (table !== "") other.run(`CREATE TABLE ${table} (id INTEGER)`);
  other.close();
};

const cases: Case[] = [
  {
    name: "an empty database beside a secret",
    from: () => whole,
    damage: (file) => cutShort(file, 0),
    message: /mailstead\.db is empty.*newest backup/s,
  },
  {
    name: "an empty database without a secret",
    from: () => whole,
    damage: (file) => {
      cutShort(file, 0);
      rmSync(join(file, "../secret"));
    },
    message: /mailstead\.db is empty/,
  },
  {
    name: "an empty database with a log",
    from: () => killed,
    damage: (file) => cutShort(file, 0),
    message: /mailstead\.db is empty/,
  },
  {
    name: "a log whose database is missing",
    from: () => killed,
    damage: (file) => rmSync(file),
    message: /mailstead\.db is missing, but its log .*mailstead\.db-wal is there/,
  },
  {
    name: "a text file",
    from: () => whole,
    damage: (file) => writeFileSync(file, "To be restored by Bob.\n".repeat(1_000)),
    message: /mailstead\.db is not an SQLite database/,
  },
  {
    name: "a text file with a log",
    from: () => killed,
    damage: (file) => writeFileSync(file, "To be restored by Bob.\n".repeat(1_000)),
    message: /mailstead\.db is not an SQLite database/,
  },
  {
    name: "a database of another program",
    from: () => whole,
    damage: (file) => {
      rmSync(file);
      createTable(file, "things");
    },
    message: /mailstead\.db is not a database of Mailstead/,
  },
  {
    name: "a database without any table",
    from: () => whole,
    damage: (file) => {
      rmSync(file);
      createTable(file, "");
    },
    message: /mailstead\.db is not a database of Mailstead/,
  },
  {
    name: "a database that was cut short",
    from: () => whole,
    damage: (file) => cutShort(file, 50 * PAGE_BYTES),
    message: /mailstead\.db is damaged.*newest backup.*mailstead check/s,
  },
  {
    name: "random bytes in the pages of the database",
    from: () => whole,
    damage: (file) => scramble(file, PAGE_BYTES),
    message: /mailstead\.db is damaged/,
  },
  {
    name: "a folder with the name of the database",
    from: () => whole,
    damage: (file) => {
      rmSync(file);
      mkdirSync(file);
    },
    message: /mailstead\.db is not a file/,
  },
  {
    name: "a database of a newer version",
    from: () => whole,
    damage: (file) => {
      const sqlite = new Database(file);
      sqlite.run("INSERT INTO migrations VALUES ('9999_future', 0)");
      sqlite.close();
    },
    message: /written by a newer Mailstead.*9999_future/,
  },
];

describe("a start fails with one sentence and exit code 1 on", () => {
  for (const { name, from, damage, message } of cases) {
    test(name, async () => {
      const { data, file } = copyOf(from(), name);
      damage(file);
      const before = readdirSync(data).toSorted();
      const ran = await Promise.all(
        [
          ["serve", "--port", "0"],
          ["dev", "--port", "0"],
          ["project", "list"],
        ].map((words) => mailstead([...words, "--data", data])),
      );
      for (const { code, stdout, stderr } of ran) {
        expect([code, stdout]).toEqual([1, ""]);
        expect(stderr).toStartWith("mailstead: ");
        expect(stderr).toMatch(message);
        expect(stderr).not.toMatch(/^\s+at /m);
      }
      const made = readdirSync(data).filter((each) => !before.includes(each));
      expect(made.filter((each) => !/^(lock|mailstead\.db-)/.test(each))).toEqual([]);
    });
  }

  test("a database that was cut short and has a log", async () => {
    const { data, file } = copyOf(killed, "cut with log");
    cutShort(file, 50 * PAGE_BYTES);
    const { code, stderr } = await mailstead(["serve", "--port", "0", "--data", data]);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/mailstead\.db is damaged/)]);
  });

  test("damage that only the queue reads", async () => {
    const { data, file } = copyOf(whole, "damaged queue");
    const sqlite = new Database(file);
    const root = sqlite
      .query<{ rootpage: number }, []>(
        "SELECT rootpage FROM sqlite_schema WHERE name = 'emails_queue'",
      )
      .get()?.rootpage;
    sqlite.close();
    const bytes = readFileSync(file);
    const start = ((root ?? 0) - 1) * PAGE_BYTES;
    writeFileSync(file, bytes.fill(0xff, start, start + PAGE_BYTES));
    const { code, stdout, stderr } = await mailstead(["serve", "--port", "0", "--data", data]);
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(/^mailstead: .*mailstead\.db is damaged/m);
    expect(stderr).not.toMatch(/^\s+at /m);
  });

  test("a damaged database, which the doctor reports as well", async () => {
    const { data, file } = copyOf(whole, "examined");
    scramble(file, PAGE_BYTES);
    // No DNS server runs at this address, because this test needs only the checks of the folder.
    const ran = await mailstead(["doctor", "--data", data, "--dns", "127.0.0.1:9"]);
    expect([ran.code, ran.stdout]).toEqual([
      1,
      expect.stringMatching(/^fail {2}data folder: .*mailstead\.db is damaged/m),
    ]);
    expect(ran.stdout).not.toContain("a bug in Mailstead");
  });

  test("an empty database, with JSON output", async () => {
    const { data, file } = copyOf(whole, "in JSON");
    cutShort(file, 0);
    const { code, stderr } = await mailstead(["project", "list", "--json", "--data", data]);
    expect([code, valueAt(JSON.parse(stderr), "error.code")]).toEqual([1, "DATA_FOLDER"]);
  });

  test("an unusable lock file, which is not reported as another server", async () => {
    const { data } = copyOf(whole, "bad lock");
    writeFileSync(join(data, "lock"), "x".repeat(1_000));
    const { code, stderr } = await mailstead(["serve", "--port", "0", "--data", data]);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/lock cannot be used.*database/s)]);
  });
});

describe("the next start completes a first start that was killed after", () => {
  const states: [name: string, make: (data: string) => void][] = [
    ["the secret was created", () => {}],
    ["the lock was created", (data) => writeFileSync(join(data, "lock"), "")],
    [
      "the database was started",
      (data) => writeFileSync(join(data, "mailstead.db.new"), "SQLite format 3\0"),
    ],
    [
      "the database was written, but not yet renamed",
      (data) => {
        for (const ending of ["", "-wal", "-shm"]) {
          const origin = join(killed, `mailstead.db${ending}`);
          if (existsSync(origin)) copyFileSync(origin, join(data, `mailstead.db.new${ending}`));
        }
      },
    ],
  ];
  for (const [name, make] of states) {
    test(name, async () => {
      const data = join(parent, name);
      mkdirSync(data);
      const secret = `${"s".repeat(43)}\n`;
      writeFileSync(join(data, "secret"), secret);
      make(data);
      const server = await serve(data);
      const listed = await mailstead(["project", "list", "--json", "--data", data]);
      expect([listed.code, listAt(listed.json, "projects")]).toEqual([0, []]);
      expect((await server.stop()).code).toBe(0);
      expect(readFileSync(join(data, "secret"), "utf8")).toBe(secret);
      expect(readdirSync(data).filter((each) => each.includes(".new"))).toEqual([]);
    });
  }

  test("an older version started its schema", async () => {
    const data = join(parent, "older");
    mkdirSync(data);
    writeFileSync(join(data, "secret"), `${"s".repeat(43)}\n`);
    const sqlite = new Database(join(data, "mailstead.db"), { create: true });
    sqlite.run("PRAGMA journal_mode = WAL");
    sqlite.run("CREATE TABLE migrations (name TEXT PRIMARY KEY, applied_at INTEGER NOT NULL)");
    sqlite.close();
    expect((await mailstead(["project", "create", "Shop", "--data", data])).code).toBe(0);
  });
});

/** Tables and indexes of a filled database whose first page the server reads when it starts. */
const READ_AT_START = [
  "campaigns",
  "contacts",
  "emails",
  "events",
  "projects",
  "webhooks",
  "webhook_deliveries",
  "dkim_keys_selector",
  "domains_due",
  "emails_queue",
  "jobs_status",
  "webhook_deliveries_due",
  "workflow_executions_due",
];

describe("a filled database with one damaged page", () => {
  let filled: string;

  beforeAll(async () => {
    filled = join(parent, "filled");
    mkdirSync(filled, { mode: 0o700 });
    const packed = readFileSync(join(FIXTURES, "0.1.0", DATABASE_FILE));
    writeFileSync(join(filled, "mailstead.db"), Bun.gunzipSync(packed));
    writeFileSync(join(filled, "secret"), `${TEST_SECRET}\n`);
    expect((await mailstead(["migrate", "--data", filled])).code).toBe(0);
  });

  test.each(READ_AT_START)(
    "%s: the log names the file, without a stack, and the server ends",
    async (name) => {
      const { data, file } = copyOf(filled, `page-${name}`);
      const sqlite = new Database(file);
      const root = sqlite
        .query<{ page: number }, [string]>(
          "SELECT rootpage AS page FROM sqlite_schema WHERE name = ?",
        )
        .get(name);
      sqlite.close();
      scramblePage(file, root?.page ?? 0);
      const log = await logOfStart(data);
      expect(log).toContain("mailstead.db is damaged");
      expect(log).not.toMatch(/^\s+at |src\/[\w/-]+\.ts:\d+|Bun v/m);
    },
  );
});

/** The log of a server that refuses to start, or that finds the damage afterwards. */
async function logOfStart(data: string): Promise<string> {
  try {
    const server = await serve(data);
    await waitUntil(() => server.log().includes("is damaged"));
    return (await server.stop()).log;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
