/**
 * Finds templates that are certainly cheap to render: no loops, no tags that collect text, few
 * outputs, and only filters whose work grows with the length of their input alone. It reads the
 * source without compiling it, in linear time. A template that it does not find may be cheap as well.
 */

import { scanPlaceholder } from "./placeholder-scan.ts";

/** Longest source in UTF-16 units, and most of its HTML tags: all of it is converted to text. */
const MAX_LENGTH = 64 * 1024;
const MAX_ELEMENTS = 2_000;
/** Most outputs and tags, filters, and UTF-16 units inside outputs and tags. */
const MAX_TAGS = 200;
const MAX_FILTERS = 50;
const MAX_CODE = 8 * 1024;

const TAGS: ReadonlySet<string> = new Set(
  "if elsif else endif unless endunless case when endcase comment endcomment raw endraw".split(" "),
);
const FILTERS: ReadonlySet<string> = new Set(
  (
    "abs capitalize ceil date default divided_by downcase escape floor lstrip minus modulo plus " +
    "raw round rstrip size strip times truncate upcase url_encode"
  ).split(" "),
);

/** The number of outputs and tags of a template that is cheap to render; null if it may not be. */
export function cheapTags(source: string): number | null {
  if (source.length > MAX_LENGTH || count(source, "<", MAX_ELEMENTS) > MAX_ELEMENTS) return null;
  const contents = [
    ...contentsOf(source, "{{", endOfOutput),
    ...contentsOf(source, "{%", endOfTag),
  ];
  const isCheap =
    contents.length <= MAX_TAGS &&
    contents.every((content) => content !== null && hasCheapContent(content)) &&
    contents.join("").length <= MAX_CODE &&
    contents.join("").split("|").length <= MAX_FILTERS;
  return isCheap ? contents.length : null;
}

/** The text between the delimiters, up to one more than `MAX_TAGS`; null for an open end. */
function* contentsOf(
  source: string,
  open: string,
  endOf: (source: string, from: number) => number,
): Generator<string | null> {
  let found = 0;
  for (let at = source.indexOf(open); at !== -1 && found <= MAX_TAGS; found++) {
    const end = endOf(source, at + 2);
    yield end === -1 ? null : open + source.slice(at + 2, end);
    if (end === -1) return;
    at = source.indexOf(open, end + 2);
  }
}

/** Offset of the end of an output; -1 also if it has an entity, which may stand for any operator. */
function endOfOutput(source: string, from: number): number {
  const scan = scanPlaceholder(source, from);
  return scan === null || scan.hasAmpersand ? -1 : scan.close;
}

/** Offset of the end of a tag; -1 also if a quote is open there. */
function endOfTag(source: string, from: number): number {
  const end = source.indexOf("%}", from);
  const content = source.slice(from, Math.max(from, end));
  const isQuoteOpen = ['"', "'"].some((quote) => content.split(quote).length % 2 === 0);
  return isQuoteOpen ? -1 : end;
}

/** `content` begins with the opening delimiter. A range is not cheap: it makes an array. */
function hasCheapContent(content: string): boolean {
  const inside = content.slice(2);
  if (inside.includes("..") || inside.includes("{{") || inside.includes("{%")) return false;
  if (content.startsWith("{%")) return TAGS.has(nameIn(inside.replace(/^-/, "")));
  return inside
    .split("|")
    .slice(1)
    .every((filter) => FILTERS.has(nameIn(filter)));
}

function nameIn(text: string): string {
  return /^\s*(\w*)/.exec(text)?.[1] ?? "";
}

/** The number of occurrences of a character, counted up to one more than `limit`. */
function count(text: string, character: string, limit: number): number {
  let found = 0;
  for (let at = text.indexOf(character); at !== -1 && found <= limit; found++) {
    at = text.indexOf(character, at + 1);
  }
  return found;
}
