/**
 * Divides the text of a message into lines and marks what they are: header fields of the message and
 * of its parts, their folded lines, boundaries, and the rest. Linear in the length of the text.
 */

export type LineKind = "header" | "folded" | "boundary" | "body";
export type MessageLine = { kind: LineKind; text: string };

/** Characters of a line that are shown. */
const LONGEST_LINE = 2_000;
/** A field name and its colon (RFC 5322 §2.2). */
const FIELD = /^[\x21-\x39\x3b-\x7e]{1,200}:/;
/** A boundary has at most 70 characters (RFC 2046 §5.1.1). */
const BOUNDARY = /^--\S.{0,69}$/;

export function messageLines(text: string): MessageLine[] {
  let isInHeader = true;
  return linesOf(text).map((line) => {
    const text = line.length > LONGEST_LINE ? `${line.slice(0, LONGEST_LINE)}…` : line;
    if (isInHeader) {
      if (line === "") isInHeader = false;
      else if (/^[ \t]/.test(line)) return { kind: "folded", text };
      else if (FIELD.test(line)) return { kind: "header", text };
      else isInHeader = false;
      return { kind: "body", text };
    }
    // The headers of a part follow its boundary; after the closing boundary there are none.
    if (!BOUNDARY.test(line)) return { kind: "body", text };
    isInHeader = !line.endsWith("--");
    return { kind: "boundary", text };
  });
}

export function plainLines(text: string): MessageLine[] {
  return linesOf(text).map((line) => ({
    kind: "body",
    text: line.length > LONGEST_LINE ? `${line.slice(0, LONGEST_LINE)}…` : line,
  }));
}

function linesOf(text: string): string[] {
  const lines = text.split(/\r?\n/);
  if (lines.at(-1) === "") lines.pop();
  return lines;
}
