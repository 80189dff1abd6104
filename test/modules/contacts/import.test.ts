import { beforeEach, describe, expect, test } from "bun:test";
import type { TestApp } from "../../support/app.ts";
import { settleEventLoop } from "../../support/eventually.ts";
import { listAt, stringAt } from "../../support/json.ts";
import { projectPerTest } from "../../support/project-per-test.ts";
import { expectError } from "../../support/refusal.ts";
import { storedContacts, waitForJob, runImport, upload } from "./upload.ts";

const projects = projectPerTest();
let t: TestApp;
beforeEach(async () => {
  t = await projects.next();
});

const now = () => new Date(t.clock.now()).toISOString();
const MIB = 1024 * 1024;

/** Imports `file` and returns address, subscription and data of all contacts. */
async function importAndList(file: string | Uint8Array, fields: Record<string, string> = {}) {
  const progress = await runImport(t, file, { fields });
  expect(progress.at("data.status")).toBe("COMPLETED");
  return storedContacts(t).map(({ email, subscribed, data }) => [email, subscribed, data]);
}

const latin1 = (text: string) => Buffer.from(text, "latin1");
const utf16 = (text: string) => Buffer.from(`\u{feff}${text}`, "utf16le");

describe("an import reads", () => {
  const cases: [name: string, file: string | Uint8Array, contacts: unknown[]][] = [
    ["only a header", "email,plan\n", []],
    ["only addresses", "email\nada@example.com\n", [["ada@example.com", true, {}]]],
    [
      "an address that is normalized",
      "email\n  ADA@Example.COM \n",
      [["ada@example.com", true, {}]],
    ],
    [
      "true, 1, yes and false, 0, no",
      "email,subscribed\na@x.io,true\nb@x.io,1\nc@x.io,YES\nd@x.io,False\ne@x.io,0\nf@x.io,no\ng@x.io,\n",
      [
        ["a@x.io", true, {}],
        ["b@x.io", true, {}],
        ["c@x.io", true, {}],
        ["d@x.io", false, {}],
        ["e@x.io", false, {}],
        ["f@x.io", false, {}],
        ["g@x.io", true, {}],
      ],
    ],
    [
      "semicolons, CRLF, a byte order mark of UTF-8, quotes and newlines",
      '\u{feff}"email";"note"\r\nada@x.io;"one\r\ntwo; ""three"""\r\n',
      [["ada@x.io", true, { note: 'one\r\ntwo; "three"' }]],
    ],
    [
      "Windows-1252",
      Buffer.concat([latin1("email,price\nada@x.io,5 "), Buffer.from([0x80, 0x0a])]),
      [["ada@x.io", true, { price: "5 €" }]],
    ],
    [
      "UTF-16 without a byte order mark",
      utf16("email\nada@x.io\n").subarray(2),
      [["ada@x.io", true, {}]],
    ],
    ["UTF-16", utf16("email\tname\nada@x.io\tZoë\n"), [["ada@x.io", true, { name: "Zoë" }]]],
    [
      "columns of JSON",
      'email,json:tags,json:n\nada@x.io,"[1,{""a"":null}]",null\n',
      [["ada@x.io", true, { tags: [1, { a: null }] }]],
    ],
    [
      "blank lines, rows of empty cells, and an unnamed column",
      "\nemail,plan,\n\nada@x.io,pro,ignored\n,,\n\n",
      [["ada@x.io", true, { plan: "pro" }]],
    ],
    [
      "an address twice: the last row wins, and keys of only the first row stay",
      "email,plan,city\nada@x.io,free,Rome\nbob@x.io,free,\nADA@x.io,pro,\n",
      [
        ["ada@x.io", true, { plan: "pro", city: "Rome" }],
        ["bob@x.io", true, { plan: "free" }],
      ],
    ],
    [
      "international addresses",
      "email\nзоя@пример.рф\n",
      [["зоя@xn--e1afmkfd.xn--p1ai", true, {}]],
    ],
  ];
  test.each(cases)("%s", async (_, file, contacts) => {
    expect<unknown[]>(await importAndList(file)).toEqual(contacts);
  });
});

