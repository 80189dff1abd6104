/**
 * Finds inboxes and messages for requests. Reads wait until every message that was answered with
 * 250 before is parsed, because tests read directly after they send, and until no inbox has more
 * messages than it keeps.
 */

import { notFound } from "../../lib/errors.ts";
import { readerOfInbox } from "../../lib/message-senders.ts";
import type { MessageRecord } from "./messages/record.ts";
import type { Detail } from "../../checks/detail.ts";
import { ParserError } from "./parsing/parser.ts";
import { DEFAULT_INBOX, type InboxRow } from "./service.ts";
import type { App } from "../../core/app.ts";
import { perApp } from "../../lib/per-app.ts";
import { inboxService } from "./service.ts";
import { messageStore } from "./messages/store.ts";
import { mailParser } from "./parsing/parser.ts";
import { messageIndexer } from "./indexing/indexer.ts";
import { inboxRetention } from "./retention.ts";

/** Stands for the id of the newest message. */
const LATEST = "latest";

export type InboxReading = ReturnType<typeof createInboxReading>;

/** The parsed parts of a message, or the reason why the parser failed. */
type ReadDetail = Detail & { parseError: string | null };

export const inboxReading = perApp(createInboxReading);

function createInboxReading(app: App) {
  const { writer } = app;
  const [inboxes, store] = [inboxService(app), messageStore(app)];
  const [parser, indexer, retention] = [mailParser(app), messageIndexer(app), inboxRetention(app)];

  /** Each read waits for this first. */
  async function caughtUp(): Promise<void> {
    await indexer.caughtUp();
    await retention.beginRead();
  }

  /** An inbox by id or name. The default inbox is created when it is read first. Throws 404. */
  async function inbox(projectSeq: number, idOrName: string): Promise<InboxRow> {
    await caughtUp();
    if (idOrName === DEFAULT_INBOX && inboxes.find(projectSeq, idOrName) === null) {
      return writer.write(() => inboxes.defaultOf(projectSeq));
    }
    return inboxes.get(projectSeq, idOrName);
  }

  /** A message that cannot be parsed has no text, HTML and headers. */
  async function readDetail(
    message: MessageRecord,
    options: { hasLineEnds: boolean },
  ): Promise<ReadDetail> {
    try {
      const detail = await parser.detail(store.raw(message.seq), {
        sender: readerOfInbox(message.inboxSeq),
        ...options,
      });
      return { ...detail, parseError: message.parseError };
    } catch (error) {
      if (!(error instanceof ParserError)) throw error;
      return { text: "", html: "", headers: [], parseError: error.message };
    }
  }

  return {
    caughtUp,
    inbox,

    /** A message of an inbox by id; `latest` is the newest one. Throws 404. */
    async message(
      projectSeq: number,
      { id, messageId }: { id: string; messageId: string },
    ): Promise<MessageRecord> {
      const { seq } = await inbox(projectSeq, id);
      const found = messageId === LATEST ? store.latest(seq) : store.byId(seq, messageId);
      if (found === null) throw notFound("MESSAGE");
      return found;
    },

    /** The parsed message, in which lines end with LF. */
    detail: (message: MessageRecord) => readDetail(message, { hasLineEnds: false }),

    /** The parsed message with the line ends that it was sent with. */
    detailAsSent: (message: MessageRecord) => readDetail(message, { hasLineEnds: true }),

    /** The content of an attachment or inline part. Throws 404. */
    async part(message: MessageRecord, partId: string): Promise<Uint8Array> {
      const sender = readerOfInbox(message.inboxSeq);
      const content = await parser
        .part(store.raw(message.seq), partId, sender)
        .catch(nullIfUnparsable);
      if (content === null) throw notFound("PART");
      return content;
    },

    /** The contents of parts by their ids; parts that cannot be read are missing. */
    parts(
      message: MessageRecord,
      partIds: readonly string[],
    ): Promise<ReadonlyMap<string, Uint8Array>> {
      const sender = readerOfInbox(message.inboxSeq);
      return parser.parts(store.raw(message.seq), partIds, sender).catch(noneIfUnparsable);
    },
  };
}

function noneIfUnparsable(error: unknown): ReadonlyMap<string, Uint8Array> {
  if (error instanceof ParserError) return new Map();
  throw error;
}

function nullIfUnparsable(error: unknown): null {
  if (error instanceof ParserError) return null;
  throw error;
}
