/** Finds the messages that match a query, newest first. */

import { fieldError } from "../../lib/errors.ts";
import type { MessageRecord } from "./messages/record.ts";
import type { MessageStore } from "./messages/store.ts";

type MatchBounds = {
  /** Only messages that arrived before the message with this `seq`. */
  before?: number;
  /** Only messages that arrived after it. */
  after?: number;
  limit: number;
};

export type Matching = {
  /** Throws 422 that names the field `query` if it is not valid. */
  check(query: string): void;
  /** Matching messages, newest first. All match an empty query. */
  find(inboxSeq: number, query: string, bounds: MatchBounds): Promise<MessageRecord[]>;
  count(inboxSeq: number, query: string): Promise<number>;
};

export function createMatching({ store }: { store: MessageStore }): Matching {
  function check(query: string): void {
    if (query.trim() !== "") throw fieldError("query", "invalid_value", "is not supported yet");
  }
  return {
    check,
    async find(inboxSeq, query, { before = null, after = 0, limit }) {
      check(query);
      return store.page(inboxSeq, before, limit).filter(({ seq }) => seq > after);
    },
    async count(inboxSeq, query) {
      check(query);
      return store.counts(inboxSeq).total;
    },
  };
}
