/** The ledger of consents gets a row with each change of a subscription. */

import { expect, test } from "bun:test";
import { sha256 } from "../../../src/lib/crypto.ts";
import { mailingOf } from "../../support/mailing.ts";
import { projectPerTest } from "../../support/project-per-test.ts";

const projects = projectPerTest();

type Row = {
  kind: string;
  source: string;
  id: string | null;
  client: string | null;
  wording: string | null;
};

async function ledgerOf() {
  const mailing = mailingOf(await projects.next());
  const { t } = mailing;
  const rows = () =>
    t.db.sqlite
      .query<Row, [number]>(
        `SELECT kind, source_type AS source, source_id AS id, client_address AS client,
                wordings.text AS wording
         FROM consents LEFT JOIN consent_wordings AS wordings ON wordings.seq = wording_seq
         WHERE consents.project_seq = ? ORDER BY consents.seq`,
      )
      .all(t.project.seq);
  const events = () =>
    t.db.sqlite
      .query<{ name: string; data: string }, [number]>(
        "SELECT name, data FROM events WHERE project_seq = ? AND name LIKE 'consent.%' ORDER BY seq",
      )
      .all(t.project.seq);
  return { ...mailing, rows, events };
}

test("keeps the text of the page, equal for all who saw it, with the address of the client", async () => {
  const { send, submit, rows, events } = await ledgerOf();
  const letters = [await send({ to: "ada@example.net" }), await send({ to: "bob@example.net" })];
  for (const letter of letters) await submit(letter.unsubscribe, "action=unsubscribe");
  const [first, second] = rows().filter(({ kind }) => kind === "WITHDRAWN");
  expect(first).toMatchObject({ source: "UNSUBSCRIBE_LINK", id: letters[0]?.id, client: null });
  expect(first?.wording).toContain("{email}");
  expect(first?.wording).toContain("[Unsubscribe]");
  expect(first?.wording).not.toContain("example.net");
  expect(second?.wording).toBe(first?.wording ?? "");
  const data = {
    source: { type: "UNSUBSCRIBE_LINK", id: letters[0]?.id },
    purpose: "MARKETING",
    topicId: null,
    wordingDigest: sha256(first?.wording ?? ""),
  };
  expect(events()[0]).toEqual({ name: "consent.withdrawn", data: JSON.stringify(data) });
});

test("names the source of each change, and a change that repeats the state adds nothing", async () => {
  const { t, send, submit, rows } = await ledgerOf();
  const letter = await send({ to: "ada@example.net" });
  await submit(letter.unsubscribe, "List-Unsubscribe=One-Click");
  await submit(letter.unsubscribe, "List-Unsubscribe=One-Click");
  await submit(letter.subscribe, "action=subscribe");
  const id = (await t.call("GET", "/contacts")).text("contacts.0.id");
  const patched = await t.call("PATCH", `/contacts/${id}`, { subscribed: false });
  expect(patched.status).toBe(200);
  expect(rows().map(({ kind, source }) => [kind, source])).toEqual([
    ["GIVEN", "API"],
    ["WITHDRAWN", "ONE_CLICK"],
    ["GIVEN", "SUBSCRIBE_LINK"],
    ["WITHDRAWN", "API"],
  ]);
});
