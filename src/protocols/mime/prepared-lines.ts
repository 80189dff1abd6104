/**
 * Text parts whose fixed text is encoded before the mail exists. In this order: `prepareLines`
 * splits a text with marks into lines; lines without values are encoded at once, and lines with
 * values are encoded piece by piece; then, for each mail, `encodeLines` fills the marks and chooses
 * the encoding. The result has the same octets as `textPart` for the filled text.
 *
 * There are two kinds of marks. A private-use character stands for a value of any length, which has
 * no control characters and neither begins nor ends with a blank. A token stands for one of the
 * same length, of letters, digits, "-" and "_": it changes no line break, so that a line with tokens
 * is broken before they are known.
 */

import { type Fillings, fillMarks, hasValueMark, type Marks, splitAtMarks } from "./marks.ts";
import { encodedTextPart } from "./parts.ts";
import { breakLine, breakLines } from "./soft-breaks.ts";
import {
  chooseEncoding,
  encodeText,
  type Pieces,
  SHORT_LINE,
  survey,
  type Survey,
  unwrappedQuotedPrintable,
  withLineEnds,
} from "./text-encoding.ts";

/** Complete lines with their line ends; only the last lines of a text have none. */
export type Lines = {
  /** False if the lines are not 7bit for any values. */
  readonly maySevenBit: boolean;
  /** Adds the octets of the lines. It need not find out if they are 7bit if the text is not. */
  addTo(sum: Survey, fillings: Fillings): void;
  plain(fillings: Fillings): string;
  quotedPrintable(fillings: Fillings): string;
  /** UTF-16 units in memory. */
  readonly size: number;
};

/** Prepares a text with marks. Its line ends become CRLF. */
export function prepareLines(text: string, marks: Marks): Lines[] {
  const prepared: Lines[] = [];
  let fixed = "";
  for (const line of withLineEnds(text).split(/(?<=\r\n)/)) {
    if (!hasValueMark(line)) {
      fixed += line;
      continue;
    }
    if (fixed !== "") prepared.push(fixedLines(fixed, marks));
    prepared.push(valueLine(line, marks));
    fixed = "";
  }
  return fixed === "" ? prepared : [...prepared, fixedLines(fixed, marks)];
}

/** Lines that are known only when the mail is written. They have CRLF line ends. */
export function newLines(text: string): Lines {
  const isPlain = isPrintable(text);
  return {
    maySevenBit: true,
    addTo(sum) {
      if (!isPlain) return addSurvey(sum, survey(Buffer.from(text)));
      sum.octets += text.length;
      sum.isSevenBit &&= hasPlainLines(text);
    },
    plain: () => text,
    quotedPrintable: () =>
      breakLines(isPlain && !hasEscapes(text) ? text : unwrappedQuotedPrintable(text)),
    size: text.length,
  };
}

function addSurvey(sum: Survey, { octets, high, isSevenBit }: Survey): void {
  sum.octets += octets;
  sum.high += high;
  sum.isSevenBit &&= isSevenBit;
}

/** True if quoted-printable changes characters of printable text, besides breaking its lines. */
function hasEscapes(text: string): boolean {
  return /=| (?:\r\n|$)|(?:^|\n)From /.test(text);
}

function isPrintable(text: string): boolean {
  return /^[\r\n\x20-\x7e]*$/.test(text);
}

/** True if each line is short, does not begin with "From " and does not end with a blank. */
function hasPlainLines(text: string): boolean {
  for (let from = 0; from < text.length;) {
    const found = text.indexOf("\r\n", from);
    const end = found === -1 ? text.length : found;
    const isChanged =
      end - from > SHORT_LINE - 1 || text[end - 1] === " " || text.startsWith("From ", from);
    if (isChanged) return false;
    from = end + 2;
  }
  return true;
}

/** Writes a text part like `textPart`. */
export function encodeLines(
  subtype: "plain" | "html",
  lines: readonly Lines[],
  fillings: Fillings,
): Pieces {
  const sum = { octets: 0, high: 0, isSevenBit: lines.every((part) => part.maySevenBit) };
  for (const part of lines) part.addTo(sum, fillings);
  const encoding = chooseEncoding(sum);
  let body = "";
  if (encoding === "quoted-printable" && sum.octets > SHORT_TEXT) {
    for (const part of lines) body += part.quotedPrintable(fillings);
    return encodedTextPart(subtype, { encoding, body: [body] });
  }
  for (const part of lines) body += part.plain(fillings);
  return encodedTextPart(
    subtype,
    encoding === "7bit" ? { encoding, body: [body] } : encodeText(body),
  );
}

/** Texts of at most 76 octets are not broken into lines. */
const SHORT_TEXT = 76;

/** Lines without values. */
function fixedLines(text: string, marks: Marks): Lines {
  const measured = survey(Buffer.from(text));
  const pieces = splitAtMarks(text, marks);
  const unbroken = unwrappedQuotedPrintable(text);
  const encoded = cut(unbroken, breakLines(unbroken), marks);
  return {
    maySevenBit: measured.isSevenBit,
    addTo: (sum) => addSurvey(sum, measured),
    plain: (fillings) => fillMarks(pieces, fillings),
    quotedPrintable: (fillings) => fill(encoded, fillings),
    size: text.length + encoded.size,
  };
}

