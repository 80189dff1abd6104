import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { openDatabase } from "../../src/db/open.ts";
import { type TestApp, testApp } from "../support/app.ts";
import { expectError } from "../support/refusal.ts";
import { fillDisk, mountSmallDisk, unmountDisk } from "../support/small-disk.ts";

const mail = { to: "ada@example.com", from: "a@acme.test", subject: "Hi", body: "<p>Hi</p>" };
const template = { name: "n", subject: "s", body: "b", type: "TRANSACTIONAL" };
const unavailable = { status: 503, code: "SERVICE_UNAVAILABLE" };

describe("the health routes without a key", () => {
  test("/livez answers 200 even if the database is read-only", async () => {
    const t = await testApp();
    t.db.sqlite.run("PRAGMA query_only = ON");
    const answer = await t.call("GET", "/livez", undefined, { key: null });
    expect([answer.status, answer.body]).toEqual([200, { status: "ok" }]);
    t.db.sqlite.run("PRAGMA query_only = OFF");
    await t.close();
  });

  test("/readyz answers 200 while the queue runs, and 503 before and after", async () => {
    const t = await testApp();
    const ready = () => t.call("GET", "/readyz", undefined, { key: null });
    expectError(await ready(), unavailable);
    await t.app.start();
    expect(await ready()).toMatchObject({ status: 200, body: { status: "ok" } });
    await t.close();
    expectError(await ready(), unavailable);
  });
});

type Fault = { name: string; cause: (t: TestApp) => void; repair: (t: TestApp) => void };
const faults: Fault[] = [
  {
    name: "read-only storage",
    cause: (t) => t.db.sqlite.run("PRAGMA query_only = ON"),
    repair: (t) => t.db.sqlite.run("PRAGMA query_only = OFF"),
  },
  {
    name: "a full database",
    // SQLite raises the limit to the number of pages in use.
    cause: (t) => t.db.sqlite.run("PRAGMA max_page_count = 1"),
    repair: (t) => t.db.sqlite.run("PRAGMA max_page_count = 1000000"),
  },
];

for (const { name, cause, repair } of faults) {
  describe(name, () => {
    let t: TestApp;
    let contact: string;
    let stored: string;
    beforeAll(async () => {
      t = await testApp();
      contact = await t.create("/contacts", { email: "here@example.com" }, "id");
      stored = await t.create("/templates", template, "data.id");
      cause(t);
    });
    afterAll(async () => {
      repair(t);
      await t.close();
    });

    // These values are large enough to need new pages.
    const data = { x: "x".repeat(60_000) };
    const body = "x".repeat(200_000);
    const writes: [method: string, path: () => string, body: unknown][] = [
      ["POST", () => "/v1/send", { ...mail, body }],
      ["POST", () => "/v1/track", { email: "new@example.com", event: "x", data }],
      ["POST", () => "/contacts", { email: "new@example.com", data }],
      ["PATCH", () => `/contacts/${contact}`, { data }],
      ["POST", () => "/templates", { ...template, body }],
      ["PATCH", () => `/templates/${stored}`, { body }],
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

    test("reads still succeed", async () => {
      expect((await t.call("GET", `/contacts/${contact}`)).at("email")).toBe("here@example.com");
      expect((await t.call("GET", `/templates/${stored}`)).status).toBe(200);
    });

    test("invalid requests get their usual errors", async () => {
      expect((await t.call("POST", "/contacts", {})).status).toBe(422);
      expect((await t.call("POST", "/contacts", {}, { key: null })).status).toBe(401);
    });

    test("writes succeed after the repair, with the same idempotency key", async () => {
      const headers = { "idempotency-key": "again" };
      const write = () => t.call("POST", "/contacts", { email: "again@b.co", data }, { headers });
      expect((await write()).status).toBe(503);
      repair(t);
      const answer = await write();
      expect([answer.status, answer.headers.get("idempotency-replayed")]).toEqual([201, null]);
      cause(t);
    });
  });
}

test("/readyz answers 503 while the database accepts no writes", async () => {
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

describe.skipIf(disk === null)("a full disk (needs permission to mount a tmpfs)", () => {
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
    unmountDisk(folder);
  });

  const ready = async () => {
    const answer = await t.call("GET", "/readyz", undefined, { key: null });
    return [answer.status, answer.at("error.message")];
  };
  const send = (n: number) =>
    t.call("POST", "/v1/send", { ...mail, body: `${n}${"x".repeat(100_000)}` });

  test("refuses writes with 503, loses no accepted mail, and recovers when space is free", async () => {
    expect(await ready()).toEqual([200, undefined]);
    expect((await send(0)).status).toBe(200);
    fillDisk(filler);
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
});
