import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDatabase } from "../../src/db/open.ts";
import { type TestApp, testApp } from "../support/app.ts";
import { expectError } from "../support/refusal.ts";

const mail = { to: "ada@example.com", from: "a@acme.test", subject: "Hi", body: "<p>Hi</p>" };
const template = { name: "n", subject: "s", body: "b", type: "TRANSACTIONAL" };
const unavailable = { status: 503, code: "SERVICE_UNAVAILABLE" };

describe("health, without a key", () => {
  test("/livez says that the process is up, whatever else is wrong", async () => {
    const t = await testApp();
    t.db.sqlite.run("PRAGMA query_only = ON");
    const answer = await t.call("GET", "/livez", undefined, { key: null });
    expect([answer.status, answer.body]).toEqual([200, { status: "ok" }]);
    t.db.sqlite.run("PRAGMA query_only = OFF");
    await t.close();
  });

  test("/readyz is 503 before the queue runs, 200 while it does, 503 after the stop", async () => {
    const t = await testApp();
    const ready = () => t.call("GET", "/readyz", undefined, { key: null });
    expectError(await ready(), unavailable);
    await t.app.start();
    expect(await ready()).toMatchObject({ status: 200, body: { status: "ok" } });
    await t.close();
    expectError(await ready(), unavailable);
  });
});

type Fault = { name: string; strike: (t: TestApp) => void; mend: (t: TestApp) => void };
const faults: Fault[] = [
  {
    name: "read-only storage",
    strike: (t) => t.db.sqlite.run("PRAGMA query_only = ON"),
    mend: (t) => t.db.sqlite.run("PRAGMA query_only = OFF"),
  },
  {
    name: "a full database",
    // SQLite makes it as small as it can: the pages that are in use.
    strike: (t) => t.db.sqlite.run("PRAGMA max_page_count = 1"),
    mend: (t) => t.db.sqlite.run("PRAGMA max_page_count = 1000000"),
  },
];

for (const { name, strike, mend } of faults) {
  describe(name, () => {
    let t: TestApp;
    let contact: string;
    let kept: string;
    beforeAll(async () => {
      t = await testApp();
      contact = await t.create("/contacts", { email: "here@example.com" }, "id");
      kept = await t.create("/templates", template, "data.id");
      strike(t);
    });
    afterAll(async () => {
      mend(t);
      await t.close();
    });

    // Large enough to need pages that are not there.
    const data = { x: "x".repeat(60_000) };
    const body = "x".repeat(200_000);
    const writes: [method: string, path: () => string, body: unknown][] = [
      ["POST", () => "/v1/send", { ...mail, body }],
      ["POST", () => "/v1/track", { email: "new@example.com", event: "x", data }],
      ["POST", () => "/contacts", { email: "new@example.com", data }],
      ["PATCH", () => `/contacts/${contact}`, { data }],
      ["POST", () => "/templates", { ...template, body }],
      ["PATCH", () => `/templates/${kept}`, { body }],
    ];
    for (const [method, path, body] of writes) {
      test(`${method} ${path().replace(/undefined/, "{id}")} is 503 and changes nothing`, async () => {
        const before = t.contents();
        const answer = await t.call(method, path(), body, { headers: { "idempotency-key": "k" } });
        expectError(answer, unavailable);
        expect(answer.headers.get("retry-after")).toBe("5");
        expect(t.contents()).toEqual(before);
      });
    }

    test("reading goes on", async () => {
      expect((await t.call("GET", `/contacts/${contact}`)).at("email")).toBe("here@example.com");
      expect((await t.call("GET", `/templates/${kept}`)).status).toBe(200);
    });

    test("what is refused anyway is refused as ever", async () => {
      expect((await t.call("POST", "/contacts", {})).status).toBe(422);
      expect((await t.call("POST", "/contacts", {}, { key: null })).status).toBe(401);
    });

    test("once it is mended, everything works again, with the same keys", async () => {
      const headers = { "idempotency-key": "again" };
      const write = () => t.call("POST", "/contacts", { email: "again@b.co", data }, { headers });
      expect((await write()).status).toBe(503);
      mend(t);
      const answer = await write();
      expect([answer.status, answer.headers.get("idempotency-replayed")]).toEqual([201, null]);
      strike(t);
    });
  });
}

test("/readyz says so when the database takes no writes, and when it does again", async () => {
  const t = await testApp();
  await t.app.start();
  const ready = async () => {
    const answer = await t.call("GET", "/readyz", undefined, { key: null });
    return [answer.status, answer.at("error.message")];
  };
  expect(await ready()).toEqual([200, undefined]);
  t.db.sqlite.run("PRAGMA query_only = ON");
  expect(await ready()).toEqual([503, "The database does not take writes."]);
  t.db.sqlite.run("PRAGMA query_only = OFF");
  expect(await ready()).toEqual([200, undefined]);
  await t.close();
});

const disk = mountSmallDisk();

describe.skipIf(disk === null)("a disk that is full (needs the right to mount a tmpfs)", () => {
  const folder = disk ?? "";
  const filler = join(folder, "filler");
  let t: TestApp;
  beforeAll(async () => {
    t = await testApp({ db: openDatabase(join(folder, "mailstead.db")), folder });
    await t.app.start();
  });
  afterAll(async () => {
    await t.close();
    t.db.sqlite.close();
    // Lazily: SQLite holds files open as long as statements live.
    Bun.spawnSync(["umount", "-l", folder]);
    rmSync(folder, { recursive: true, force: true });
  });

  const ready = async () => {
    const answer = await t.call("GET", "/readyz", undefined, { key: null });
    return [answer.status, answer.at("error.message")];
  };
  const send = (n: number) =>
    t.call("POST", "/v1/send", { ...mail, body: `${n}${"x".repeat(100_000)}` });

  test("refuses writes with 503, loses nothing that was accepted, and recovers with the space", async () => {
    expect(await ready()).toEqual([200, undefined]);
    expect((await send(0)).status).toBe(200);
    fill(filler);
    const statuses: number[] = [];
    for (let n = 1; n <= 60; n++) statuses.push((await send(n)).status);
    expect(statuses.at(-1)).toBe(503);
    expect(new Set(statuses)).toEqual(new Set([503]));
    expect(await ready()).toEqual([503, "The storage is full."]);
    expect(t.countRows("emails")).toBe(1);
    expect((await t.call("GET", "/contacts")).status).toBe(200);
    rmSync(filler);
    expect(await ready()).toEqual([200, undefined]);
    expect((await send(1)).status).toBe(200);
    expect(t.db.sqlite.query("PRAGMA integrity_check").get()).toEqual({ integrity_check: "ok" });
  });

  /** Writes until not one byte is left. */
  function fill(path: string): void {
    for (const size of [1 << 20, 1 << 12, 1]) {
      try {
        for (;;) writeFileSync(path, new Uint8Array(size), { flag: "a" });
      } catch (error) {
        if (!(error instanceof Error && "code" in error && error.code === "ENOSPC")) throw error;
      }
    }
  }
});

/** A folder on a disk of 32 MiB of its own; null where that is not allowed. */
function mountSmallDisk(): string | null {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return null;
  const folder = mkdtempSync(join(tmpdir(), "mailstead-disk-"));
  const { exitCode } = Bun.spawnSync(["mount", "-t", "tmpfs", "-o", "size=32m", "tmpfs", folder]);
  if (exitCode === 0) return folder;
  rmSync(folder, { recursive: true });
  return null;
}
