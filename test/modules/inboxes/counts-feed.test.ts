import { beforeEach, expect, test } from "bun:test";
import type { FoundRows } from "../../../src/db/queries.ts";
import { createCountsFeed } from "../../../src/modules/inboxes/live/counts-feed.ts";
import type { Counts } from "../../../src/modules/inboxes/messages/numbers.ts";
import { bareApp } from "../../support/bare-app.ts";
import { manualClock } from "../../support/clock.ts";
import { migratedDatabase } from "../../support/database.ts";
import { settleEventLoop } from "../../support/eventually.ts";

type Read = ReturnType<typeof Promise.withResolvers<FoundRows>>;

let clock: ReturnType<typeof manualClock>;
let feed: ReturnType<typeof createCountsFeed>;
let reads: Read[];
let sent: Counts[];
let warnings: string[];
beforeEach(() => {
  clock = manualClock();
  [reads, sent, warnings] = [[], [], []];
  const app = bareApp(migratedDatabase());
  const find = () => {
    const read = Promise.withResolvers<FoundRows>();
    reads.push(read);
    return read.promise;
  };
  const log = { ...app.log, warn: (message: string) => void warnings.push(message) };
  feed = createCountsFeed(
    { clock, log, reader: { ...app.reader, find } },
    { seq: 7, projectSeq: 1 },
    { send: (counts) => void sent.push(counts) },
  );
});

async function answer(total: number, unread: number): Promise<void> {
  const found = { rows: [[7, total, unread]], isComplete: true, stoppedAt: null, total: null };
  reads.at(-1)?.resolve(found);
  await settleEventLoop();
}

test("changes during a read are counted after it, when the interval is over", async () => {
  feed.schedule();
  for (let i = 0; i < 3; i++) feed.schedule();
  expect(reads).toHaveLength(1);
  await answer(1, 1);
  expect(sent).toEqual([{ total: 1, unread: 1 }]);
  clock.advance(249);
  expect(reads).toHaveLength(1);
  clock.advance(1);
  await answer(2, 1);
  expect(sent.at(-1)).toEqual({ total: 2, unread: 1 });
  clock.advance(1_000);
  expect(reads).toHaveLength(2);
});

test("after a read that failed, the next change is counted", async () => {
  feed.schedule();
  reads[0]?.reject(new Error("busy"));
  await settleEventLoop();
  expect([sent, warnings]).toEqual([[], ["the messages of an inbox were not counted"]]);
  clock.advance(250);
  feed.schedule();
  await answer(3, 0);
  expect(sent).toEqual([{ total: 3, unread: 0 }]);
});

test("nothing is sent after the end", async () => {
  feed.schedule();
  feed.end();
  await answer(1, 1);
  clock.advance(1_000);
  feed.schedule();
  expect([sent, reads.length, warnings]).toEqual([[], 1, []]);
});
