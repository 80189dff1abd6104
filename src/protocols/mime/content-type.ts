/** Media types of attachments (RFC 2045 §5.1, RFC 6838 §4.2). */

import { detectMimeType } from "nodemailer/lib/mime-funcs/mime-types";

/** What common files have been called since nodemailer's table was made. */
const NEWER: ReadonlyMap<string, string> = new Map([
  ["avif", "image/avif"],
  ["heic", "image/heic"],
  ["js", "text/javascript"],
  ["md", "text/markdown"],
  ["mjs", "text/javascript"],
  ["vcf", "text/vcard"],
  ["wasm", "application/wasm"],
  ["webmanifest", "application/manifest+json"],
  ["woff", "font/woff"],
  ["woff2", "font/woff2"],
  ["yaml", "application/yaml"],
  ["yml", "application/yaml"],
]);

/** The media type that a file name suggests; `application/octet-stream` if it suggests none. */
export function contentTypeOf(filename: string): string {
  const extension = /\.([^./\\]+)$/.exec(filename)?.[1]?.toLowerCase();
  if (extension === undefined) return "application/octet-stream";
  return NEWER.get(extension) ?? detectMimeType(`x.${extension}`);
}

const NAME = "[a-z0-9][a-z0-9!#$&^_.+-]{0,126}";
const TOKEN = "[!#$%&'*+.^_`{|}~a-z0-9-]+";
const PARAMETER = `\\s*;\\s*${TOKEN}=(?:${TOKEN}|"(?:[ !#-\\[\\]-~]|\\\\[ -~])*")`;
const MEDIA_TYPE = new RegExp(`^${NAME}/${NAME}(?:${PARAMETER})*$`, "i");

/** Whether the text is a media type, with or without parameters, fit for a header. */
export function isMediaType(text: string): boolean {
  return text.length <= 255 && !/[^\x20-\x7e]/.test(text) && MEDIA_TYPE.test(text);
}
