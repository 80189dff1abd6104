import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type TestResponse, type TestApp, testApp } from "../../support/app.ts";
import { valueAt, listAt } from "../../support/json.ts";
import { expectError } from "../../support/refusal.ts";

let t: TestApp;
beforeAll(async () => {
  t = await testApp();
});
afterAll(() => t.close());

const add = (body: unknown, rest = {}): Promise<TestResponse> =>
  t.call("POST", "/suppressions", body, rest);
const remove = (email: string): Promise<TestResponse> =>
  t.call("DELETE", `/suppressions/${encodeURIComponent(email)}`);

async function emails(query: string): Promise<unknown[]> {
  const answer = await t.call("GET", `/suppressions${query}`);
  expect(answer.status).toBe(200);
  return listAt(answer.body, "data.items").map((item) => valueAt(item, "email"));
}

async function statusOfMailTo(to: string): Promise<unknown> {
  const mail = { to, from: "a@acme.test", subject: "s", body: "<p>b</p>" };
  const id = await t.create("/v1/send", mail, "data.emails.0.email");
  return (await t.call("GET", `/emails/${id}`)).at("data.status");
}

describe("POST /suppressions", () => {
  test("suppresses mail to an address in any spelling", async () => {
    const answer = await add({ email: " Ada@Example.NET " });
    expect(answer.status).toBe(201);
    expect(answer.at("data")).toEqual({
      email: "ada@example.net",
      reason: "MANUAL",
      createdAt: "2026-03-02T10:00:00.000Z",
      expiresAt: null,
      cause: null,
    });
    expect(await statusOfMailTo("ADA@example.net")).toBe("SUPPRESSED");
  });

  test("stops a mail that was accepted before the suppression", async () => {
    const mail = { to: "late@example.net", from: "a@acme.test", subject: "s", body: "<p>b</p>" };
    const id = await t.create("/v1/send", mail, "data.emails.0.email");
    await add({ email: "late@example.net" });
    await t.deliver();
    expect((await t.call("GET", `/emails/${id}`)).at("data.status")).toBe("SUPPRESSED");
  });

  test("answers 200 for a suppressed address and keeps its first reason", async () => {
    expect((await add({ email: "twice@example.net", reason: "COMPLAINT" })).status).toBe(201);
    const again = await add({ email: "twice@example.net", reason: "MANUAL" });
    expect([again.status, again.at("data.reason")]).toEqual([200, "COMPLAINT"]);
  });
});

describe("POST /suppressions with emails", () => {
  test("suppresses each address once, and counts those that are new", async () => {
    await add({ email: "bulk-a@example.net", reason: "COMPLAINT" });
    const list = ["bulk-a@example.net", "BULK-B@example.net", "bulk-b@example.net", "c@bulk.test"];
    const answer = await add({ emails: list, reason: "HARD_BOUNCE" });
    expect([answer.status, answer.at("data")]).toEqual([201, { created: 2, existing: 1 }]);
    const again = await add({ emails: list });
    expect([again.status, again.at("data")]).toEqual([200, { created: 0, existing: 3 }]);
    expect(await statusOfMailTo("bulk-b@example.net")).toBe("SUPPRESSED");
    const shown = await t.call("GET", "/suppressions?email=bulk&reason=COMPLAINT");
    expect(shown.at("data.total")).toBe(1);
  });

  test.each([
    ["an invalid address", { emails: ["ok@example.net", "bad"] }, "emails.1"],
    ["no address", { emails: [] }, "emails"],
    ["too many addresses", { emails: Array.from({ length: 1_001 }, () => "a@x.io") }, "emails"],
    ["both forms", { email: "a@x.io", emails: ["b@x.io"] }, "emails"],
    ["neither form", { reason: "MANUAL" }, "email"],
  ])("refuses %s and changes nothing", async (_, body, field) => {
    const before = t.countRows("suppressions");
    const answer = await add(body);
    expect([answer.status, answer.at("error.errors.0.field")]).toEqual([422, field]);
    expect(t.countRows("suppressions")).toBe(before);
  });
});

describe("POST /suppressions/bulk", () => {
  const LIST = {
    suppressions: [
      { email: " List-A@Example.net ", reason: "HARD_BOUNCE" },
      { email: "list-b@example.net" },
      { email: "list-a@example.net", reason: "COMPLAINT" },
      { email: "list-c@" },
      { email: "list-kept@example.net", reason: "MANUAL" },
    ],
  };
  const COUNTS = {
    created: 2,
    existing: 1,
    repeated: 1,
    refused: [{ index: 3, email: "list-c@", message: expect.stringMatching(/./) }],
  };
  const list = (body: unknown, rest = {}) => t.call("POST", "/suppressions/bulk", body, rest);
  const stored = async () =>
    listAt((await t.call("GET", "/suppressions?email=list-")).body, "data.items").map((item) => [
      valueAt(item, "email"),
      valueAt(item, "reason"),
    ]);

  test("a dry run counts and names what is refused, and changes nothing", async () => {
    await add({ email: "list-kept@example.net", reason: "COMPLAINT" });
    const answer = await list({ ...LIST, dryRun: true });
    expect([answer.status, answer.at("data")]).toEqual([200, COUNTS]);
    expect(await stored()).toEqual([["list-kept@example.net", "COMPLAINT"]]);
  });

  test("suppresses the others of a list with a bad entry, and keeps what was suppressed", async () => {
    expect((await list(LIST)).at("data")).toEqual(COUNTS);
    expect(await stored()).toEqual([
      ["list-b@example.net", "MANUAL"],
      ["list-a@example.net", "HARD_BOUNCE"],
      ["list-kept@example.net", "COMPLAINT"],
    ]);
    expect((await list(LIST)).at("data")).toEqual({ ...COUNTS, created: 0, existing: 3 });
  });

  test.each([
    ["an unknown reason", { suppressions: [{ email: "a@x.io", reason: "OLD" }] }],
    ["a misspelt field", { suppressions: [{ emial: "a@x.io" }] }],
    ["no entry", { suppressions: [] }],
    ["too many", { suppressions: Array.from({ length: 1_001 }, () => ({ email: "a@x.io" })) }],
  ])("refuses %s and changes nothing", async (_, body) => {
    const before = t.countRows("suppressions");
    const answer = await list(body);
    expect([answer.status, t.countRows("suppressions")]).toEqual([422, before]);
    expect(answer.text("error.errors.0.field")).toMatch(/^suppressions/);
  });
});

