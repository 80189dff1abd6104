/**
 * Finds the lines of a message and marks what they are: header fields of the message and of its
 * parts, their folded lines, boundaries, and the rest. Linear in the length of the text; a line is
 * cut out of the text only when it is shown.
 */

export type LineKind = "header" | "folded" | "boundary" | "body";
export type MessageLine = { kind: LineKind; text: string };

export type MessageLines = {
  count: number;
  /** The text has more lines than are shown. */
  isCut: boolean;
  at: (index: number) => MessageLine;
};

/** Lines that are shown: a browser draws nothing that is higher than some 30 million pixels. */
const MAX_LINES = 500_000;
/** Characters of a line that are shown. */
const LONGEST_LINE = 2_000;
/** Characters that decide what a line is. */
const LONGEST_MARK = 200;
/** A field name and its colon (RFC 5322 §2.2). */
const FIELD = /^[\x21-\x39\x3b-\x7e]{1,199}:/;
/** A boundary has at most 70 characters (RFC 2046 §5.1.1). */
const BOUNDARY = /^--\S.{0,69}$/;

/** With `isPlain` no line is marked. */
export function messageLines(text: string, { isPlain = false } = {}): MessageLines {
  const starts: number[] = [];
  const kinds: LineKind[] = [];
  let isInHeader = true;

  function kindOf(line: string): LineKind {
    if (isPlain) return "body";
    if (isInHeader) {
      if (/^[ \t]/.test(line)) return "folded";
      if (FIELD.test(line)) return "header";
      isInHeader = false;
      return "body";
    }
    if (!BOUNDARY.test(line)) return "body";
    // The headers of a part follow its boundary; after the last one there are none.
    isInHeader = !line.endsWith("--");
    return "boundary";
  }

  let start = 0;
  while (start < text.length && starts.length < MAX_LINES) {
    const end = endOf(text, start);
    starts.push(start);
    kinds.push(kindOf(withoutReturn(text.slice(start, Math.min(end, start + LONGEST_MARK)))));
    start = end + 1;
  }

  return {
    count: starts.length,
    isCut: start < text.length,
    at(index) {
      const from = starts[index] ?? text.length;
      const line = withoutReturn(text.slice(from, endOf(text, from)));
      const shown = line.length > LONGEST_LINE ? `${line.slice(0, LONGEST_LINE)}…` : line;
      return { kind: kinds[index] ?? "body", text: shown };
    },
  };
}

/** The header of a message: what is before its first empty line. */
export function headerText(text: string): string {
  const end = text.search(/\r?\n\r?\n/);
  return end === -1 ? text : text.slice(0, end);
}

/** The lines of a text that is no message. */
export const plainLines = (text: string): MessageLines => messageLines(text, { isPlain: true });

function endOf(text: string, start: number): number {
  const end = text.indexOf("\n", start);
  return end === -1 ? text.length : end;
}

const withoutReturn = (line: string) => (line.endsWith("\r") ? line.slice(0, -1) : line);
