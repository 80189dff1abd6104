/**
 * Parses a batch of messages in the parser's thread; the faulty one alone fails. Messages of an inbox
 * that has had messages which took too long are put off.
 */

import { freeMemory } from "../../../lib/free-memory.ts";
import { senderOfInbox } from "../../../lib/message-senders.ts";
import type { MessageStore } from "../messages/store.ts";
import type { Parser } from "../parsing/parser.ts";
import type { IndexResult } from "../parsing/tasks.ts";
import type { Entry, LoadedEntry } from "./queue.ts";
import type { IndexedMessage } from "./store-results.ts";

const NO_RESULT: IndexResult = { ok: false, reason: "The parser returned no result." };

/** The result is null for a message that is put off. */
type Parsed = { entry: Entry; result: IndexResult | null };

export type ParsedBatch = {
  indexed: IndexedMessage[];
  /** Messages of inboxes that became slow: they are parsed later, one at a time. */
  putOff: Entry[];
};

/** The results have the order of the batch. */
export function createBatchParser(deps: {
  store: Pick<MessageStore, "raw">;
  parser: Pick<Parser, "index" | "isSlow">;
}) {
  const { store, parser } = deps;

  /** The messages of one inbox. If they fail as a whole, each is parsed alone. */
  async function parseOfInbox(sender: string, messages: readonly LoadedEntry[]): Promise<Parsed[]> {
    if (parser.isSlow(sender)) return messages.map((entry) => ({ entry, result: null }));
    const parsing = parser.index(messages, sender);
    // The parser has copied them.
    for (const { raw } of messages) freeMemory(raw);
    try {
      const results = await parsing;
      return messages.map((entry, i) => ({ entry, result: results[i] ?? NO_RESULT }));
    } catch {
      const parsed: Parsed[] = [];
      for (const entry of messages) {
        const result = parser.isSlow(sender) ? null : await parseAlone(entry);
        parsed.push({ entry, result });
      }
      return parsed;
    }
  }

  async function parseAlone({ record, recipients }: Entry): Promise<IndexResult> {
    try {
      const [result] = await parser.index(
        [{ raw: store.raw(record.seq), recipients }],
        senderOfInbox(record.inboxSeq),
      );
      return result ?? NO_RESULT;
    } catch (error) {
      return { ok: false, reason: error instanceof Error ? error.message : String(error) };
    }
  }

  return {
    async parseBatch(batch: readonly LoadedEntry[]): Promise<ParsedBatch> {
      const ofInboxes = Map.groupBy(batch, ({ record }) => senderOfInbox(record.inboxSeq));
      const parsed = await Promise.all(
        ofInboxes.entries().map(([sender, messages]) => parseOfInbox(sender, messages)),
      );
      const results = new Map(parsed.flat().map(({ entry, result }) => [entry.record, result]));
      const indexed: IndexedMessage[] = [];
      const putOff: Entry[] = [];
      for (const { record, recipients } of batch) {
        const result = results.get(record) ?? null;
        if (result === null) putOff.push({ record, recipients, raw: null });
        else indexed.push({ record, result });
      }
      return { indexed, putOff };
    },

    /** Parses a message that was put off. */
    parseLater: async (entry: Entry): Promise<ParsedBatch> => ({
      indexed: [{ record: entry.record, result: await parseAlone(entry) }],
      putOff: [],
    }),
  };
}
