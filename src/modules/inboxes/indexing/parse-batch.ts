/** Parses a batch of messages in the parser's thread; the faulty one alone fails. */

import { freeMemory } from "../../../lib/free-memory.ts";
import type { MessageStore } from "../messages/store.ts";
import type { Parser } from "../parsing/parser.ts";
import type { IndexResult } from "../parsing/tasks.ts";
import type { Entry, LoadedEntry, UnparsedEntry } from "./queue.ts";
import type { IndexedMessage } from "./store-results.ts";

const NO_RESULT: IndexResult = { ok: false, reason: "The parser returned no result." };

/** Returns a function whose results have the order of the batch. */
export function createBatchParser(deps: {
  store: Pick<MessageStore, "raw">;
  parser: Pick<Parser, "index">;
}) {
  const { store, parser } = deps;

  /** If the batch fails as a whole, each of its messages is parsed alone. */
  async function parse(messages: readonly UnparsedEntry[]): Promise<IndexResult[]> {
    if (messages.length === 0) return [];
    const parsing = parser.index(messages);
    // The parser has copied them.
    for (const { raw } of messages) freeMemory(raw);
    return parsing.catch(() => Promise.all(messages.map(parseAlone)));
  }

  async function parseAlone({ record, recipients }: Entry): Promise<IndexResult> {
    try {
      const [result] = await parser.index([{ raw: store.raw(record.seq), recipients }]);
      return result ?? NO_RESULT;
    } catch (error) {
      return { ok: false, reason: error instanceof Error ? error.message : String(error) };
    }
  }

  return async function parseBatch(batch: readonly LoadedEntry[]): Promise<IndexedMessage[]> {
    const results = await parse(batch.filter((entry) => entry.parsed === null));
    return batch.map(({ record, parsed }) =>
      parsed === null
        ? { record, result: results.shift() ?? NO_RESULT, hasColumns: false }
        : { record, result: { ok: true, parsed }, hasColumns: true },
    );
  };
}
