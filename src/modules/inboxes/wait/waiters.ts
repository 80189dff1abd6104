/**
 * Requests that wait for messages.
 *
 * 1. A wait ends at once if enough messages match already.
 * 2. Else each new message of the inbox is compared. Messages that arrive during a comparison are
 *    compared together after it.
 * 3. The wait ends when enough messages match, at the end of its time, or when the client
 *    disconnects. With `quietMs` it ends when no matching message has arrived for that time.
 */

import type { Clock } from "../../../lib/clock.ts";
import { AppError } from "../../../lib/errors.ts";
import type { InboxChanges } from "../changes.ts";
import type { Matching } from "../matching.ts";
import type { MessageRecord } from "../messages/record.ts";
import { MAX_WAIT_ITEMS } from "./model.ts";
import type { App } from "../../../core/app.ts";
import { perApp } from "../../../lib/per-app.ts";
import { messageMatching } from "../matching.ts";
import { inboxChanges } from "../changes.ts";

/** Waits of one project at the same time; each compares every new message. */
const MAX_WAITERS = 100;

type WaitFor = {
  query: string;
  count: number;
  /** Only messages that arrived after the message with this `seq`. */
  afterSeq: number;
  /** Only messages received at or after this time. */
  sinceMs: number;
  timeoutMs: number;
  quietMs: number | null;
  /** Aborted when the client disconnects. */
  signal: AbortSignal;
};

type Waited = { matched: boolean; quiet: boolean; items: MessageRecord[] };

export const inboxWaiters = perApp(createWaiters);

function createWaiters(app: App) {
  const { clock } = app;
  const [matching, changes] = [messageMatching(app), inboxChanges(app)];
  const active = new Map<number, number>();
  const ends = new Set<() => void>();
  let isClosed = false;

  function begin(projectSeq: number): () => void {
    const waiting = active.get(projectSeq) ?? 0;
    if (waiting >= MAX_WAITERS) throw tooManyWaiters();
    active.set(projectSeq, waiting + 1);
    return () => {
      const left = (active.get(projectSeq) ?? 1) - 1;
      if (left === 0) active.delete(projectSeq);
      else active.set(projectSeq, left);
    };
  }

  return {
    /** Number of requests that wait. */
    size: (): number => [...active.values()].reduce((sum, each) => sum + each, 0),

    /** Throws 429 if too many requests of the project wait. */
    async wait(inbox: { seq: number; projectSeq: number }, wanted: WaitFor): Promise<Waited> {
      const finish = begin(inbox.projectSeq);
      const wait = new Wait({ matching, changes, clock }, inbox.seq, wanted);
      ends.add(wait.end);
      if (isClosed) wait.end();
      try {
        return await wait.run();
      } finally {
        ends.delete(wait.end);
        finish();
      }
    },

    /** Ends all waits, and each later one at once, because the server stops. */
    close(): void {
      isClosed = true;
      for (const end of ends) end();
    },
  };
}

class Wait {
  readonly #deps: { matching: Matching; changes: InboxChanges; clock: Clock };
  readonly #inboxSeq: number;
  readonly #wanted: WaitFor;
  readonly #ended = Promise.withResolvers<void>();
  /** Matching messages by `seq`. */
  readonly #found = new Map<number, MessageRecord>();
  /** New messages that were not compared yet. */
  #pending: number[] = [];
  #isOver = false;
  #isQuiet = false;
  #isComparing = false;
  #cancelQuiet: () => void = () => {};

  constructor(
    deps: { matching: Matching; changes: InboxChanges; clock: Clock },
    inboxSeq: number,
    wanted: WaitFor,
  ) {
    this.#deps = deps;
    this.#inboxSeq = inboxSeq;
    this.#wanted = wanted;
  }

  /** Ends the wait with the messages that matched so far. */
  readonly end = (): void => {
    this.#isOver = true;
    this.#ended.resolve();
  };

  async run(): Promise<Waited> {
    const { clock, changes } = this.#deps;
    const { timeoutMs, signal, count, afterSeq } = this.#wanted;
    const unsubscribe = changes.subscribe(this.#inboxSeq, ({ change }) => {
      if (change.type !== "message" || change.message.seq <= afterSeq) return;
      this.#pending.push(change.message.seq);
      void this.#compareNew();
    });
    const cancelTimeout = clock.after(timeoutMs, this.end);
    signal.addEventListener("abort", this.end, { once: true });
    if (signal.aborted) this.end();
    try {
      await this.#compare(afterSeq, Number.MAX_SAFE_INTEGER);
      if (timeoutMs === 0) this.end();
      this.#restartQuiet();
      void this.#compareNew();
      await this.#ended.promise;
    } finally {
      unsubscribe();
      cancelTimeout();
      this.#cancelQuiet();
      signal.removeEventListener("abort", this.end);
    }
    const items = this.#items();
    return { matched: items.length >= count, quiet: this.#isQuiet, items };
  }

  /** The matching messages, newest first. */
  #items(): MessageRecord[] {
    const limit = this.#wanted.quietMs === null ? this.#wanted.count : MAX_WAIT_ITEMS;
    return [...this.#found.values()].sort((a, b) => b.seq - a.seq).slice(0, limit);
  }

  /** Compares the messages that arrived since the last comparison. One comparison runs at a time. */
  async #compareNew(): Promise<void> {
    if (this.#isComparing) return;
    this.#isComparing = true;
    try {
      while (this.#pending.length > 0 && !this.#isOver) {
        const pending = this.#pending;
        this.#pending = [];
        const isNew = await this.#compare(Math.min(...pending) - 1, Math.max(...pending) + 1);
        if (isNew) this.#restartQuiet();
      }
    } catch (error) {
      this.#ended.reject(error);
    }
    this.#isComparing = false;
  }

  /** Compares the messages between two positions. Resolves to true if another one matches. */
  async #compare(after: number, before: number): Promise<boolean> {
    const { query, count, sinceMs, quietMs } = this.#wanted;
    const bounds = { after, before, limit: MAX_WAIT_ITEMS };
    const matches = await this.#deps.matching.find(this.#inboxSeq, query, bounds);
    const known = this.#found.size;
    for (const message of matches) {
      // A message that is not parsed yet is announced after it is.
      if (message.state === "RECEIVED" || message.receivedAt < sinceMs) continue;
      if (this.#found.size < 2 * MAX_WAIT_ITEMS) this.#found.set(message.seq, message);
    }
    if (quietMs === null && this.#found.size >= count) this.end();
    return this.#found.size > known;
  }

  #restartQuiet(): void {
    const { quietMs } = this.#wanted;
    this.#cancelQuiet();
    if (quietMs === null || this.#isOver) return;
    this.#cancelQuiet = this.#deps.clock.after(quietMs, () => {
      this.#isQuiet = true;
      this.end();
    });
  }
}

function tooManyWaiters(): AppError {
  return new AppError(
    429,
    "RATE_LIMIT_EXCEEDED",
    `More than ${MAX_WAITERS} requests of this project wait for messages.`,
    { headers: { "Retry-After": "1" }, suggestion: "End some of them, or wait one after another." },
  );
}