describe("an existing contact", () => {
  beforeEach(async () => {
    const data = { plan: "free", city: "Rome" };
    await t.call("POST", "/contacts", { email: "ada@x.io", subscribed: false, data });
    t.clock.advance(1000);
  });

  test("keeps values without a column, in particular that it is unsubscribed", async () => {
    expect(await importAndList("email,plan\nada@x.io,pro\n", { subscribed: "true" })).toEqual([
      ["ada@x.io", false, { plan: "pro", city: "Rome" }],
    ]);
    expect(t.eventNames()).toEqual([]);
  });

  test("keeps values whose cells are empty", async () => {
    expect(await importAndList("email,subscribed,plan,city\nada@x.io,,,Bonn\n")).toEqual([
      ["ada@x.io", false, { plan: "free", city: "Bonn" }],
    ]);
  });

  test("stays unsubscribed although its row says that it is subscribed, which is counted", async () => {
    const progress = await runImport(t, "email,subscribed,plan\nada@x.io,yes,pro\n");
    expect(progress.at("data")).toMatchObject({ updated: 1, keptUnsubscribed: 1, suppressed: 0 });
    expect(storedContacts(t)).toEqual([
      { email: "ada@x.io", subscribed: false, data: { plan: "pro", city: "Rome" } },
    ]);
    expect(t.eventNames()).toEqual([]);
  });

  test("is subscribed if its row and the request say so, with the event", async () => {
    const fields = { resubscribe: "true" };
    expect(await importAndList("email,subscribed\nada@x.io,yes\n", fields)).toEqual([
      ["ada@x.io", true, { plan: "free", city: "Rome" }],
    ]);
    expect(t.eventNames()).toEqual(["contact.subscribed"]);
  });

  test("is unsubscribed if its row says so, with the event", async () => {
    await t.call("POST", "/contacts", { email: "ada@x.io", subscribed: true });
    await importAndList("email,subscribed\nada@x.io,no\n");
    expect(t.eventNames()).toEqual(["contact.subscribed", "contact.unsubscribed"]);
  });

  test("without a change keeps its updatedAt and counts as updated", async () => {
    const progress = await runImport(t, "email,plan\nada@x.io,free\n");
    expect(progress.body).toMatchObject({ data: { created: 0, updated: 1, failed: 0 } });
    const { body } = await t.call("GET", "/contacts?search=ada");
    expect(stringAt(body, "contacts.0.updatedAt")).toBe(stringAt(body, "contacts.0.createdAt"));
    expect(stringAt(body, "contacts.0.createdAt")).not.toBe(now());
  });

  test("is not changed by the import of another project", async () => {
    const other = await t.makeProject("other");
    await t.start();
    const { secretKey: key } = other;
    const answer = await upload(t, "email,plan\nada@x.io,pro\n", { key });
    const jobId = answer.text("data.jobId");
    expect((await waitForJob(t, jobId)).status).toBe(404);
    const progress = await t.call("GET", `/contacts/import/${jobId}`, undefined, { key });
    expect(progress.at("data.created")).toBe(1);
    expect(storedContacts(t).map(({ data }) => data)).toEqual([{ plan: "free", city: "Rome" }]);
  });
});

test("records the event of each new subscribed contact", async () => {
  await runImport(t, "email,subscribed\na@x.io,\nb@x.io,no\nc@x.io,yes\na@x.io,\n");
  expect(t.eventNames()).toEqual(["contact.subscribed", "contact.subscribed"]);
  const names = await t.call("GET", "/events");
  expect(names.at("data.total")).toBe(2);
  const byEmail = await t.call("GET", "/events?email=a@x.io");
  expect(byEmail.at("data.total")).toBe(1);
});

