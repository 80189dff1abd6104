/**
 * Finds where the elements of an HTML document nest too deeply. The parser that converts HTML to
 * text searches all open elements at each end tag, so deep nesting would take it quadratic time.
 *
 * The scanner reads only the syntax that decides which elements are open: tags with quoted
 * attributes, comments, elements whose content is text, void elements, and end tags that may be
 * omitted.
 */

/** Elements that never have an end tag. */
const VOID = new Set(
  "area base basefont br col command embed frame hr img input isindex keygen link meta param source track wbr".split(
    " ",
  ),
);

/** Elements whose content is text: a `<` in it opens no tag. */
const TEXT_ONLY = new Set("script style title textarea xmp iframe noembed noframes".split(" "));

/** For each start tag: the elements whose end tag it implies while one of them is innermost. */
const ENDED_BY: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  [
    ["li", "li"],
    ["p", "p"],
    ["dt", "dt dd"],
    ["dd", "dt dd"],
    ["td", "td th thead"],
    ["th", "th"],
    ["tr", "tr td th"],
    ["tbody", "thead tbody tr td th"],
    ["tfoot", "thead tbody tr td th"],
    ["option", "option"],
    ["optgroup", "option optgroup"],
  ].map(([name = "", ended = ""]) => [name, new Set(ended.split(" "))]),
);

/**
 * The offset of the first tag after which more than `maxDepth` elements are open; -1 if there is
 * none.
 */
export function offsetOfDepth(html: string, maxDepth: number): number {
  const open = new OpenElements();
  for (let at = html.indexOf("<"); at !== -1; at = html.indexOf("<", at)) {
    const isEnd = html[at + 1] === "/";
    const name = nameAt(html, isEnd ? at + 2 : at + 1);
    if (name === "") {
      at = offsetAfterDeclaration(html, at);
      continue;
    }
    if (isEnd) open.end(name);
    else if (!VOID.has(name)) open.start(name);
    if (open.depth > maxDepth) return at;
    at = offsetAfterTag(html, at + 1);
    if (!isEnd && TEXT_ONLY.has(name)) at = offsetOfEndTag(html, at, name);
  }
  return -1;
}

class OpenElements {
  readonly #names: string[] = [];
  readonly #counts = new Map<string, number>();

  get depth(): number {
    return this.#names.length;
  }

  start(name: string): void {
    const ended = ENDED_BY.get(name);
    while (ended?.has(this.#names.at(-1) ?? "") === true) this.#pop();
    this.#names.push(name);
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
  }

  /**
   * Closes the innermost element with this name and all inside it; does nothing if none is open.
   */
  end(name: string): void {
    if ((this.#counts.get(name) ?? 0) === 0) return;
    while (this.#pop() !== name);
  }

  #pop(): string | undefined {
    const name = this.#names.pop();
    if (name !== undefined) this.#counts.set(name, (this.#counts.get(name) ?? 0) - 1);
    return name;
  }
}

const MAX_NAME_LENGTH = 100;

/** The name of the tag that begins at `start`, in lower case; empty if no name begins there. */
function nameAt(html: string, start: number): string {
  let end = start;
  while (end < start + MAX_NAME_LENGTH && isNameCharacter(html.charCodeAt(end), end > start)) end++;
  return html.slice(start, end).toLowerCase();
}

/** The first character must be a letter; the rest may be all but white space, `/` and `>`. */
function isNameCharacter(code: number, isRest: boolean): boolean {
  const isLetter = (code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a);
  return isLetter || (isRest && code > 0x20 && code !== 0x2f && code !== 0x3e);
}

/** The offset after the comment or declaration at `at`; after the `<` if neither begins there. */
function offsetAfterDeclaration(html: string, at: number): number {
  const next = html[at + 1];
  if (next !== "!" && next !== "?" && next !== "/") return at + 1;
  const isComment = html.startsWith("<!--", at);
  const end = html.indexOf(isComment ? "-->" : ">", at + 2);
  return end === -1 ? html.length : end + 1;
}

/**
 * The offset after the `>` that closes the tag. A `>` inside quotes is part of an attribute value.
 */
function offsetAfterTag(html: string, from: number): number {
  let quote = "";
  for (let at = from; at < html.length; at++) {
    const char = html.charAt(at);
    if (quote !== "") quote = char === quote ? "" : quote;
    else if (char === ">") return at + 1;
    else if ((char === '"' || char === "'") && html[at - 1] === "=") quote = char;
  }
  return html.length;
}

/**
 * The offset of the end tag of a text-only element; the length of the document if there is none.
 */
function offsetOfEndTag(html: string, from: number, name: string): number {
  const start = `</${name}`;
  for (let at = html.indexOf("</", from); at !== -1; at = html.indexOf("</", at + 2)) {
    if (html.slice(at, at + start.length).toLowerCase() === start) return at;
  }
  return html.length;
}
