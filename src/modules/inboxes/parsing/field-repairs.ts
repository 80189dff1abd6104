/**
 * Reads what is meant by fields about the content of a part that break the rules of RFC 2045 and 2183:
 * a semicolon is missing or superfluous, a parameter has another name, or a value is quoted wrongly. Pure.
 */

import { withoutComments } from "../../../protocols/mime/comments.ts";

/** Longest part of a field that is looked at. */
const MAX_CHARACTERS = 2_000;

const MEDIA_TYPE = /^\s{0,10}([\w!#$&^.+-]{1,127}\/[\w!#$&^.+-]{1,127})[\s,"']/;
const NAME = /\bname\s{0,5}=\s{0,5}(?:"([^"]{1,1000})|([^;"\s][^;"]{0,1000}))/i;
const FILENAME = /\bfilename\s{0,5}=\s{0,5}(?:"([^"]{1,1000})|([^;"\s][^;"]{0,1000}))/i;
const BOUNDARY = /\bboundary\s{0,5}=\s{0,5}(?:"([^"]{1,200})|([^;"\s]{1,200}))/i;

/** Other names of the two encodings that change octets, without blanks, hyphens and underscores. */
const ENCODINGS: ReadonlyMap<string, string> = new Map([
  ["b64", "base64"],
  ["base64", "base64"],
  ["xbase64", "base64"],
  ["qp", "quoted-printable"],
  ["quotedprintable", "quoted-printable"],
  ["xquotedprintable", "quoted-printable"],
]);

/** The encoding that a Content-Transfer-Encoding means, in lower case; it is as written if unknown. */
export function meantEncoding(encoding: string): string {
  const [first = ""] = withoutComments(encoding.slice(0, MAX_CHARACTERS)).split(/[;,]/, 1);
  const letters = first.toLowerCase().replace(/[^a-z0-9]/g, "");
  return ENCODINGS.get(letters) ?? first.replace(/["'<>]/g, "").trim();
}

/** The media type at the beginning of a Content-Type; null without one. */
export const meantMediaType = (field: string): string | null =>
  MEDIA_TYPE.exec(`${withoutComments(field.slice(0, MAX_CHARACTERS))} `)?.[1]?.toLowerCase() ??
  null;

export const meantBoundary = (field: string): string | null => valueOf(BOUNDARY, field);

/** The name of a file: in Content-Disposition as `filename` or `name`, or in Content-Type. */
export function meantName(disposition: string, type: string): string | null {
  return valueOf(FILENAME, disposition) ?? valueOf(NAME, disposition) ?? valueOf(NAME, type);
}

/** Without the single quotes that some programs put around a name. */
export function withoutQuotes(name: string): string {
  return /^'[^']+'$/.test(name) ? name.slice(1, -1) : name;
}

function valueOf(pattern: RegExp, field: string): string | null {
  const [, quoted, plain] = pattern.exec(field.slice(0, MAX_CHARACTERS)) ?? [];
  const value = (quoted ?? plain ?? "").trim();
  return value === "" ? null : value;
}
