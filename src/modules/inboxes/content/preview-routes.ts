/** GET /inboxes/{id}/messages/{messageId}/preview    a document without resources of other hosts */

import { Elysia } from "elysia";
import { Type } from "@sinclair/typebox";
import type { App } from "../../../core/app.ts";
import { withErrors } from "../../../http/envelope.ts";
import { previewHeaders, shownImages } from "../../../render/preview-document.ts";
import { PreviewQuery } from "../../../http/preview-query.ts";
import type { MessageRecord } from "../messages/record.ts";
import { showDocument } from "../../content-work/content-work.ts";
import { MessageParams } from "../model.ts";
import { inboxOperations } from "../operations.ts";
import { admissionOf } from "../../admission.ts";
import { inboxReading } from "../reading.ts";
import { messageStore } from "../messages/store.ts";

export function messagePreviewRoutes(app: App) {
  const admission = admissionOf(app);
  const reading = inboxReading(app);
  const store = messageStore(app);

  /** The images that the HTML refers to by `cid:` (RFC 2392). */
  async function inlineImages(message: MessageRecord, html: string) {
    if (!/\bcid:/i.test(html)) return [];
    const wanted = shownImages(store.parts(message.seq));
    const contents = await reading.parts(
      message,
      wanted.map(({ partId }) => partId),
    );
    return wanted.flatMap(({ partId, contentId, contentType }) => {
      const content = contents.get(partId);
      return content === undefined ? [] : [{ contentId, contentType, content }];
    });
  }

  return new Elysia({ name: "inbox-preview-routes", prefix: "/inboxes/:id/messages/:messageId" })
    .use(admission.inboxKey)
    .get(
      "/preview",
      async ({ project, params, query }) => {
        const message = await reading.message(project.seq, params);
        const { html, text } = await reading.detail(message);
        if (query.part === "text" || html === "") {
          return new Response(text, { headers: previewHeaders("text/plain") });
        }
        const images = await inlineImages(message, html);
        const isDark = query.dark === "true";
        const shown = await showDocument(app, project.seq, { html, images, isDark });
        const remote = query.images === "true" ? "https: http:" : "";
        return new Response(shown, { headers: previewHeaders("text/html", remote) });
      },
      {
        params: MessageParams,
        query: PreviewQuery,
        response: withErrors({ 200: DOCUMENT }),
        detail: inboxOperations.previewInboxMessage,
      },
    );
}

const DOCUMENT = Type.Unsafe<Response>(
  Type.Any({
    type: "string",
    contentMediaType: "text/html",
    description: "The document; a message without HTML is text",
    examples: ["<p>Thank you, Ada.</p>"],
  }),
);
