/**
 * Finds the syntax of other template languages, which would be sent as wrong or empty text, because a
 * placeholder may have any name. The check is for sources that a caller writes; a stored source is
 * rendered as it is.
 */

import { TypeGuards, type Token } from "liquidjs";
import { placeholderParts, placeholderText } from "./placeholder.ts";
import { foreignTag, unreadFilters, unreadMessage, unreadTag, unreadValue } from "./unread-text.ts";

/** `offset` is the position of the construct in the source. */
export type ForeignSyntax = { offset: number; message: string };

/** Longest part of a placeholder that is read. */
const LONGEST = 300;
const MAX_SHOWN = 60;

/** The name of the language, and the form in Liquid, or what to do. */
type Finding = { language: string; instead: string };
type Rule = {
  pattern: RegExp;
  language: string;
  instead: (name: string, match: RegExpExecArray) => string;
};

const MUSTACHE = "Mustache or Handlebars";
const GO = "Go";
const SCRIPT = "JavaScript";
const IN_BLOCKS = "{% if … %} … {% else %} … {% endif %}";

export const liquid = (name: string): string => `write {{ ${name.slice(0, 2 * MAX_SHOWN)} }}`;

/** Rules for the text of a placeholder, which is trimmed. `name` is the first group. */
const RULES: readonly Rule[] = [
  { pattern: /^\{\s*([^{}]*)/, language: MUSTACHE, instead: (name) => liquid(rawOf(name)) },
  { pattern: /^&\s*([\w.]+)$/, language: MUSTACHE, instead: (name) => liquid(rawOf(name)) },
  {
    pattern: /^[#^]\s*(if|unless)\s+(.*)/s,
    language: MUSTACHE,
    instead: (tag, [, , condition = ""]) =>
      `write {% ${tag} ${variable(condition)} %} … {% end${tag} %}`,
  },
  {
    pattern: /^#\s*each\s+([\w.@]{1,100})/,
    language: MUSTACHE,
    instead: (list) => `write {% for item in ${variable(list)} %} … {% endfor %}`,
  },
  {
    pattern: /^#\s*([A-Za-z_][\w.]{0,99})/,
    language: MUSTACHE,
    instead: (name) =>
      `write {% if ${variable(name)} %} … {% endif %}, or {% for item in ${variable(name)} %} … {% endfor %}`,
  },
  {
    pattern: /^\^\s*([A-Za-z_][\w.]{0,99})/,
    language: MUSTACHE,
    instead: (name) => `write {% unless ${variable(name)} %} … {% endunless %}`,
  },
  {
    pattern: /^\/\s*([A-Za-z_][\w.]{0,99})$/,
    language: MUSTACHE,
    instead: (tag) => `write {% ${ENDS[tag] ?? "endif"} %}`,
  },
  {
    pattern: /^(?:else|else\s*if\s.*|elseif\s.*|elif\s.*)$/s,
    language: MUSTACHE,
    instead: () => `write ${IN_BLOCKS}`,
  },
  {
    pattern: /^(end(?:if|for|unless|each|foreach))$/,
    language: "another language",
    instead: (tag) => `write {% ${tag === "endif" || tag === "endunless" ? tag : "endfor"} %}`,
  },
  {
    pattern: /^>/,
    language: MUSTACHE,
    instead: () => "put the text of the partial in its place: a template loads no others",
  },
  {
    pattern: /^!/,
    language: MUSTACHE,
    instead: () => "write {% comment %} … {% endcomment %}",
  },
  { pattern: /^=.*=$/s, language: MUSTACHE, instead: () => "leave it out" },
  { pattern: /^\.\.\/(\S*)/, language: MUSTACHE, instead: (name) => liquid(variable(name)) },
  {
    pattern: /^this(?:[./](\S*))?$/,
    language: MUSTACHE,
    instead: (name) => liquid(name === "" ? "item" : `item.${name}`),
  },
  {
    pattern: /^@(index|first|last|key)$/,
    language: MUSTACHE,
    instead: (name) => liquid(`forloop.${name === "key" ? "index0" : name}`),
  },
  { pattern: /^@(?:root\.)?(\w\S*)$/, language: MUSTACHE, instead: (name) => liquid(name) },
  {
    pattern: /^if\s+(.+)/s,
    language: GO,
    instead: (condition) => `write {% if ${variable(condition)} %} … {% endif %}`,
  },
  {
    pattern: /^(?:range|with)\s+(?:\$\w[^.$]*)?([.$]\S*)/,
    language: GO,
    instead: (list) => `write {% for item in ${variable(list)} %} … {% endfor %}`,
  },
  { pattern: /^\$\w+\s*:?=/, language: GO, instead: () => "write {% assign name = value %}" },
  {
    pattern: /^TrackLink\b/,
    language: GO,
    instead: () => "write only the address: links are tracked if the project says so",
  },
  {
    pattern: /^(?:UnsubscribeURL|OptinURL|ManageURL)\b/,
    language: "listmonk",
    instead: () => liquid("unsubscribeUrl"),
  },
  { pattern: /^(?:TrackView|MessageURL)\b/, language: "listmonk", instead: () => "leave it out" },
  {
    pattern: /^\.\s*(?:Subscriber|Contact)(?:\.Attribs)?\.(\w+)/,
    language: GO,
    instead: (name) => liquid(name === "Email" ? "email" : name.toLowerCase()),
  },
  { pattern: /^\.$/, language: GO, instead: () => liquid("item") },
  { pattern: /^\$?\.([A-Za-z_][\w.]*)/, language: GO, instead: (name) => liquid(name) },
  { pattern: /^\$([A-Za-z_][\w.]*)/, language: GO, instead: (name) => liquid(name) },
  {
    pattern: /^for\s+\S+\s+in\s+(\S+)/,
    language: "Jinja",
    instead: (list) => `write {% for item in ${variable(list)} %} … {% endfor %}`,
  },
  {
    pattern: /^(?:(?!\sif\s).)*\sif\s.+?\selse\s/s,
    language: "Jinja",
    instead: () => `write ${IN_BLOCKS}`,
  },
  {
    pattern: /^[^"']*[^?\s]\s*\?(?![?.])[^?]*\s:\s/s,
    language: SCRIPT,
    instead: () => `write ${IN_BLOCKS}`,
  },
  { pattern: /^([\w.]+)\s*\|\|/, language: SCRIPT, instead: (name) => liquid(`${name} ?? text`) },
  { pattern: /&&|===|!==/, language: SCRIPT, instead: () => `write ${IN_BLOCKS}` },
  {
    pattern: /^[\w.$]+\((?:["'].*|[.$].*)?\)/s,
    language: SCRIPT,
    instead: () => "use a filter, such as {{ name | upcase }}",
  },
  {
    pattern: /^[\w.]+\s*\+\s*["']|["']\s*\+\s*[\w.]+$/,
    language: SCRIPT,
    instead: () => "write each part in its own {{ }}",
  },
];

const ENDS: Readonly<Record<string, string>> = {
  if: "endif",
  unless: "endunless",
  each: "endfor",
};

/** Operators of Liquid between a word and a string. */
const OPERATOR = /\s(?:contains|and|or|not)\s/;
/** A function with arguments, the last one of which may be a string. */
const CALL = /^[A-Za-z_][\w.]*(?:\s+[\w.$]+)*\s+["'`](?!\d)/;

/** The first construct in the tokens of a source that is not Liquid; null if there is none. */
export function foreignPlaceholder(tokens: readonly Token[]): ForeignSyntax | null {
  let isComment = false;
  for (const token of tokens) {
    const isTag = TypeGuards.isTagToken(token);
    if (isTag && /^(?:end)?comment$/.test(token.name)) isComment = token.name === "comment";
    if (isComment || !isTag) continue;
    const message = placeholderMessage(token) ?? tagMessage(token);
    if (message !== null) return { offset: token.begin, message };
  }
  return null;
}

function placeholderMessage(token: Token): string | null {
  const parts = placeholderParts(token);
  if (parts === null) return null;
  const text = placeholderText(token) ?? "";
  const found = findForeign(text.trim().slice(0, LONGEST));
  // The third brace at the end is text after the placeholder.
  const end = token.input.startsWith("{{{", token.begin) ? token.end + 1 : token.end;
  if (found !== null) return foreignMessageText(token.input.slice(token.begin, end), found);
  for (const { value, filters } of parts) {
    const unread = unreadValue(value) ?? unreadFilters(filters);
    if (unread !== null) return unreadMessage(unread);
  }
  return null;
}

function tagMessage(token: Token): string | null {
  if (!TypeGuards.isTagToken(token) || placeholderText(token) !== null) return null;
  const unread = unreadTag(token.name, token.args);
  return unread === null ? foreignTag(token.name) : unreadMessage(unread);
}

function findForeign(text: string): Finding | null {
  for (const { pattern, language, instead } of RULES) {
    const match = pattern.exec(text);
    if (match !== null) return { language, instead: instead((match[1] ?? "").trim(), match) };
  }
  if (!CALL.test(text) || OPERATOR.test(text)) return null;
  return { language: "another language", instead: "a template has filters and no functions" };
}

export function foreignMessageText(construct: string, { language, instead }: Finding): string {
  const shown = construct.length > MAX_SHOWN ? `${construct.slice(0, MAX_SHOWN)}…` : construct;
  return `${shown.toWellFormed()} is the syntax of ${language}; ${instead}`;
}

/** The name of a variable as Liquid writes it. */
function variable(text: string): string {
  const name = text
    .trim()
    .slice(0, MAX_SHOWN)
    .replace(/^(?:this\.|\.\.\/|\$?\.|\$)/, "");
  return name === "" ? "item" : name;
}

const rawOf = (name: string): string => `${variable(name)} | raw`;
