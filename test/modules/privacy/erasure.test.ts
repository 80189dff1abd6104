/** An erased address stands nowhere in the data folder. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDatabase } from "../../../src/db/open.ts";
import { checkSteps } from "../../../src/cli/check/steps.ts";
import { type TestApp, testApp } from "../../support/app.ts";
import { migratedImage } from "../../support/database.ts";
import { findAddress } from "../../support/erased.ts";
import { fillDatabase } from "../../support/filled.ts";
import { manualClock } from "../../support/clock.ts";
import { waitUntil, waitUntilRead } from "../../support/eventually.ts";
import { runImport } from "../contacts/upload.ts";
import { ACCEPTED, testTransport } from "../../support/transport.ts";

const ADA = "ada@example.com";
const LATER = Date.parse("2027-01-01T00:00:00Z");

let folder: string;
/** The database from before the erasure. */
let backup: Uint8Array;

const open = () => openDatabase(join(folder, "mailstead.db"));

async function using<T>(use: (t: TestApp) => Promise<T>): Promise<T> {
  const db = open();
  const transport = testTransport({ answer: ACCEPTED });
  const t = await testApp({ db, folder, transport, clock: manualClock(LATER) });
  await t.start();
  try {
    return await use(t);
  } finally {
    await t.close();
    db.sqlite.close();
  }
}

/** Moves the clock until the erasure is completed. */
async function completed(t: TestApp, id: string): Promise<void> {
  await waitUntilRead(async () => {
    t.clock.advance(1_000);
    return (await t.call("GET", `/erasures/${id}`)).text("data.state") === "COMPLETED";
  });
}

/** Other people's records that mention the address, in different forms. */
async function mention(t: TestApp): Promise<void> {
  const { call, create } = t;
  const from = "a@acme.test";
  await create(
    "/contacts",
    { email: "eve@example.com", data: { friend: "Ada@Example.com" } },
    "id",
  );
  await call("POST", "/v1/track", {
    event: "invited",
    email: "eve@example.com",
    data: { guest: ADA, url: `https://example.com/?to=${encodeURIComponent(ADA)}` },
  });
  // Longer than a page of the database, so that its removal leaves free pages.
  const text = `${ADA} `.repeat(2_000);
  for (let i = 0; i < 2; i++) {
    await call("POST", "/v1/track", { event: "wrote", email: ADA, data: { text } });
  }
  // Removed before the erasure, as the retention does: its pages are free and keep their content.
  t.db.sqlite.run(
    "UPDATE events SET data = '{}' WHERE seq = (SELECT max(seq) FROM events WHERE name = 'wrote')",
  );
  const mail = { from, to: "eve@example.com", subject: `From ${ADA}`, body: `<p>Ask ${ADA}.</p>` };
  await call("POST", "/v1/send", mail, { headers: { "idempotency-key": "a-key-of-a-test" } });
  await waitUntil(
    () => t.countRows("emails WHERE subject LIKE 'From %' AND status = 'SENT'") === 1,
  );
  await create(
    "/templates",
    { name: "T", type: "MARKETING", subject: "S", body: `<p>${ADA}</p>`, from },
    "data.id",
  );
  const filters = [{ field: "email", operator: "equals", value: ADA }];
  await create(
    "/segments",
    { name: "One", type: "DYNAMIC", condition: { logic: "AND", groups: [{ filters }] } },
    "data.id",
  );
  const rows = `email\r\n${ADA}\r\nbroken ${ADA} row\r\n`;
  await runImport(t, rows);
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "mailstead-erasure-"));
  writeFileSync(join(folder, "mailstead.db"), migratedImage());
  const db = open();
  await fillDatabase(db, folder);
  db.sqlite.close();
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("a contact with mails, events, workflows and imports leaves nothing but its digest", async () => {
  await using(mention);
  expect(findAddress(folder, ADA)).not.toEqual([]);
  backup = readFileSync(join(folder, "mailstead.db"));
  const receipt = await using(async (t) => {
    const id = (await t.call("GET", `/contacts?search=${ADA}`)).text("contacts.0.id");
    const answer = await t.call("POST", `/contacts/${id}/erasure`);
    expect(answer.status).toBe(201);
    await completed(t, answer.text("data.id"));
    expect((await t.call("GET", `/contacts/${id}`)).status).toBe(404);
    return (await t.call("GET", `/erasures/${answer.text("data.id")}`)).at("data");
  });
  expect(receipt).toMatchObject({ standing: "COMPLAINT", isLogEmptied: true });
  expect(findAddress(folder, ADA)).toEqual([]);
  expect(findAddress(folder, "eve@example.com")).not.toEqual([]);
});

test("the database is consistent afterwards", () => {
  const db = open();
  try {
    const findings = checkSteps(db.sqlite).flatMap(({ name, pieces }) =>
      pieces.flatMap(({ find }) => find()).map(({ id, finding }) => `${name}: ${id} ${finding}`),
    );
    expect(findings).toEqual([]);
  } finally {
    db.sqlite.close();
  }
});

test("a person who comes back with a backup is erased again at the start", async () => {
  const file = join(folder, "mailstead.db");
  for (const name of [file, `${file}-wal`, `${file}-shm`]) rmSync(name, { force: true });
  writeFileSync(file, backup);
  expect(findAddress(folder, ADA)).not.toEqual([]);
  await using(async (t) => {
    const receipts = await t.call("GET", "/erasures");
    expect(receipts.at("data.total")).toBe(1);
    expect(receipts.at("data.items.0.by.kind")).toBe("SYSTEM");
    await completed(t, receipts.text("data.items.0.id"));
  });
  expect(findAddress(folder, ADA)).toEqual([]);
});
