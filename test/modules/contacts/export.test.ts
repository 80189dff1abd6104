import { beforeEach, describe, expect, test } from "bun:test";
import type { TestApp } from "../../support/app.ts";
import { projectPerTest } from "../../support/project-per-test.ts";
import { expectError } from "../../support/refusal.ts";
import { storedContacts, runImport } from "./upload.ts";

const projects = projectPerTest();
let t: TestApp;
beforeEach(async () => {
  t = await projects.next();
});

const post = (body: object) => t.create("/contacts", body, "id");
const exportContacts = async (query = "") => {
  const headers = { authorization: `Bearer ${t.secretKey}` };
  const url = `http://localhost/contacts/export${query}`;
  const response = await t.app.handle(new Request(url, { headers }));
  expect(response.status).toBe(200);
  return response.text();
};

describe("an export as CSV", () => {
  test("is only the header if there are no contacts", async () => {
    expect(await exportContacts()).toBe("email,subscribed\r\n");
  });

  test("has a column for each key, the most frequent first, and the oldest contact first", async () => {
    await post({ email: "ada@x.io", data: { plan: "pro", age: 36 } });
    await post({ email: "bob@x.io", subscribed: false, data: { plan: "free, forever" } });
    expect(await exportContacts()).toBe(
      'email,subscribed,plan,age\r\nada@x.io,true,pro,36\r\nbob@x.io,false,"free, forever",\r\n',
    );
  });

  test("has headers for type and file name", async () => {
    const { headers } = await t.call("GET", "/contacts/export");
    expect(headers.get("content-type")).toBe("text/csv; charset=utf-8; header=present");
    expect(headers.get("content-disposition")).toBe('attachment; filename="contacts.csv"');
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("x-request-id")).not.toBeNull();
  });

  test("contains no cell that a spreadsheet would run as a formula", async () => {
    const data = { a: "=1+1", "=b": "+1", c: "-1", d: "@x", e: "\t=1", f: -1 };
    await post({ email: "=cmd@x.io", data });
    const [header = "", record = ""] = (await exportContacts()).split("\r\n");
    expect(header).toBe("email,subscribed,data.=b,a,c,d,e,f");
    expect(record).toBe(`'=cmd@x.io,true,'+1,'=1+1,'-1,'@x,"'\t=1",-1`);
  });
});

describe("an export of contacts with many keys", () => {
  /** Stores contacts of which each has 1,000 keys that no other contact has. */
  const storeKeys = async (contacts: number) => {
    for (let i = 0; i < contacts; i++) {
      const keys = Array.from({ length: 1_000 }, (_, n) => [`key_${i}_${n}`, `value_${i}_${n}`]);
      await post({ email: `person-${i}@x.io`, data: Object.fromEntries(keys) });
    }
  };

  test("has a column for each of 10,000 keys as CSV; with more, only NDJSON is complete", async () => {
    await storeKeys(10);
    const csv = await exportContacts();
    expect(csv.slice(0, csv.indexOf("\r\n")).split(",")).toHaveLength(10_002);
    expect(csv.match(/value_\d+_\d+/g)).toHaveLength(10_000);
    await post({ email: "ada@x.io", data: { one_more: "last value" } });
    for (const query of ["", "?format=csv", "?search=person-1"]) {
      const answer = await t.call("GET", `/contacts/export${query}`);
      const errors = [["format", "invalid_value"]] as const;
      expectError(answer, { status: 422, code: "VALIDATION_ERROR", errors });
      expect(answer.text("error.message")).toBe(
        "format: must be ndjson: the contacts of this project have more than 10,000 data keys, " +
          "and a CSV file has a column for each",
      );
    }
    const ndjson = await exportContacts("?format=ndjson");
    expect(ndjson.match(/value_\d+_\d+|last value/g)).toHaveLength(10_001);
  });
});

