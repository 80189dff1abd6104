/**
 * The routes of MailHog, for clients that were not moved to Mailpit's:
 *
 * GET    /api/v2/messages                 list messages
 * GET    /api/v2/search                   list the messages that match
 * GET    /api/v2/jim                      404: chaos is configured by Mailpit's route
 * GET    /api/v2/outgoing-smtp            no servers
 * GET    /api/v1/messages/{id}            one message
 * GET    /api/v1/messages/{id}/download   the raw message
 * DELETE /api/v1/messages/{id}            delete one message
 * POST   /api/v1/messages/{id}/release    send the message to another recipient
 */

import { Type } from "@sinclair/typebox";
import { AppError } from "../../../lib/errors.ts";
import { parseEnvelope } from "../envelope.ts";
import type { MessageRecord } from "../messages/record.ts";
import type { SearchQuery, SearchField } from "../search/syntax.ts";
import { foldText } from "../search/fold.ts";
import { badRequest, pageNotFound } from "./answers.ts";
import { validated } from "./body.ts";
import type { MailpitContext, MailpitMessages, MailpitRoute } from "./context.ts";
import type { MailpitEdits } from "./edits.ts";
import { type MimeEntity, splitMime } from "./mime-parts.ts";
import type { ReleaseToAll } from "./one-message.ts";
import { timeOf } from "./shapes.ts";

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 250;
/**
 * Raw bytes of the messages in one answer, which has each of them three times; it has at least one message.
 * Clients read the next page from `start` and `count` of the answer.
 */
const MAX_RAW_BYTES = 8 * 1024 * 1024;

const KINDS: Readonly<Record<string, readonly SearchField[] | null>> = {
  from: ["from"],
  to: ["to", "cc", "bcc"],
  containing: null,
};

/** Keys in lower case (body.ts). */
const Released = Type.Object({
  email: Type.String({ minLength: 1 }),
  host: Type.Optional(Type.String()),
});

export function mailhogRoutes(deps: {
  messages: MailpitMessages;
  edits: MailpitEdits;
  /** Null while the transport sends no mail. */
  findRelease: () => ReleaseToAll | null;
  /** Host of the relay through which messages are released; null without a relay. */
  findRelayHost: () => string | null;
}): MailpitRoute[] {
  const { messages, edits, findRelease, findRelayHost } = deps;
  const { store } = messages;

  async function page(context: MailpitContext, query: SearchQuery | null): Promise<Response> {
    await messages.caughtUp();
    const { inbox } = context;
    const start = numberOf(context, "start", 0);
    const limit = Math.min(numberOf(context, "limit", DEFAULT_LIMIT), MAX_LIMIT);
    const matches = query === null ? null : await messages.matches(inbox.seq, query);
    const seqs =
      matches === null
        ? await messages.seqsAt(inbox, { start, limit })
        : matches.slice(start, start + limit).map(({ seq }) => seq);
    const found = seqs.flatMap((seq) => store.bySeq(seq) ?? []);
    const total = matches?.length ?? (await messages.counts(inbox)).total;
    const items = withinBytes(found).map(itemOf);
    return mailhogAnswer({ total, count: items.length, start, items });
  }

  function itemOf(message: MessageRecord) {
    // MailHog counts the line end before the final dot to the dot, not to the message.
    const raw = Buffer.from(store.raw(message.seq)).toString("utf8").replace(/\r\n$/, "");
    const { from, to, helo } = parseEnvelope(message.envelope);
    const { headers, body, parts } = splitMime(raw);
    const MIME = parts.length === 0 ? null : { Parts: parts.map(partOf) };
    return {
      ID: message.id,
      From: pathOf(from),
      To: to.map(({ address }) => pathOf(address)),
      Content: { Headers: headers, Body: body, Size: message.size, MIME: null },
      Created: timeOf(new Date(message.receivedAt).toISOString()),
      MIME,
      Raw: { From: from, To: to.map(({ address }) => address), Data: raw, Helo: helo },
    };
  }

  /** MailHog sends to any server of the request; here only the server's own relay sends mail. */
  async function releaseTo(context: MailpitContext): Promise<Response> {
    const message = await messages.messageOf(context);
    const [release, relayHost] = [findRelease(), findRelayHost()];
    if (release === null) throw badRequest("message relaying is not enabled");
    const { email, host = "" } = validated(Released, await messages.jsonOf(context));
    if (host !== "" && host !== relayHost) {
      throw badRequest(`Host: messages are released only through ${relayHost ?? "no relay"}`);
    }
    await release(message, [email]).catch((error: unknown) => {
      throw error instanceof AppError ? badRequest(error.message) : error;
    });
    return new Response(null, { status: 200 });
  }

  async function search(context: MailpitContext): Promise<Response> {
    const kind = context.query.get("kind") ?? "";
    const value = foldText(context.query.get("query") ?? "");
    const fields = KINDS[kind];
    if (fields === undefined || value === "") throw badRequest("invalid kind or query");
    const filter =
      fields === null
        ? { kind: "text" as const, value }
        : { kind: "field" as const, fields, value, indexed: value };
    return page(context, { terms: [{ isNegated: false, filter }], hasDropped: false });
  }

  return [
    ["GET", "/api/v2/messages", (context) => page(context, null)],
    ["GET", "/api/v2/search", search],
    ["GET", "/api/v2/outgoing-smtp", () => mailhogAnswer({})],
    [
      "GET",
      "/api/v2/jim",
      () => {
        throw pageNotFound();
      },
    ],
    [
      "GET",
      "/api/v1/messages/:id",
      async (context) => mailhogAnswer(itemOf(await messages.messageOf(context))),
    ],
    [
      "GET",
      "/api/v1/messages/:id/download",
      async (context) => {
        const { seq, id } = await messages.messageOf(context);
        const headers = {
          "Content-Type": "message/rfc822",
          "Content-Disposition": `attachment; filename="${id}.eml"`,
        };
        return new Response(Buffer.from(store.raw(seq)), { headers });
      },
    ],
    ["POST", "/api/v1/messages/:id/release", releaseTo],
    [
      "DELETE",
      "/api/v1/messages/:id",
      async (context) => {
        const { seq, inboxSeq } = await messages.messageOf(context);
        await edits.remove(inboxSeq, [seq]);
        return new Response(null, { status: 200 });
      },
    ],
  ];
}

function withinBytes(list: readonly MessageRecord[]): MessageRecord[] {
  let bytes = 0;
  return list.filter(({ size }, i) => {
    bytes += size;
    return i === 0 || bytes <= MAX_RAW_BYTES;
  });
}

/**
 * The body of a multipart is empty, because its parts have it: otherwise each level of a nested
 * message would repeat all levels below it.
 */
function partOf({ headers, body, parts }: MimeEntity): unknown {
  const isMultipart = parts.length > 0;
  const MIME = isMultipart ? { Parts: parts.map(partOf) } : null;
  return { Headers: headers, Body: isMultipart ? "" : body, Size: Buffer.byteLength(body), MIME };
}

function pathOf(address: string) {
  const at = address.lastIndexOf("@");
  const [Mailbox, Domain] =
    at === -1 ? [address, ""] : [address.slice(0, at), address.slice(at + 1)];
  return { Relays: null, Mailbox, Domain, Params: "" };
}

function numberOf({ query }: MailpitContext, name: string, fallback: number): number {
  const text = query.get(name) ?? "";
  return /^\d{1,9}$/.test(text) ? Number(text) : fallback;
}

/** MailHog sends this type. */
function mailhogAnswer(value: unknown): Response {
  return new Response(JSON.stringify(value), { headers: { "Content-Type": "text/json" } });
}