test("records the events of repeated addresses in the order of their rows", async () => {
  await t.call("POST", "/contacts", { email: "ada@x.io" });
  const file = "email,subscribed\nada@x.io,no\nbob@x.io,yes\nada@x.io,yes\nbob@x.io,no\n";
  await runImport(t, file, { fields: { resubscribe: "true" } });
  const eventsOf = (email: string) =>
    t.db.sqlite
      .query<{ name: string }, [string, number]>(
        `SELECT name FROM events JOIN contacts ON contacts.seq = contact_seq
         WHERE email = ? AND contacts.project_seq = ? ORDER BY events.seq`,
      )
      .all(email, t.project.seq)
      .map(({ name }) => name.replace("contact.", ""));
  expect(eventsOf("ada@x.io")).toEqual(["subscribed", "unsubscribed", "subscribed"]);
  expect(eventsOf("bob@x.io")).toEqual(["subscribed", "unsubscribed"]);
  const subscriptions = storedContacts(t).map(({ email, subscribed }) => [email, subscribed]);
  expect(subscriptions).toEqual([
    ["ada@x.io", true],
    ["bob@x.io", false],
  ]);
});

test("subscribed=false makes new contacts without a value in the file unsubscribed", async () => {
  expect(
    await importAndList("email,subscribed\na@x.io,\nb@x.io,yes\n", { subscribed: "false" }),
  ).toEqual([
    ["a@x.io", false, {}],
    ["b@x.io", true, {}],
  ]);
});

test("accepts mapping and subscribed in the query, but a form field wins", async () => {
  const mapping = JSON.stringify({ Mail: "email", Plan: "data.tier", Notes: null });
  const query = `?subscribed=false&mapping=${encodeURIComponent(mapping)}`;
  const file = "Mail,Plan,Notes\nada@x.io,pro,secret\n";
  expect((await runImport(t, file, { query })).at("data.status")).toBe("COMPLETED");
  expect(storedContacts(t)).toEqual([
    { email: "ada@x.io", subscribed: false, data: { tier: "pro" } },
  ]);
  const fields = { mapping: JSON.stringify({ Mail: "email" }), subscribed: "true" };
  await runImport(t, "Mail,Plan\nbob@x.io,pro\n", { query, fields });
  expect(storedContacts(t)[1]).toEqual({
    email: "bob@x.io",
    subscribed: true,
    data: { Plan: "pro" },
  });
});

test("accepts a key with an escaped dot in a mapping", async () => {
  const mapping = JSON.stringify({ City: "data.address\\.city" });
  expect(await importAndList("email,City,a.b\nada@x.io,Ulm,c\n", { mapping })).toEqual([
    ["ada@x.io", true, { "address.city": "Ulm", "a.b": "c" }],
  ]);
});

