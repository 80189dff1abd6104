/** Erasures that a restored backup does not know, and the file of receipts does. */

import { afterEach, beforeEach, expect, test } from "bun:test";
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { addressDigest } from "../../../src/modules/privacy/erased.ts";
import { eraseAgain } from "../../../src/modules/privacy/erasure-work.ts";
import { appendReceipt, readReceipts } from "../../../src/modules/privacy/receipt-file.ts";
import { type TestApp, testApp } from "../../support/app.ts";

const ADA = "ada@example.com";

let folder: string;
let t: TestApp;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "mailstead-erased-again-"));
  t = await testApp({ folder });
});
afterEach(async () => {
  await t.close();
  rmSync(folder, { recursive: true, force: true });
});

const digestOf = (text: string) => addressDigest(t.app.app, t.project.seq, text);

function writeReceipts(...receipts: { id: string; email: string; contactDigest?: string }[]): void {
  const lines = receipts.map(({ email, ...rest }) =>
    JSON.stringify({
      projectId: t.project.id,
      digest: digestOf(email),
      standing: null,
      requestedAt: 1,
      ...rest,
    }),
  );
  writeFileSync(join(folder, "erasures.ndjson"), `${lines.join("\n")}\n`);
}

const addAda = () => t.create("/contacts", { email: ADA, subscribed: true }, "id");
const again = () => eraseAgain(t.app.app);

test("a contact that had another address in the backup is found by its id", async () => {
  const contactDigest = digestOf(await addAda()) ?? "";
  await t.create("/contacts", { email: "eve@example.com" }, "id");
  writeReceipts({ id: "one", email: "countess@example.com", contactDigest });
  expect(await again()).toBe(1);
  expect((await t.call("GET", "/contacts")).at("contacts.0.email")).toBe("eve@example.com");
  expect((await t.call("GET", "/erasures")).at("data.total")).toBe(2);
});

test("a person who was erased twice and signed up since stays", async () => {
  await addAda();
  writeReceipts({ id: "one", email: ADA }, { id: "two", email: ADA });
  expect(await again()).toBe(1);
  await addAda();
  expect(await again()).toBe(0);
  expect(t.countRows("contacts")).toBe(1);
});

test("an address that the restored project uses lets the server start, and is tried again", async () => {
  await addAda();
  writeReceipts({ id: "one", email: ADA });
  const template = { name: "T", type: "MARKETING", subject: "S", body: "B", from: "a@acme.test" };
  const id = await t.create("/templates", { ...template, replyTo: ADA }, "data.id");
  expect(await again()).toBe(0);
  expect(t.countRows("contacts")).toBe(1);
  await t.call("PATCH", `/templates/${id}`, { replyTo: null });
  expect(await again()).toBe(1);
  expect(t.countRows("contacts")).toBe(0);
});

test("a receipt after a line that a crash cut off has a line of its own", async () => {
  writeReceipts({ id: "one", email: "one@example.com" });
  appendFileSync(join(folder, "erasures.ndjson"), '{"id":"two","projec');
  const more = { projectId: t.project.id, digest: "00", standing: null, requestedAt: 2 };
  for (const id of ["two", "three"]) appendReceipt({ folder }, { id, ...more });
  const read = await Array.fromAsync(readReceipts({ folder }));
  expect(read.map(({ id }) => id)).toEqual(["one", "two", "three"]);
});
