/**
 * Finds text in placeholders and tags that neither Liquid nor the name of a field explains, such as
 * `+ 1` in `{{ name + 1 }}`. Liquid ignores it in tags, and in a placeholder it would be the name of a
 * field that does not exist, so that the mail has a gap.
 *
 * A placeholder is accepted if Liquid reads the whole of it, or if it looks like the name of a column:
 * words with the signs that people write in names. Any other text is refused, because a field with
 * such a name can be written without doubt: `{{ data["name + 1"] }}`.
 */

import { type Token, Tokenizer, TypeGuards } from "liquidjs";
import { readWhole } from "./placeholder-value.ts";

/** `rest` is the text that is not read, `instead` says how Liquid writes what may be meant. */
type Unread = { rest: string; instead: string };

/** Longer text is no name of a field: Liquid reads it, and refuses what it cannot read. */
const MAX_NAME_LENGTH = 255;
const MAX_SHOWN = 60;

const NAME_CHARACTERS = /^[\p{L}\p{M}\p{N}\p{Sc}\p{So}\p{Cf}\s_\-–—.,:;/&()[\]'’"#@%+*!?°§…]+$/u;

/** Signs of an expression in text that has only characters of names. */
const EXPRESSION_SIGNS: readonly RegExp[] = [
  // A quote that is neither an apostrophe nor the sign of inches.
  /(?<![\p{L}\p{N}])'(?!\d)|(?<!\d)"/u,
  // Member access and ranges of other languages, and the end of a statement.
  /::|\?\.|\.\.|;$/,
  /^[.!?:;,)\]*/+&[]/,
  // The call of a function or method: `Amount(EUR)` is a name.
  /(?:^|[\s.:,(])[\p{Ll}_][\p{L}\p{N}_]*\(|\.[\p{L}_][\p{L}\p{N}_]*\(/u,
  // An index, which Liquid would have read if it were closed.
  /[\p{L}\p{N}_)\]]\[|\[\s*\]/u,
  // An operator between blanks, or between names in small letters.
  /\s[+*]\s|\s[-–/&:+]$|[\p{Ll}\p{N}_][+*][\p{Ll}\p{N}_]/u,
  /^[\p{Ll}_][\p{L}\p{N}_.]*\s?[-/%*]\s(?:[\p{Ll}_][\p{L}\p{N}_.]*|\d+(?:\.\d+)?)$/u,
  // A choice: `How are you ?` is a name.
  /\s\?\s|\?\s*:/,
  /\s(?:if|unless|instanceof|eq|neq|gt|lt|gte|lte|matches)\s/,
  /\sis\s(?:not\s)?(?:defined|null|none|empty|even|odd)$/,
  // A negation, a variable of a shell, a variable of a batch file.
  /![\p{L}\p{N}_(]/u,
  /\$[\p{L}_(]/u,
  /%[\p{L}_]/u,
];

/** The text of a value that is neither an expression of Liquid nor like a name; null if there is none. */
export function unreadValue(value: string): Unread | null {
  const text = value.trim();
  if (text === "" || text.length > MAX_NAME_LENGTH || /^[a-z_][\w.]*$/i.test(text)) return null;
  const tokens = readStrictly(text);
  if (tokens === null) return isName(text) ? null : unread(text);
  const isChoice = tokens.some(
    (token) => TypeGuards.isOperatorToken(token) && isOr(token.operator),
  );
  const hasLiteral = tokens.some(
    (token) => TypeGuards.isQuotedToken(token) || TypeGuards.isNumberToken(token),
  );
  const isOfNames = /^[\p{Ll}_][\p{L}\p{N}_.]* or [\p{Ll}_][\p{L}\p{N}_.]*$/u.test(text);
  const isComparison = tokens.some(
    (token) => TypeGuards.isOperatorToken(token) && /^(?:[=!<>]|contains)/.test(token.operator),
  );
  return isChoice && !isComparison && (hasLiteral || isOfNames) ? unread(text) : null;
}

/**
 * The tokens of text that Liquid reads as a whole and as it is meant. It takes `->` for the end of a name
 * and a comparison, `?` for the end of a name, and any text in brackets for an index.
 */
function readStrictly(text: string): Token[] | null {
  const plain = withoutStrings(text);
  const isForeign = /->|=>|\?\./.test(plain) || plain.split("[").slice(1).some(isForeignIndex);
  return isForeign ? null : readWhole(text);
}

/** Whether the text after an opening bracket is no index: nothing, or other signs than those of names. */
function isForeignIndex(text: string): boolean {
  const [inside = "", ...rest] = text.split("]");
  return (rest.length > 0 && inside.trim() === "") || /[^\p{L}\p{N}_.\-\s]/u.test(inside);
}

const isOr = (operator: string): boolean => operator === "or" || operator === "and";

function isName(text: string): boolean {
  if (!NAME_CHARACTERS.test(text) || !isBalanced(text)) return false;
  return !EXPRESSION_SIGNS.some((sign) => sign.test(text));
}

function isBalanced(text: string): boolean {
  let open = "";
  for (const char of text) {
    if (char === "(" || char === "[") open += char;
    else if (char === ")" || char === "]") {
      if (open.at(-1) !== (char === ")" ? "(" : "[")) return false;
      open = open.slice(0, -1);
    }
  }
  return open === "";
}

/** Filters without a name, or with a comma that nothing follows; null if there are none. */
export function unreadFilters(filters: string): Unread | null {
  if (filters === "") return null;
  const [, ...parts] = withoutStrings(filters).split("|");
  const faulty = parts.find((part) => /^\s*$|,\s*(?:,|$)/.test(part) || !isBalanced(part));
  if (faulty === undefined) return null;
  const rest = `|${faulty}`.trimEnd();
  const isOr = parts.length > 1 && parts[0] === "";
  return { rest, instead: isOr ? "write {{ name ?? text }}" : "write {{ name | filter: value }}" };
}

const PATH = /^[\p{L}_][\p{L}\p{N}_.]*/u;

/** Forms of Liquid by the beginning of what follows the name. */
const FORMS: readonly [beginning: RegExp, form: (name: string, operand: string) => string][] = [
  [/^(?:->|=>|::|\?\.)/, (name, operand) => `{{ ${name}.${PATH.exec(operand)?.[0] ?? "field"} }}`],
  [/^(?:or\b|\?\?|\?:)/, (name, operand) => `{{ ${name} ?? ${unquoted(operand) || "text"} }}`],
  [/^(?:~|\.)/, (name, operand) => `{{ ${name} | append: ${operand || "text"} }}`],
  [/^\+\s*["']/, (name, operand) => `{{ ${name} | append: ${operand} }}`],
  [/^\+/, (name, operand) => `{{ ${name} | plus: ${operand || 1} }}`],
  [/^-/, (name, operand) => `{{ ${name} | minus: ${operand || 1} }}`],
  [/^\*/, (name, operand) => `{{ ${name} | times: ${operand || 1} }}`],
  [/^\//, (name, operand) => `{{ ${name} | divided_by: ${operand || 1} }}`],
  [/^%/, (name, operand) => `{{ ${name} | modulo: ${operand || 1} }}`],
  [
    /^(?:\?|if\b|is\b|and\b|eq\b|gt\b|lt\b|matches\b)/,
    () => "{% if … %} … {% else %} … {% endif %}",
  ],
  [/^=/, (name, operand) => `{% assign ${name} = ${operand || "value"} %}`],
  [/^\(/, () => "{{ name | upcase }}: there are filters and no functions"],
  [/^\[/, (name) => `{{ ${name}[0] }}`],
  [/^[;!]/, (name) => `{{ ${name} }}`],
];

function unread(text: string): Unread {
  const name = PATH.exec(text)?.[0] ?? "";
  const rest = text.slice(name.length).trim();
  const found = FORMS.find(([beginning]) => beginning.test(rest));
  const operand = rest.replace(/^(?:->|=>|::|\?\.|\?\?|\?:|or\b|[+~./*%=-])\s*/, "");
  const form = name === "" || found === undefined ? "{{ name | filter }}" : found[1](name, operand);
  const quote = text.includes('"') ? "'" : '"';
  const field = text.includes(quote)
    ? ""
    : `, or {{ data[${quote}${text}${quote}] }} for a field of this name`;
  return { rest: rest === "" ? text : rest, instead: `write ${form}${field}` };
}

const unquoted = (text: string): string => text.replace(/^["'](.*)["']$/s, "$1");

const withoutStrings = (text: string): string => text.replace(/"[^"]*"|'[^']*'/g, "_");

/** The text before the first `|` that is not in a string. */
function valueBefore(text: string): string {
  const tokens = /"[^"]*"|'[^']*'|\|/g;
  for (const match of text.matchAll(tokens))
    if (match[0] === "|") return text.slice(0, match.index);
  return text;
}

const CONDITION = "write {% if a == b and c %}: conditions are joined by and or or";

/** Returns the text after the part of a tag that Liquid reads; null if it reads all. */
export function unreadTag(name: string, args: string): Unread | null {
  const text = args.trim();
  if (text === "" || text.length > MAX_TAG_LENGTH) return null;
  switch (name) {
    case "if":
    case "elsif":
    case "unless":
      return unreadExpression(text, CONDITION);
    case "case":
    case "echo":
      return unreadExpression(text, `write {% ${name} value %}`);
    case "assign":
      return unreadExpression(text.slice(text.indexOf("=") + 1), "write {% assign name = value %}");
    case "when":
      return unreadList(text.replace(/\sor\s/g, ","), "write {% when 'a', 'b' %}");
    case "cycle":
      return unreadList(withoutStrings(text).replace(/^[^,]*:/, ""), "write {% cycle 'a', 'b' %}");
    case "capture":
    case "increment":
    case "decrement":
      return unreadList(text, `write {% ${name} variable %}`);
    case "for":
    case "tablerow":
      return unreadLoop(text, name);
    case "else":
      return { rest: `else ${text}`, instead: "write {% elsif condition %}" };
    default:
      return null;
  }
}

/** Tags of other languages, with their form in Liquid. */
const FOREIGN_TAGS: Readonly<Record<string, string>> = {
  set: "write {% assign name = value %}",
  let: "write {% assign name = value %}",
  elif: "write {% elsif condition %}",
  elseif: "write {% elsif condition %}",
  foreach: "write {% for item in items %}",
  endforeach: "write {% endfor %}",
  end: "write {% endif %} or {% endfor %}",
  with: "write {% assign name = value %}",
};

/** The message for a tag of another language; null for another tag. */
export function foreignTag(name: string): string | null {
  const instead = Object.hasOwn(FOREIGN_TAGS, name) ? FOREIGN_TAGS[name] : undefined;
  return instead === undefined ? null : `{% ${name} %} is not Liquid; ${instead}`;
}

/** Liquid itself refuses a longer text with a tail. */
const MAX_TAG_LENGTH = 2_000;

function unreadExpression(text: string, instead: string): Unread | null {
  const value = valueBefore(text).trim();
  if (value === "" || readStrictly(value) !== null) return null;
  const tokenizer = new Tokenizer(value);
  tokenizer.readValue();
  tokenizer.skipBlank();
  return { rest: value.slice(tokenizer.p) || value, instead };
}

/** Values that commas separate. */
function unreadList(text: string, instead: string): Unread | null {
  for (const part of withoutStrings(text).split(",")) {
    const [, ...rest] = part.trim().split(/\s+/);
    if (rest.length > 0 && !part.includes("(")) return { rest: rest.join(" "), instead };
  }
  return null;
}

/** Finds text after `item in items` that is no modifier of the loop. */
function unreadLoop(text: string, name: string): Unread | null {
  const plain = withoutStrings(text).replace(/\(([^()]*)\)/, (range) => range.replace(/\s/g, ""));
  const words = plain
    .replaceAll(",", " ")
    .replace(/\s?:\s?/g, ":")
    .split(/\s+/)
    .slice(3);
  const at = words.findIndex((word) => !/^(?:reversed|(?:limit|offset|cols):\S+)$/.test(word));
  const instead = `write {% ${name} item in items limit: 5 %}; a filter needs {% assign %} before`;
  return at === -1 ? null : { rest: words.slice(at).join(" "), instead };
}

/** The message of text that is not read. */
export function unreadMessage({ rest, instead }: Unread): string {
  const shown = rest.length > MAX_SHOWN ? `${rest.slice(0, MAX_SHOWN)}…` : rest;
  return `${shown} is not Liquid; ${instead}`;
}
