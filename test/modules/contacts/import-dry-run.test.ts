/** Dry runs of imports: they say what the import does, change nothing, and keep the file for it. */

import { beforeEach, describe, expect, test } from "bun:test";
import type { TestApp } from "../../support/app.ts";
import { projectPerTest } from "../../support/project-per-test.ts";
import { expectError } from "../../support/refusal.ts";
import { seeded } from "../segments/seeded.ts";
import { runImport, storedContacts, upload, type UploadOptions, waitForJob } from "./upload.ts";

const projects = projectPerTest();
let t: TestApp;
beforeEach(async () => {
  t = await projects.next();
});

const dryRun = (file: string | Uint8Array, fields: UploadOptions["fields"] = {}) =>
  runImport(t, file, { fields: { ...fields, dryRun: "true" } });

/** Imports the file of a dry run, and returns the progress of the import. */
async function runFile(dryRunId: string, body: unknown = {}) {
  const answer = await t.call("POST", `/contacts/import/${dryRunId}/run`, body);
  expect(answer.status).toBe(202);
  return waitForJob(t, answer.text("data.jobId"));
}

const COUNTS = ["created", "updated", "unchanged", "failed", "suppressed", "keptUnsubscribed"];
const OF_SUBSCRIPTION = ["resubscribed", "unsubscribed", "createdSubscribed"];
const countsOf = (progress: Awaited<ReturnType<typeof runImport>>) =>
  Object.fromEntries(
    [...COUNTS, ...OF_SUBSCRIPTION].map((name) => [name, progress.at(`data.${name}`)]),
  );

