/** Media types of attachments (RFC 2045 §5.1, RFC 6838 §4.2). */

import { detectMimeType } from "nodemailer/lib/mime-funcs/mime-types";

/** Types that are newer than the table of nodemailer. */
const NEWER_TYPES: ReadonlyMap<string, string> = new Map([
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

/** Returns the media type for a file name; `application/octet-stream` if the ending is unknown. */
export function contentTypeOf(filename: string): string {
  const extension = /\.([^./\\]+)$/.exec(filename)?.[1]?.toLowerCase();
  if (extension === undefined) return "application/octet-stream";
  return NEWER_TYPES.get(extension) ?? detectMimeType(`x.${extension}`);
}

const NAME = "[a-z0-9][a-z0-9!#$&^_.+-]{0,126}";
const TOKEN = "[!#$%&'*+.^_`{|}~a-z0-9-]+";
const PARAMETER = `\\s*;\\s*${TOKEN}=(?:${TOKEN}|"(?:[ !#-\\[\\]-~]|\\\\[ -~])*")`;
const MEDIA_TYPE = new RegExp(`^${NAME}/${NAME}(?:${PARAMETER})*$`, "i");

/** Whether the text is a media type, with or without parameters, that is valid in a header. */
export function isMediaType(text: string): boolean {
  return text.length <= 255 && !/[^\x20-\x7e]/.test(text) && MEDIA_TYPE.test(text);
}
