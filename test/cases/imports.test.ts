/** Files of contacts as people and other programs write them. */

import { beforeEach, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { TestApp } from "../support/app.ts";
import { listAt, stringAt } from "../support/json.ts";
import { projectPerTest } from "../support/project-per-test.ts";
import { runImport, storedContacts, type UploadOptions } from "../modules/contacts/upload.ts";

const projects = projectPerTest();
let t: TestApp;
beforeEach(async () => {
  t = await projects.next();
});

const read = (path: string) => readFileSync(join(import.meta.dir, path));

/** Imports the file of a case and returns the progress. */
async function importCase(name: string, options: UploadOptions = {}) {
  const progress = await runImport(t, read(`${name}/contacts.csv`), options);
  expect(progress.at("data.status")).toBe("COMPLETED");
  return progress;
}

const data = () => storedContacts(t).map((contact) => contact.data);

/** The beginnings of the addresses of the members of a condition, before the `@`. */
async function membersOf(field: string, operator: string, value: unknown): Promise<string[]> {
  const condition = { logic: "AND", groups: [{ filters: [{ field, operator, value }] }] };
  const id = await t.create("/segments", { name: "S", condition }, "data.id");
  const { body } = await t.call("GET", `/segments/${id}/contacts`);
  return listAt(body, "data.items")
    .map((item) => stringAt(item, "email").split("@")[0] ?? "")
    .toSorted();
}

test("csv-sep-line", async () => {
  await importCase("csv-sep-line");
  expect(storedContacts(t)).toEqual([
    { email: "q1@x.example", subscribed: true, data: { name: "Ann" } },
  ]);
});

test("csv-space-after-comma", async () => {
  await importCase("csv-space-after-comma");
  expect(data()).toEqual([{ name: "Ada Lovelace", city: "London" }]);
});

test("csv-trailing-zeros", async () => {
  await importCase("csv-trailing-zeros");
  expect(data()).toEqual([
    { price: "19.90", version: "1.10" },
    { price: "5.00", version: "2.0.1" },
  ]);
});

test("csv-named-address", async () => {
  const progress = await importCase("csv-named-address");
  expect(progress.at("data.errors")).toEqual([]);
  expect(storedContacts(t).map(({ email }) => email)).toEqual([
    "ada@a.example",
    "bob@a.example",
    "cyd@a.example",
    "eve@a.example",
  ]);
});

test("csv-windows-1250", async () => {
  const guessed = await importCase("csv-windows-1250");
  expect(guessed.at("data.encoding")).toBe("windows-1250");
  expect(guessed.text("data.notes.0")).toContain("name its encoding");
  const named = await importCase("csv-windows-1250", { fields: { encoding: "Windows-1250" } });
  expect([named.at("data.encoding"), named.at("data.notes")]).toEqual(["windows-1250", []]);
  expect(data()).toEqual([{ name: "Dvořák" }]);
});

test("csv-decimal-comma", async () => {
  const progress = await importCase("csv-decimal-comma");
  expect(data()).toEqual([{ price: "99,50" }, { price: "5" }, { price: "1.299,00" }]);
  expect(progress.at("data.columns.1.guess")).toBe("number-comma");
  expect(progress.at("data.notes")).toEqual([
    "The column price is stored as text, although its values look like numbers with a decimal " +
      "comma. Map it to number:price to store them as such.",
  ]);
  const mapping = JSON.stringify({ price: "number:price" });
  expect(await membersOf("data.price", "lessThan", 100)).toEqual([]);
  const { body } = await t.call("GET", "/segments");
  const segment = await t.call("GET", `/segments/${stringAt(body, "data.items.0.id")}`);
  expect(segment.at("data.mismatches")).toEqual([
    { field: "data.price", expected: "number", contacts: 3 },
  ]);
  await importCase("csv-decimal-comma", { fields: { mapping } });
  expect(await membersOf("data.price", "lessThan", 100)).toEqual(["a", "b"]);
  expect(await membersOf("data.price", "greaterThan", 100)).toEqual(["c"]);
});

test("csv-local-dates", async () => {
  const progress = await importCase("csv-local-dates");
  expect(progress.at("data.columns.1")).toEqual({
    name: "joined",
    field: "data.joined",
    type: "text",
    guess: "date-mdy",
  });
  expect(await membersOf("data.joined", "lessThan", "2025-01-01")).toEqual(["c"]);
  expect(await membersOf("data.joined", "greaterThan", "2025-01-01")).toEqual([]);
  const { body } = await t.call("GET", "/segments");
  const segment = await t.call("GET", `/segments/${stringAt(body, "data.items.0.id")}`);
  expect(segment.at("data.mismatches")).toEqual([
    { field: "data.joined", expected: "date", contacts: 3 },
  ]);
  const mapping = JSON.stringify({ joined: "date:joined" });
  await importCase("csv-local-dates", { fields: { mapping } });
  expect(await membersOf("data.joined", "lessThan", "2025-01-01")).toEqual(["b", "c"]);
  expect(await membersOf("data.joined", "greaterThan", "2025-01-01")).toEqual(["a", "d"]);
});

test("csv-dotted-column", async () => {
  await importCase("csv-dotted-column");
  expect(await membersOf("data.company.name", "equals", "ACME")).toEqual(["d1"]);
  expect(await membersOf("data.company\\.name", "equals", "ACME")).toEqual(["d1"]);
});

test("export-no-bom", async () => {
  await t.create("/contacts", JSON.parse(read("export-no-bom/contact.json").toString()), "id");
  const headers = { authorization: `Bearer ${t.secretKey}` };
  const url = "http://localhost/contacts/export?format=csv";
  const response = await t.app.handle(new Request(url, { headers }));
  const bytes = Buffer.from(await response.arrayBuffer());
  expect(bytes.subarray(0, 3).toString("hex")).toBe("efbbbf");
  const exported = await runImport(t, bytes);
  expect(exported.at("data")).toMatchObject({ updated: 1, failed: 0 });
  expect(data()).toEqual([{ name: "Zoë Müller" }]);
});