describe("the progress of an import", () => {
  test("is QUEUED without counts until the job starts", async () => {
    const answer = await upload(t, "email\nada@x.io\n");
    expect(answer.status).toBe(202);
    const jobId = answer.text("data.jobId");
    expect(answer.body).toEqual({ success: true, data: { jobId } });
    const progress = await t.call("GET", `/contacts/import/${jobId}`);
    expect([progress.status, progress.body]).toEqual([
      200,
      {
        success: true,
        data: {
          id: jobId,
          status: "QUEUED",
          processed: 0,
          total: null,
          created: 0,
          updated: 0,
          failed: 0,
          suppressed: 0,
          keptUnsubscribed: 0,
          unchanged: 0,
          resubscribed: 0,
          unsubscribed: 0,
          createdSubscribed: 0,
          topicsJoined: 0,
          topicsLeft: 0,
          keptOutOfTopics: 0,
          left: [],
          dryRun: false,
          encoding: "utf-8",
          delimiter: null,
          columns: [],
          notes: [],
          preview: [],
          problems: [],
          questions: [],
          options: { mapping: {}, statuses: {}, resubscribe: false },
          fileName: "contacts.csv",
          fileExpiresAt: null,
          errors: [],
          createdAt: now(),
          finishedAt: null,
        },
      },
    ]);
  });

  test("says that a column named as a field of the service is left out, and stores it elsewhere", async () => {
    const file = "email,id,unsubscribeUrl,data.id\nada@x.io,C-7,x,y\n";
    const progress = await runImport(t, file, {
      fields: { mapping: JSON.stringify({ unsubscribeUrl: null }) },
    });
    expect(storedContacts(t)[0]?.data).toEqual({});
    const advice =
      "is not imported, because the service sets this field itself. Map it to another name, such as " +
      "data.externalId, to store it, or to null.";
    expect(progress.at("data.notes")).toEqual([
      `The column id ${advice}`,
      `The column data.id ${advice}`,
    ]);
    const mapping = JSON.stringify({
      id: "data.externalId",
      unsubscribeUrl: null,
      "data.id": null,
    });
    const kept = await runImport(t, file, { fields: { mapping } });
    expect(storedContacts(t)[0]?.data).toEqual({ externalId: "C-7" });
    expect(kept.at("data.notes")).toEqual([]);
  });

  test("reports the result of each line", async () => {
    const file = [
      "email,subscribed,json:x",
      "ada@x.io,,",
      "not an address,,",
      ",yes,",
      "bob@x.io,maybe,",
      'carl@x.io,no,"{"',
      "dora@x.io,,,more",
      "eve\0@x.io,,",
      'fay@x.io,"y"es,',
      "ada@x.io,no,1",
      'gus@x.io,,"""\\u0000"""',
      `hal@x.io,,"""${"x".repeat(64 * 1024)}"""`,
      "",
      'ida@x.io,"',
    ];
    const progress = await runImport(t, file.join("\n"));
    expect(progress.at("data")).toMatchObject({
      status: "COMPLETED",
      processed: 12,
      total: 12,
      created: 1,
      updated: 1,
      failed: 10,
      finishedAt: now(),
      errors: [
        { line: 3, message: "The address has no @." },
        { line: 4, message: "The email is empty." },
        { line: 5, message: "subscribed must be true, 1, yes, false, 0 or no." },
        { line: 6, message: "The value of x is not JSON." },
        { line: 7, message: "The row has more values than columns." },
        { line: 8, message: "The row contains a NUL character." },
        { line: 9, message: "A quote inside a quoted value must be doubled." },
        { line: 11, message: "The value of x cannot be stored." },
        { line: 12, message: expect.stringContaining("64 KiB") },
        { line: 14, message: "A quote opens a value here and is never closed." },
      ],
    });
  });

  test("reports a JSON number beyond the range of a double, which is text in other columns", async () => {
    const file = "email,json:x,y\nada@x.io,[1e400],\nbob@x.io,[1],1e400\n";
    expect((await runImport(t, file)).at("data.errors")).toEqual([
      { line: 2, message: "The value of x cannot be stored." },
    ]);
    expect(storedContacts(t).map(({ data }) => data)).toEqual([{ x: [1], y: "1e400" }]);
  });

  test("counts all invalid rows and reports the first 100, by line", async () => {
    const lines = Array.from({ length: 300 }, (_, i) => (i % 2 === 0 ? "bad" : `p${i}@x.io`));
    const progress = await runImport(t, `email\n${lines.join("\n")}\n`);
    expect(progress.at("data")).toMatchObject({ processed: 300, created: 150, failed: 150 });
    const reported = listAt(progress.body, "data.errors");
    expect(reported.length).toBe(100);
    expect(reported[0]).toMatchObject({ line: 2 });
    expect(reported[99]).toMatchObject({ line: 200 });
  });

  test("reports bytes that are not valid UTF-8 as an error of their line only", async () => {
    const good = Array.from({ length: 50 }, (_, i) => `zoë${i}@x.io,Zoë`).join("\n");
    const file = Buffer.concat([
      Buffer.from(`email,name\n${good}\nbad@x.io,`),
      Buffer.from([0xe9]),
      Buffer.from("\nlast@x.io,Ünï\n"),
    ]);
    const progress = await runImport(t, file);
    expect(progress.at("data")).toMatchObject({
      created: 51,
      failed: 1,
      errors: [
        {
          line: 52,
          message: "The row contains bytes that are not valid in the encoding of the file.",
        },
      ],
    });
  });

  test("is FAILED after 1000 lines with broken quotes, and earlier rows stay imported", async () => {
    const progress = await runImport(t, `email\nada@x.io\n${'"x"y\n'.repeat(1500)}`);
    expect(progress.at("data")).toMatchObject({ status: "FAILED", created: 1, failed: 1000 });
    expect(listAt(progress.body, "data.errors")[0]).toEqual({
      line: null,
      message: "More than 1000 lines have broken quotes. The rest was not read.",
    });
  });

  test("is 404 for an unknown job and for a job of another kind", async () => {
    await t.start();
    const bulk = await t.call("POST", "/contacts/bulk", { action: "delete", ids: ["x"] });
    for (const id of ["nothing", bulk.text("data.jobId")]) {
      const refusal = { status: 404, code: "JOB_NOT_FOUND" };
      expectError(await t.call("GET", `/contacts/import/${id}`), refusal);
    }
  });
});