describe("a dry run", () => {
  beforeEach(async () => {
    for (const [email, subscribed] of [
      ["bob@x.io", true],
      ["cyd@x.io", false],
    ] as const) {
      await t.call("POST", "/contacts", { email, subscribed, data: { plan: "pro" } });
    }
  });
  const FILE = `email,plan,subscribed
ada@x.io,free,true
bob@x.io,pro,true
cyd@x.io,pro,true
nobody,pro,true
ada@x.io,pro,
`;

  test("says what the import would do, and changes nothing", async () => {
    const before = storedContacts(t);
    const tried = await dryRun(FILE);
    expect(tried.at("data")).toMatchObject({
      status: "COMPLETED",
      dryRun: true,
      total: 5,
      processed: 5,
      delimiter: "comma",
      problems: [],
      left: [{ line: 4, email: "cyd@x.io" }],
      errors: [{ line: 5 }],
    });
    expect(countsOf(tried)).toEqual({
      created: 1,
      updated: 3,
      unchanged: 2,
      failed: 1,
      suppressed: 0,
      keptUnsubscribed: 1,
      resubscribed: 0,
      unsubscribed: 0,
      createdSubscribed: 1,
    });
    expect(tried.at("data.preview")).toMatchObject([
      { line: 2, cells: ["ada@x.io", "free", "true"], email: "ada@x.io", subscribed: true },
      { line: 3, email: "bob@x.io", subscribed: true, data: { plan: "pro" }, error: null },
      { line: 4, email: "cyd@x.io", subscribed: false },
      { line: 5, email: null, subscribed: null, error: expect.any(String) },
      { line: 6, email: "ada@x.io", subscribed: true },
    ]);
    expect(storedContacts(t)).toEqual(before);
  });

  test("is followed by the import of its file, once", async () => {
    const tried = await dryRun(FILE);
    const id = tried.text("data.id");
    const done = await runFile(id);
    expect(countsOf(done)).toEqual(countsOf(tried));
    expect(storedContacts(t)).toEqual([
      { email: "ada@x.io", subscribed: true, data: { plan: "pro" } },
      { email: "bob@x.io", subscribed: true, data: { plan: "pro" } },
      { email: "cyd@x.io", subscribed: false, data: { plan: "pro" } },
    ]);
    expectError(await t.call("POST", `/contacts/import/${id}/run`, {}), {
      status: 409,
      code: "CONFLICT",
    });
    const again = await t.call("POST", `/contacts/import/${done.text("data.id")}/run`, {});
    expectError(again, { status: 409, code: "CONFLICT" });
  });

  test("names who would be subscribed again, and the import subscribes them then", async () => {
    const tried = await dryRun(FILE, { resubscribe: "true" });
    expect(tried.at("data")).toMatchObject({
      resubscribed: 1,
      keptUnsubscribed: 0,
      left: [{ line: 4, email: "cyd@x.io" }],
    });
    const done = await runFile(tried.text("data.id"), { resubscribe: true });
    expect(done.at("data.resubscribed")).toBe(1);
    expect(storedContacts(t).every(({ subscribed }) => subscribed)).toBe(true);
  });

  test("repeats with other options until the file can be read", async () => {
    const first = await dryRun("Adresse;Preis\nada@x.io;99,50\n");
    expect(first.at("data")).toMatchObject({
      status: "COMPLETED",
      delimiter: "semicolon",
      created: 0,
      problems: [{ field: "file", code: "required" }],
      preview: [{ cells: ["ada@x.io", "99,50"] }],
    });
    const mapping = { Adresse: "email", Preis: "number:price" };
    const second = await runFile(first.text("data.id"), { mapping, dryRun: true });
    expect(second.at("data")).toMatchObject({ dryRun: true, problems: [], created: 1 });
    expect(storedContacts(t)).toHaveLength(2);
    await runFile(second.text("data.id"), { mapping });
    expect(storedContacts(t)[0]).toEqual({
      email: "ada@x.io",
      subscribed: true,
      data: { price: 99.5 },
    });
  });

  test("asks for an encoding that cannot be told from the file", async () => {
    const file = Buffer.from("email,name\nada@x.io,Ren\u0082 M\u0081ller\n", "latin1");
    const refused = await upload(t, file);
    expect([refused.status, refused.at("error.errors.0.field")]).toEqual([422, "encoding"]);
    expect(refused.text("error.errors.0.message")).toContain(
      '"René" (ibm850) or "Ren‚" (windows-1252)',
    );
    const tried = await runImport(t, file, { fields: { dryRun: "true" } });
    expect(tried.at("data.problems.0.field")).toBe("encoding");
    const path = `/contacts/import/${tried.text("data.id")}/run`;
    expect((await t.call("POST", path, {})).status).toBe(422);
    const run = await t.call("POST", path, { encoding: "cp850" });
    expect(run.status).toBe(202);
    await waitForJob(t, run.text("data.jobId"));
    expect(storedContacts(t)[0]?.data).toEqual({ name: "René Müller" });
    // A list of suppressions has only addresses.
    const list = await upload(t, file, { path: "/suppressions/import" });
    expect(list.status).toBe(202);
  });

  test("reads the file with the encoding and delimiter of the request", async () => {
    const bytes = Buffer.from("email|name\nada@x.io|J\u00f3zef;x\n", "latin1");
    const fields = { encoding: "windows-1250", delimiter: "pipe" };
    const tried = await dryRun(bytes, fields);
    expect(tried.at("data.preview.0.data")).toEqual({ name: "J\u00f3zef;x" });
    const semicolons = await runFile(tried.text("data.id"), {
      delimiter: "semicolon",
      dryRun: true,
    });
    expect(semicolons.at("data.problems.0.code")).toBe("required");
    // The encoding of the dry run is kept, if the request names no other.
    expect(semicolons.at("data.encoding")).toBe("windows-1250");
  });

  test("asks what a column and its words mean, and counts when it is said", async () => {
    const first = await dryRun("email,Status,bounce_flag\nada@x.io,vip,0\nbob@x.io,gone,1\n");
    expect(first.at("data")).toMatchObject({
      processed: 0,
      problems: [{ code: "invalid_value" }, { field: "statuses", code: "required" }],
      questions: [
        { column: "bounce_flag", words: [] },
        { column: "Status", words: ["vip", "gone"] },
      ],
    });
    const second = await runFile(first.text("data.id"), {
      mapping: { bounce_flag: "bounced" },
      statuses: { vip: null, gone: "UNSUBSCRIBED" },
      dryRun: true,
    });
    expect(second.at("data")).toMatchObject({
      problems: [],
      created: 1,
      updated: 1,
      suppressed: 1,
      options: {
        mapping: { bounce_flag: "bounced" },
        statuses: { vip: null, gone: "UNSUBSCRIBED" },
      },
    });
  });

  test("of a file with the name of a list of those who left asks whether they are subscribed", async () => {
    await t.start();
    const fileName = "unsubscribed_members_export.csv";
    const answer = await upload(t, "email\nada@x.io\n", { fields: { dryRun: "true" }, fileName });
    const tried = await waitForJob(t, answer.text("data.jobId"));
    expect(tried.at("data")).toMatchObject({ fileName, problems: [{ field: "file" }], created: 0 });
    const again = await t.call("POST", `/contacts/import/${tried.text("data.id")}/run`, {});
    expectError(again, {
      status: 422,
      code: "VALIDATION_ERROR",
      errors: [["file", "invalid_value"]],
    });
    await runFile(tried.text("data.id"), { subscribed: false });
    expect(storedContacts(t).find(({ email }) => email === "ada@x.io")?.subscribed).toBe(false);
  });

  test("with a wrong option is refused, and keeps the file", async () => {
    const id = (await dryRun(FILE)).text("data.id");
    const refused = await t.call("POST", `/contacts/import/${id}/run`, {
      mapping: { no: "email" },
    });
    expectError(refused, {
      status: 422,
      code: "VALIDATION_ERROR",
      errors: [["mapping.no", "unknown_reference"]],
    });
    expect((await runFile(id)).at("data.created")).toBe(1);
  });

  test("answers a repeated request with the same job", async () => {
    const id = (await dryRun(FILE)).text("data.id");
    const send = () =>
      t.call("POST", `/contacts/import/${id}/run`, {}, { headers: { "idempotency-key": "k" } });
    const [first, second] = [await send(), await send()];
    expect([second.status, second.text("data.jobId")]).toEqual([202, first.text("data.jobId")]);
    await waitForJob(t, first.text("data.jobId"));
  });
});

