/**
 * Decodes uuencoded bodies (POSIX, `uuencode`), which older programs name `x-uuencode` in
 * Content-Transfer-Encoding. Pure, in linear time.
 */

/** Names of the encoding. */
const NAMES: ReadonlySet<string> = new Set([
  "uue",
  "uuencode",
  "uuencoded",
  "x-uu",
  "x-uue",
  "x-uuencode",
]);

const BEGIN = /^begin(?:-base64)?[ \t]+[0-7]{3,4}[ \t]/;
const SPACE = 0x20;

export const isUuencode = (encoding: string | false): boolean =>
  encoding !== false && NAMES.has(encoding);

/** The decoded file; the bytes themselves if no line begins a file. */
export function decodeUuencode(bytes: Buffer): Buffer {
  const lines = bytes.toString("latin1").split("\n");
  const begin = lines.findIndex((line) => BEGIN.test(line));
  if (begin === -1) return bytes;
  const isBase64 = lines[begin]?.startsWith("begin-base64") === true;
  const body = lines.slice(begin + 1).map((line) => line.replace(/\r$/, ""));
  const end = body.findIndex((line) => (isBase64 ? line.startsWith("====") : isEnd(line)));
  const data = end === -1 ? body : body.slice(0, end);
  return isBase64 ? Buffer.from(data.join(""), "base64") : Buffer.concat(data.map(decodeLine));
}

/** A line of no bytes ends the data, and `end` the file. */
const isEnd = (line: string): boolean => line === "end" || line === "`" || line.trim() === "";

/** The first character has the number of bytes; four others hold three bytes. */
function decodeLine(line: string): Buffer {
  const length = valueAt(line, 0);
  const decoded = Buffer.alloc(Math.ceil(length / 3) * 3);
  for (let from = 1, to = 0; to < length; from += 4, to += 3) {
    const bits =
      (valueAt(line, from) << 18) |
      (valueAt(line, from + 1) << 12) |
      (valueAt(line, from + 2) << 6) |
      valueAt(line, from + 3);
    decoded.writeUIntBE(bits, to, 3);
  }
  return decoded.subarray(0, length);
}

/** Spaces at the end of a line, which stand for zeros, may be cut on the way. */
function valueAt(line: string, at: number): number {
  const code = at < line.length ? line.charCodeAt(at) : SPACE;
  return (code - SPACE) & 63;
}
