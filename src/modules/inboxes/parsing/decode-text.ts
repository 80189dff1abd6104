/**
 * Decodes the bytes of a text part. The declared charset decides if it can be meant (RFC 2045 §5.2):
 * not if it is UTF-8, and no character outside of ASCII is valid; and not if it is another one, and the
 * bytes are no text in it, but valid UTF-8, or UTF-8 of East Asia. Otherwise the escape sequences of
 * ISO-2022-JP, valid UTF-8 and the encoding that an HTML text names in its first bytes (HTML §13.2.3.2)
 * decide in this order; what is left is Windows-1252.
 */

import { isUtf8 } from "node:buffer";

/** Bytes of an HTML text in which its encoding is looked for, as browsers do. */
const META_BYTES = 1024;
/** `charset=…` in an element `meta`: as an attribute, or in the value of `content`. */
const META = /<meta\s[^>]{0,300}?charset\s{0,10}=\s{0,10}["']?\s{0,10}([\w.:-]{1,40})/i;
/** Labels that name no encoding of a text, or none that can have other characters than ASCII. */
const UNDECLARED =
  /^(?:|ascii|us-?ascii|ansi_x3[\w.-]*|binary|7bit|8bit|8-bit|unknown(?:-8bit)?|x-unknown|default|none|null|charset|iso-8859)$/i;
/** Stands for bytes that are no character. */
const REPLACEMENT = "\ufffd";
/** A character outside of ASCII that is not `REPLACEMENT`. */
const OTHER_VALID = /[^\0-\x7f\ufffd]/;
/** Encodings in which nearly each pair of bytes is a character, also those of UTF-8. */
const EAST_ASIAN = /^(?:big5|euc-|gb|ks_c|shift[-_]jis)/;
/** Two characters that take three bytes in UTF-8. A text in those encodings is hardly such a text. */
const THREE_BYTES = /[\u0800-\ufffc][^]*?[\u0800-\ufffc]/;
/** The beginning of a Japanese character set in ISO-2022-JP (RFC 1468). */
const JAPANESE = ["\x1b$@", "\x1b$B", "\x1b(J"];
/** Names that the platform does not know. */
const ALIASES: Readonly<Record<string, string>> = {
  cp949: "euc-kr",
  ms949: "euc-kr",
  cp936: "gbk",
  cp932: "shift_jis",
  ms932: "shift_jis",
  cp950: "big5",
  utf8mb4: "utf-8",
};

/** Null if the platform does not know the declared charset. */
export function decodeText(
  bytes: Buffer,
  { charset, isHtml }: { charset: string; isHtml: boolean },
): string | null {
  const label = charset.trim().toLowerCase();
  if (UNDECLARED.test(label)) return decodeUndeclared(bytes, isHtml);
  if (/^hz(?:-gb-?2312)?$/.test(label)) return decodeHz(bytes);
  if (/^(?:cs)?iso-?2022-?kr$/.test(label)) return decodeKorean(bytes);
  const name = ALIASES[label] ?? cleanLabel(label);
  const isDeclaredUtf8 = /^utf-?8$/.test(name);
  if (EAST_ASIAN.test(name) && isUtf8(bytes)) {
    const utf8 = bytes.toString("utf8");
    if (THREE_BYTES.test(utf8)) return utf8;
  }
  const text = isDeclaredUtf8 ? bytes.toString("utf8") : decodeAs(name, bytes);
  if (text?.includes(REPLACEMENT) !== true) return text;
  if (isUtf8(bytes)) return bytes.toString("utf8");
  return isDeclaredUtf8 && !OTHER_VALID.test(text) ? decodeUndeclared(bytes, isHtml) : text;
}

function decodeUndeclared(bytes: Buffer, isHtml: boolean): string {
  if (JAPANESE.some((escape) => bytes.includes(escape, 0, "latin1"))) {
    const text = decodeAs("iso-2022-jp", bytes);
    if (text !== null && !text.includes("\ufffd")) return text;
  }
  if (isUtf8(bytes)) return bytes.toString("utf8");
  const named = isHtml ? META.exec(bytes.toString("latin1", 0, META_BYTES))?.[1] : undefined;
  const text = named === undefined ? null : decodeText(bytes, { charset: named, isHtml: false });
  return text ?? decodeAs("windows-1252", bytes) ?? bytes.toString("latin1");
}

type Label = NonNullable<ConstructorParameters<typeof TextDecoder>[0]>;

/** Whether the platform has a decoder for the label (WHATWG Encoding §4.2). */
function isLabel(label: string): label is Label {
  try {
    Reflect.construct(TextDecoder, [label]);
    return true;
  } catch {
    return false;
  }
}

function decodeAs(label: string, bytes: Uint8Array): string | null {
  return isLabel(label) ? new TextDecoder(label).decode(bytes) : null;
}

/** Some programs write `iso_8859_1`, `iso8859-1` or `win-1252`. */
function cleanLabel(label: string): string {
  return label
    .replaceAll("_", label.startsWith("iso") || label.startsWith("windows") ? "-" : "_")
    .replace(/^iso-?8859-?/, "iso-8859-")
    .replace(/^win-?(?=125\d$)/, "windows-")
    .replace(/^utf-?7$/, "utf-7");
}

/** RFC 1843: `~{` begins two bytes for each character of GB 2312, `~}` ends them. */
function decodeHz(bytes: Buffer): string | null {
  const text = bytes
    .toString("latin1")
    .replace(/~\r?\n/g, "")
    .replace(/~\{([!-~\s]*?)(?:~\}|$)/g, (_, pairs: string) => withHighBits(pairs))
    .replaceAll("~~", "~");
  return decodeAs("gbk", Buffer.from(text, "latin1"));
}

const SHIFT_OUT = "\x0e";
const SHIFT_IN = "\x0f";

/** RFC 1557: SO begins two bytes for each character of KS X 1001; SI or the end of the line ends them. */
function decodeKorean(bytes: Buffer): string | null {
  const lines = bytes.toString("latin1").replaceAll("\x1b$)C", "").split("\n");
  return decodeAs("euc-kr", Buffer.from(lines.map(shiftedLine).join("\n"), "latin1"));
}

function shiftedLine(line: string): string {
  const [plain = "", ...shifted] = line.split(SHIFT_OUT);
  const rest = shifted.map((piece) => {
    const end = piece.indexOf(SHIFT_IN);
    return end === -1
      ? withHighBits(piece)
      : withHighBits(piece.slice(0, end)) + piece.slice(end + 1);
  });
  return plain + rest.join("");
}

function withHighBits(pairs: string): string {
  return pairs.replace(/[!-~]/g, (character) =>
    String.fromCharCode(character.charCodeAt(0) | 0x80),
  );
}
