/**
 * Placeholders of other products that have no double braces, and would be sent as they are:
 * `*|FNAME|*`, `%%FIRSTNAME%%`, `<%= name %>`. Each is known by its delimiters. Delimiters that
 * ordinary text has as well, such as brackets, count only around the name of a field of a person.
 */

import { type ForeignSyntax, liquid, foreignMessageText } from "./foreign-syntax.ts";

/** `hint` is a text that each match contains. `name` is the first group of the pattern. */
type Literal = { hint: string; pattern: RegExp; language: string; instead?: string };

/** Names that newsletters address their readers by, in the spellings of many products. */
const OWNER = "(?:(?:subscriber|contact|recipient|user|customer|member|lead|person)s?[._:| -])?";
const NAME = "(?:(?:f|l|first|last|full|given|family|middle|sur|user|nick)[ _-]?)?name(?:_?fix)?";
const LINK =
  "(?:un)?subscri(?:be|ption)[_-]?(?:url|link)|(?:webversion|preferences)[_-]?(?:url|link)?";
const TEXT = "[^\\]}\\n<>]{0,80}";
/** In brackets, "Email" is a usual label of a link, and in braces `name: 1` a member of an object. */
const IN_BRACKETS = `(${OWNER}(?:${NAME}|${LINK}|e?mail[_ -]?address)(?:\\s{0,3}[,|:=]${TEXT})?)`;
const ANY = `${OWNER}(?:${NAME}|${LINK}|e-?mail(?:[_ -]?address)?|company|city|country)`;
const IN_BRACES = `(${ANY}(?:\\s{0,3}(?:[|=]|, ?fallback)${TEXT})?)`;
const FIELD = `(${ANY})`;

