/**
 * Writes the templates of Brevo in Liquid, which is close to their language: attributes of the contact and
 * parameters of the mail are in objects there, and beside each other here. A construct that
 * has no equal here, and would be read as another one, is an error of the template.
 */

import { type Converted, isFilled } from "./convert-handlebars.ts";

const TAG = /\{\{[^{}]{0,500}\}\}|\{%[^{}%]{0,500}%\}/g;
/** Old placeholders, and what Brevo itself puts in. */
const OWN_NAMES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    unsubscribe: "unsubscribeUrl",
    update_profile: "manageUrl",
    "contact.EMAIL": "email",
  }),
);
const UNKNOWN = /\b(?:mirror|doubleoptin|feeds?\.\w+|time_now|update_preferences?)\b/;
/** Filters of Django that have another name here. Unknown ones are found by the check of the template. */
const FILTERS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    upper: "upcase",
    lower: "downcase",
    capfirst: "capitalize",
    length: "size",
    safe: "raw",
    striptags: "strip_html",
    urlencode: "url_encode",
  }),
);
/** Filters with a name of Liquid and another meaning. */
const OTHER_FILTERS = /\|\s*(?:date|slice|truncate\w*|time_parse|date_i18n)\b/;

export function convertBrevo(source: string): Converted {
  const text = source
    .replaceAll("[UNSUBSCRIBE]", "{{ unsubscribe }}")
    .replaceAll("[UPDATE_PROFILE]", "{{ update_profile }}")
    .replaceAll("[MIRROR]", "{{ mirror }}");
  for (const { 0: tag, index } of text.matchAll(TAG)) {
    const bare = tag.replaceAll(/"[^"]*"|'[^']*'/g, "''");
    const [found] = UNKNOWN.exec(bare) ?? OTHER_FILTERS.exec(bare) ?? [];
    if (found === undefined) continue;
    const line = text.slice(0, index).split("\n").length;
    return {
      liquid: null,
      fault: `line ${line}: ${found.replace(/^\|\s*/, "")} has no equal here`,
    };
  }
  return { liquid: text.replaceAll(TAG, convertTag), fault: null };
}

/** Texts in quotes stay as they are. */
function convertTag(tag: string): string {
  return tag
    .split(/("[^"]*"|'[^']*')/)
    .map((part, i) => (i % 2 === 1 ? part : convertCode(part)))
    .join("");
}

function convertCode(code: string): string {
  return code
    .replaceAll(
      /(?<![\w.])(?:contact\.EMAIL|unsubscribe|update_profile)\b/g,
      (name) => OWN_NAMES.get(name) ?? name,
    )
    .replaceAll(/\b(?:contact|params)\.(?=[A-Za-z_])/g, "")
    .replaceAll(/\bforloop\.Counter\b/gi, "forloop.index")
    .replaceAll(/\|\s*(\w+)/g, (_, name: string) => `| ${FILTERS.get(name) ?? name}`)
    .replace(/^\{%(-?)\s*elif\b/, "{%$1 elsif")
    .replace(/^\{%(-?)\s*empty\b/, "{%$1 else")
    .replace(
      /^(\{%-?\s*(?:if|elsif)\s+)([\w.]+)(\s*-?%\})$/,
      (_, start: string, name: string, end: string) => `${start}${isFilled(name)}${end}`,
    )
    .replace(
      /^(\{%-?\s*(?:if|elsif)\s+)not\s+([\w.]+)(\s*-?%\})$/,
      (_, start: string, name: string, end: string) => `${start}${isVoid(name)}${end}`,
    );
}

/** The condition that is true of the values for which `not` is true in Django. */
const isVoid = (name: string): string =>
  ["nil", "false", "empty", "0"].map((value) => `${name} == ${value}`).join(" or ");
