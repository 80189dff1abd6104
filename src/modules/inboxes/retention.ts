/**
 * Removes old messages: those beyond the number or the age that an inbox keeps, those beyond the
 * limit on stored bytes, and all of an inbox that is removed. Beyond that limit, the inbox with the
 * most bytes loses its oldest messages first, so that a flood into one inbox does not empty the
 * others. Pinned messages stay, except in a removed inbox. It works in small steps, so that incoming
 * messages are not delayed.
 *
 * An inbox that is not read has up to 50 messages beyond its number, because it costs less to remove
 * many together. A read first removes them, and while inboxes are read, the transactions that add
 * messages remove as many.
 */

import { isStorageRefusal } from "../../db/refusal.ts";
import { countStoredBytes, largestOf, NOTHING, totalOf } from "./stored-bytes.ts";
import type { App } from "../../core/app.ts";
import { perApp } from "../../lib/per-app.ts";
import { messageStore } from "./messages/store.ts";
import { inboxChanges } from "./changes.ts";
import { inboxService, type InboxRow } from "./service.ts";

type CaptureLimits = {
  /** Messages that an inbox keeps; 0 for all. */
  messages: number;
  /** Days that a message stays; 0 for ever. */
  days: number;
  /** Bytes of all stored messages. */
  bytes: number;
};

/** Messages that one change removes: a few milliseconds, so that incoming mail is not delayed. */
const STEP_MESSAGES = 50;
/** With a larger number, finding the messages beyond it takes long, so only the recurring run does it. */
const MAX_PROMPT_NUMBER = 10_000;
/** Longest time of a read. */
const READ_MS = 15_000;
const DAY_MS = 24 * 60 * 60 * 1000;

type Old = { seq: number; id: string; inboxSeq: number; bytes: number };

export const inboxRetention = perApp(createInboxRetention);

