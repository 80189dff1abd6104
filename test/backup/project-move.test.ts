/** A project is exported from one installation and imported into another one that has data of its own. */

import type { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { copyProject, SOURCE } from "../../src/backup/project-copy.ts";
import { LEFT_OUT, projectTables, SEALED } from "../../src/backup/project-tables.ts";
import { checkSteps } from "../../src/cli/check/steps.ts";
import { linkKeysOf } from "../../src/core/signed-ids.ts";
import { lockDataFolder } from "../../src/db/folder.ts";
import { openDatabase } from "../../src/db/open.ts";
import { deriveKey, unseal } from "../../src/lib/crypto.ts";
import { issueToken, recipientLinks } from "../../src/render/links.ts";
import { TEST_SECRET, type TestApp, testApp } from "../support/app.ts";
import { manualClock } from "../support/clock.ts";
import { mailstead } from "../support/command-line.ts";
import { migratedDatabase } from "../support/database.ts";
import { fillDatabase } from "../support/filled.ts";
import { stringAt } from "../support/json.ts";
import { type Answers, readAgain, readRecords } from "../support/records.ts";

/** Later than everything that the filled database has. */
const READ_AT = Date.parse("2030-01-01T00:00:00Z");

let parent: string;
let from: string;
let to: string;
let file: string;
let keyFile: string;
/** A secret key of the project, and the answers that it reads in the first installation. */
let key: string;
let answers: Answers;

const run = (...words: string[]) => mailstead([...words, "--json"]);
const importInto = (data: string, ...words: string[]) =>
  run("project", "import", file, "--key-file", keyFile, "--data", data, ...words);

function using<T>(data: string, use: (sqlite: Database) => T): T {
  const db = openDatabase(join(data, "mailstead.db"));
  try {
    return use(db.sqlite);
  } finally {
    db.sqlite.close();
  }
}

async function serving<T>(
  data: string,
  secret: string,
  use: (t: TestApp) => Promise<T>,
): Promise<T> {
  const db = openDatabase(join(data, "mailstead.db"));
  const clock = manualClock(READ_AT);
  const t = await testApp({ db, folder: data, secret, clock, project: "observer" });
  try {
    return await use(t);
  } finally {
    await t.close();
    db.sqlite.close();
  }
}

const secretOf = (data: string): string => readFileSync(join(data, "secret"), "utf8").trim();

/** A copy of the second installation, before the import. */
function copyOf(name: string): string {
  const data = join(parent, name);
  cpSync(to, data, { recursive: true });
  return data;
}

beforeAll(async () => {
  parent = mkdtempSync(join(tmpdir(), "project-move-"));
  from = join(parent, "from");
  to = join(parent, "to");
  file = join(parent, "acme.export");
  keyFile = join(parent, "key");
  mkdirSync(from, { mode: 0o700 });
  writeFileSync(join(from, "secret"), `${TEST_SECRET}\n`, { mode: 0o600 });
  const db = openDatabase(join(from, "mailstead.db"));
  await fillDatabase(db, from);
  db.sqlite.close();
  await run("domain", "add", "news.acme.test", "--project", "acme", "--data", from);
  key = stringAt(
    (await run("key", "create", "--project", "acme", "--data", from)).json,
    "key.text",
  );
  answers = await serving(from, TEST_SECRET, (t) =>
    readRecords((path) => t.call("GET", path, undefined, { key })),
  );
  const { json } = await run("project", "export", file, "--project", "acme", "--data", from);
  writeFileSync(keyFile, stringAt(json, "identity"));

  for (const name of ["First", "Second"]) await run("project", "create", name, "--data", to);
  // Other numbers for each table, so that a reference to the wrong table does not fit.
  using(to, (sqlite) => {
    const tables = sqlite
      .query<{ name: string }, []>(
        "SELECT name FROM sqlite_schema WHERE sql LIKE '%AUTOINCREMENT%'",
      )
      .all();
    tables.forEach(({ name }, i) => {
      sqlite.run("DELETE FROM sqlite_sequence WHERE name = ?", [name]);
      sqlite.run("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", [name, 1000 * (i + 1)]);
    });
    sqlite.run(
      "INSERT INTO readers (name, seq) SELECT name, seq FROM (SELECT 'workflows' AS name, seq FROM sqlite_sequence WHERE name = 'events')",
    );
  });
});
afterAll(() => rmSync(parent, { recursive: true, force: true }));

describe("each table", () => {
  const db = migratedDatabase();
  const tables = projectTables(db.sqlite);

  test("belongs to projects or stays", () => {
    const installation = [
      "alert_notices",
      "alerts",
      "direct_sites",
      "disk_samples",
      "installation_settings",
      "installation_values",
      "migrations",
      "mta_sts_policies",
      "passkeys",
      "purge_marks",
      "readers",
      "readiness",
      "recovery_codes",
      "sqlite_sequence",
      "system_mails",
      "totp_secrets",
      "user_sessions",
      "users",
    ];
    const all = db.sqlite
      .query<{ name: string }, []>("SELECT name FROM sqlite_schema WHERE type = 'table'")
      .all()
      .map(({ name }) => name);
    const known = [...tables.map(({ name }) => name), ...Object.keys(LEFT_OUT), ...installation];
    expect(known.toSorted()).toEqual(all.toSorted());
  });

  test("says to what each of its numbers refers", () => {
    const unknown = tables.flatMap(({ name, columns, references }) =>
      columns
        .filter((column) => /_seq$|cursor|audience_end/.test(column) && !(column in references))
        .map((column) => `${name}.${column}`),
    );
    expect(unknown).toEqual([]);
  });

  test("says which of its bytes are sealed", () => {
    const open = [
      "attachment_contents.bytes",
      "captured_messages.raw",
      "image_contents.bytes",
      "message_pieces.bytes",
      "received_pieces.bytes",
    ];
    const found = tables.flatMap(({ name }) =>
      db.sqlite
        .query<{ name: string }, [string]>(
          "SELECT name FROM pragma_table_info(?) WHERE type = 'BLOB'",
        )
        .all(name)
        .map((column) => `${name}.${column.name}`),
    );
    const sealed = SEALED.map(({ table, column }) => `${table}.${column}`);
    expect([...open, ...sealed].toSorted()).toEqual(found.toSorted());
  });
});

describe("an imported project", () => {
  let imported: string;
  let before: Record<string, unknown[]>;

  const rowsOfOthers = (data: string) =>
    using(data, (sqlite) =>
      Object.fromEntries(
        ["projects", "api_keys", "contacts", "emails"].map((table) => [
          table,
          sqlite
            .query(
              `SELECT * FROM ${table} WHERE ${table === "projects" ? "name <> 'acme'" : "project_seq IN (SELECT seq FROM projects WHERE name <> 'acme')"}`,
            )
            .all(),
        ]),
      ),
    );

  beforeAll(async () => {
    imported = copyOf("imported");
    before = rowsOfOthers(imported);
    const { code, stderr } = await importInto(imported);
    expect([code, stderr]).toEqual([0, ""]);
  });

  test("leaves the other projects as they were, and fits all checks", () => {
    expect(rowsOfOthers(imported)).toEqual(before);
    const findings = using(imported, (sqlite) => {
      return checkSteps(sqlite).flatMap(({ name, pieces }) =>
        pieces.flatMap(({ find }) => find()).map(({ id, finding }) => `${name}: ${id} ${finding}`),
      );
    });
    expect(findings).toEqual([]);
  });

  test("has the topics of its mail, and no other topic for one that was deleted", () => {
    const found = using(imported, (sqlite) =>
      sqlite
        .query<{ name: string | null; seq: number }, []>(
          `SELECT topics.name, min(messages.topic_seq, 0) AS seq
           FROM messages LEFT JOIN topics ON topics.seq = messages.topic_seq
           WHERE messages.topic_seq IS NOT NULL ORDER BY messages.seq`,
        )
        .all(),
    );
    expect(found).toEqual([
      { name: "Tips", seq: 0 },
      { name: null, seq: -1 },
    ]);
  });

  test("has its secrets sealed with the key of the installation", () => {
    using(imported, (sqlite) => {
      const opened = SEALED.flatMap(({ table, column, purpose }) => {
        const sealKey = deriveKey(secretOf(imported), purpose);
        return sqlite
          .query<{ sealed: Uint8Array }, []>(
            `SELECT ${column} AS sealed FROM ${table} WHERE ${column} IS NOT NULL`,
          )
          .all()
          .map(({ sealed }) => unseal(sealKey, sealed));
      });
      expect(opened.length).toBeGreaterThan(2);
      expect(opened).not.toContain(null);
    });
  });

  test("refuses its keys until it is enabled, and then shows every record as before", async () => {
    const secret = secretOf(imported);
    await serving(imported, secret, async (t) => {
      expect((await t.call("GET", "/contacts", undefined, { key })).status).toBe(403);
    });
    await run("project", "enable", "acme", "--data", imported);
    await serving(imported, secret, async (t) => {
      const get = (path: string) => t.call("GET", path, undefined, { key });
      expect(Object.keys(answers).length).toBeGreaterThan(50);
      for (const [path, answer] of Object.entries(answers)) {
        expect({ [path]: await readAgain(get, path, answer) }).toEqual({ [path]: answer });
      }
    });
  });

  test("opens the links in its mail, and those of no other project", async () => {
    await serving(imported, secretOf(imported), async (t) => {
      const mail = t.db.sqlite
        .query<{ id: string }, []>("SELECT id FROM emails WHERE contact_seq IS NOT NULL LIMIT 1")
        .get();
      const fields = { from: "a@observer.test", subject: "Hello", body: "<p>Hello</p>" };
      const other = await t.create(
        "/v1/send",
        { ...fields, to: "b@c.test" },
        "data.emails.0.email",
      );
      const statusOf = async (id: string) => {
        const { linkKey, trackingKey } = linkKeysOf(TEST_SECRET);
        const { manageUrl } = recipientLinks("", linkKey, id);
        const target = Buffer.from("https://shop.test/");
        const click = `/c/${issueToken(trackingKey, id, target)}/${target.toString("base64url")}`;
        const answers = [manageUrl, click].map((path) =>
          t.call("GET", path, undefined, { key: null }),
        );
        return (await Promise.all(answers)).map(({ status }) => status);
      };
      expect(await statusOf(mail?.id ?? "")).toEqual([200, 302]);
      expect(await statusOf(other)).toEqual([404, 404]);
    });
  });
});

describe("an import is refused", () => {
  const refusals: readonly (readonly [
    why: string,
    prepare: (data: string) => Promise<unknown> | void,
    words: string[],
    message: string,
  ])[] = [
    ["while a server runs", (data) => void lockDataFolder(data), [], "Another mailstead serves"],
    ["twice", (data) => importInto(data), [], "is in this installation already"],
    [
      "with the name of another project",
      () => undefined,
      ["--name", "First"],
      "Choose another name with --name",
    ],
    [
      "with a domain that another project has verified",
      (data) =>
        run("domain", "add", "acme.test", "--project", "First", "--verified", "--data", data),
      [],
      "has verified acme.test",
    ],
    ["of a project that is not there", () => undefined, ["--project", "x"], "has no project x"],
    [
      "while events wait for workflows",
      (data) =>
        using(data, (sqlite) => {
          sqlite.run("UPDATE readers SET seq = 0");
          sqlite.run(`INSERT INTO events (id, project_seq, name, created_at)
                      SELECT 'one', seq, 'x', 0 FROM projects WHERE name = 'First'`);
        }),
      [],
      "events of this installation wait",
    ],
  ];

  test.each(refusals)("%s, and nothing changes", async (why, prepare, words, message) => {
    const data = copyOf(why);
    await prepare(data);
    const count = () =>
      using(data, (sqlite) => sqlite.query("SELECT count(*) AS n FROM contacts").get());
    const before = count();
    const { code, stderr } = await importInto(data, ...words);
    expect(code).not.toBe(0);
    expect(stderr).toContain(message);
    expect(count()).toEqual(before);
    expect(existsSync(join(data, "import.partial"))).toBe(false);
  });
});

test("an import gets another name where its own is taken", async () => {
  const data = copyOf("renamed");
  await run("project", "create", "acme", "--data", data);
  expect((await importInto(data)).stderr).toContain("Choose another name with --name.");
  const { code, stderr } = await importInto(data, "--name", "acme, moved");
  expect([code, stderr]).toEqual([0, ""]);
  const names = using(data, (sqlite) =>
    sqlite.query<{ name: string }, []>("SELECT name FROM projects ORDER BY name").all(),
  );
  expect(names.map(({ name }) => name)).toEqual(["First", "Second", "acme", "acme, moved"]);
});

test("an export has no other project, and can be restored as an installation", async () => {
  const data = join(parent, "restored");
  await run("project", "create", "Other", "--data", from);
  const other = join(parent, "second.export");
  const { json } = await run("project", "export", other, "--project", "acme", "--data", from);
  const otherKey = join(parent, "second-key");
  writeFileSync(otherKey, stringAt(json, "identity"));
  const { code } = await run("restore", other, "--key-file", otherKey, "--data", data);
  expect(code).toBe(0);
  expect(using(data, (sqlite) => sqlite.query("SELECT name FROM projects").all())).toEqual([
    { name: "acme" },
  ]);
  expect((await run("check", "--data", data)).code).toBe(0);
});

test("an erasure under way goes on with the new numbers of its contact and its mails", () => {
  const running = join(parent, "running");
  cpSync(from, running, { recursive: true });
  const position = {
    phase: "CONTACT",
    underWay: [1, 2],
    table: 3,
    after: 40,
    last: 50,
    postponed: 1,
    tries: 0,
    isLogEmptied: null,
  };
  const sourceSeq = using(running, (sqlite) => {
    const seq = numberIn(sqlite, "SELECT seq AS n FROM projects WHERE name = 'acme'");
    for (const [id, more] of [
      ["in parts", { contact: 1 }],
      ["searching", { phase: "SEARCH" }],
    ] as const) {
      sqlite.run(
        `INSERT INTO erasures (id, project_seq, digest, state, actor_kind, counts, position, requested_at)
         VALUES (?, ?, '00', 'RUNNING', 'PERSON', '{}', ?, 1)`,
        [id, seq, JSON.stringify({ ...position, ...more })],
      );
    }
    return seq;
  });
  using(copyOf("erasure-target"), (sqlite) => {
    const last = (table: string) =>
      numberIn(sqlite, `SELECT seq AS n FROM sqlite_sequence WHERE name = '${table}'`);
    const [contacts, emails] = [last("contacts"), last("emails")];
    sqlite.run(`ATTACH ? AS ${SOURCE}`, [join(running, "mailstead.db")]);
    sqlite.transaction(() => copyProject(sqlite, { sourceSeq, name: "moved" }))();
    const find = "SELECT position FROM erasures WHERE id = ?";
    const positionOf = (id: string): unknown =>
      JSON.parse(sqlite.query<{ position: string }, [string]>(find).get(id)?.position ?? "null");
    const begun = {
      table: 0,
      after: 0,
      last: null,
      postponed: 0,
      underWay: [emails + 1, emails + 2],
    };
    expect(contacts).toBeGreaterThan(0);
    expect(positionOf("in parts")).toEqual({ ...position, ...begun, contact: contacts + 1 });
    expect(positionOf("searching")).toEqual({ ...position, ...begun, phase: "SEARCH" });
  });
});

const numberIn = (sqlite: Database, sql: string): number =>
  sqlite.query<{ n: number }, []>(sql).get()?.n ?? 0;