describe("the type of a column", () => {
  test("is text for all rows if one late cell is no number in its shortest form", async () => {
    const rows = Array.from({ length: 6_000 }, (_, i) => `p${i}@x.io,1\n`).join("");
    const progress = await runImport(t, `email,version\n${rows}last@x.io,1.10\n`);
    expect(progress.at("data.columns.1.type")).toBe("text");
    const types = new Set(storedContacts(t).map(({ data }) => JSON.stringify(data)));
    expect(types).toEqual(new Set(['{"version":"1"}', '{"version":"1.10"}']));
  });

  test("is named by a mapping, and a value that cannot be read is an error of its line", async () => {
    const mapping = JSON.stringify({ zip: "text:zip", price: "number:price", day: "date:day" });
    const file = `email;zip;price;day
a@x.io;80331;1.299,00;31.12.2029
b@x.io;10115;free;01.02.2030
c@x.io;10115;5;soon
`;
    const progress = await runImport(t, file, { fields: { mapping } });
    expect(progress.at("data.errors")).toEqual([
      { line: 3, message: 'The value "free" of price is no number.' },
      { line: 4, message: 'The value "soon" of day is no date.' },
    ]);
    expect(storedContacts(t).map(({ data }) => data)).toEqual([
      { zip: "80331", price: 1299, day: "2029-12-31" },
    ]);
  });

  test("has errors without the value where the name is one of a secret, because viewers read them", async () => {
    const mapping = JSON.stringify({ pin: "number:pin", "Reset code": "date:resetCode" });
    const file = "email,pin,Reset code\na@x.io,abc,\nb@x.io,12,hunter\n";
    const progress = await runImport(t, file, { fields: { mapping } });
    expect(progress.at("data.errors")).toEqual([
      { line: 2, message: "The value of pin is no number." },
      { line: 3, message: "The value of resetCode is no date." },
    ]);
  });

  test("that a file does not show is asked for before the first row is written", async () => {
    const mapping = JSON.stringify({ day: "date:day" });
    const file = "email,day\na@x.io,01/02/2030\n";
    const refused = await runImport(t, file, { fields: { mapping } });
    expect([refused.at("data.status"), refused.text("data.errors.0.message")]).toEqual([
      "FAILED",
      "The file has a column day that can be read with the day or the month first: say it in dateOrder.",
    ]);
    await runImport(t, file, { fields: { mapping, dateOrder: "MDY" } });
    expect(storedContacts(t).map(({ data }) => data)).toEqual([{ day: "2030-01-02" }]);
  });

  test("is the same after an export, also for texts that look like numbers or dates", async () => {
    const people = [
      { a: "5", b: 5, c: "true", d: "15.06.2030", e: "19.90", f: "x", g: [1] },
      { a: "6", b: 5.5, c: "false", d: "16.06.2030", e: "5", f: 5, g: "y" },
    ];
    for (const [i, data] of people.entries()) {
      await t.call("POST", "/contacts", { email: `p${i}@x.io`, data });
    }
    const exported = await t.call("GET", "/contacts/export");
    t.db.sqlite.run("DELETE FROM contacts WHERE project_seq = ?", [t.project.seq]);
    await runImport(t, String(exported.body));
    expect<unknown[]>(storedContacts(t).map(({ data }) => data)).toEqual(people);
  });

  test.each([
    ["encoding", "klingon"],
    ["dateOrder", "YDM"],
    ["decimalSeparator", ";"],
  ])("is refused with an unknown %s", async (field, value) => {
    const answer = await upload(t, "email\na@x.io\n", { fields: { [field]: value } });
    expect([answer.status, answer.at("error.errors.0.field")]).toEqual([422, field]);
  });
});

