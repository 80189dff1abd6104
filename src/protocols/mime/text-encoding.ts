/**
 * Encodings of text parts: 7bit if the text allows it, otherwise quoted-printable or base64
 * (RFC 2045 §6).
 */

/** The text with CRLF line ends. */
export function withLineEnds(text: string): string {
  return text.replace(/\r\n?|\n/g, "\r\n");
}

/** Text in pieces, so that a large attachment is never one string. */
export type Pieces = readonly string[];

export type Encoded = { encoding: "7bit" | "quoted-printable" | "base64"; body: Pieces };

/** Encodes text with CRLF line ends. */
export function encodeText(text: string): Encoded {
  const octets = Buffer.from(text);
  const encoding = chooseEncoding(survey(octets));
  if (encoding === "7bit") return { encoding, body: [text] };
  const body = encoding === "base64" ? base64Lines(octets) : [quotedPrintable(text)];
  return { encoding, body };
}

export function chooseEncoding({ octets, high, isSevenBit }: Survey): Encoded["encoding"] {
  if (isSevenBit) return "7bit";
  // Quoted-printable encodes one octet in three, base64 three in four: equal at one sixth.
  return high * 6 > octets ? "base64" : "quoted-printable";
}

/**
 * Encodes text with CRLF line ends in quoted-printable (RFC 2045 §6.7). No line has more than 75
 * characters, so that a soft line break may follow the text, and none begins with what is changed
 * on the way: SMTP doubles a dot (RFC 5321 §4.5.2), and an mbox adds ">" before "From ", which breaks
 * the signature.
 */
export function quotedPrintable(text: string): string {
  const lines = text
    .toWellFormed()
    .replace(ENCODED, (octets) => encodeURIComponent(octets).replaceAll("%", "="));
  let encoded = "";
  for (let from = 0; from <= lines.length;) {
    const found = lines.indexOf("\r\n", from);
    const end = found === -1 ? lines.length : found;
    encoded += breakLine(lines, from, end);
    if (found !== -1) encoded += "\r\n";
    from = end + 2;
  }
  return encoded;
}

/**
 * All characters except printable ones, tabs and line ends; the equals sign; and a blank at the end
 * of a line. `encodeURIComponent` encodes each of them.
 */
const ENCODED = /[^\t\n\r\x20-<>-~]+|[ \t](?=[\r\n]|$)/g;

/** Most characters of a line, without the "=" of a soft line break. */
const LINE_LENGTH = 75;
export const SOFT_BREAK = "=\r\n";

/** Breaks one line, which is encoded except for its beginning. */
function breakLine(lines: string, start: number, end: number): string {
  let broken = "";
  for (let from = start; ;) {
    const first = encodedStart(lines, from);
    const next = first === "" ? from : from + 1;
    const limit = next + LINE_LENGTH - first.length;
    if (end <= limit) return broken + first + lines.slice(next, end);
    from = breakPoint(lines, limit);
    broken += first + lines.slice(next, from) + SOFT_BREAK;
  }
}

/** The first character of a line in quoted-printable if it must be encoded there; else empty. */
function encodedStart(lines: string, at: number): string {
  const code = lines.charCodeAt(at);
  if (code === DOT) return "=2E";
  return code === F && lines.startsWith("From ", at) ? "=46" : "";
}

const DOT = 46;
const F = 70;
const EQUALS = 61;

/** The last offset up to the limit that is neither inside an escape nor inside a character. */
function breakPoint(lines: string, limit: number): number {
  let at = limit;
  if (lines.charCodeAt(at - 1) === EQUALS) at -= 1;
  else if (lines.charCodeAt(at - 2) === EQUALS) at -= 2;
  // The octets after the first one of a character in UTF-8 begin with the bits 10.
  while (/^=[89AB]/.test(lines.slice(at, at + 2))) at -= 3;
  return at;
}

/** The number of octets, and of those that are not ASCII, and if the text can be sent as 7bit. */
type Survey = { octets: number; high: number; isSevenBit: boolean };

const LF = 10;
const SPACE = 32;

/**
 * Counts the octets that are not ASCII, and decides if the text can be sent as 7bit. Servers do not
 * change text with short lines, without blanks at line ends, controls except tab, or a leading
 * "From ".
 */
export function survey(octets: Buffer): Survey {
  let high = 0;
  let isUnchanged = octets.indexOf("\nFrom ") === -1 && !octets.subarray(0, 5).equals(FROM);
  let lineLength = 0;
  let previous = 0;
  // An index, because an iterator takes ten times as long.
  for (let i = 0; i < octets.length; i++) {
    const octet = octets[i] ?? 0;
    if (octet > 126) high++;
    else if (octet < SPACE && octet !== 9 && octet !== LF && octet !== 13) isUnchanged = false;
    lineLength = octet === LF ? 0 : lineLength + 1;
    if (lineLength > SHORT_LINE || (octet === 13 && isBlank(previous))) isUnchanged = false;
    previous = octet;
  }
  // The last line may have no CR.
  if (lineLength === SHORT_LINE && previous !== 13) isUnchanged = false;
  return {
    octets: octets.length,
    high,
    isSevenBit: isUnchanged && high === 0 && !isBlank(previous),
  };
}

const FROM = Buffer.from("From ");

/** Longest line of a 7bit text: 76 characters and the CR. */
const SHORT_LINE = 77;

function isBlank(octet: number): boolean {
  return octet === SPACE || octet === 9;
}

/** Octets of a line of 76 characters, and of the lines that are encoded together. */
const LINE_OCTETS = 57;
const PIECE_OCTETS = 1024 * LINE_OCTETS;

export function base64Lines({ buffer, byteOffset, byteLength }: Uint8Array): Pieces {
  const octets = Buffer.from(buffer, byteOffset, byteLength);
  const pieces: string[] = [];
  for (let start = 0; start < byteLength; start += PIECE_OCTETS) {
    const base64 = octets.toString("base64", start, start + PIECE_OCTETS);
    const isLast = start + PIECE_OCTETS >= byteLength;
    pieces.push(base64.replace(/.{76}(?=.)/g, "$&\r\n"), isLast ? "" : "\r\n");
  }
  return pieces;
}
