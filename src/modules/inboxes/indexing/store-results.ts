/**
 * Writes what the parser found. While the storage refuses writes, they are tried again.
 *
 * Nothing waits until the results are on disk, because a message that lost them in a power cut is
 * parsed again. So they are written while the disk is busy with messages that were answered with 250
 * later, when the event loop would otherwise have nothing to do.
 */

import { isStorageRefusal } from "../../../db/refusal.ts";
import { writeResult } from "../../../db/write-result.ts";
import type { Writer } from "../../../db/writer.ts";
import type { Clock } from "../../../lib/clock.ts";
import { describeError, type Log } from "../../../lib/log.ts";
import { type MessageRecord, parsedRecord } from "../messages/record.ts";
import type { MessageStore } from "../messages/store.ts";
import type { IndexResult } from "../parsing/tasks.ts";
import type { IndexedText } from "../search/index-rows.ts";

/**
 * Results of one change: about 10 ms, so that other changes can run in between. More of them make
 * larger segments of the index, which are merged less often.
 */
const STEP_MESSAGES = 64;

export type IndexedMessage = {
  record: MessageRecord;
  result: IndexResult;
};

type Hooks = {
  isStopping: () => boolean;
  /** Called when the storage refused the results; they are tried again. */
  onRefused: () => void;
};

/** Returns a function that resolves to the records of the messages that were not removed. */
export function createResultStore(deps: {
  writer: Writer;
  clock: Clock;
  log: Log;
  store: Pick<MessageStore, "setParsed" | "setUnreadable" | "addPassedToIndex">;
  /** See retention.ts. */
  keepNumber: (inboxSeq: number) => void;
}) {
  const { store, log } = deps;
  const committing: Pick<Writer, "write"> = {
    write: async (change) => (await deps.writer.commit(change)).value,
  };

  /** Part of a change. Returns null if the message was removed meanwhile. */
  function storeOne({ record, result }: IndexedMessage): MessageRecord | null {
    if (result.ok) {
      const { parsed } = result;
      return store.setParsed(record.seq, parsed) ? parsedRecord(record, parsed) : null;
    }
    const { reason } = result;
    if (!store.setUnreadable(record.seq, reason)) return null;
    return { ...record, state: "UNREADABLE", parseError: reason };
  }

  /** Part of a change. The index of texts comes last, see search/index-rows.ts. */
  function storeAll(batch: readonly IndexedMessage[]): MessageRecord[] {
    const records: MessageRecord[] = [];
    const texts: IndexedText[] = [];
    for (const message of batch) {
      const record = storeOne(message);
      if (record === null) continue;
      records.push(record);
      const { result } = message;
      if (result.ok) texts.push({ seq: record.seq, text: result.parsed.search.text });
    }
    store.addPassedToIndex(texts);
    // A message is not removed before it is parsed.
    for (const { inboxSeq } of records) deps.keepNumber(inboxSeq);
    return records;
  }

  /** Returns null if the change failed, and not because of the storage. */
  async function write(
    batch: readonly IndexedMessage[],
    hooks: Hooks,
  ): Promise<MessageRecord[] | null> {
    const stored = await writeResult({ ...deps, writer: committing }, () => storeAll(batch), {
      isStopping: hooks.isStopping,
      error(error, tries) {
        if (tries > 1) return;
        log.error("messages could not be indexed", { error: describeError(error) });
        if (isStorageRefusal(error)) hooks.onRefused();
      },
    });
    return stored.isStored ? stored.value : null;
  }

  async function storeStep(
    step: readonly IndexedMessage[],
    hooks: Hooks,
  ): Promise<MessageRecord[]> {
    const stored = await write(step, hooks);
    if (stored !== null || hooks.isStopping()) return stored ?? [];
    const [only, ...others] = step;
    if (only !== undefined && others.length === 0) {
      const reason = "What the parser found could not be stored.";
      const result = { ok: false, reason } as const;
      return (await write([{ ...only, result }], hooks)) ?? [];
    }
    // One faulty result does not keep the others out of the lists.
    const records: MessageRecord[] = [];
    for (const each of step) records.push(...(await storeStep([each], hooks)));
    return records;
  }

  return async function storeResults(
    batch: readonly IndexedMessage[],
    hooks: Hooks,
  ): Promise<MessageRecord[]> {
    const records: MessageRecord[] = [];
    // One change after the other, so that messages are stored in between.
    for (let at = 0; at < batch.length; at += STEP_MESSAGES) {
      records.push(...(await storeStep(batch.slice(at, at + STEP_MESSAGES), hooks)));
    }
    return records;
  };
}
