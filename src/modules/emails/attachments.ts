/**
 * The files of a mail, in the form in which they are stored. A file is in the request, or at a URL that is
 * fetched before the mail is accepted: only from public addresses (protocols/fetch-guarded/), and as long
 * as all files together have at most 10 MiB.
 */

import type { App } from "../../core/app.ts";
import { COPIES_BYTES } from "../../http/body.ts";
import { type AppError, fieldError } from "../../lib/errors.ts";
import type { SharedMessage } from "../../outbox/enqueue.ts";
import { FetchRefused, urlFault } from "../../protocols/fetch-guarded/refusal.ts";
import { displayName } from "../../protocols/mime/mailbox.ts";
import type { SendInput } from "./model.ts";

/** Limit on the decoded size of all attachments of a mail together (docs/specification.md#s8). */
const MIB = 1024 * 1024;
export const MAX_ATTACHMENTS_BYTES = 10 * MIB;
/** Time after which no further file of a mail is fetched. Each takes at most ten seconds. */
const FETCH_MS = 15_000;

type Files = SharedMessage["attachments"];
type Copying = { reserveCopies: () => Promise<void>; copied: { bytes: number } };

/** `reserveCopies` is awaited before a file is fetched, and `copied` counts the bytes. */
export async function readAttachments(
  app: App,
  { attachments = [] }: SendInput,
  { reserveCopies, copied }: Copying,
): Promise<Files> {
  if (attachments.length === 0) return [];
  // Loaded with the first attachment: the table of types takes 1 ms and 1 MiB.
  const { contentTypeOf } = await import("../../protocols/mime/file-types.ts");
  const beganMs = app.clock.elapsed();
  const given = attachments.map(({ content }) =>
    content === undefined ? null : Buffer.from(content, "base64"),
  );
  let left =
    MAX_ATTACHMENTS_BYTES - given.reduce((sum, bytes) => sum + (bytes?.byteLength ?? 0), 0);

  async function fetchNext(url: string, field: string): Promise<Buffer> {
    if (app.clock.elapsed() - beganMs > FETCH_MS) throw tooSlow(field);
    await reserveCopies();
    const bytes = await fetchFile(app, { url, field, maxBytes: left });
    left -= bytes.byteLength;
    copied.bytes += bytes.byteLength;
    if (copied.bytes > COPIES_BYTES) throw tooMuch(field, COPIES_BYTES);
    return bytes;
  }

  const files: Files = [];
  for (const [n, attachment] of attachments.entries()) {
    const bytes = given[n] ?? (await fetchNext(attachment.url ?? "", `attachments.${n}.url`));
    files.push({
      filename: displayName(attachment.filename),
      contentType: attachment.contentType ?? attachment.type ?? contentTypeOf(attachment.filename),
      contentId: attachment.contentId ?? null,
      disposition: attachment.disposition ?? "attachment",
      bytes,
    });
  }
  return files;
}

/** The content at a URL. Throws 422 that names the field. */
async function fetchFile(
  app: App,
  { url, field, maxBytes }: { url: string; field: string; maxBytes: number },
): Promise<Buffer> {
  try {
    const response = await app.fetchGuarded(url, { method: "GET", maxBodyBytes: maxBytes });
    const { status, body, isTruncated } = response;
    if (status !== 200) {
      throw fieldError(field, "invalid_value", `cannot be read: the server answered ${status}`);
    }
    if (isTruncated) throw tooMuch(field);
    return Buffer.from(body);
  } catch (error) {
    if (!(error instanceof FetchRefused)) throw error;
    const { reason, isTemporary, message } = error;
    if (isTemporary || reason === "too_many_redirects") {
      throw fieldError(field, "invalid_value", `cannot be read: ${message.replace(/\.$/, "")}`);
    }
    throw fieldError(field, "invalid_value", urlFault(reason));
  }
}

function tooMuch(field: string, most = MAX_ATTACHMENTS_BYTES): AppError {
  const together = most === COPIES_BYTES ? "all mails of the request" : "all files";
  const message = `is too large: ${together} must take at most ${most / MIB} MiB together`;
  return fieldError(field, "too_big", message);
}

function tooSlow(field: string): AppError {
  return fieldError(field, "invalid_value", "cannot be read: the files before it took too long");
}