/** One line with values. */
function valueLine(line: string, marks: Marks): Lines {
  const isLast = !line.endsWith("\r\n");
  const marked = splitAtMarks(isLast ? line : line.slice(0, -2), marks);
  const { texts, gaps } = marked;
  const encoded = texts.map(encodePiece);
  const values = gaps.filter((gap) => gap < marks.values);
  // A letter stands for each value, and is subtracted again below.
  const letters = Array.from({ length: marks.values }, () => "x");
  const fixed = survey(Buffer.from(fillMarks(marked, [...letters, ...marks.tokens])));
  const hasControls = /[^\t\x20-\x7e\x80-\uffff]/.test(texts.join(""));
  const fixedOctets = fixed.octets - values.length;

  return {
    maySevenBit: fixed.high === 0 && !hasControls && fixedOctets < SHORT_LINE,
    addTo(sum, fillings) {
      let octets = fixedOctets;
      for (const value of values) octets += addValue(sum, fillings[value] ?? "");
      sum.octets += octets + (isLast ? 0 : 2);
      sum.high += fixed.high;
      sum.isSevenBit &&= octets < SHORT_LINE && isPlainLine(fillMarks(marked, fillings));
    },
    plain: (fillings) => fillMarks(marked, fillings) + (isLast ? "" : "\r\n"),
    quotedPrintable(fillings) {
      let text = encoded[0] ?? "";
      for (let i = 0; i < gaps.length; i++) {
        const gap = gaps[i] ?? 0;
        const filling = fillings[gap] ?? "";
        text += (gap < marks.values ? encodeValue(filling) : filling) + (encoded[i + 1] ?? "");
      }
      return breakLine(encodeLineEnds(text), isLast);
    },
    size: line.length + encoded.join("").length,
  };
}

/** Adds the octets of a value that are not ASCII, and returns the number of all its octets. */
function addValue(sum: Survey, value: string): number {
  if (isAscii(value)) return value.length;
  const octets = Buffer.byteLength(value);
  sum.high += octets - asciiCount(value);
  sum.isSevenBit = false;
  return octets;
}

/** True if a line of printable characters and tabs is not changed on its way. */
function isPlainLine(line: string): boolean {
  return !line.startsWith("From ") && !/[ \t]$/.test(line);
}

/** Encodes a blank at the end of a line, and "From " at its start. */
function encodeLineEnds(line: string): string {
  const last = line.at(-1);
  const ended =
    last === " " ? `${line.slice(0, -1)}=20` : last === "\t" ? `${line.slice(0, -1)}=09` : line;
  return ended.startsWith("From ") ? `=46${ended.slice(1)}` : ended;
}

function encodeValue(value: string): string {
  return /^[\x20-<>-~]*$/.test(value) ? value : encodePiece(value);
}

/** Encodes a piece of a line. A letter follows it meanwhile, so that no line ends with its blank. */
function encodePiece(piece: string): string {
  const encoded = unwrappedQuotedPrintable(`x${piece}x`);
  return encoded.slice(1, -1);
}

function isAscii(text: string): boolean {
  return /^[\x20-\x7e]*$/.test(text);
}

function asciiCount(text: string): number {
  return text.replace(/[^\x20-\x7e]/g, "").length;
}

/** A piece of a token: soft line breaks may divide it. */
type TokenPiece = { token: number; from: number; to: number };

type Template = { texts: readonly string[]; tokens: readonly TokenPiece[]; size: number };

/** Cuts quoted-printable text where the same text without soft line breaks has tokens. */
function cut(unbroken: string, broken: string, marks: Marks): Template {
  const { texts, gaps } = splitAtMarks(unbroken, marks);
  const written: string[] = [];
  const tokens: TokenPiece[] = [];
  let at = 0;
  let text = "";
  /** Reads `length` characters, and returns them in pieces between soft line breaks. */
  function read(length: number): string[] {
    const pieces = [""];
    for (let left = length; left > 0; at++) {
      if (isSoftBreak(broken, at)) {
        at += 2;
        pieces.push("");
        continue;
      }
      pieces[pieces.length - 1] += broken.charAt(at);
      left--;
    }
    return pieces;
  }
  for (const [i, fixed] of texts.entries()) {
    text += read(fixed.length).join(SOFT_BREAK);
    const gap = gaps[i];
    if (gap === undefined) continue;
    let from = 0;
    for (const [k, piece] of read(marks.tokens[gap - marks.values]?.length ?? 0).entries()) {
      if (k > 0) text += SOFT_BREAK;
      if (piece === "") continue;
      written.push(text);
      tokens.push({ token: gap, from, to: from + piece.length });
      from += piece.length;
      text = "";
    }
  }
  written.push(text + broken.slice(at));
  return { texts: written, tokens, size: broken.length };
}

const SOFT_BREAK = "=\r\n";

function isSoftBreak(text: string, at: number): boolean {
  return text.charCodeAt(at) === 61 && text.startsWith(SOFT_BREAK, at);
}

function fill({ texts, tokens }: Template, fillings: Fillings): string {
  let result = texts[0] ?? "";
  for (let i = 0; i < tokens.length; i++) {
    const piece = tokens[i];
    if (piece === undefined) break;
    const { token, from, to } = piece;
    result += (fillings[token] ?? "").slice(from, to) + (texts[i + 1] ?? "");
  }
  return result;
}