function createInboxRetention(app: App) {
  const { writer, clock, config } = app;
  const [store, changes] = [messageStore(app), inboxChanges(app)];
  const limits: CaptureLimits = {
    messages: config.captureMaxMessages,
    days: config.captureMaxDays,
    bytes: config.captureMaxBytes,
  };
  const { sqlite } = app.db;
  const columns = "seq, id, inbox_seq AS inboxSeq, stored_bytes AS bytes";
  const REMOVABLE = "is_pinned = 0 AND state NOT IN ('ARRIVING', 'RECEIVED')";
  const inboxes = sqlite.prepare<{ seq: number }, []>("SELECT seq FROM inboxes ORDER BY seq");
  const beyondNumber = sqlite.prepare<Old, [number, number, number]>(`
    SELECT ${columns} FROM inbox_messages
    WHERE inbox_seq = +?1 AND ${REMOVABLE} AND seq < (
      SELECT seq FROM inbox_messages WHERE inbox_seq = +?1 ORDER BY seq DESC LIMIT 1 OFFSET +?2)
    ORDER BY seq LIMIT +?3`);
  const beyondAge = sqlite.prepare<Old, [number, number]>(`
    SELECT ${columns} FROM inbox_messages
    WHERE received_at < +? AND ${REMOVABLE} ORDER BY received_at LIMIT +?`);
  const oldest = sqlite.prepare<Old, [number, number]>(`
    SELECT ${columns} FROM inbox_messages
    WHERE inbox_seq = +? AND ${REMOVABLE} ORDER BY seq LIMIT +?`);
  const ofInbox = sqlite.prepare<Old, [number, number]>(
    `SELECT ${columns} FROM inbox_messages WHERE inbox_seq = +? ORDER BY seq LIMIT +?`,
  );
  const isPrompt = limits.messages > 0 && limits.messages <= MAX_PROMPT_NUMBER;
  /** Most messages beyond its number that an inbox keeps while it is not read. */
  const maxExcess = Math.min(STEP_MESSAGES, Math.floor(limits.messages / 10));
  /** At least the messages beyond its number of each inbox that has some. */
  const beyond = new Map<number, number>();
  const arrivals = writer.tally(trim);
  let readUntilMs = 0;
  /**
   * At least the bytes that are stored: removed messages are still in it. Counting all messages
   * takes 100 ms for 100,000 of them, so it happens only if this exceeds the limit.
   */
  let counted = NOTHING;

  async function removeBeyondBytes(): Promise<void> {
    counted = await countStoredBytes(app, counted);
    if (totalOf(counted.byInbox) <= limits.bytes) return;
    const { byInbox, upTo } = await countStoredBytes(app, NOTHING);
    // After an error, the next run counts all messages again.
    counted = NOTHING;
    const left = new Map(byInbox);
    /** Inboxes without a message that may be removed. */
    const kept = new Set<number>();
    await removeAll(() => nextBeyondBytes(left, kept));
    counted = { byInbox: left, upTo };
  }

  /** The oldest messages of the inbox with the most bytes, as many as exceed the limit. */
  function nextBeyondBytes(left: Map<number, number>, kept: Set<number>): Old[] {
    let excess = totalOf(left) - limits.bytes;
    while (excess > 0) {
      const inboxSeq = largestOf(left, kept);
      if (inboxSeq === null) return [];
      const old: Old[] = [];
      for (const message of oldest.all(inboxSeq, STEP_MESSAGES)) {
        if (excess <= 0) break;
        excess -= message.bytes;
        left.set(inboxSeq, (left.get(inboxSeq) ?? 0) - message.bytes);
        old.push(message);
      }
      if (old.length > 0) return old;
      kept.add(inboxSeq);
    }
    return [];
  }

  /** Removes messages step by step until `next` returns none. Resolves to their number. */
  async function removeAll(next: () => Old[]): Promise<number> {
    let removed = 0;
    for (;;) {
      const old = next();
      if (old.length === 0) return removed;
      await writer.write(() => store.removeAll(old.map(({ seq }) => seq)));
      publishRemoved(old);
      removed += old.length;
    }
  }

  const isRead = () => clock.elapsed() < readUntilMs || changes.isWatched();

  /** Part of a transaction that has added so many messages to the inbox. */
  function trim(inboxSeq: number, added: number): void {
    const most = (beyond.get(inboxSeq) ?? 0) + added;
    if (most <= maxExcess && !isRead()) {
      beyond.set(inboxSeq, most);
      return;
    }
    beyond.delete(inboxSeq);
    const old = beyondNumber.all(inboxSeq, limits.messages - 1, Math.max(most, STEP_MESSAGES));
    if (old.length === 0) return;
    store.removeAll(old.map(({ seq }) => seq));
    writer.afterCommit(() => publishRemoved(old));
  }

  function publishRemoved(old: readonly Old[]): void {
    for (const { id, inboxSeq } of old) changes.publish(inboxSeq, { type: "deleted", id });
  }

  async function run(): Promise<void> {
    if (limits.messages > 0) {
      for (const { seq } of inboxes.all()) {
        await removeAll(() => beyondNumber.all(seq, limits.messages - 1, STEP_MESSAGES));
      }
    }
    if (limits.days > 0) {
      const before = clock.now() - limits.days * DAY_MS;
      await removeAll(() => beyondAge.all(before, STEP_MESSAGES));
    }
    await removeBeyondBytes();
  }

  return {
    /**
     * Part of a change that adds or parses a message: at the end of its transaction, the inbox may
     * lose messages beyond the number that it keeps.
     */
    keepNumber(inboxSeq: number): void {
      if (isPrompt) arrivals.add(inboxSeq, 1);
    },

    /**
     * Resolves when no inbox has more messages than its number, up to MAX_PROMPT_NUMBER. None gets
     * more during the read.
     */
    async beginRead(): Promise<void> {
      readUntilMs = clock.elapsed() + READ_MS;
      if (beyond.size === 0) return;
      const trimAll = () => {
        for (const inboxSeq of beyond.keys()) trim(inboxSeq, 0);
      };
      await writer.write(trimAll).catch((error: unknown) => {
        // Inboxes can be read while the storage is full; the writer has logged that it is.
        if (!isStorageRefusal(error)) throw error;
      });
    },

    /** Removes all but the newest messages of an inbox, except pinned ones. */
    keepNewest: (inboxSeq: number, messages: number): Promise<number> =>
      removeAll(() => beyondNumber.all(inboxSeq, messages - 1, STEP_MESSAGES)),

    run,

    /** Removes all messages of an inbox. */
    empty: (inboxSeq: number): Promise<number> =>
      removeAll(() => ofInbox.all(inboxSeq, STEP_MESSAGES)),
  };
}

/** Removes an inbox with its messages. */
export async function removeInbox(app: App, { seq }: Pick<InboxRow, "seq">): Promise<void> {
  await inboxRetention(app).empty(seq);
  await app.writer.write(() => inboxService(app).remove(seq));
}