test("the counts of a dry run are those of the import, whatever the file says", async () => {
  const random = seeded(7);
  const emails = Array.from({ length: 12 }, (_, i) => `p${i}@x.io`);
  for (const email of emails.slice(0, 6)) {
    await t.call("POST", "/contacts", { email, subscribed: random.chance(0.5), data: { n: "1" } });
  }
  for (let round = 0; round < 8; round++) {
    const rows = Array.from({ length: 40 }, () => {
      const status = random.pick(["enabled", "unsubscribed", "blocklisted", "cleaned", ""]);
      return `${random.pick([...emails, "no"])},${random.pick(["1", "2", ""])},${status}`;
    });
    const file = `email,n,status\n${rows.join("\n")}\n`;
    const resubscribe = random.chance(0.5);
    const before = storedContacts(t);
    const tried = await dryRun(file, { resubscribe: String(resubscribe) });
    expect(storedContacts(t)).toEqual(before);
    const done = await runFile(tried.text("data.id"), { resubscribe });
    expect(countsOf(done)).toEqual(countsOf(tried));
  }
});

test("new contacts that are subscribed and contacts that are unsubscribed are counted", async () => {
  await t.call("POST", "/contacts", { email: "stays@x.io", subscribed: true });
  await t.call("POST", "/contacts", { email: "leaves@x.io", subscribed: true });
  const file = `email,subscribed
new@x.io,yes
other@x.io,no
third@x.io,no
stays@x.io,yes
leaves@x.io,no
`;
  const expected = { created: 3, createdSubscribed: 1, unsubscribed: 1, keptUnsubscribed: 0 };
  const tried = await dryRun(file);
  expect(tried.at("data")).toMatchObject(expected);
  const done = await runFile(tried.text("data.id"));
  expect(done.at("data")).toMatchObject(expected);
});

describe("the faults of an import", () => {
  test("are a CSV file that can be mended and imported again", async () => {
    const file = 'email,note,n\nnobody,"a, ""b""",5\nada@x.io,fine,6\n,=1+1,7\n';
    const progress = await runImport(t, file);
    const id = progress.text("data.id");
    const answer = await t.call("GET", `/contacts/import/${id}/faults`);
    expect([answer.status, answer.headers.get("content-type")]).toEqual([
      200,
      "text/csv; charset=utf-8; header=present",
    ]);
    const lines = String(answer.body).split("\r\n");
    expect(lines[0]).toBe("line,fault,email,note,n");
    expect(lines[1]).toEndWith(',nobody,"a, ""b""",5');
    expect(lines[2]).toBe("4,The email is empty.,,'=1+1,7");
    const mapping = JSON.stringify({ line: null, fault: null });
    const mended = String(answer.body).replace("nobody", "bob@x.io");
    const again = await runImport(t, mended, { fields: { mapping } });
    expect(again.at("data")).toMatchObject({ created: 1, failed: 1 });
    expect(storedContacts(t).find(({ email }) => email === "bob@x.io")?.data).toEqual({
      note: 'a, "b"',
      n: 5,
    });
  });

  test("are counted beyond those that are stored", async () => {
    const progress = await runImport(t, `email\n${"no\n".repeat(10_050)}`);
    expect(progress.at("data.failed")).toBe(10_050);
    const csv = await t.call("GET", `/contacts/import/${progress.text("data.id")}/faults`);
    expect(String(csv.body).split("\r\n")).toHaveLength(10_002);
  });
});

test("imports are listed without dry runs, newest first", async () => {
  await dryRun("email\nada@x.io\n");
  for (const file of ["email\nada@x.io\n", "email\nbob@x.io\nno\n"]) await runImport(t, file);
  const list = await t.call("GET", "/contacts/import");
  expect(list.at("data.items")).toMatchObject([
    { status: "COMPLETED", total: 2, created: 1, failed: 1 },
    { status: "COMPLETED", total: 1, created: 1, failed: 0 },
  ]);
  expect(list.at("data.total")).toBe(2);
});

test("a file is kept for a day", async () => {
  const file = "email\nada@x.io\n";
  const old = (await dryRun(file)).text("data.id");
  t.clock.advance(23 * 60 * 60 * 1000);
  const fresh = (await dryRun(file)).text("data.id");
  t.clock.advance(2 * 60 * 60 * 1000);
  await t.app.recurring.find(({ name }) => name === "files of dry runs")?.run();
  expectError(await t.call("POST", `/contacts/import/${old}/run`, {}), {
    status: 409,
    code: "CONFLICT",
  });
  await runFile(fresh);
  expectError(await upload(t, file, { fields: { dryRun: "maybe" } }), {
    status: 422,
    code: "VALIDATION_ERROR",
    errors: [["dryRun", "invalid_type"]],
  });
});
