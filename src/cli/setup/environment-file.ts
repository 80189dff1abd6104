/**
 * The file of environment variables that systemd reads (`EnvironmentFile=`, systemd.exec(5)): one
 * NAME=value on each line. It is read as systemd reads it. A value is written in a form that a shell
 * reads in the same way, so the file can also be used without systemd.
 */

/** A variable in the text, with the place of its whole assignment and line end. */
type Assignment = { name: string; value: string; start: number; end: number };

/** Longest file that is read. */
export const MAX_ENVIRONMENT_CHARACTERS = 256 * 1024;

const BLANKS = " \t";
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** Values of these characters need no quotes. */
const PLAIN = /^[\w./:@,+=%-]+$/;
/** In double quotes, a backslash stands before these only, in a shell and for systemd. */
const ESCAPED = /["\\`$]/g;

/** The variables of a file; of two with the same name, the later one counts. */
export function readEnvironment(text: string): Record<string, string> {
  return Object.fromEntries(assignmentsIn(text).map(({ name, value }) => [name, value]));
}

/**
 * Changes variables in the text of a file, and keeps all other lines as they are. A null removes the
 * variable; a new one comes to the end.
 */
export function changeEnvironment(
  text: string,
  changes: Readonly<Record<string, string | null>>,
): string {
  const before = readEnvironment(text);
  const changed = Object.entries(changes).filter(
    ([name, value]) => value !== (before[name] ?? null),
  );
  if (changed.length === 0) return text;
  const values = new Map(changed);
  let result = "";
  let at = 0;
  for (const { name, start, end } of assignmentsIn(text)) {
    const value = values.get(name);
    if (value === undefined) continue;
    result += text.slice(at, start);
    at = end;
    if (value === null) continue;
    result += `${name}=${formatEnvironmentValue(value)}\n`;
    // A second assignment of the same name would win, so it is removed.
    values.set(name, null);
  }
  result += text.slice(at);
  if (result !== "" && !result.endsWith("\n")) result += "\n";
  for (const [name, value] of values) {
    if (value !== null) result += `${name}=${formatEnvironmentValue(value)}\n`;
  }
  return result;
}

/** True if systemd can pass the value on: it refuses control characters except tabs and line ends. */
export function isEnvironmentValue(value: string): boolean {
  // oxlint-disable-next-line no-control-regex -- these are the characters that systemd refuses
  return !/[\u0000-\u0008\u000b-\u001f\u007f]/.test(value) && value.isWellFormed();
}

/** Throws for a value that systemd would refuse. */
export function formatEnvironmentValue(value: string): string {
  if (!isEnvironmentValue(value)) {
    throw new Error("a value of an environment file must not contain control characters");
  }
  return PLAIN.test(value) ? value : `"${value.replace(ESCAPED, "\\$&")}"`;
}

/** Reads each character once, as systemd's parser does. */
function assignmentsIn(text: string): Assignment[] {
  const found: Assignment[] = [];
  let at = 0;
  while (at < text.length) {
    const start = at;
    while (at < text.length && `${BLANKS}\n\r`.includes(text.charAt(at))) at++;
    const first = text.charAt(at);
    if (first === "#" || first === ";") {
      at = endOfLine(text, at);
      continue;
    }
    const lineEnd = endOfLine(text, at);
    const line = text.slice(at, lineEnd);
    const equals = line.indexOf("=");
    if (equals === -1) {
      at = lineEnd;
      continue;
    }
    const name = line.slice(0, equals).trim();
    const { value, end } = readValue(text, at + equals + 1);
    if (NAME.test(name)) found.push({ name, value, start: lastLineStart(text, start, at), end });
    at = end;
  }
  return found;
}

/** Blank lines before an assignment are not a part of it. */
function lastLineStart(text: string, from: number, to: number): number {
  const lineEnd = text.lastIndexOf("\n", to - 1);
  return lineEnd < from ? from : lineEnd + 1;
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf("\n", from);
  return end === -1 ? text.length : end + 1;
}

/**
 * Reads a value. Quotes count where a word of it begins; a quoted part may span lines, and what
 * stands between quoted parts joins them. Blanks around the value do not count.
 */
function readValue(text: string, from: number): { value: string; end: number } {
  let value = "";
  /** Length of the value without the blanks at its end that no quote protects. */
  let kept = 0;
  let isAtWord = true;
  let at = from;
  while (at < text.length) {
    const character = text.charAt(at);
    if (character === "\n" || character === "\r") break;
    if (isAtWord && (character === "'" || character === '"')) {
      const quoted = readQuoted(text, at + 1, character);
      value += quoted.value;
      kept = value.length;
      at = quoted.end;
    } else if (character === "\\") {
      const next = text.charAt(at + 1);
      // A line end after a backslash continues the value in the next line.
      if (next !== "\n") value += next;
      kept = value.length;
      isAtWord = false;
      at += 2;
    } else if (BLANKS.includes(character)) {
      if (!isAtWord) value += character;
      at++;
    } else {
      value += character;
      kept = value.length;
      isAtWord = false;
      at++;
    }
  }
  return { value: value.slice(0, kept), end: endOfLine(text, at) };
}

function readQuoted(text: string, from: number, quote: string): { value: string; end: number } {
  let value = "";
  let at = from;
  while (at < text.length && text.charAt(at) !== quote) {
    const character = text.charAt(at);
    const next = text.charAt(at + 1);
    if (quote === '"' && character === "\\") {
      if ('"\\`$'.includes(next) && next !== "") value += next;
      else if (next !== "\n") value += character + next;
      at += 2;
    } else {
      value += character;
      at++;
    }
  }
  return { value, end: at + 1 };
}
