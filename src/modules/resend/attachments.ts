/** The files of a mail, in the form of Resend. */

import type { App } from "../../core/app.ts";
import { AppError } from "../../lib/errors.ts";
import { downloadLink, type FileName } from "./download-links.ts";

type MailPart = {
  partId: string;
  filename: string;
  contentType: string;
  size: number;
  isInline: boolean;
  contentId?: string;
};

/** As a mail shows its files. */
export const shownAttachment = (part: MailPart) => ({
  id: part.partId,
  filename: part.filename === "" ? null : part.filename,
  size: part.size,
  content_type: part.contentType,
  content_disposition: part.isInline ? "inline" : "attachment",
  content_id: (part.contentId ?? "").replace(/^<|>$/g, "") || null,
});

/** As the routes of attachments show a file, with a link to its content. */
export function linkedAttachment(app: App, mail: Omit<FileName, "partId">, part: MailPart) {
  const { filename, content_id, ...shown } = shownAttachment(part);
  return {
    ...shown,
    ...(filename === null ? {} : { filename }),
    ...(content_id === null ? {} : { content_id }),
    ...downloadLink(app, { ...mail, partId: part.partId }),
  };
}

/** The part with an id. Throws 404 if there is none. */
export function requirePart<Part extends { partId: string }>(
  parts: readonly Part[],
  partId: string,
): Part {
  const part = parts.find((each) => each.partId === partId);
  if (part === undefined) throw noAttachment();
  return part;
}

export function noAttachment(): AppError {
  return new AppError(404, "PART_NOT_FOUND", "The mail has no such attachment.", {
    suggestion: "Use the id of one of the mail's attachments.",
  });
}
