/**
 * Breaks a line of quoted-printable text into lines of at most 76 characters (RFC 2045 §6.7). It
 * breaks at the same places as `wrap` of nodemailer, which encodes complete texts, but takes a
 * fraction of its time. The result of a message is therefore the same with either of them.
 */

const MAX_LENGTH = 76;
/** A line is broken after a blank or punctuation mark among its last characters. */
const MARGIN = 25;
const SOFT_BREAK = "=\r\n";

/** Breaks lines with CRLF line ends, which are part of a text of more than 76 characters. */
export function breakLines(lines: string): string {
  let result = "";
  let from = 0;
  for (let end = lines.indexOf("\r\n"); end !== -1; end = lines.indexOf("\r\n", from)) {
    result += breakLine(lines.slice(from, end), false);
    from = end + 2;
  }
  return from === lines.length ? result : result + breakLine(lines.slice(from), true);
}

/**
 * Breaks one line, which has no line break itself, and adds its CRLF. The last line of a text has
 * none, and may be broken although it is short, unless the whole text has at most 76 characters.
 */
export function breakLine(line: string, isLast: boolean): string {
  let result = "";
  let from = 0;
  for (;;) {
    const rest = line.length - from;
    if (!isLast && rest + 2 <= MAX_LENGTH) return `${result}${line.slice(from)}\r\n`;
    const length = isLast && rest <= MAX_LENGTH ? lastLength(line, from) : nextLength(line, from);
    if (length >= rest && isLast) return result + line.slice(from);
    result += line.slice(from, from + length) + SOFT_BREAK;
    from += length;
  }
}

/** Length of the next line, if more than 76 characters remain with the line end. */
function nextLength(line: string, from: number): number {
  const end = Math.min(from + MAX_LENGTH, line.length);
  const mark = lastMark(line, end, from + MAX_LENGTH - MARGIN);
  // A character is left for the "=" of the soft break.
  if (mark !== -1) return Math.min(mark + 1 - from, MAX_LENGTH - 1);
  const isFull = end === from + MAX_LENGTH;
  return isFull ? lengthBeforeEscape(line.slice(from, end)) : end - from;
}

/** Length of the next line among the last 76 characters of a text; all of them if it is not cut. */
function lastLength(line: string, from: number): number {
  const rest = line.length - from;
  if (rest <= MAX_LENGTH - MARGIN) return rest;
  const mark = lastMark(line, line.length, line.length - MARGIN);
  return mark === -1 ? rest : mark + 1 - from;
}

/** The offset of the last blank or punctuation mark from `start` on; -1 if there is none. */
function lastMark(line: string, end: number, start: number): number {
  for (let at = end - 1; at >= start; at--) {
    const code = line.charCodeAt(at);
    // Space, tab, and the characters "!", ",", "." and "?".
    const isMark =
      code === 32 || code === 9 || code === 33 || code === 44 || code === 46 || code === 63;
    if (isMark) return at;
  }
  return -1;
}

/** Length of a full line that is cut neither inside an escape nor inside a UTF-8 sequence. */
function lengthBeforeEscape(full: string): number {
  let { length } = full;
  const escape = full.lastIndexOf("=");
  if (escape < length - 3) return length - 1;
  if (escape > length - 3) length = escape;
  while (length > 12 && full[length - 3] === "=") {
    const octet = Number.parseInt(full.slice(length - 2, length), 16);
    if (octet < 0x80) break;
    length -= 3;
    if (octet >= 0xc0) break;
  }
  if (length < MAX_LENGTH) return length;
  return full[length - 3] === "=" ? length - 3 : length - 1;
}