describe("an export of a segment", () => {
  const condition = {
    logic: "AND",
    groups: [{ filters: [{ field: "data.plan", operator: "equals", value: "pro" }] }],
  };
  const createSegment = (body: object) => t.create("/segments", body, "data.id");

  test("has its members that meet the other filters, the oldest first", async () => {
    await post({ email: "ada@x.io", data: { plan: "pro" } });
    await post({ email: "bob@x.io", data: { plan: "free" } });
    await post({ email: "cleo@x.io", data: { plan: "pro" }, subscribed: false });
    const pro = await createSegment({ name: "Pro", condition });
    const list = await createSegment({ name: "List", type: "STATIC" });
    await t.call("POST", `/segments/${list}/members`, { emails: ["bob@x.io"] });
    const header = "email,subscribed,plan\r\n";
    expect(await exportContacts(`?segmentId=${pro}`)).toBe(
      `${header}ada@x.io,true,pro\r\ncleo@x.io,false,pro\r\n`,
    );
    expect(await exportContacts(`?segmentId=${pro}&subscribed=true`)).toBe(
      `${header}ada@x.io,true,pro\r\n`,
    );
    expect(await exportContacts(`?segmentId=${list}`)).toBe(`${header}bob@x.io,true,free\r\n`);
    expect(await exportContacts(`?segmentId=${list}&search=ada`)).toBe(header);
  });

  test("of more members than a page is complete", async () => {
    const count = 1_203;
    t.db.sqlite.run(`
      WITH RECURSIVE number (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM number WHERE i < ${count})
      INSERT INTO contacts (id, project_seq, email, is_subscribed, data, created_at, updated_at)
      SELECT 'c' || i, ${t.project.seq}, printf('c%05d@x.io', i), 1,
             '{"plan":"pro"}', 0, 0 FROM number`);
    const pro = await createSegment({ name: "Pro", condition });
    const lines = (await exportContacts(`?segmentId=${pro}`)).trimEnd().split("\r\n");
    expect([lines.length, lines[1], lines.at(-1)]).toEqual([
      count + 1,
      "c00001@x.io,true,pro",
      "c01203@x.io,true,pro",
    ]);
  });

  test("of another project or an unknown one is refused", async () => {
    const pro = await createSegment({ name: "Pro", condition });
    const other = await t.makeProject("other");
    const path = `/contacts/export?segmentId=${pro}`;
    const answer = await t.call("GET", path, undefined, { key: other.secretKey });
    expectError(answer, { status: 404, code: "SEGMENT_NOT_FOUND" });
    expectError(await t.call("GET", "/contacts/export?segmentId=none"), {
      status: 404,
      code: "SEGMENT_NOT_FOUND",
    });
  });
});

describe("an export as NDJSON", () => {
  test("has one contact per line, equal to the response of GET /contacts/{id}", async () => {
    const ids = [
      await post({ email: "ada@x.io", data: { tags: ["a", { b: 1 }], text: "=1\n2" } }),
      await post({ email: "bob@x.io", subscribed: false }),
    ];
    const lines = (await exportContacts("?format=ndjson")).trimEnd().split("\n");
    const shown = [];
    for (const id of ids) shown.push((await t.call("GET", `/contacts/${id}`)).body);
    expect(lines.map((line): unknown => JSON.parse(line))).toEqual(shown);
  });

  test("is empty if there are no contacts", async () => {
    expect(await exportContacts("?format=ndjson")).toBe("");
  });
});

test("an export accepts the filters of the list", async () => {
  await post({ email: "ada@x.io" });
  await post({ email: "bob@x.io", subscribed: false });
  await post({ email: "carl@y.io" });
  const emails = async (query: string) =>
    [...(await exportContacts(`?format=ndjson${query}`)).matchAll(/"email":"(\w+)@/g)].map(
      ([, name]) => name,
    );
  expect(await emails("")).toEqual(["ada", "bob", "carl"]);
  expect(await emails("&subscribed=true")).toEqual(["ada", "carl"]);
  expect(await emails("&subscribed=false")).toEqual(["bob"]);
  expect(await emails("&search=@X.")).toEqual(["ada", "bob"]);
  expect(await emails("&search=@x.&subscribed=true")).toEqual(["ada"]);
});

test("an export finds a part of an address in both spellings in which it may be stored", async () => {
  await post({ email: "ada@münchen.example" });
  await post({ email: "münchen@x.example" });
  await post({ email: "bob@x.example" });
  const lines = (await exportContacts("?format=ndjson&search=münchen")).trim().split("\n");
  expect(lines.map((line) => /"email":"([^"]+)"/.exec(line)?.[1])).toEqual([
    "ada@xn--mnchen-3ya.example",
    "münchen@x.example",
  ]);
});

