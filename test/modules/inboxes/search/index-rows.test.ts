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
  const seqs = Array.from({ length: 60 }, (_, i) => inbox.add({ subject: `the word number${i}x` }));
  expect(await writer.write(() => index.addNext(50))).toBe(50);
  expect([segments(), index.upTo()]).toEqual([1, seqs[49] ?? 0]);
  expect(found("number7x")).toEqual([8]);
  expect(found("the word")).toHaveLength(50);
  await writer.write(() => inbox.store.removeAll(seqs.slice(0, 49)));
  expect(segments()).toBe(2);
  expect(found("number7x")).toEqual([]);
  expect(found("the word")).toEqual([50]);
  // These were never added.
  await writer.write(() => inbox.store.removeAll(seqs.slice(50, 59)));
  expect(segments()).toBe(2);
  expect(await writer.write(() => index.addNext(50))).toBe(1);
  expect(found("the word")).toEqual([50, 60]);
  inbox.db.sqlite.run("INSERT INTO inbox_search (inbox_search) VALUES ('integrity-check')");
});

test("a message that is parsed after the index has passed it is added at once", async () => {
  const index = createSearchIndex(inbox.db.sqlite);
  index.addPassed([
    { seq: 57, text: "was slow" },
    { seq: 61, text: "is new" },
  ]);
  expect([found("was slow"), found("is new")]).toEqual([[57], []]);
});
