/**
 * GET    /received-mails
 * GET    /received-mails/{id}
 * DELETE /received-mails/{id}
 * GET    /received-mails/{id}/preview                     a document without resources of other hosts
 * GET    /received-mails/{id}/raw                         the message as it arrived
 * GET    /received-mails/{id}/attachments/{attachmentId}
 */

import { Elysia, status } from "elysia";
import { Type } from "@sinclair/typebox";
import type { App } from "../../core/app.ts";
import type { Admission } from "../../http/admission.ts";
import { contentHeaders, partHeaders } from "../../http/content-headers.ts";
import {
  Envelope,
  envelope,
  IdParams,
  ListEnvelope,
  NoContent,
  withErrors,
} from "../../http/envelope.ts";
import { PreviewDocument, PreviewQuery } from "../../http/preview-query.ts";
import { bySeq, listPage, PageQuery, type PageRows, seqBound } from "../../http/pagination.ts";
import { isoTime } from "../../lib/clock.ts";
import { AppError } from "../../lib/errors.ts";
import { senderOfProject } from "../../lib/message-senders.ts";
import { previewHeaders } from "../../render/preview-document.ts";
import { showDocument } from "../content-work/content-work.ts";
import { linkOf } from "./event.ts";
import { AttachmentParams, ReceivedMail } from "./model.ts";
import { receivedMailOperations } from "./operations.ts";
import { inlineImages } from "./inline-images.ts";
import type { MailParser } from "./read-mail.ts";
import { receivedContent, type ReceivedRow } from "./record.ts";
import type { RemoveReceived } from "./removal.ts";
import { countReceived, type ReceivedRows } from "./rows.ts";

export function receivedMailRoutes(deps: {
  app: App;
  admission: Admission;
  rows: ReceivedRows;
  remove: RemoveReceived;
  parser: MailParser;
  /** Base of the links to attachments. */
  url: string;
}) {
  const { app, admission, rows, remove, parser } = deps;

  function find(projectSeq: number, id: string): ReceivedRow {
    const row = rows.byId(projectSeq, id);
    if (row === null) throw noMail();
    return row;
  }

  function present(row: ReceivedRow): ReceivedMail {
    const { parts, ...content } = receivedContent(row);
    const { id, size, sender, emailId, contactId } = row;
    const base = `${deps.url}/received-mails/${id}`;
    const attachments = parts.map(({ partId, filename, contentType, size: bytes }) => ({
      id: partId,
      filename,
      contentType,
      size: bytes,
      url: linkOf(base, partId),
    }));
    const receivedAt = isoTime(row.receivedAt);
    return { id, receivedAt, size, sender, ...content, inReplyTo: emailId, contactId, attachments };
  }

  /** Returns the page that a frame shows of the message. Throws 409 if the message cannot be parsed. */
  async function preview(projectSeq: number, id: string, query: PreviewQuery): Promise<Response> {
    const raw = rows.raw(find(projectSeq, id).seq);
    const sender = senderOfProject(projectSeq);
    const parsed = await parser.read(raw, sender);
    if (parsed === null) throw unreadable();
    if (query.part === "text" || parsed.html === "") {
      return new Response(parsed.text, { headers: previewHeaders("text/plain") });
    }
    const images = await inlineImages(parser, { raw, parsed, sender });
    const isDark = query.dark === "true";
    const { html } = parsed;
    const shown = await showDocument(app, projectSeq, { html, images, isDark });
    const remote = query.images === "true" ? "https: http:" : "";
    return new Response(shown, { headers: previewHeaders("text/html", remote) });
  }

  return new Elysia({ name: "received-mail-routes", prefix: "/received-mails" })
    .use(admission.secretKey)
    .get(
      "",
      async ({ project, query }) =>
        envelope(
          await listPage(app)(
            { scope: `${project.seq}:received-mails`, query },
            async (request): Promise<PageRows<ReceivedRow>> => ({
              rows: rows.page(project.seq, seqBound(request), request.limit),
              total: await countReceived(app, project.seq),
              positionOf: bySeq,
            }),
            (found) => found.map(present),
          ),
        ),
      {
        query: PageQuery,
        response: withErrors({ 200: ListEnvelope(ReceivedMail) }),
        detail: receivedMailOperations.listReceivedMails,
      },
    )
    .get("/:id", ({ project, params }) => envelope(present(find(project.seq, params.id))), {
      params: IdParams,
      response: withErrors({ 200: Envelope(ReceivedMail) }),
      detail: receivedMailOperations.getReceivedMail,
    })
    .delete(
      "/:id",
      async ({ project: { seq: projectSeq }, params, storeWithoutQuota }) => {
        await storeWithoutQuota(() => remove({ ...find(projectSeq, params.id), projectSeq }));
        return status(204, undefined);
      },
      {
        params: IdParams,
        response: withErrors({ 204: NoContent }),
        detail: receivedMailOperations.deleteReceivedMail,
      },
    )
    .get("/:id/preview", ({ project, params, query }) => preview(project.seq, params.id, query), {
      params: IdParams,
      query: PreviewQuery,
      response: withErrors({ 200: PreviewDocument }),
      detail: receivedMailOperations.previewReceivedMail,
    })
    .get(
      "/:id/raw",
      ({ project, params }) => {
        const { seq, id } = find(project.seq, params.id);
        return new Response(rows.raw(seq), {
          headers: contentHeaders("message/rfc822", `${id}.eml`),
        });
      },
      {
        params: IdParams,
        response: withErrors({
          200: content(
            "message/rfc822",
            "The message",
            "Subject: Re: Your order\r\n\r\nThanks\r\n",
          ),
        }),
        detail: receivedMailOperations.getReceivedMailRaw,
      },
    )
    .get(
      "/:id/attachments/:attachmentId",
      async ({ project, params }) => {
        const row = find(project.seq, params.id);
        const { attachmentId } = params;
        const known = receivedContent(row).parts.find(({ partId }) => partId === attachmentId);
        const bytes =
          known === undefined
            ? null
            : await parser.part(rows.raw(row.seq), attachmentId, senderOfProject(project.seq));
        if (bytes === null) throw noPart();
        return new Response(Buffer.from(bytes), { headers: partHeaders(known) });
      },
      {
        params: AttachmentParams,
        response: withErrors({
          200: content("application/octet-stream", "The content", "id,total\r\n1001,9.90\r\n"),
        }),
        detail: receivedMailOperations.getReceivedMailAttachment,
      },
    );
}

function content(contentMediaType: string, description: string, example: string) {
  const shown = { type: "string", contentMediaType, description, examples: [example] };
  return Type.Unsafe<Response>(Type.Any(shown));
}

function noMail(): AppError {
  return new AppError(404, "RECEIVED_MAIL_NOT_FOUND", "No such received mail.", {
    suggestion: "Received mails are kept for 30 days; check the id and the project of the API key.",
  });
}

function unreadable(): AppError {
  return new AppError(409, "CONFLICT", "The message cannot be parsed.", {
    suggestion: "Read the raw message instead: …/raw.",
  });
}

function noPart(): AppError {
  return new AppError(404, "PART_NOT_FOUND", "The mail has no such attachment.", {
    suggestion: "Use the id of one of the mail's `attachments`.",
  });
}