describe("DELETE /suppressions/{email}", () => {
  test("allows mail to the address again", async () => {
    await add({ email: "back@example.net" });
    expect((await remove("Back@Example.net")).status).toBe(204);
    expect(await statusOfMailTo("back@example.net")).not.toBe("SUPPRESSED");
  });

  test.each(["a+b@example.net", '"a/b"@example.net', "grüße@example.net"])(
    "accepts %s in the path",
    async (email) => {
      expect((await add({ email })).status).toBe(201);
      const answer = await remove(email);
      expect([answer.status, answer.body]).toEqual([204, undefined]);
    },
  );

  test.each(["never@example.net", "no address", "%"])("answers 404 for %s", async (email) => {
    const answer = await remove(email);
    expectError(answer, { status: 404, code: "SUPPRESSION_NOT_FOUND" });
  });
});

describe("GET /suppressions", () => {
  test("filters newest first and pages correctly while rows are added and removed", async () => {
    for (let i = 0; i < 5; i++) {
      const reason = i % 2 === 0 ? "HARD_BOUNCE" : "COMPLAINT";
      await add({ email: `page${i}@list.test`, reason });
    }
    const all = [4, 3, 2, 1, 0].map((i) => `page${i}@list.test`);
    expect(await emails("?email=LIST.test")).toEqual(all);
    expect(await emails("?email=list.test&reason=COMPLAINT")).toEqual([
      "page3@list.test",
      "page1@list.test",
    ]);
    const first = await t.call("GET", "/suppressions?email=list.test&limit=2");
    expect([first.at("data.total"), first.at("data.hasMore")]).toEqual([5, true]);
    await remove("page2@list.test");
    await add({ email: "page5@list.test" });
    const cursor = first.text("data.nextCursor");
    expect(await emails(`?email=list.test&limit=2&cursor=${cursor}`)).toEqual([
      "page1@list.test",
      "page0@list.test",
    ]);
  });

  test("pages through more entries than one slice reads, with exact totals", async () => {
    const many = await t.makeProject("many");
    t.db.sqlite.run(`
      WITH RECURSIVE number (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM number WHERE i < 5000)
      INSERT INTO suppressions (project_seq, email, reason, created_at)
      SELECT (SELECT seq FROM projects WHERE name = 'many'), printf('c%04d@many.test', i),
             CASE WHEN i % 1000 = 0 THEN 'COMPLAINT' ELSE 'MANUAL' END, 0 FROM number`);
    const read = async (query: string) => {
      const answer = await t.call("GET", `/suppressions${query}`, undefined, {
        key: many.secretKey,
      });
      const items = listAt(answer.body, "data.items").map((item) => valueAt(item, "email"));
      return [
        answer.at("data.total"),
        answer.at("data.hasMore"),
        items,
        answer.at("data.nextCursor"),
      ];
    };
    expect((await read("?limit=1")).slice(0, 3)).toEqual([5000, true, ["c5000@many.test"]]);
    const [total, hasMore, items, cursor] = await read("?reason=COMPLAINT&limit=3");
    expect([total, hasMore, items]).toEqual([
      5,
      true,
      ["c5000@many.test", "c4000@many.test", "c3000@many.test"],
    ]);
    expect((await read(`?reason=COMPLAINT&limit=3&cursor=${String(cursor)}`)).slice(0, 3)).toEqual([
      5,
      false,
      ["c2000@many.test", "c1000@many.test"],
    ]);
    expect((await read("?email=0100@&reason=MANUAL")).slice(0, 3)).toEqual([
      1,
      false,
      ["c0100@many.test"],
    ]);
  });

  test("refuses a cursor that belongs to another list", async () => {
    for (let i = 0; i < 2; i++) {
      const template = { name: "n", subject: "s", body: "b", type: "MARKETING" };
      await t.create("/templates", template, "data.id");
    }
    const cursor = (await t.call("GET", "/templates?limit=1")).text("data.nextCursor");
    const answer = await t.call("GET", `/suppressions?cursor=${cursor}`);
    expectError(answer, {
      status: 422,
      code: "VALIDATION_ERROR",
      errors: [["cursor", "invalid_value"]],
    });
  });
});
