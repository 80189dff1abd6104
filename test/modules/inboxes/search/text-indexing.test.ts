/** Tests when texts are added to the index of searches. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { type TestApp, testApp } from "../../../support/app.ts";
import { inboxParts } from "../../../support/inbox-parts.ts";
import { textIndexing } from "../../../../src/modules/inboxes/search/text-indexing.ts";

let t: TestApp;
let inboxSeq = 0;
beforeAll(async () => {
  t = await testApp();
  const { inboxes } = inboxParts(t.app.app);
  inboxSeq = await t.app.writer.write(() => inboxes.defaultOf(inboxes.firstProject() ?? 0).seq);
});
afterAll(() => t.close());

function addMessages(from: number, to: number): void {
  t.db.sqlite.run(
    `WITH RECURSIVE n(i) AS (SELECT ?1 UNION ALL SELECT i + 1 FROM n WHERE i < ?2)
     INSERT INTO inbox_messages (seq, id, inbox_seq, state, received_at, size, stored_bytes, envelope,
                                 username)
     SELECT i, 'm' || i, ?3, 'PARSED', 0, 1, 1, '{}', '' FROM n`,
    [from, to, inboxSeq],
  );
  t.db.sqlite.run(
    `INSERT INTO inbox_texts (message_seq, is_long, sender, recipients, cc, bcc, reply_to, subject,
                              message_id, text)
     SELECT seq, 0, '', '', '', '', '', '', '', 'text' FROM inbox_messages WHERE seq >= ?`,
    [from],
  );
}

async function indexed(): Promise<number> {
  await textIndexing(t.app.app).run();
  return t.countRows("inbox_search_docsize");
}

test("a thousand texts stay outside the index", async () => {
  addMessages(1, 1_000);
  expect([await indexed(), await indexed(), await indexed()]).toEqual([0, 0, 0]);
});

test("more are added while few messages arrive", async () => {
  addMessages(1_001, 1_300);
  expect(await indexed()).toBe(0);
  addMessages(1_301, 1_400);
  expect(await indexed()).toBe(1_400);
});

test("very many are added at any time", async () => {
  addMessages(1_401, 51_400);
  expect(await indexed()).toBe(1_400);
  addMessages(51_401, 51_600);
  expect(await indexed()).toBe(51_600);
});
