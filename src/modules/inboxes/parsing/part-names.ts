/** File names of parts. A part without one gets a name, because RFC 2183 §2.3 makes it optional. */

import type { Attachment } from "mailparser";
import { detectExtension } from "nodemailer/lib/mime-funcs/mime-types";

/** Names of parts that have a purpose, by their types. */
const PURPOSES: ReadonlyMap<string, string> = new Map([
  ["application/ics", "invite.ics"],
  ["application/pgp-keys", "publickey.asc"],
  ["application/pgp-signature", "signature.asc"],
  ["application/pkcs7-signature", "smime.p7s"],
  ["application/x-pkcs7-signature", "smime.p7s"],
  ["message/global", "message.eml"],
  ["message/rfc822", "message.eml"],
  ["text/calendar", "invite.ics"],
  ["text/markdown", "text.md"],
  ["text/rfc822-headers", "headers.txt"],
]);

/** The name of the part; a part that a Content-ID names needs none. */
export function partNameOf(
  { filename, cid, contentType }: Pick<Attachment, "filename" | "cid" | "contentType">,
  partId: string,
): string {
  if (filename !== undefined && filename !== "") return filename;
  if (cid !== undefined && cid !== "") return "";
  const purpose = PURPOSES.get(contentType);
  if (purpose !== undefined) return purpose;
  const extension = detectExtension(contentType);
  // The table has a star for files of any type.
  return `part-${partId.replaceAll(".", "-")}.${extension === "*" ? "bin" : extension}`;
}
