/** Finds the messages that match a query of our own interface, newest first. */

import { fieldError } from "../../lib/errors.ts";
import type { MessageRecord } from "./messages/record.ts";
import { countInbox } from "./messages/numbers.ts";
import type { MessageStore } from "./messages/store.ts";
import type { App } from "../../core/app.ts";
import { countMessages, findMessages } from "./search/search.ts";
import { parseQuery, type SearchQuery } from "./search/syntax.ts";
import { perApp } from "../../lib/per-app.ts";
import { messageStore } from "./messages/store.ts";
import type { InboxRow } from "./service.ts";

type MatchBounds = {
  /** Only messages that arrived before the message with this `seq`. */
  before?: number;
  /** Only messages that arrived after it. */
  after?: number;
  limit: number;
};

export type Matching = ReturnType<typeof createMatching>;

export const messageMatching = perApp((app: App) =>
  createMatching({ app, store: messageStore(app) }),
);

function createMatching({ app, store }: { app: App; store: MessageStore }) {
  /** A quoted address means the whole address. Throws 422 that names the field `query`. */
  function parse(text: string): SearchQuery {
    const parsed = parseQuery(text, { isExactWhenQuoted: true });
    if (!parsed.ok) throw invalidQuery(parsed.reason);
    // Without a term that has no value, more messages would match than are meant.
    if (parsed.query.hasDropped) throw invalidQuery("A term has no value.");
    return parsed.query;
  }

  return {
    check: (query: string): void => void parse(query),

    /** Matching messages, newest first. All match an empty query. */
    async find(inboxSeq: number, text: string, bounds: MatchBounds): Promise<MessageRecord[]> {
      const query = parse(text);
      const { before = null, after = 0, limit } = bounds;
      if (query.terms.length === 0) {
        return store.page(inboxSeq, before, limit).filter(({ seq }) => seq > after);
      }
      const matches = await findMessages(app, inboxSeq, query, bounds);
      return matches.flatMap(({ seq }) => store.bySeq(seq) ?? []);
    },

    async count(inbox: Pick<InboxRow, "seq" | "projectSeq">, text: string): Promise<number> {
      const query = parse(text);
      if (query.terms.length === 0) return (await countInbox(app, inbox)).total;
      return await countMessages(app, inbox.seq, query);
    },
  };
}

function invalidQuery(reason: string) {
  return fieldError(
    "query",
    "invalid_format",
    `cannot be searched for: ${reason.replace(/\.$/, "")}`,
  );
}
