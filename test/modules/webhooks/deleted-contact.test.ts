/** Responses of receivers that repeat the data of a contact, and the deletion of this contact. */

import { afterEach, expect, test } from "bun:test";
import type { TestApp } from "../../support/app.ts";
import { closeAll, webhooksPerTest } from "./setup.ts";

const { nextWebhook } = webhooksPerTest();
afterEach(closeAll);

async function removeContact(t: TestApp, email: string): Promise<void> {
  const found = await t.call("GET", `/contacts?search=${email}`);
  const removed = await t.call("DELETE", `/contacts/${found.text("contacts.0.id")}`);
  expect(removed.status).toBe(204);
}

const excerpts = (t: TestApp): unknown[] =>
  t.db.sqlite
    .query<{ excerpt: string | null }, [number]>(
      `SELECT response_excerpt AS excerpt FROM webhook_deliveries
       WHERE webhook_seq IN (SELECT seq FROM webhooks WHERE project_seq = ?) ORDER BY seq`,
    )
    .all(t.project.seq)
    .map(({ excerpt }) => excerpt);

test.each([200, 500])("responses with status %i are erased with the contact", async (status) => {
  const { t, track, settled } = await nextWebhook({
    events: ["a", "b"],
    answer: ({ body }) => ({ status, body }),
  });
  for (const name of ["a", "b", "a"]) {
    await track(name, "ada@example.net", { name: "Ada Lovelace" });
  }
  await track("a", "bob@example.net", { name: "Bob" });
  await settled(4);
  const ofAda: unknown = expect.stringContaining("Ada Lovelace");
  const ofBob: unknown = expect.stringContaining("Bob");
  // After a failure, later events of the contact wait.
  expect(excerpts(t)).toEqual(
    status === 500 ? [ofAda, null, null, ofBob] : [ofAda, ofAda, ofAda, ofBob],
  );
  await removeContact(t, "ada@example.net");
  expect(excerpts(t)).toEqual([null, null, null, ofBob]);
});

test("a response that arrives after its contact was deleted is not stored", async () => {
  const { t, server, track, attempted, rows } = await nextWebhook({ events: ["a"] });
  server.answer = ({ body }) => ({
    write: (response) =>
      void removeContact(t, "ada@example.net").then(() => response.writeHead(200).end(body)),
  });
  await track("a", "ada@example.net", { name: "Ada Lovelace" });
  await attempted(1);
  expect(rows()).toMatchObject([{ status: "SUCCEEDED", responseCode: 200 }]);
  expect(excerpts(t)).toEqual([null]);
});