describe("an import of a large file", () => {
  test("accepts many rows in any order, a third of them twice", async () => {
    const count = 3000;
    const lines = Array.from({ length: count }, (_, i) => {
      const person = (i * 7919) % (count - 1000);
      return `person-${person}@x.io,${i}`;
    });
    const progress = await runImport(t, `email,n\n${lines.join("\n")}\n`);
    expect(progress.at("data")).toMatchObject({
      status: "COMPLETED",
      processed: count,
      total: count,
      created: 2000,
      updated: 1000,
    });
    const last = new Map(lines.map((line) => [line.split(",")[0], Number(line.split(",")[1])]));
    const found = storedContacts(t);
    expect(found.length).toBe(2000);
    for (const { email, data } of found) expect(data).toEqual({ n: last.get(email) });
    const listed = await t.call("GET", "/contacts?limit=1");
    expect(listed.at("total")).toBe(2000);
  });

  test("reports a line of several MiB as one error", async () => {
    const progress = await runImport(t, `email,x\na@x.io,${"x".repeat(3 * MIB)}\nb@x.io,1\n`);
    expect(progress.at("data")).toMatchObject({
      status: "COMPLETED",
      created: 1,
      failed: 1,
      errors: [{ line: 2, message: "The line is longer than 1 MiB." }],
    });
  });
});

describe("POST /contacts/import refuses", () => {
  const valid = "email\nada@x.io\n";
  type Errors = [field: string, code: string][];
  const invalid = (errors: Errors) => ({ status: 422, code: "VALIDATION_ERROR", errors });

  const files: [name: string, file: string | Uint8Array, errors: Errors][] = [
    ["an empty file", "", [["file", "invalid_format"]]],
    ["no column for the address", "plan,name\npro,Ada\n", [["file", "required"]]],
    ["a header with NUL", "email,a\0b\n", [["file", "invalid_format"]]],
    ["a first line of several MiB", `email,${"x".repeat(2 * MIB)}\n`, [["file", "invalid_format"]]],
    ["a header that is never closed", 'email,"plan\nada@x.io\n', [["file", "invalid_format"]]],
  ];
  test.each(files)("%s", async (_, file, errors) => {
    expectError(await upload(t, file), invalid(errors));
    expect(t.countRows("jobs")).toBe(0);
  });

  const forms: [name: string, fields: Record<string, string>, errors: Errors][] = [
    ["a mapping that is not JSON", { mapping: "{" }, [["mapping", "invalid_type"]]],
    ["a mapping that is not an object", { mapping: "[]" }, [["mapping", "invalid_type"]]],
    ["a mapping to a number", { mapping: '{"email":1}' }, [["mapping", "invalid_type"]]],
    [
      "a mapping of an unknown column",
      { mapping: '{"nope":"plan"}' },
      [["mapping.nope", "unknown_reference"]],
    ],
    [
      "a mapping to an empty key",
      { mapping: '{"email":"data."}' },
      [
        ["mapping", "invalid_value"],
        ["file", "required"],
      ],
    ],
    ["a flag that is not a boolean", { subscribed: "maybe" }, [["subscribed", "invalid_type"]]],
    ["a mapping of 100 kB", { mapping: " ".repeat(100_000) }, [["mapping", "too_big"]]],
  ];
  test.each(forms)("%s", async (_, fields, errors) => {
    expectError(await upload(t, valid, { fields }), invalid(errors));
    expect(t.countRows("jobs")).toBe(0);
  });

  const send = (headers: Record<string, string>, raw: string) =>
    t.call("POST", "/contacts/import", undefined, { headers, raw });
  const boundary = { "content-type": "multipart/form-data; boundary=xx" };

  test("JSON with 400", async () => {
    const answer = await send({ "content-type": "application/json" }, "{}");
    expectError(answer, { status: 400, code: "BAD_REQUEST" });
  });

  test.each([
    [
      "that ends too early",
      boundary,
      '--xx\r\ncontent-disposition: form-data; name="file"\r\n\r\nema',
    ],
    ["without its boundary", { "content-type": "multipart/form-data; a=b" }, "x"],
    ["with an invalid syntax", boundary, "hello"],
  ])("a form %s with 400", async (_, headers, raw) => {
    expectError(await send({ ...headers }, raw), { status: 400, code: "BAD_REQUEST" });
    expect(t.countRows("jobs")).toBe(0);
  });

  test("an empty body and a form without a file with 422", async () => {
    const refusal = invalid([["file", "required"]]);
    expectError(await t.call("POST", "/contacts/import"), refusal);
    const form = '--xx\r\ncontent-disposition: form-data; name="other"\r\n\r\nx\r\n--xx--\r\n';
    expectError(await send(boundary, form), refusal);
  });

  test("two files with 422", async () => {
    const part = '--xx\r\ncontent-disposition: form-data; name="file"\r\n\r\nemail\n\r\n';
    const refusal = invalid([["file", "invalid_value"]]);
    expectError(await send(boundary, `${part}${part}--xx--\r\n`), refusal);
  });

  test("a file with a Content-Length that is too large with 413, without reading it", async () => {
    const headers = { ...boundary, "content-length": String(200 * MIB) };
    expectError(await send(headers, "x"), { status: 413, code: "PAYLOAD_TOO_LARGE" });
  });

  test("a file that turns out too large with 413", async () => {
    const head = '--xx\r\ncontent-disposition: form-data; name="file"\r\n\r\nemail\n';
    let sent = 0;
    const raw = new ReadableStream<Uint8Array>({
      pull(controller) {
        controller.enqueue(sent === 0 ? Buffer.from(head) : Buffer.alloc(MIB, "a@x.io\n"));
        if (++sent === 110) controller.close();
      },
    });
    const answer = await t.call("POST", "/contacts/import", undefined, { headers: boundary, raw });
    expectError(answer, { status: 413, code: "PAYLOAD_TOO_LARGE" });
    expect(sent).toBeLessThan(110);
  });
});

