/**
 * Parses stored messages, except plain ones, which are parsed when they arrive, and writes the
 * columns and index entries that lists and searches need.
 *
 * 1. `add` takes a message that was answered with 250. Messages that an earlier process left are
 *    read from the database at the start.
 * 2. Batches go to the parser's thread; between two batches, messages gather for a moment, but
 *    not while a client waits for them. If a batch fails as a whole, each of its messages is parsed
 *    alone, and only the faulty one becomes UNREADABLE. After a message that took too long, those of
 *    its inbox are put off until no other message waits, and no request waits for them.
 * 3. The results of a batch are written in one transaction (store-results.ts), and then published.
 * 4. `caughtUp` resolves when every message that was added before is written, so that a test that
 *    sends a mail and reads the inbox sees it.
 */

import type { Db } from "../../../db/open.ts";
import type { Writer } from "../../../db/writer.ts";
import type { Clock } from "../../../lib/clock.ts";
import { describeError, type Log } from "../../../lib/log.ts";
import type { InboxChanges } from "../changes.ts";
import { parseEnvelope } from "../envelope.ts";
import type { Stored } from "../messages/arrived.ts";
import type { MessageStore } from "../messages/store.ts";
import type { Parser } from "../parsing/parser.ts";
import { createBatchParser, type ParsedBatch } from "./parse-batch.ts";
import { createIndexQueue, type Entry } from "./queue.ts";
import { createResultStore } from "./store-results.ts";
import type { App } from "../../../core/app.ts";
import { perApp } from "../../../lib/per-app.ts";
import { messageStore } from "../messages/store.ts";
import { mailParser } from "../parsing/parser.ts";
import { inboxChanges } from "../changes.ts";
import { inboxRetention } from "../retention.ts";

/** Time in which messages gather for a batch: a large one costs less for each message. */
const GATHER_MS = 50;

type Waiting = { after: number; resolve: () => void };

export const messageIndexer = perApp((app: App) =>
  createIndexer({
    ...app,
    store: messageStore(app),
    parser: mailParser(app),
    changes: inboxChanges(app),
    keepNumber: inboxRetention(app).keepNumber,
  }),
);

export function createIndexer(deps: {
  db: Db;
  writer: Writer;
  clock: Clock;
  log: Log;
  store: MessageStore;
  parser: Pick<Parser, "index" | "isSlow">;
  changes: InboxChanges;
  /** See retention.ts. */
  keepNumber: (inboxSeq: number) => void;
}) {
  const { log, store, changes } = deps;
  const leftOver = deps.db.sqlite.prepare<{ seq: number }, [number]>(
    "SELECT seq FROM inbox_messages WHERE state = 'RECEIVED' AND seq > +? ORDER BY seq LIMIT 1000",
  );
  const queue = createIndexQueue(store.raw);
  const { parseBatch, parseLater } = createBatchParser(deps);
  /** Messages that were put off. */
  const later: Entry[] = [];
  const storeResults = createResultStore(deps);
  let added = 0;
  let done = 0;
  let waiting: Waiting[] = [];
  let active: Promise<void> | null = null;
  let isStopped = false;
  /** Ends the time in which messages gather. */
  let endGathering = () => {};
  /** Ends the wait for the batch that is being parsed. */
  let abandon = () => {};

  function enqueue(entry: Entry): void {
    queue.add(entry);
    added++;
    if (queue.isFull()) endGathering();
    if (active === null && !isStopped) active = work();
  }

  async function work(): Promise<void> {
    // Messages of the same iteration of the event loop share a batch.
    await new Promise<void>((resolve) => void setImmediate(resolve));
    for (;;) {
      if (isStopped) break;
      const delayed = queue.isEmpty() ? later.shift() : undefined;
      const batch = queue.takeBatch();
      if (delayed === undefined && batch.length === 0) break;
      const release = once(() => releaseReaders(batch.length));
      const parse = () => (delayed === undefined ? parseBatch(batch) : parseLater(delayed));
      await indexBatch(parse, release).catch((error: unknown) =>
        log.error("messages could not be indexed", { error: describeError(error) }),
      );
      release();
      const isAwaited = waiting.length > 0 || changes.isWatched() || isStopped;
      if (!queue.isEmpty() && !queue.isFull() && !isAwaited) await gather();
    }
    active = null;
  }

  async function gather(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    endGathering = resolve;
    const cancel = deps.clock.after(GATHER_MS, resolve);
    await promise;
    cancel();
  }

  /** The readers that wait for these messages go on. */
  function releaseReaders(messages: number): void {
    done += messages;
    const isReady = ({ after }: Waiting) => after <= done;
    for (const { resolve } of waiting.filter(isReady)) resolve();
    waiting = waiting.filter((each) => !isReady(each));
  }

  /** Calls `onRefused` if the storage is full or broken, because readers do not wait for that. */
  async function indexBatch(
    parse: () => Promise<ParsedBatch>,
    onRefused: () => void,
  ): Promise<void> {
    const parsed = await parseUnlessStopped(parse);
    if (parsed === null) return;
    const { indexed, putOff } = parsed;
    later.push(...putOff);
    const hooks = { isStopping: () => isStopped, onRefused };
    for (const message of await storeResults(indexed, hooks)) {
      changes.publish(message.inboxSeq, { type: "message", message });
    }
  }

  /** Resolves to null if the process stops meanwhile. */
  function parseUnlessStopped(parse: () => Promise<ParsedBatch>): Promise<ParsedBatch | null> {
    return new Promise((resolve, reject) => {
      abandon = () => resolve(null);
      parse().then(resolve, reject);
    });
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
      endGathering();
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

    /** Does not wait for the parser: the next start adds the messages that have no result. */
    async stop(): Promise<void> {
      isStopped = true;
      abandon();
      endGathering();
      await active;
      for (const { resolve } of waiting) resolve();
    },
  };
}

function once(run: () => void): () => void {
  let isDone = false;
  return () => {
    if (!isDone) run();
    isDone = true;
  };
}