test("an export does not contain contacts of another project", async () => {
  const other = await t.makeProject("other");
  await t.call("POST", "/contacts", { email: "eve@x.io" }, { key: other.secretKey });
  await post({ email: "ada@x.io" });
  expect(await exportContacts()).toBe("email,subscribed\r\nada@x.io,true\r\n");
});

test("an import of an exported CSV file restores the same contacts", async () => {
  const values = [
    "text",
    "",
    " ",
    "  padded  ",
    "true",
    "FALSE",
    "5",
    "-5",
    "007",
    "+4",
    ".5",
    "1e3",
    "1.50",
    "12345678901234567890",
    "1234567890123456",
    "0.30000000000000004",
    "1e-7",
    "1e+308",
    "-0",
    "Infinity",
    "-Infinity",
    "=1+1",
    "'=1",
    "'",
    "''",
    "'s-Gravenhage",
    "a,b;c\td",
    'say "hi"',
    "two\nlines",
    "two\r\nlines",
    "\rx",
    "-",
    "@",
    "null",
    "[1]",
    "Zoë 太郎 😀",
    "\u{feff}x",
    true,
    false,
    0,
    -1,
    1.5,
    123456789012345,
    -0.25,
    0.1 + 0.2,
    1 / 3,
    -1 / 3,
    1234567890123456,
    Number.MAX_SAFE_INTEGER,
    1e20,
    1e-7,
    1e308,
    -Number.MAX_VALUE,
    Number.MIN_VALUE,
    [],
    [1, "a", null],
    {},
    { a: { b: [1] } },
  ];
  for (const [i, value] of values.entries()) {
    const data = {
      value,
      [`only ${i}`]: value,
      "=formula": i,
      "data.x": i,
      "address.city": "Ulm",
      "a\\.b": "Bonn",
      weight: 1.234,
      "": i % 3 === 0 ? "007" : i,
      subscribed: "maybe",
      " ": 1,
    };
    await post({ email: `person-${i}@x.io`, subscribed: i % 2 === 0, data });
  }
  for (const value of ["=a@x.io", "+b@x.io", "-c@x.io", "'d@x.io"]) await post({ email: value });
  const before = storedContacts(t);
  const csv = await exportContacts();
  const other = await projects.next();
  const progress = await runImport(other, csv);
  expect(progress.at("data")).toMatchObject({ status: "COMPLETED", failed: 0, errors: [] });
  expect(storedContacts(other)).toEqual(before);
});

test("an export is produced in chunks while it is read, and stops when the client disconnects", async () => {
  t.db.sqlite.run(
    `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 5000)
     INSERT INTO contacts (id, project_seq, email, is_subscribed, data, created_at, updated_at)
     SELECT 'c-' || n, ?, 'person-' || n || '@x.io', 1,
            json_object('note', printf('%0200d', n)), 0, 0 FROM numbers`,
    [t.project.seq],
  );
  const request = new Request("http://localhost/contacts/export", {
    headers: { authorization: `Bearer ${t.secretKey}` },
  });
  const response = await t.app.handle(request);
  const reader = response.body?.getReader();
  const first = await reader?.read();
  const [size, done] = [first?.value?.byteLength ?? 0, first?.done];
  expect(done).toBe(false);
  expect(size).toBeGreaterThan(0);
  expect(size).toBeLessThan(500 * 300);
  await reader?.cancel();
  expect((await exportContacts()).split("\r\n").length).toBe(5002);
});