describe("Idempotency-Key", () => {
  const headers = { "idempotency-key": "import-1" };
  const file = "email\nada@x.io\n";

  test("returns the same job for the same file, and the job runs once", async () => {
    await t.start();
    const first = await upload(t, file, { headers });
    await waitForJob(t, first.text("data.jobId"));
    const again = await upload(t, file, { headers });
    expect([again.status, again.body]).toEqual([202, first.body]);
    expect(again.headers.get("idempotency-replayed")).toBe("true");
    await settleEventLoop();
    expect(t.countRows("jobs")).toBe(1);
  });

  test("is refused with 409 for another file and for another option", async () => {
    await upload(t, file, { headers });
    const refusal = { status: 409, code: "IDEMPOTENCY_KEY_REUSED" };
    expectError(await upload(t, `${file}bob@x.io\n`, { headers }), refusal);
    const fields = { subscribed: "false" };
    expectError(await upload(t, file, { headers, fields }), refusal);
    expect(t.countRows("jobs")).toBe(1);
  });

  test("can be used again after a file was refused", async () => {
    expect((await upload(t, "plan\n", { headers })).status).toBe(422);
    expect((await upload(t, file, { headers })).status).toBe(202);
  });
});

test("jobs of one project run one after the other, in the order of their requests", async () => {
  const files = ["email,n\nada@x.io,1\n", "email,n\nada@x.io,2\n", "email,n\nada@x.io,3\n"];
  const answers = [];
  for (const file of files) answers.push(await upload(t, file));
  await t.start();
  for (const answer of answers) await waitForJob(t, answer.text("data.jobId"));
  expect(storedContacts(t)).toEqual([{ email: "ada@x.io", subscribed: true, data: { n: 3 } }]);
});
