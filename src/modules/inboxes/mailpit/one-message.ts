/**
 * One message; `latest` stands for the id of the newest one, with `?query=` the newest that matches.
 *
 * GET  /api/v1/message/{id}                       the message; marks it as read
 * GET  /api/v1/message/{id}/headers
 * GET  /api/v1/message/{id}/raw
 * GET  /api/v1/message/{id}/part/{partId}         an attachment or inline part
 * GET  /api/v1/message/{id}/part/{partId}/thumb   a picture of 180×120 pixels
 * POST /api/v1/message/{id}/release               send the message to other recipients
 * GET  /view/{id}.html                            the HTML part, to be shown in a browser
 * GET  /view/{id}.txt                             the text
 * GET  /view/{id}                                 leads to one of the two
 */

import { Type } from "@sinclair/typebox";
import { AppError } from "../../../lib/errors.ts";
import { htmlHeaders, PART_POLICY } from "../../../http/content-headers.ts";
import type { MessageRecord } from "../messages/record.ts";
import {
  badRequest,
  jsonAnswer,
  MailpitRefusal,
  okAnswer,
  pageNotFound,
  textAnswer,
} from "./answers.ts";
import { validated } from "./body.ts";
import type { MailpitContext, MailpitMessages, MailpitRoute } from "./context.ts";
import type { MailpitEdits } from "./edits.ts";
import { embeddedHtml, htmlWithParts } from "./embed.ts";
import { headersOf, mailpitMessage } from "./shapes.ts";
import { createThumbnails } from "./thumbnails.ts";

const MEDIA_TYPE = /^[a-z0-9!#$&^_.+-]{1,64}\/[a-z0-9!#$&^_.+-]{1,64}$/i;
const Recipients = Type.Object({ to: Type.Array(Type.String(), { minItems: 1, maxItems: 100 }) });

/** Sends a caught message to other recipients. Rejects with AppError. */
export type ReleaseToAll = (message: MessageRecord, recipients: readonly string[]) => Promise<void>;

export function mailpitMessageRoutes(deps: {
  messages: MailpitMessages;
  edits: MailpitEdits;
  findRelease: () => ReleaseToAll | null;
}): MailpitRoute[] {
  const { messages, edits, findRelease } = deps;
  const { store } = messages;
  const thumbnails = createThumbnails();

  async function show(context: MailpitContext): Promise<Response> {
    const message = await messages.messageOf(context);
    const detail = await messages.detailOf(message, context.inbox);
    if (!message.isRead) await edits.setRead(message.inboxSeq, [message.seq], true);
    return jsonAnswer(mailpitMessage(message, detail, store.parts(message.seq)));
  }

  async function headers(context: MailpitContext): Promise<Response> {
    return jsonAnswer(
      headersOf(await messages.detailOf(await messages.messageOf(context), context.inbox)),
    );
  }

  async function raw(context: MailpitContext): Promise<Response> {
    const message = await messages.messageOf(context);
    const isDownload = context.query.get("dl") === "1";
    return new Response(Buffer.from(store.raw(message.seq)), {
      headers: {
        "Content-Type": "text/plain; charset=utf-8",
        "X-Content-Type-Options": "nosniff",
        ...(isDownload
          ? { "Content-Disposition": `attachment; filename="${message.id}.eml"` }
          : {}),
      },
    });
  }

  async function contentOf(context: MailpitContext) {
    const message = await messages.messageOf(context);
    const { partId = "" } = context.params;
    const part = store.parts(message.seq).find((each) => each.partId === partId);
    if (part === undefined) throw pageNotFound();
    const content = await messages.partOf(message, partId).catch(notFoundIfMissing);
    return { part, content };
  }

  async function showPart(context: MailpitContext): Promise<Response> {
    const { part, content } = await contentOf(context);
    const name = encodeURIComponent((part.filename || part.contentId || "part").toWellFormed());
    return new Response(Buffer.from(content), {
      headers: {
        "Content-Type": MEDIA_TYPE.test(part.contentType)
          ? part.contentType
          : "application/octet-stream",
        "Content-Disposition": `inline; filename="${name.replaceAll("'", "%27")}"`,
        "Content-Security-Policy": PART_POLICY,
        "X-DNS-Prefetch-Control": "off",
        "X-Content-Type-Options": "nosniff",
      },
    });
  }

  async function thumbnail(context: MailpitContext): Promise<Response> {
    const { content } = await contentOf(context);
    const bytes = await thumbnails.make(content);
    return new Response(Buffer.from(bytes), { headers: { "Content-Type": "image/jpeg" } });
  }

  async function releaseTo(context: MailpitContext): Promise<Response> {
    const message = await messages.messageOf(context);
    const release = findRelease();
    if (release === null) throw badRequest("message relaying is not enabled");
    const { to } = validated(Recipients, await messages.jsonOf(context));
    try {
      await release(message, to);
    } catch (error) {
      if (error instanceof AppError) throw badRequest(error.message);
      throw error;
    }
    return okAnswer();
  }

  async function view(context: MailpitContext): Promise<Response> {
    const { file = "" } = context.params;
    const [, id = "", kind] = /^(\w{1,40})(?:\.(html|txt))?$/.exec(file) ?? [];
    const message = await messages.messageOf({ ...context, params: { id } });
    const detail = await messages.detailOf(message, context.inbox);
    if (kind === undefined) {
      const target = `/view/${message.id}.${detail.html === "" ? "txt" : "html"}`;
      return new Response(null, { status: 302, headers: { Location: target } });
    }
    if (kind === "txt") return textAnswer(detail.text);
    if (detail.html === "") {
      throw new MailpitRefusal(404, "This message does not contain a HTML part");
    }
    const isEmbedded = context.query.get("embed") === "1";
    const shown = isEmbedded ? embeddedHtml : htmlWithParts;
    const html = shown(detail.html, message.id, store.parts(message.seq));
    // Mailpit shows this page in its own interface, with remote images.
    return new Response(html, { headers: htmlHeaders({ hasRemoteImages: true }) });
  }

  return [
    ["GET", "/api/v1/message/:id", show],
    ["GET", "/api/v1/message/:id/headers", headers],
    ["GET", "/api/v1/message/:id/raw", raw],
    ["GET", "/api/v1/message/:id/part/:partId", showPart],
    ["GET", "/api/v1/message/:id/part/:partId/thumb", thumbnail],
    ["POST", "/api/v1/message/:id/release", releaseTo],
    ["GET", "/view/:file", view],
  ];
}

function notFoundIfMissing(error: unknown): never {
  throw error instanceof AppError && error.status === 404 ? pageNotFound() : error;
}
