/** Reads header fields of messages from outside, with limits (RFC 5322 §2.2). Never throws. */

/** The name is in lower case; the value is unfolded, without blanks at its ends. */
export type ReadField = { name: string; value: string };

/** Lines of a header section that are read; the rest is ignored. */
const MAX_LINES = 2_000;
/** Longest value in characters; the rest of it is cut off. */
const MAX_VALUE = 4_096;
const MAX_NAME = 100;

const FIELD = /^([!-9;-~]{1,100})[ \t]*:/;

/** The lines of a text, without their ends, at most `max`. */
export function* linesOf(text: string, max: number): Generator<string> {
  let from = 0;
  for (let count = 0; count < max && from < text.length; count++) {
    const end = text.indexOf("\n", from);
    const stop = end === -1 ? text.length : end;
    yield text.slice(from, stop > from && text[stop - 1] === "\r" ? stop - 1 : stop);
    from = stop + 1;
  }
}

/** Reads the fields of a header section. Lines that belong to no field are ignored. */
export function readFields(section: string): ReadField[] {
  const fields: ReadField[] = [];
  let current: { name: string; pieces: string[]; length: number } | null = null;
  const close = () => {
    if (current === null) return;
    fields.push({ name: current.name, value: current.pieces.join(" ").trim() });
    current = null;
  };
  for (const line of linesOf(section, MAX_LINES)) {
    const isContinued = line.startsWith(" ") || line.startsWith("\t");
    if (isContinued && current !== null) {
      addTo(current, line.slice(0, MAX_VALUE).trim());
      continue;
    }
    close();
    const name = FIELD.exec(line.slice(0, MAX_NAME + 10))?.[1];
    if (name === undefined) continue;
    const value = line.slice(line.indexOf(":") + 1);
    current = { name: name.toLowerCase(), pieces: [], length: 0 };
    addTo(current, value.slice(0, MAX_VALUE).trim());
  }
  close();
  return fields;
}

function addTo(field: { pieces: string[]; length: number }, piece: string): void {
  const rest = MAX_VALUE - field.length;
  if (rest <= 0) return;
  field.pieces.push(piece.slice(0, rest));
  field.length += piece.length + 1;
}

/** The value of the first field of this name, which is in lower case; null if there is none. */
export function valueOf(fields: readonly ReadField[], name: string): string | null {
  return fields.find((field) => field.name === name)?.value ?? null;
}