const LITERALS: readonly Literal[] = [
  {
    hint: "|*",
    pattern: /\*\|([A-Za-z][^|*\n]{0,100})(?:\|[^|*\n]{0,100})?\|\*/,
    language: "Mailchimp",
  },
  {
    hint: "%>",
    pattern: /<%[=\-_#@!]?\s{0,9}@?([\w.]{0,100})[^%<>]{0,300}%>/,
    language: "ERB or EJS",
  },
  {
    hint: "<?",
    pattern: /<\?(?:php\b|=)\s{0,9}(?:echo\s{1,9})?\$?([\w.]{0,100})/i,
    language: "PHP",
  },
  { hint: "%recipient", pattern: /%recipient[._](\w{1,100})%/, language: "Mailgun" },
  {
    hint: "_url%",
    pattern: /%((?:mailing_list_|tag_)?unsubscribe_(?:url|email))%/,
    language: "Mailgun",
    instead: liquid("unsubscribeUrl"),
  },
  { hint: "%%", pattern: /%%([A-Za-z_][\w .-]{0,60})%%/, language: "Salesforce or Interspire" },
  { hint: "%%", pattern: /%%[=[]()[^%\n]{1,300}[=\]]%%/, language: "AMPscript" },
  {
    hint: "{#",
    pattern: /\{#()[^{}#]{0,300}#\}/,
    language: "Jinja or Twig",
    instead: "write {% comment %} … {% endcomment %}",
  },
  {
    hint: "[%",
    pattern: /\[%[-+]?\s{0,9}(?:member:)?([\w.]{1,100})[^%\]]{0,200}%\]/,
    language: "Template Toolkit",
  },
  {
    hint: "[[",
    pattern: /\[\[\s{0,9}[$~]?\{?(?:var:)?([A-Za-z_][\w. -]{0,60})[^[\]\n]{0,100}\]\]/,
    language: "Mailjet or Thymeleaf",
  },
  {
    hint: "{",
    pattern: /[$#]!?\{\s{0,9}([A-Za-z_][\w.]{0,100})[^{}\n;]{0,200}\}/,
    language: "JavaScript or FreeMarker",
  },
  { hint: "{$", pattern: /(?<!\{)\{\$([A-Za-z_][\w.]{0,100})[^{}\n]{0,100}\}/, language: "Smarty" },
  {
    hint: "{/",
    pattern: /\{\/(if|foreach|section)\}/,
    language: "Smarty",
    instead: "write {% endif %} or {% endfor %}",
  },
  {
    hint: "{!",
    pattern: /\{!!?\s{0,9}\$?([A-Za-z][\w.]{0,100})[^{}\n]{0,100}\}/,
    language: "Salesforce or Blade",
  },
  { hint: "$[", pattern: /\$\[([A-Za-z]\w{0,60})[^\]\n]{0,100}\]\$/, language: "Zoho" },
  {
    hint: "<#",
    pattern: /<#(if|list|assign|else|include|macro)\b/,
    language: "FreeMarker",
    instead: "write {% if … %} … {% endif %}",
  },
  {
    hint: "@",
    pattern: /(?<![\w@])@(if|foreach|unless|for)\s{0,3}\(/,
    language: "Blade",
    instead: "write {% if … %} … {% endif %}",
  },
  { hint: "@Model.", pattern: /@Model\.(\w{1,100})/, language: "Razor" },
  {
    hint: "]",
    pattern: new RegExp(
      `(?<![\\w$\\]\\[])\\[\\s{0,3}${IN_BRACKETS}\\s{0,3}\\](?![\\w({\\]=])`,
      "i",
    ),
    language: "another product",
  },
  {
    hint: "}",
    pattern: new RegExp(`(?<![\\w{$#%])\\{\\s{0,3}${IN_BRACES}\\s{0,3}\\}(?!\\})`, "i"),
    language: "another product",
  },
  {
    hint: "{contactfield",
    pattern: /\{contactfield=(\w{1,60})[^{}\n]{0,60}\}/,
    language: "Mautic",
  },
  {
    hint: "%",
    pattern: new RegExp(`(?<![\\w%])%${FIELD}%(?!\\w)`, "i"),
    language: "another product",
  },
  {
    hint: "-",
    pattern: new RegExp(`(?<![\\w-])-${FIELD}-(?![\\w-])`, "i"),
    language: "SendGrid",
  },
  {
    hint: "@",
    pattern: new RegExp(`(?<![\\w@.])@${FIELD}@(?![\\w@])`, "i"),
    language: "another product",
  },
  {
    hint: "$",
    pattern: new RegExp(`(?<![\\w$])\\$${FIELD}\\$(?![\\w$])`, "i"),
    language: "Responsys",
  },
  { hint: "~", pattern: new RegExp(`(?<![\\w~])~${FIELD}~(?![\\w~])`, "i"), language: "Keap" },
  {
    hint: "#",
    pattern: new RegExp(`(?<![\\w&])#{1,2}${FIELD}#{1,2}(?![\\w#])`, "i"),
    language: "another product",
  },
  {
    hint: "<<",
    pattern: new RegExp(`<<\\s{0,3}${FIELD}\\s{0,3}>>`, "i"),
    language: "another product",
  },
  {
    hint: "&lt;&lt;",
    pattern: new RegExp(`&lt;&lt;\\s{0,3}${FIELD}\\s{0,3}&gt;&gt;`, "i"),
    language: "another product",
  },
];

const AS_IT_IS = "put it between {% raw %} and {% endraw %}";

/** The first placeholder of another product in a source; null if there is none. */
export function foreignLiteral(source: string): ForeignSyntax | null {
  const text = withoutQuiet(source);
  for (const { hint, pattern, language, instead } of LITERALS) {
    const match = text.includes(hint) ? pattern.exec(text) : null;
    if (match === null) continue;
    const finding = { language, instead: instead ?? insteadOf(match[1] ?? "") };
    const message = foreignMessageText(match[0], finding);
    return { offset: match.index, message: `${message}; to send it as it is, ${AS_IT_IS}` };
  }
  return null;
}

function insteadOf(text: string): string {
  const name = text
    .replace(/[,|=].*$/s, "")
    .replace(":", " ")
    .trim()
    .toLowerCase();
  if (/^(?:un)?subscri\w*[_-]?(?:url|link)$/.test(name)) return liquid("unsubscribeUrl");
  return liquid(name === "" ? "name" : name);
}

/** The start and the end of a part whose text is no text of the mail, or not read as a template. */
const QUIET =
  /<(?<endsStyle>\/?)style\b|\{%-?\s{0,9}(?<endsTag>end)?(?<tag>raw|comment)\s{0,9}-?%\}/gi;

/** The source with blanks in place of such parts, in linear time. */
function withoutQuiet(source: string): string {
  let text = "";
  let kept = 0;
  let open: { tag: string; at: number } | null = null;
  for (const { index, groups = {} } of source.matchAll(QUIET)) {
    const tag = groups["tag"]?.toLowerCase() ?? "style";
    const isEnd = tag === "style" ? groups["endsStyle"] === "/" : groups["endsTag"] !== undefined;
    if (open === null) open = isEnd ? null : { tag, at: index };
    else if (isEnd && open.tag === tag) {
      text += source.slice(kept, open.at) + " ".repeat(index - open.at);
      kept = index;
      open = null;
    }
  }
  return text + source.slice(kept);
}

/**
 * Whether a text has a placeholder or tag, of Liquid or of another product, which a field that is not
 * rendered must not have.
 */
export function hasPlaceholder(text: string): boolean {
  return (
    isBetween(text, "{{", "}}") || isBetween(text, "{%", "%}") || foreignLiteral(text) !== null
  );
}

function isBetween(text: string, open: string, close: string): boolean {
  const at = text.indexOf(open);
  return at !== -1 && text.includes(close, at + 2);
}

/** The message for a field that is sent as it is, and has a placeholder. */
export const NOT_RENDERED =
  "must not contain {{ }}, {% %} or another placeholder: this field is sent as it is, only subject and " +
  "body are rendered";
