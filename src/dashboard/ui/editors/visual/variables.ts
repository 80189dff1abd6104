/**
 * Variables as `{{ name | default: "friend" }}`: writing and reading them, and the picker's list.
 */

export type Variable = {
  /** The key of the contact's data, or a name that the service provides. */
  name: string;
  /** The text for contacts without a value; "" without one. */
  fallback: string;
};

/** A field of the contacts, with the type of its values. */
export type ContactField = { name: string; type: string };

/** The longest name and default of a variable, in UTF-16 units. */
export const LONGEST_NAME = 255;

/** A path of names, or a key with spaces, that Liquid reads without quotes. */
const PLAIN = /^[\p{L}_][\p{L}\p{N}_-]*(?:[. ][\p{L}\p{N}_-]+)*$/u;
/** Words that are no names in Liquid or begin the syntax of another template language. */
const RESERVED =
  /^(?:true|false|nil|null|empty|blank|this|else|elif|elseif|if|for|range|with|end|endif|endfor|and|or|not|contains|TrackLink|UnsubscribeURL|OptinURL|ManageURL|TrackView|MessageURL|endunless|endeach|endforeach)(?:[. ]|$)| (?:if|else|and|or|not|contains|in) /;

/** The name as an expression; null if it cannot be written, because it has quotes of both kinds. */
export function writeName(name: string): string | null {
  const trimmed = name.trim();
  if (trimmed === "" || trimmed.length > LONGEST_NAME || /[\r\n]/.test(trimmed)) return null;
  if (PLAIN.test(trimmed) && !RESERVED.test(trimmed)) return trimmed;
  return quoteKey(trimmed);
}

/** The name where Liquid reads no spaces, such as in `{% if … %}`. */
export function writeTagName(name: string): string | null {
  const written = writeName(name);
  return written?.includes(" ") === true && !written.startsWith("data[")
    ? quoteKey(name.trim())
    : written;
}

function quoteKey(key: string): string | null {
  const text = writeString(key);
  return text === null ? null : `data[${text}]`;
}

/**
 * Matches the end of an expression, and the syntax of other template languages, which the server
 * refuses.
 */
const UNWRITABLE = /\\|\}\}|%\}|&&|[!=]==|\sif\s.{0,200}\selse\s/;

/** A string of Liquid; null if the text has quotes of both kinds, or ends the expression. */
export function writeString(text: string): string | null {
  const line = text.replace(/\s+/g, (blanks) => (/[\r\n]/.test(blanks) ? " " : blanks));
  if (UNWRITABLE.test(line)) return null;
  if (!line.includes('"')) return `"${line}"`;
  return line.includes("'") ? null : `'${line}'`;
}

/** Says why a text cannot be a default or a value; null if it can. */
export function findStringFault(text: string): string | null {
  if (text.length > LONGEST_NAME) return `Use at most ${LONGEST_NAME} characters.`;
  return writeString(text) === null
    ? "This text cannot be written: use only one kind of quotes, and no backslashes, braces or code."
    : null;
}

/** The output; "" for a variable that cannot be written. */
export function writeVariable({ name, fallback }: Variable): string {
  const expression = writeName(name);
  if (expression === null) return "";
  const text = fallback.trim() === "" ? null : writeString(fallback);
  return text === null ? `{{ ${expression} }}` : `{{ ${expression} | default: ${text} }}`;
}

const OUTPUT =
  /^\{\{-?\s{0,9}(?:data\[(?:"([^"]{1,255})"|'([^']{1,255})')\]|([\p{L}_][\p{L}\p{N}_. -]{0,254}))\s{0,9}(?:\|\s{0,9}default:\s{0,9}(?:"([^"]{0,255})"|'([^']{0,255})')\s{0,9})?-?\}\}$/u;

/** Reads what `writeVariable` wrote; null for any other expression, which stays as it is. */
export function readVariable(output: string): Variable | null {
  const match = OUTPUT.exec(output);
  if (match === null) return null;
  const [, double, single, plain, ...defaults] = match;
  const name = (double ?? single ?? plain ?? "").trim();
  if (name === "" || (plain !== undefined && writeName(name) !== name)) return null;
  return { name, fallback: defaults.find((each) => each !== undefined) ?? "" };
}

/** The text of a variable in the letter. */
export const describeVariable = ({ name, fallback }: Variable): string =>
  fallback.trim() === "" ? name : `${name} or “${fallback}”`;

export type VariableChoice = { name: string; hint: string };

/** The variables that the service gives each mail. */
const PROVIDED: readonly VariableChoice[] = [
  { name: "email", hint: "Address of the contact" },
  { name: "unsubscribeUrl", hint: "Address of the page to unsubscribe" },
  { name: "manageUrl", hint: "Address of the page for preferences" },
  { name: "subscribeUrl", hint: "Address of the page to subscribe" },
  { name: "project.name", hint: "Name of the project" },
  { name: "id", hint: "Id of the contact" },
];

const TYPE_NAMES: Readonly<Record<string, string>> = {
  string: "Text",
  number: "Number",
  boolean: "Yes or no",
  date: "Date",
  array: "List",
  object: "Group of values",
};

/** The variables whose name contains the text, those that begin with it first. */
export function findVariables(
  fields: readonly ContactField[],
  typed: string,
  most = 50,
): VariableChoice[] {
  const wanted = typed.trim().toLowerCase();
  const own = fields
    .filter(({ name }) => writeName(name) !== null)
    .map(({ name, type }) => ({ name, hint: TYPE_NAMES[type] ?? "Field" }));
  const names = new Set(own.map(({ name }) => name));
  const all = [...own, ...PROVIDED.filter(({ name }) => !names.has(name))];
  const found = all.filter(({ name }) => name.toLowerCase().includes(wanted));
  const rank = ({ name }: VariableChoice) => (name.toLowerCase().startsWith(wanted) ? 0 : 1);
  const sorted = found.toSorted((a, b) => rank(a) - rank(b)).slice(0, most);
  if (sorted.length > 0 || wanted === "" || writeName(typed) === null) return sorted;
  return [{ name: typed.trim(), hint: "Not known yet: a value of the request" }];
}
