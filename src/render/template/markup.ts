/**
 * Escaping in HTML templates. Every output is escaped unless it is `Markup`, the result of the
 * filters `escape` and `raw` and of the tag `capture`. Filters that cannot break HTML return Markup
 * for Markup, so that each output is escaped exactly once.
 */

import { Drop, type Liquid } from "liquidjs";
import { type FilterHandler, type FilterThis, limitHandler, toText } from "./limits.ts";

/** HTML that is not escaped again, and the text that it had before a filter escaped it. */
export class Markup extends Drop {
  readonly #html: string;
  readonly #unescaped: string;

  constructor(html: string, unescaped: string = html) {
    super();
    this.#html = html;
    this.#unescaped = unescaped;
  }

  override valueOf(): string {
    return this.#html;
  }

  /** The result of the filter `raw`. */
  raw(): Markup {
    return new Markup(this.#unescaped);
  }

  override liquidMethodMissing(key: string | number): number | undefined {
    return key === "size" ? this.#html.length : undefined;
  }
}

/** Escapes a value, unless it is Markup already. */
export function toMarkup(value: unknown): Markup {
  return value instanceof Markup ? value : new Markup(Bun.escapeHTML(toText(value)));
}

/** Filters whose result is safe HTML if their input was, because they add no characters. */
const MARKUP_PRESERVING = [
  "strip",
  "lstrip",
  "rstrip",
  "squish",
  "strip_newlines",
  "upcase",
  "downcase",
  "capitalize",
];

export function registerMarkupFilters(engine: Liquid): void {
  const register = (name: string, handler: FilterHandler) =>
    engine.registerFilter(name, { raw: true, handler: limitHandler(handler) });
  register("raw", (value: unknown) =>
    value instanceof Markup ? value.raw() : unescapedMarkup(value),
  );
  register("escape", (value: unknown) => toMarkup(value));
  register("xml_escape", (value: unknown) => toMarkup(value));
  register("escape_once", (value: unknown) => escapeOnce(value));
  register("newline_to_br", (value: unknown) => newlinesToBreaks(value));
  for (const name of MARKUP_PRESERVING) wrapFilter(engine, name, preserveMarkup);
  for (const name of ["append", "prepend"]) wrapFilter(engine, name, joinMarkup);
  wrapFilter(engine, "default", defaultMarkup);
  wrapFilter(engine, "size", (value) => value.valueOf().length);
}

/** Markup of a value that is not escaped. */
function unescapedMarkup(value: unknown): Markup {
  return new Markup(toText(value));
}

/** Escapes a value, except the character references that `escape` writes. */
function escapeOnce(value: unknown): Markup {
  const html = Bun.escapeHTML(toText(value));
  return new Markup(html.replace(/&amp;(?=(?:amp|lt|gt|quot|#39|#34|#x27);)/g, "&"));
}

function newlinesToBreaks(value: unknown): Markup {
  const [html, text] = [toMarkup(value).valueOf(), toText(value)].map((lines) =>
    lines.replace(/\r?\n/g, "<br />\n"),
  );
  return new Markup(html ?? "", text);
}

/** Calls the wrapped filter with its input value and its arguments. */
type Call = (value: unknown, args: unknown[]) => unknown;

/** Replaces a filter: `wrap` handles Markup, the original filter handles all other values. */
function wrapFilter(
  engine: Liquid,
  name: string,
  wrap: (value: Markup, args: unknown[], call: Call) => unknown,
): void {
  const filter = engine.filters[name];
  if (typeof filter !== "function") throw new Error(`Liquid has no plain filter "${name}".`);
  engine.registerFilter(name, function (this: FilterThis, value: unknown, ...args: unknown[]) {
    const call: Call = (value, args) => filter.apply(this, [value, ...args]);
    return value instanceof Markup ? wrap(value, args, call) : call(value, args);
  });
}

function preserveMarkup(value: Markup, args: unknown[], call: Call): Markup {
  return unescapedMarkup(call(value, args));
}

/** Escapes the text that is appended to, or put before, the HTML. */
function joinMarkup(value: Markup, args: unknown[], call: Call): Markup {
  return unescapedMarkup(call(value, args.map(toMarkup)));
}

function defaultMarkup(value: Markup, args: unknown[], call: Call): unknown {
  return value.valueOf() === "" ? call(value, args) : value;
}
