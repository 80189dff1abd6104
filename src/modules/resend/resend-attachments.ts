/**
 * The files of mails that were sent:
 *
 * GET /emails/{id}/attachments
 * GET /emails/{id}/attachments/{attachment}
 */

import type { App } from "../../core/app.ts";
import { partHeaders } from "../../http/content-headers.ts";
import { emailService } from "../emails/emails.ts";
import { linkedAttachment, noAttachment, requirePart } from "./attachments.ts";
import { type ResendCall, resendRoute, type ResendRoute } from "./call.ts";
import type { Download, FileName } from "./download-links.ts";
import { pageOf, ResendPageQuery } from "./pages.ts";

export const resendAttachmentRoutes: readonly ResendRoute[] = [
  resendRoute(
    "GET /emails/:id/attachments",
    { role: "EDITOR", query: ResendPageQuery },
    async (app, call) => {
      const { parts } = await open(app, sentMail(call));
      return pageOf(
        parts.map((part) => linkedAttachment(app, sentMail(call), part)),
        call.query,
      );
    },
  ),
  resendRoute("GET /emails/:id/attachments/:attachment", { role: "EDITOR" }, async (app, call) => {
    const { parts } = await open(app, sentMail(call));
    const part = requirePart(parts, call.params["attachment"] ?? "");
    return { object: "attachment", ...linkedAttachment(app, sentMail(call), part) };
  }),
];

const sentMail = ({ project, params }: Pick<ResendCall, "project" | "params">) =>
  ({ mail: "sent", projectSeq: project.seq, mailId: params["id"] ?? "" }) as const;

/** The message is made again, so that each mail has its files, however it was submitted. */
function open(app: App, { projectSeq, mailId }: Pick<FileName, "projectSeq" | "mailId">) {
  const { contents } = emailService(app);
  return contents.read(contents.findShown(projectSeq, mailId));
}

/** A file of a mail that was sent. Throws 404 if its content was removed meanwhile. */
export async function sentFile(app: App, file: FileName): Promise<Download> {
  const opened = await open(app, file);
  const part = requirePart(opened.parts, file.partId ?? "");
  const bytes = await emailService(app).contents.part(opened, part.partId);
  if (bytes === null) throw noAttachment();
  return { bytes, headers: partHeaders(part) };
}
