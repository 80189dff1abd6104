/** The context that the handlers of Mailpit's routes share: the request with its inbox, and its messages. */

import type { App } from "../../../core/app.ts";
import type { Clock } from "../../../lib/clock.ts";
import { readableText } from "../../content-work/content-work.ts";
import { countInbox, seqsAt } from "../messages/numbers.ts";
import type { MessageRecord } from "../messages/record.ts";
import type { MessageStore } from "../messages/store.ts";
import type { Detail } from "../../../checks/detail.ts";
import type { InboxReading } from "../reading.ts";
import { findMessages, type Match } from "../search/search.ts";
import { parseQuery, type SearchQuery } from "../search/syntax.ts";
import { countTags } from "../search/tags.ts";
import type { InboxRow } from "../service.ts";
import { badRequest, type MailpitRefusal, messageNotFound, pageNotFound } from "./answers.ts";
import { API_BODY_BYTES, readLowerJson, type ReadBody } from "./body.ts";

export type MailpitContext = {
  request: Request;
  /** Parameters of the query string. */
  query: URLSearchParams;
  /** Decoded parameters of the path. */
  params: Readonly<Record<string, string>>;
  inbox: InboxRow;
};

export type MailpitHandler = (context: MailpitContext) => Promise<Response> | Response;
export type MailpitRoute = readonly [method: string, path: string, handler: MailpitHandler];

/** Longest HTML from which text is made for a message without a text part. */
const MAX_HTML_CHARACTERS = 512 * 1024;
const LATEST = "latest";

export type MailpitMessages = ReturnType<typeof createMailpitMessages>;

export function createMailpitMessages(deps: {
  app: App;
  clock: Clock;
  reading: InboxReading;
  readBody: ReadBody;
  store: MessageStore;
}) {
  const { app, reading, readBody, store } = deps;

  /** The query in the parameter `name`; null if there is none. Throws 400. */
  function queryOf({ query }: MailpitContext, text: string | null): SearchQuery | null {
    if (text === null || text.trim() === "") return null;
    const parsed = parseQuery(text, { timeZone: query.get("tz") ?? "" });
    if (!parsed.ok) throw badRequest(parsed.reason);
    return parsed.query;
  }

  return {
    store,
    queryOf,

    find: (inboxSeq: number, query: SearchQuery, bounds?: Parameters<typeof findMessages>[3]) =>
      findMessages(app, inboxSeq, query, bounds),

    /** All messages that match; all of the inbox without a query. */
    matches: (inboxSeq: number, query: SearchQuery | null): Promise<Match[]> =>
      findMessages(app, inboxSeq, query ?? { terms: [], hasDropped: false }),

    counts: (inbox: InboxRow) => countInbox(app, inbox),

    /** The messages of a page that begins at a position, by their `seq`. */
    seqsAt: (inbox: InboxRow, page: { start: number; limit: number }) => seqsAt(app, inbox, page),

    /** The tags of all messages of the inbox, sorted, with their numbers of messages. */
    tagCounts: (inbox: InboxRow) => countTags(app, inbox),

    /** The message that the path names; `latest` is the newest one that matches. Throws 404. */
    async messageOf(context: MailpitContext): Promise<MessageRecord> {
      await reading.caughtUp();
      const { params, inbox } = context;
      const { id = "" } = params;
      if (id !== LATEST) return store.byId(inbox.seq, id) ?? raise(pageNotFound());
      const query = queryOf(context, context.query.get("query"));
      if (query === null) return store.latest(inbox.seq) ?? raise(messageNotFound());
      const [first] = await findMessages(app, inbox.seq, query, { limit: 1 });
      return (first === undefined ? null : store.bySeq(first.seq)) ?? raise(messageNotFound());
    },

    /** The parsed message with its line ends; one without a text part gets the text of its HTML. */
    async detailOf(message: MessageRecord, { projectSeq }: InboxRow): Promise<Detail> {
      const { text, html, headers } = await reading.detailAsSent(message);
      const isTextMissing = text.trim() === "" && html !== "";
      return {
        text: isTextMissing
          ? await readableText(app, projectSeq, html.slice(0, MAX_HTML_CHARACTERS))
          : text,
        html,
        headers,
      };
    },

    /** The HTML of a message; empty if it has none. */
    htmlOf: async (message: MessageRecord): Promise<string> =>
      (await reading.detailAsSent(message)).html,

    partOf: reading.part,

    /** The JSON body with keys in lower case; undefined for an empty body. */
    async jsonOf({ request, inbox }: MailpitContext, limit = API_BODY_BYTES): Promise<unknown> {
      const text = (await readBody(request, inbox.projectSeq, limit)).toString();
      return text.trim() === "" ? undefined : readLowerJson(text);
    },

    /** The text of the body. */
    async bodyOf({ request, inbox }: MailpitContext): Promise<string> {
      return (await readBody(request, inbox.projectSeq, API_BODY_BYTES)).toString();
    },

    caughtUp: reading.caughtUp,
  };
}

function raise(refusal: MailpitRefusal): never {
  throw refusal;
}
