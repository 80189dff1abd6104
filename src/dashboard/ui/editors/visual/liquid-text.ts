/**
 * Liquid inside the texts of a design. HTML is escaped around `{{ … }}` and `{% … %}` and never in
 * them: the server would read `&quot;` and `&gt;` as parts of the expression. Changes that an HTML
 * editor made to an expression are undone: entities, line breaks, no-break spaces and curly quotes.
 */

/** A part of a text: either Liquid from its opening to its closing braces, or the text around it. */
export type Piece = { text: string; isLiquid: boolean };

/** Splits in linear time. Braces that are not closed are text, which the server reports. */
export function splitLiquid(text: string): Piece[] {
  const pieces: Piece[] = [];
  let start = 0;
  const addText = (end: number): void => {
    if (end > start) pieces.push({ text: text.slice(start, end), isLiquid: false });
  };
  for (;;) {
    const open = findOpening(text, start);
    const end = open === -1 ? -1 : findEnd(text, open);
    if (end === -1) break;
    addText(open);
    pieces.push({ text: text.slice(open, end), isLiquid: true });
    start = end;
  }
  addText(text.length);
  return pieces;
}

function findOpening(text: string, from: number): number {
  for (let at = text.indexOf("{", from); at !== -1; at = text.indexOf("{", at + 1)) {
    const next = text[at + 1];
    if (next === "{" || next === "%") return at;
  }
  return -1;
}

/** The offset after the closing braces, or -1. Braces in a string of an output do not close it. */
function findEnd(text: string, open: number): number {
  if (text[open + 1] === "%") {
    const close = text.indexOf("%}", open + 2);
    return close === -1 ? -1 : close + 2;
  }
  const plain = text.indexOf("}}", open + 2);
  if (plain === -1) return -1;
  let at = open + 2;
  while (at < text.length) {
    if (text.startsWith("}}", at)) return at + 2;
    at = isQuote(text[at]) && !isWord(text[at - 1]) ? skipString(text, at) : at + 1;
  }
  // This quote opens no string: the output ends at the first braces.
  return plain + 2;
}

function skipString(text: string, open: number): number {
  const close = text.indexOf(text.charAt(open), open + 1);
  return close === -1 ? open + 1 : close + 1;
}

const isQuote = (char: string | undefined): boolean => char === '"' || char === "'";
const isWord = (char: string | undefined): boolean => /[\p{L}\p{N}_\\]/u.test(char ?? "");

const ENTITIES: Readonly<Record<string, string>> = {
  quot: '"',
  "#39": "'",
  "#x27": "'",
  apos: "'",
  lt: "<",
  gt: ">",
  amp: "&",
  nbsp: " ",
};

/** An expression as the server reads it: without entities, on one line, with straight quotes. */
export function repairLiquid(code: string): string {
  return code
    .replace(/&(#39|#x27|quot|apos|lt|gt|amp|nbsp);/g, (whole, name: string) => {
      return ENTITIES[name] ?? whole;
    })
    .replace(/[“”„]/g, '"')
    .replace(/\u00a0/g, " ")
    .replace(/\s+/g, (blanks) => (/[\r\n]/.test(blanks) ? " " : blanks));
}

/**
 * Escapes text for HTML. Each piece of Liquid is repaired and stays. HTML joins spaces, so that each
 * second one becomes a no-break space.
 */
export function escapeText(text: string): string {
  const escape = (piece: string) => escapeHtml(piece).replace(/ {2}/g, " &nbsp;");
  return mapPieces(text, escape, repairLiquid);
}

/**
 * The value of an attribute in double quotes. Strings of Liquid have single quotes in it, so that
 * also a program that reads the source as HTML finds the end of the attribute.
 */
export function escapeAttribute(value: string): string {
  return mapPieces(value, escapeHtml, (code) => {
    const repaired = repairLiquid(code);
    if (!repaired.includes('"')) return repaired;
    // The server decodes entities in an output.
    return repaired.replaceAll('"', repaired.includes("'") ? "&quot;" : "'");
  });
}

function mapPieces(
  text: string,
  onText: (text: string) => string,
  onLiquid: (code: string) => string,
): string {
  if (!text.includes("{")) return onText(text);
  return splitLiquid(text)
    .map((piece) => (piece.isLiquid ? onLiquid(piece.text) : onText(piece.text)))
    .join("");
}

const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
};

const escapeHtml = (text: string): string =>
  text.replace(/[&<>"]/g, (char) => ESCAPES[char] ?? char);
