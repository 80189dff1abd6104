/**
 * Escaping in HTML templates: every output is escaped unless it is `Markup`, which the filters
 * `escape` and `raw` and the tag `capture` make. Markup passes the filters that cannot break it, so
 * that each output is escaped exactly once.
 */

import { Drop, type Liquid } from "liquidjs";
import { type FilterHandler, type FilterThis, guarded, toText } from "./limits.ts";

/** HTML that is not escaped again, and its text before a filter such as `newline_to_br` escaped it. */
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

export function toMarkup(value: unknown): Markup {
  return value instanceof Markup ? value : new Markup(Bun.escapeHTML(toText(value)));
}

/** Filters whose result is HTML if their input was: they add no character to it. */
const KEEPING = [
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
    engine.registerFilter(name, { raw: true, handler: guarded(handler) });
  register("raw", (value: unknown) => (value instanceof Markup ? value.raw() : asIs(value)));
  register("escape", (value: unknown) => toMarkup(value));
  register("xml_escape", (value: unknown) => toMarkup(value));
  register("escape_once", (value: unknown) => escapeOnce(value));
  register("newline_to_br", (value: unknown) => breakLines(value));
  for (const name of KEEPING) wrapFilter(engine, name, keepMarkup);
  for (const name of ["append", "prepend"]) wrapFilter(engine, name, joinMarkup);
  wrapFilter(engine, "default", defaultMarkup);
  wrapFilter(engine, "size", (value) => value.valueOf().length);
}

function asIs(value: unknown): Markup {
  return new Markup(toText(value));
}

/** Does not escape the references that `escape` makes. */
function escapeOnce(value: unknown): Markup {
  const html = Bun.escapeHTML(toText(value));
  return new Markup(html.replace(/&amp;(?=(?:amp|lt|gt|quot|#39|#34|#x27);)/g, "&"));
}

function breakLines(value: unknown): Markup {
  const [html, text] = [toMarkup(value).valueOf(), toText(value)].map((lines) =>
    lines.replace(/\r?\n/g, "<br />\n"),
  );
  return new Markup(html ?? "", text);
}

/** Calls the filter that is wrapped, with its first value and its arguments. */
type Call = (value: unknown, args: unknown[]) => unknown;

/** Gives Markup to `wrap`, and all other values to the filter itself. */
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

function keepMarkup(value: Markup, args: unknown[], call: Call): Markup {
  return asIs(call(value, args));
}

/** Escapes the text that becomes part of the HTML. */
function joinMarkup(value: Markup, args: unknown[], call: Call): Markup {
  return asIs(call(value, args.map(toMarkup)));
}

function defaultMarkup(value: Markup, args: unknown[], call: Call): unknown {
  return value.valueOf() === "" ? call(value, args) : value;
}
