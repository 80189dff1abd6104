/**
 * Resend replaces `{{{NAME|fallback}}}` in broadcasts and templates. Here they become placeholders of
 * ours, and everything else stays text (literal.ts). Answers show them as Resend does.
 */

import { isReserved } from "../contacts/data.ts";
import { literalTemplate } from "./literal.ts";

/** A placeholder with its name and its fallback. */
const PLACEHOLDER = /\{\{\{([^{}|]{1,100})(?:\|([^{}]{0,200}))?\}\}\}/g;

/** The names of Resend that are not names of the contact's data, and ours. */
const NAMES: readonly (readonly [resend: string, ours: string])[] = [
  ["RESEND_UNSUBSCRIBE_URL", "unsubscribeUrl"],
  ["contact.first_name", "firstName"],
  ["contact.last_name", "lastName"],
  ["contact.email", "email"],
];
const OLDER_NAMES: readonly (readonly [resend: string, ours: string])[] = [
  ["FIRST_NAME", "firstName"],
  ["LAST_NAME", "lastName"],
  ["EMAIL", "email"],
];
const OURS = new Map([...NAMES, ...OLDER_NAMES]);
const RESENDS = new Map(NAMES.map(([resend, ours]) => [ours, resend]));

/** The template in which the placeholders of Resend are ours and the rest is text. */
export function placeholderTemplate(text: string): string {
  let template = "";
  let end = 0;
  for (const match of text.matchAll(PLACEHOLDER)) {
    const [whole, name = "", fallback] = match;
    template += literalTemplate(text.slice(end, match.index)) + placeholder(name.trim(), fallback);
    end = match.index + whole.length;
  }
  return template + literalTemplate(text.slice(end));
}

function placeholder(given: string, fallback: string | undefined): string {
  const name = OURS.get(given) ?? given.replace(/^contact\./, "");
  if (fallback === undefined) return `{{ ${name} }}`;
  return `{{ ${name} ?? "${fallback.replaceAll(/["\\]/g, String.raw`\$&`)}" }}`;
}

/** True if the service sets the placeholder, so that a request cannot. */
export const isSetByService = (name: string): boolean => isReserved(name) || OURS.has(name);

/** The placeholders of a text in the form of Resend, each name once. */
export function placeholdersIn(text: string): { key: string; fallback: string | null }[] {
  const found = new Map<string, string | null>();
  for (const [, name = "", fallback = null] of text.matchAll(PLACEHOLDER)) {
    const key = name.trim();
    if (!found.has(key)) found.set(key, fallback);
  }
  return [...found].map(([key, fallback]) => ({ key, fallback }));
}

/** The text in which the placeholders without a fallback have those of `fallbacks`, without braces. */
export const withFallbacks = (text: string, fallbacks: ReadonlyMap<string, string>): string =>
  text.replace(PLACEHOLDER, (whole: string, name: string, given: string | undefined) => {
    const fallback = given ?? fallbacks.get(name.trim());
    return fallback === undefined ? whole : `{{{${name.trim()}|${fallback}}}}`;
  });

const RAW = "{% raw %}";
const END_RAW = "{% endraw %}";

/** The text in the form of Resend. A text that was written in our editors stays as it is. */
export function textOfTemplate(template: string): string {
  const [first = "", ...parts] = template.split(RAW);
  const rest = parts.map((part) => {
    const end = part.indexOf(END_RAW);
    if (end === -1) return RAW + part;
    return part.slice(0, end) + withPlaceholders(part.slice(end + END_RAW.length));
  });
  return withPlaceholders(first) + rest.join("");
}

const OUR_PLACEHOLDER = /\{\{ ([^{}|?"]{1,100})(?: \?\? "((?:[^"\\{}]|\\[^{}]){0,200})")? \}\}/g;

const withPlaceholders = (text: string): string =>
  text.replace(OUR_PLACEHOLDER, (_, name: string, fallback: string | undefined) => {
    const shown = RESENDS.get(name) ?? name;
    return fallback === undefined
      ? `{{{${shown}}}}`
      : `{{{${shown}|${fallback.replaceAll(/\\(.)/gs, "$1")}}}}`;
  });
