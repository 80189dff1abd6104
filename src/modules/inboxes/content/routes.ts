/**
 * The contents of a message, below /inboxes/{id}/messages/{messageId}:
 *
 * GET …/raw             the message as it was received
 * GET …/html            the HTML part, to be shown in a browser; remote images with `images=true`
 * GET …/text
 * GET …/headers
 * GET …/parts/{partId}  an attachment or an inline part
 *
 * preview-routes.ts has the document for a frame of the dashboard.
 */

import { Elysia } from "elysia";
import { Type } from "@sinclair/typebox";
import type { App } from "../../../core/app.ts";
import { contentHeaders, htmlHeaders, partHeaders } from "../../../http/content-headers.ts";
import { Envelope, envelope, withErrors } from "../../../http/envelope.ts";
import { Input } from "../../../http/validation.ts";
import { AppError } from "../../../lib/errors.ts";
import { withoutPreparation } from "../../../render/without-preparation.ts";
import type { MessageRecord } from "../messages/record.ts";
import { PreviewQuery } from "../../../http/preview-query.ts";
import { readableText } from "../../content-work/content-work.ts";
import { MessageHeader, MessageParams, PartParams } from "../model.ts";
import { inboxOperations } from "../operations.ts";
import { withPartLinks } from "./part-links.ts";
import { admissionOf } from "../../admission.ts";
import { inboxReading } from "../reading.ts";
import { messageStore } from "../messages/store.ts";

/** Longest HTML from which text is made for a message without a text part. */
const MAX_HTML_CHARACTERS = 512 * 1024;

export function contentRoutes(app: App) {
  const admission = admissionOf(app);
  const reading = inboxReading(app);
  const store = messageStore(app);

  /** The parsed message. Throws 422 if it cannot be parsed. */
  async function detailOf(message: MessageRecord) {
    const { parseError, ...detail } = await reading.detail(message);
    if (parseError !== null) throw unreadable(parseError);
    return detail;
  }

  return new Elysia({ name: "inbox-content-routes", prefix: "/inboxes/:id/messages/:messageId" })
    .use(admission.inboxKey)
    .get(
      "/raw",
      async ({ project, params }) => {
        const { seq, id } = await reading.message(project.seq, params);
        return new Response(Buffer.from(store.raw(seq)), {
          headers: contentHeaders("message/rfc822", `${id}.eml`),
        });
      },
      {
        params: MessageParams,
        response: withErrors({
          200: content(
            "message/rfc822",
            "The message",
            "Subject: Your order 1001\r\n\r\nThank you.\r\n",
          ),
        }),
        detail: inboxOperations.getInboxMessageRaw,
      },
    )
    .get(
      "/html",
      async ({ project, params, query }) => {
        const message = await reading.message(project.seq, params);
        const { html } = await detailOf(message);
        if (html === "") throw noHtml();
        const base = `/inboxes/${encodeURIComponent(params.id)}/messages/${message.id}/parts/`;
        const offline = withoutPreparation(html);
        const shown = withPartLinks(offline, store.parts(message.seq), base);
        const headers = htmlHeaders({ hasRemoteImages: query.images === "true" });
        return new Response(shown, { headers });
      },
      {
        params: MessageParams,
        query: HtmlQuery,
        response: withErrors({
          200: content("text/html", "The HTML part", "<p>Thank you, Ada.</p>"),
        }),
        detail: inboxOperations.getInboxMessageHtml,
      },
    )
    .get(
      "/text",
      async ({ project, params }) => {
        const message = await reading.message(project.seq, params);
        const { text, html } = await detailOf(message);
        const start = html.slice(0, MAX_HTML_CHARACTERS);
        const shown = text === "" ? await readableText(app, project.seq, start) : text;
        return new Response(shown, {
          headers: contentHeaders("text/plain; charset=utf-8", `${message.id}.txt`),
        });
      },
      {
        params: MessageParams,
        response: withErrors({ 200: content("text/plain", "The text", "Thank you, Ada.") }),
        detail: inboxOperations.getInboxMessageText,
      },
    )
    .get(
      "/headers",
      async ({ project, params }) =>
        envelope((await detailOf(await reading.message(project.seq, params))).headers),
      {
        params: MessageParams,
        response: withErrors({ 200: Envelope(Type.Array(MessageHeader)) }),
        detail: inboxOperations.getInboxMessageHeaders,
      },
    )
    .get(
      "/parts/:partId",
      async ({ project, params }) => {
        const message = await reading.message(project.seq, params);
        const known = store.parts(message.seq).find(({ partId }) => partId === params.partId);
        const bytes = await reading.part(message, params.partId);
        return new Response(Buffer.from(bytes), { headers: partHeaders(known) });
      },
      {
        params: PartParams,
        response: withErrors({
          200: content(
            "application/octet-stream",
            "The content of the part",
            "id,total\r\n1001,9.90\r\n",
          ),
        }),
        detail: inboxOperations.getInboxMessagePart,
      },
    );
}

const HtmlQuery = Input({ images: PreviewQuery.properties.images });

function content(contentMediaType: string, description: string, example: string) {
  const shown = { type: "string", contentMediaType, description, examples: [example] };
  return Type.Unsafe<Response>(Type.Any(shown));
}

function noHtml(): AppError {
  return new AppError(404, "PART_NOT_FOUND", "The message has no HTML part.", {
    suggestion: "Read its text instead: …/text.",
  });
}

function unreadable(reason: string): AppError {
  return new AppError(409, "CONFLICT", `The message cannot be parsed: ${reason}`, {
    suggestion: "Read the raw message instead: …/raw.",
  });
}
