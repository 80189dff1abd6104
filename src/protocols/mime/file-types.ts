/** The media types that the endings of file names suggest. */

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
