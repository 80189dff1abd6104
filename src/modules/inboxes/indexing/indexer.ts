/**
 * Parses stored messages and writes what lists and searches need.
 *
 * 1. `add` takes a message that was answered with 250. Messages that an earlier process left are
 *    read from the database at the start.
 * 2. Batches go to the parser's thread. If a batch fails as a whole, each of its messages is parsed
 *    alone, and only the faulty one becomes UNREADABLE.
 * 3. The results of a batch are written in one transaction, and then published.
 * 4. `caughtUp` resolves when every message that was added before is written, so that a test that
 *    sends a mail and reads the inbox sees it.
 */

import type { Db } from "../../../db/open.ts";
import type { Writer } from "../../../db/writer.ts";
import { describeError, type Log } from "../../../lib/log.ts";
import type { InboxChanges } from "../changes.ts";
import { parseEnvelope } from "../envelope.ts";
import type { Stored } from "../messages/arrived.ts";
import { type MessageRecord, parsedRecord } from "../messages/record.ts";
import type { MessageStore } from "../messages/store.ts";
import type { Parser } from "../parsing/parser.ts";
import type { IndexResult, Unparsed } from "../parsing/tasks.ts";
import { createIndexQueue, type Entry } from "./queue.ts";

type Waiting = { after: number; resolve: () => void };

export type Indexer = ReturnType<typeof createIndexer>;

export function createIndexer(deps: {
  db: Db;
  writer: Writer;
  log: Log;
  store: MessageStore;
  parser: Parser;
  changes: InboxChanges;
}) {
  const { writer, log, store, parser, changes } = deps;
  const leftOver = deps.db.sqlite.prepare<{ seq: number }, [number]>(
    "SELECT seq FROM inbox_messages WHERE state = 'RECEIVED' AND seq > +? ORDER BY seq LIMIT 1000",
  );
  const queue = createIndexQueue(store.raw);
  let added = 0;
  let done = 0;
  let waiting: Waiting[] = [];
  let active: Promise<void> | null = null;
  let isStopped = false;

  function enqueue(entry: Entry): void {
    queue.add(entry);
    added++;
    if (active === null && !isStopped) active = work();
  }

  async function work(): Promise<void> {
    // Messages of the same iteration of the event loop share a batch.
    await new Promise<void>((resolve) => void setImmediate(resolve));
    for (;;) {
      if (queue.isEmpty() || isStopped) break;
      const batch = queue.takeBatch();
      await indexBatch(batch).catch((error: unknown) =>
        log.error("messages could not be indexed", { error: describeError(error) }),
      );
      done += batch.length;
      const isReady = ({ after }: Waiting) => after <= done;
      for (const { resolve } of waiting.filter(isReady)) resolve();
      waiting = waiting.filter((each) => !isReady(each));
    }
    active = null;
  }

  async function indexBatch(batch: readonly Entry[]): Promise<void> {
    const messages = batch.map(unparsedOf);
    const results = await parser.index(messages).catch(() => Promise.all(messages.map(indexAlone)));
    const records = await writer.write(() =>
      batch.flatMap(({ record }, i) => {
        const result = results[i] ?? { ok: false, reason: "The parser returned no result." };
        return storeResult(record, result) ?? [];
      }),
    );
    for (const message of records) changes.publish(message.inboxSeq, { type: "message", message });
  }

  /** Part of a change. Returns null if the message was removed meanwhile. */
  function storeResult(record: MessageRecord, result: IndexResult): MessageRecord | null {
    if (result.ok) {
      return store.setParsed(record.seq, result.parsed)
        ? parsedRecord(record, result.parsed)
        : null;
    }
    const { reason } = result;
    if (!store.setUnreadable(record.seq, reason)) return null;
    return { ...record, state: "UNREADABLE", parseError: reason };
  }

  const unparsedOf = ({ recipients, raw }: Entry): Unparsed => ({
    raw: raw ?? new Uint8Array(),
    recipients,
  });

  async function indexAlone(message: Unparsed): Promise<IndexResult> {
    try {
      const [result] = await parser.index([message]);
      return result ?? { ok: false, reason: "The parser returned no result." };
    } catch (error) {
      return { ok: false, reason: error instanceof Error ? error.message : String(error) };
    }
  }

  function enqueueStored(seq: number): void {
    const record = store.bySeq(seq);
    if (record === null) return;
    const recipients = parseEnvelope(record.envelope).to.map(({ address }) => address);
    enqueue({ record, recipients, raw: null });
  }

  return {
    add: ({ record, recipients, raw }: Stored): void => enqueue({ record, recipients, raw }),

    /** Resolves when all messages that were added before are in lists and searches. */
    caughtUp(): Promise<void> {
      if (done >= added) return Promise.resolve();
      const after = added;
      return new Promise((resolve) => waiting.push({ after, resolve }));
    },

    /** Adds the messages that an earlier process stored and did not parse. */
    start(): void {
      let after = 0;
      for (;;) {
        const rows = leftOver.all(after);
        for (const { seq } of rows) enqueueStored(seq);
        const last = rows.at(-1);
        if (last === undefined) return;
        after = last.seq;
      }
    },

    async stop(): Promise<void> {
      isStopped = true;
      await active;
      for (const { resolve } of waiting) resolve();
    },
  };
}
