import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { type TestApp, testApp } from "../../support/app.ts";
import { expectError } from "../../support/refusal.ts";
import { contactsOf, imported } from "./upload.ts";

let t: TestApp;
beforeEach(async () => {
  t = await testApp();
});
afterEach(() => t.close());

const post = (body: object) => t.create("/contacts", body, "id");
const exported = async (query = "") => {
  const headers = { authorization: `Bearer ${t.secretKey}` };
  const url = `http://localhost/contacts/export${query}`;
  const response = await t.app.handle(new Request(url, { headers }));
  expect(response.status).toBe(200);
  return response.text();
};

describe("CSV", () => {
  test("of nobody is the header", async () => {
    expect(await exported()).toBe("email,subscribed\r\n");
  });

  test("has a column for every key, the most frequent first, oldest contact first", async () => {
    await post({ email: "ada@x.io", data: { plan: "pro", age: 36 } });
    await post({ email: "bob@x.io", subscribed: false, data: { plan: "free, forever" } });
    expect(await exported()).toBe(
      'email,subscribed,plan,age\r\nada@x.io,true,pro,36\r\nbob@x.io,false,"free, forever",\r\n',
    );
  });

  test("says what it is", async () => {
    const { headers } = await t.call("GET", "/contacts/export");
    expect(headers.get("content-type")).toBe("text/csv; charset=utf-8; header=present");
    expect(headers.get("content-disposition")).toBe('attachment; filename="contacts.csv"');
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("x-request-id")).not.toBeNull();
  });

  test("has nothing that a spreadsheet would run", async () => {
    const data = { a: "=1+1", "=b": "+1", c: "-1", d: "@x", e: "\t=1", f: -1 };
    await post({ email: "=cmd@x.io", data });
    const [header = "", record = ""] = (await exported()).split("\r\n");
    expect(header).toBe("email,subscribed,data.=b,a,c,d,e,f");
    expect(record).toBe(`'=cmd@x.io,true,'+1,'=1+1,'-1,'@x,"'\t=1",-1`);
  });
});

describe("NDJSON", () => {
  test("is a contact a line, as GET /contacts/{id} shows it", async () => {
    const ids = [
      await post({ email: "ada@x.io", data: { tags: ["a", { b: 1 }], text: "=1\n2" } }),
      await post({ email: "bob@x.io", subscribed: false }),
    ];
    const lines = (await exported("?format=ndjson")).trimEnd().split("\n");
    const shown = [];
    for (const id of ids) shown.push((await t.call("GET", `/contacts/${id}`)).body);
    expect(lines.map((line): unknown => JSON.parse(line))).toEqual(shown);
  });

  test("of nobody is empty", async () => {
    expect(await exported("?format=ndjson")).toBe("");
  });
});

test("takes the filters of the list", async () => {
  await post({ email: "ada@x.io" });
  await post({ email: "bob@x.io", subscribed: false });
  await post({ email: "carl@y.io" });
  const emails = async (query: string) =>
    [...(await exported(`?format=ndjson${query}`)).matchAll(/"email":"(\w+)@/g)].map(
      ([, who]) => who,
    );
  expect(await emails("")).toEqual(["ada", "bob", "carl"]);
  expect(await emails("&subscribed=true")).toEqual(["ada", "carl"]);
  expect(await emails("&subscribed=false")).toEqual(["bob"]);
  expect(await emails("&search=@X.")).toEqual(["ada", "bob"]);
  expect(await emails("&search=@x.&subscribed=true")).toEqual(["ada"]);
});

test("another project's contacts are not in it", async () => {
  const other = await t.makeProject("other");
  await t.call("POST", "/contacts", { email: "eve@x.io" }, { key: other.secretKey });
  await post({ email: "ada@x.io" });
  expect(await exported()).toBe("email,subscribed\r\nada@x.io,true\r\n");
});

test("an unknown format: 422", async () => {
  expectError(await t.call("GET", "/contacts/export?format=xml"), {
    status: 422,
    code: "VALIDATION_ERROR",
    errors: [["format", "invalid_value"]],
  });
});

test("what is exported as CSV comes back by an import as it was", async () => {
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
      "": i % 3 === 0 ? "007" : i,
      subscribed: "maybe",
      " ": 1,
    };
    await post({ email: `person-${i}@x.io`, subscribed: i % 2 === 0, data });
  }
  for (const value of ["=a@x.io", "+b@x.io", "-c@x.io", "'d@x.io"]) await post({ email: value });
  const before = contactsOf(t);
  const csv = await exported();
  const other = await testApp();
  const progress = await imported(other, csv);
  expect(progress.at("data")).toMatchObject({ status: "COMPLETED", failed: 0, errors: [] });
  expect(contactsOf(other)).toEqual(before);
  await other.close();
});

test("comes in pieces as fast as it is read, and stops when nobody reads on", async () => {
  const lines = Array.from({ length: 5000 }, (_, i) => `person-${i}@x.io,${"x".repeat(200)}`);
  await imported(t, `email,note\n${lines.join("\n")}\n`);
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
  expect((await exported()).split("\r\n").length).toBe(5002);
});
