/** The rows of the trigram index. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { createLog } from "../../../../src/lib/log.ts";
import { createWriter } from "../../../../src/db/writer.ts";
import { createSearchIndex } from "../../../../src/modules/inboxes/search/index-rows.ts";
import { openInbox } from "../../../support/inbox-search.ts";

let inbox: ReturnType<typeof openInbox>;
beforeAll(() => {
  inbox = openInbox();
});
afterAll(() => inbox.close());

const texts = Array.from({ length: 50 }, (_, i) => ({ seq: i + 1, text: `the word number${i}x` }));
const segments = () =>
  inbox.db.sqlite
    .query<{ n: number }, []>("SELECT count(DISTINCT segid) AS n FROM inbox_search_idx")
    .get()?.n;
/** The index knows trigrams and not their order. */
function found(word: string): unknown[] {
  const trigrams = Array.from({ length: word.length - 2 }, (_, i) => `"${word.slice(i, i + 3)}"`);
  return inbox.db.sqlite
    .query("SELECT rowid FROM inbox_search WHERE inbox_search MATCH ? ORDER BY rowid")
    .values(trigrams.join(" AND "))
    .flat();
}

test("the texts of one change are one segment, and are found until they are removed", async () => {
  const log = createLog({ level: "error", format: "text", write: () => {} });
  const writer = createWriter(inbox.db, log);
  const index = createSearchIndex(inbox.db.sqlite);
  await writer.write(() => index.add(texts));
  expect(segments()).toBe(1);
  expect(found("number7x")).toEqual([8]);
  expect(found("the word")).toHaveLength(50);
  await writer.write(() => index.remove(texts.slice(0, 49)));
  expect(segments()).toBe(2);
  expect(found("number7x")).toEqual([]);
  expect(found("the word")).toEqual([50]);
});
