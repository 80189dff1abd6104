/**
 * The mails that arrived for inbound routes (docs/inbound.md):
 *
 * GET /emails/receiving
 * GET /emails/receiving/{id}
 * GET /emails/receiving/{id}/attachments
 * GET /emails/receiving/{id}/attachments/{attachment}
 */

import { Type } from "@sinclair/typebox";
import { and, eq } from "drizzle-orm";
import type { App } from "../../core/app.ts";
import { receivedMails } from "../../db/schema/inbound.ts";
import { contentHeaders, partHeaders } from "../../http/content-headers.ts";
import { OneOf } from "../../http/validation.ts";
import { notFound } from "../../lib/errors.ts";
import { senderOfProject } from "../../lib/message-senders.ts";
import { withInlineImages } from "../../render/preview-document.ts";
import { receivedRows } from "../inbound-routes/inbound-routes.ts";
import { inlineImages } from "../inbound-routes/inline-images.ts";
import { receivedContent, type ReceivedRow } from "../inbound-routes/record.ts";
import { mailParser } from "../inboxes/parsing/parser.ts";
import { linkedAttachment, noAttachment, requirePart } from "./attachments.ts";
import { type ResendCall, resendRoute, type ResendRoute } from "./call.ts";
import { type Download, downloadLink, type FileName } from "./download-links.ts";
import { pageOf, resendPage, ResendPageQuery } from "./pages.ts";
import { shownReceived } from "./views.ts";

const MailQuery = Type.Object(
  { html_format: Type.Optional(OneOf(["data_uri", "cid"])) },
  { additionalProperties: false },
);

export const resendReceivingRoutes: readonly ResendRoute[] = [
  resendRoute(
    "GET /emails/receiving",
    { role: "EDITOR", query: ResendPageQuery },
    (app, { project, query }) =>
      resendPage(app, query, {
        table: receivedMails,
        filter: and(eq(receivedMails.projectSeq, project.seq), eq(receivedMails.state, "RECEIVED")),
        present: shownReceived,
      }),
  ),
  resendRoute(
    "GET /emails/receiving/:id",
    { role: "EDITOR", query: MailQuery },
    async (app, call) => {
      const mail = receivedMail(call);
      const row = requireMail(app, mail);
      const content = await contentOf(app, call.project.seq, {
        row,
        hasImages: call.query.html_format !== "cid",
      });
      const raw = downloadLink(app, { ...mail, partId: null });
      return { object: "email", ...shownReceived(row), ...content, raw };
    },
  ),
  resendRoute(
    "GET /emails/receiving/:id/attachments",
    { role: "EDITOR", query: ResendPageQuery },
    (app, call) => {
      const mail = receivedMail(call);
      const { parts } = receivedContent(requireMail(app, mail));
      return pageOf(
        parts.map((part) => linkedAttachment(app, mail, part)),
        call.query,
      );
    },
  ),
  resendRoute(
    "GET /emails/receiving/:id/attachments/:attachment",
    { role: "EDITOR" },
    (app, call) => {
      const mail = receivedMail(call);
      const { parts } = receivedContent(requireMail(app, mail));
      const part = requirePart(parts, call.params["attachment"] ?? "");
      return { object: "attachment", ...linkedAttachment(app, mail, part) };
    },
  ),
];

const receivedMail = ({ project, params }: Pick<ResendCall, "project" | "params">) =>
  ({ mail: "received", projectSeq: project.seq, mailId: params["id"] ?? "" }) as const;

function requireMail(
  app: App,
  { projectSeq, mailId }: Pick<FileName, "projectSeq" | "mailId">,
): ReceivedRow {
  const row = receivedRows(app).byId(projectSeq, mailId);
  if (row === null) throw notFound("RECEIVED_MAIL");
  return row;
}

/** The texts and the header of a message; null if it cannot be parsed. */
async function contentOf(
  app: App,
  projectSeq: number,
  { row, hasImages }: { row: ReceivedRow; hasImages: boolean },
) {
  const parser = mailParser(app);
  const raw = receivedRows(app).raw(row.seq);
  const sender = senderOfProject(projectSeq);
  const parsed = await parser.read(raw, sender);
  if (parsed === null) return { html: null, text: null, headers: null };
  const images = hasImages ? await inlineImages(parser, { raw, parsed, sender }) : [];
  const { html, text, headers } = parsed;
  return {
    html: html === "" ? null : withInlineImages(html, images),
    text: text === "" ? null : text,
    headers: firstValues(headers),
  };
}

/** Resend has one value for each field: here, that of the first one with the name. */
function firstValues(headers: readonly { name: string; value: string }[]): Record<string, string> {
  const values = headers.map(({ name, value }): [string, string] => [name.toLowerCase(), value]);
  return Object.fromEntries(values.toReversed());
}

/** The message, or a file in it. Throws 404 if the mail was removed meanwhile. */
export async function receivedFile(app: App, file: FileName): Promise<Download> {
  const { projectSeq, mailId, partId } = file;
  const row = requireMail(app, file);
  const raw = receivedRows(app).raw(row.seq);
  if (partId === null) {
    return { bytes: raw, headers: contentHeaders("message/rfc822", `${mailId}.eml`) };
  }
  const known = receivedContent(row).parts.find((part) => part.partId === partId);
  const bytes = await mailParser(app).part(raw, partId, senderOfProject(projectSeq));
  if (bytes === null) throw noAttachment();
  return { bytes, headers: partHeaders(known) };
}
