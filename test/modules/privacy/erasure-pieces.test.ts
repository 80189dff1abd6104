/** An address that is divided between two stored pieces of a message. */

import { expect, test } from "bun:test";
import { spellingsOf } from "../../../src/lib/address-spellings.ts";
import { decodedOctets, withEndOf } from "../../../src/lib/decoded-octets.ts";
import { cleanRows, searchedTables } from "../../../src/modules/privacy/sweep.ts";
import { type TestApp, testApp } from "../../support/app.ts";
import { waitUntilRead } from "../../support/eventually.ts";

const EVE = "eve@example.com";
const FILLER = `${"A line of a letter to another person. ".repeat(26)}\r\n`.repeat(6);

const base64 = (text: string) => Buffer.from(text).toString("base64").replace(/.{76}/g, "$&\r\n");

const IN_BASE64 = `${"x".repeat(50)} ${EVE} ${"y".repeat(60)}`;

/** Bodies that have the address once, and the part of the body in which it stands. */
const FORMS = [
  ["plain", `${FILLER}Ask ${EVE}.\r\n`, "eve@example.com"],
  ["divided by quoted-printable", `${FILLER}Ask eve@exa=\r\nmple.com.\r\n`, "eve@exa=\r\nmple.com"],
  ["in two lines of base64", `${FILLER}${base64(IN_BASE64)}\r\n`, base64(IN_BASE64)],
] as const;

/** Both pieces of a body for each place at which it can be divided before, in and after `part`. */
function divided(body: string, part: string): [Buffer, Buffer][] {
  const start = body.indexOf(part);
  return Array.from({ length: part.length + 3 }, (_, i) => {
    const at = start - 1 + i;
    return [Buffer.from(body.slice(0, at)), Buffer.from(body.slice(at))];
  });
}

test.each(FORMS)("is found wherever the boundary is: %s", (_, body, part) => {
  const has = (bytes: Uint8Array) => decodedOctets(bytes).toString().includes(EVE);
  const places = divided(body, part);
  const missed = places.filter(([a, b]) => !has(a) && !has(withEndOf(a, b)));
  expect(missed).toEqual([]);
  expect(places.filter(([a, b]) => !has(a) && !has(b)).length).toBeGreaterThan(EVE.length - 2);
});

/** Inserts a message of pieces into each of the tables that store them. */
function storePieces(t: TestApp, name: string, pieces: readonly Buffer[]): void {
  const { sqlite } = t.db;
  const { seq: project } = t.project;
  const insert = (sql: string, ...values: (string | number)[]) =>
    Number(sqlite.run(sql, values).lastInsertRowid);
  const inbox = sqlite.query<{ seq: number }, []>("SELECT seq FROM inboxes").get()?.seq ?? 0;
  const messages = {
    received_pieces: insert(
      `INSERT INTO received_mails (id, project_seq, state, received_at, size)
       VALUES (?, ?, 'ARRIVING', 1, 1)`,
      name,
      project,
    ),
    message_pieces: insert(
      `INSERT INTO messages (project_seq, digest, from_address, html, headers, is_marketing,
                             has_attachments, created_at)
       VALUES (?, ?, 'a@acme.test', '', '[]', 0, 0, 1)`,
      project,
      `submitted ${name}`,
    ),
    inbox_raw: insert(
      `INSERT INTO inbox_messages (id, inbox_seq, state, received_at, size, stored_bytes, envelope,
                                   username, addresses, subject, snippet, tags)
       VALUES (?, ?, 'RECEIVED', 1, 1, 1, '{}', '', '[]', '', '', '[]')`,
      name,
      inbox,
    ),
  };
  for (const [table, seq] of Object.entries(messages)) {
    pieces.forEach((raw, i) =>
      sqlite.run(`INSERT INTO ${table} VALUES (?, ?, ?)`, [seq, i, Bun.zstdCompressSync(raw)]),
    );
  }
}

test("an erasure removes each such message, and no message to a person with a longer address", async () => {
  const t = await testApp();
  await t.start();
  await t.call("GET", "/inboxes");
  const all = FORMS.flatMap(([, body, part]) => divided(body, part));
  all.forEach((pieces, i) => storePieces(t, `m${i}`, pieces));
  const others = divided(`${FILLER}Ask steve@example.com.\r\n`, "st");
  others.forEach((pieces, i) => storePieces(t, `other${i}`, pieces));
  const id = (await t.call("POST", "/erasures", { email: EVE })).text("data.id");
  await waitUntilRead(async () => {
    t.clock.advance(1_000);
    return (await t.call("GET", `/erasures/${id}`)).text("data.state") === "COMPLETED";
  });
  for (const table of ["received_pieces", "message_pieces", "inbox_raw"]) {
    expect({ [table]: t.countRows(table) }).toEqual({ [table]: 2 * others.length });
  }
  await t.close();
});

test.each(["received_pieces", "message_pieces", "inbox_raw"])(
  "a message that took the place of a found one meanwhile stays: %s",
  async (name) => {
    const t = await testApp();
    await t.call("GET", "/inboxes");
    storePieces(t, "m", [Buffer.from("A letter to another person.")]);
    const table = searchedTables(t.app.app).find((each) => each.name === name);
    if (table === undefined) throw new Error(`${name} is not searched`);
    const search = { projectSeq: t.project.seq, addresses: [EVE], spellings: spellingsOf(EVE) };
    const clean = (owner: number) => {
      const rows = [{ row: 1, owner, isInBytes: true }];
      return t.app.writer.write(() =>
        cleanRows(t.app.app, table, { rows, search, hasTime: () => true }),
      );
    };
    expect((await clean(999)).changed).toBe(0);
    expect((await clean(1)).changed).toBe(1);
    await t.close();
  },
);
