/**
 * GET /inboxes/{id}/messages/{messageId}/links
 * GET /inboxes/{id}/messages/{messageId}/codes
 */

import { Elysia } from "elysia";
import { Type } from "@sinclair/typebox";
import type { App } from "../../../core/app.ts";
import { Envelope, envelope, withErrors } from "../../../http/envelope.ts";
import type { MessageRecord } from "../messages/record.ts";
import { MessageParams } from "../model.ts";
import { inboxOperations } from "../operations.ts";
import { readableText } from "../../content-work/content-work.ts";
import { findCodes } from "./codes.ts";
import { findLinks } from "../../../checks/find-links.ts";
import { MessageCodes, MessageLink } from "./model.ts";
import { admissionOf } from "../../admission.ts";
import { inboxReading } from "../reading.ts";

/** Longest HTML from which text is made. */
const MAX_HTML_CHARACTERS = 256 * 1024;

export function extractRoutes(app: App) {
  const admission = admissionOf(app);
  const reading = inboxReading(app);

  async function extract(projectSeq: number, message: MessageRecord) {
    const { text, html } = await reading.detail(message);
    const links = findLinks({ html, text });
    const read = await readableText(app, projectSeq, html.slice(0, MAX_HTML_CHARACTERS));
    const shown = `${text}\n\n${read}`;
    return { links, codes: () => findCodes({ subject: message.subject, text: shown }) };
  }

  return new Elysia({ name: "inbox-extract-routes", prefix: "/inboxes/:id/messages/:messageId" })
    .use(admission.inboxKey)
    .get(
      "/links",
      async ({ project, params }) =>
        envelope((await extract(project.seq, await reading.message(project.seq, params))).links),
      {
        params: MessageParams,
        response: withErrors({ 200: Envelope(Type.Array(MessageLink)) }),
        detail: inboxOperations.getInboxMessageLinks,
      },
    )
    .get(
      "/codes",
      async ({ project, params }) => {
        const { links, codes } = await extract(
          project.seq,
          await reading.message(project.seq, params),
        );
        const magicLinks = links.filter(({ kind }) => kind === "MAGIC");
        return envelope({ codes: codes(), magicLinks });
      },
      {
        params: MessageParams,
        response: withErrors({ 200: Envelope(MessageCodes) }),
        detail: inboxOperations.getInboxMessageCodes,
      },
    );
}
