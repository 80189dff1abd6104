/**
 * Liquid as templates may use it: two engines, for HTML and for text, without files, without
 * prototypes and with bounds on time, memory and output.
 *
 * In HTML every output is escaped unless it is `Markup`: what `escape`, `raw` and `capture` made.
 * Markup survives the filters that cannot break it, so nothing is ever escaped twice or not at all.
 */

import {
  CaptureTag,
  Context,
  Drop,
  type Emitter,
  type FilterImplOptions,
  filters as standardFilters,
  Liquid,
  RenderError,
  Tag,
  type Template,
  Tokenizer,
  TypeGuards,
  toValue,
  toValueSync,
  Value,
} from "liquidjs";

type FilterHandler = Extract<FilterImplOptions, (...args: never[]) => unknown>;
type FilterThis = ThisParameterType<FilterHandler>;

/** Longest result of a render, in UTF-16 units; of a `capture` too. */
export const LONGEST_OUTPUT = 5 * 1024 * 1024;

/** How long a render may take. */
export const RENDER_LIMIT_MS = 1_000;

/** Units of work by filters and ranges: about one per character or array element made. */
const MEMORY_LIMIT = 1_000_000;

/** Longest array that a filter takes: it cannot be interrupted, so its share must be small. */
const MOST_ITEMS = 100_000;

/** Why a render stopped, in words that may be shown to the template's author. */
export class LimitError extends Error {}

/** HTML that needs no more escaping, and what it was before a filter escaped it unasked. */
class Markup extends Drop {
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

  /** What `raw` asks for. */
  raw(): Markup {
    return new Markup(this.#unescaped);
  }

  override liquidMethodMissing(key: string | number): number | undefined {
    return key === "size" ? this.#html.length : undefined;
  }
}

/** Collects output as Liquid's own emitter does, but stops at a bound. */
class BoundedEmitter implements Emitter {
  buffer = "";

  write(value: unknown): void {
    this.buffer += typeof value === "string" ? value : toText(value);
    if (this.buffer.length > LONGEST_OUTPUT) {
      throw new LimitError("The result is longer than 5 MiB.");
    }
  }
}

/** The text of a value: as Liquid prints it, but objects as JSON and not as "[object Object]". */
function toText(value: unknown): string {
  const plain: unknown = toValue(value);
  if (typeof plain === "string") return plain;
  if (plain === null || plain === undefined) return "";
  if (Array.isArray(plain)) return plain.map(toText).join("");
  return JSON.stringify(plain) ?? "";
}

function toMarkup(value: unknown): Markup {
  return value instanceof Markup ? value : new Markup(Bun.escapeHTML(toText(value)));
}

/** Renders parsed nodes; throws what Liquid throws. Variables are read, never written. */
export function renderNodes(
  engine: Liquid,
  nodes: Template[],
  variables: Readonly<Record<string, unknown>>,
): string {
  const options = { sync: true, globals: variables };
  const context = new Context({}, engine.options, options, { liquid: engine });
  const emitter = new BoundedEmitter();
  toValueSync(engine.renderer.renderTemplates(nodes, context, emitter));
  return emitter.buffer;
}

/** Makes the engine for one kind of template. */
export function liquidEngine(kind: "html" | "text"): Liquid {
  const isHtml = kind === "html";
  const engine = new Liquid({
    strictFilters: true,
    ownPropertyOnly: true,
    // A map instead of the file system, should any tag ever look for a file.
    templates: {},
    // One time zone and one language, wherever the process runs.
    timezoneOffset: 0,
    locale: "en-US",
    renderLimit: RENDER_LIMIT_MS,
    memoryLimit: MEMORY_LIMIT,
    ...(isHtml ? { outputEscape: (value: unknown) => toValue(toMarkup(value)) } : {}),
  });
  for (const name of ["include", "render", "layout", "block"]) engine.registerTag(name, FileTag);
  engine.registerTag("capture", isHtml ? MarkupCaptureTag : BoundedCaptureTag);
  for (const [name, filter] of Object.entries(standardFilters)) {
    engine.registerFilter(name, bounded(filter));
  }
  if (isHtml) {
    engine.registerTag("echo", MarkupEchoTag);
    registerMarkupFilters(engine);
  }
  return engine;
}

/** Refuses tags that load other files, when the template is parsed. */
class FileTag extends Tag {
  constructor(...args: ConstructorParameters<typeof Tag>) {
    super(...args);
    throw new Error(`tag "${this.name}" is not available: a template cannot load other files`);
  }

  render(): void {}
}

class BoundedCaptureTag extends CaptureTag {
  override *render(context: Context): Generator<unknown, void, string> {
    const emitter = new BoundedEmitter();
    yield this.liquid.renderer.renderTemplates(this.templates, context, emitter);
    context.memoryLimit.use(emitter.buffer.length);
    this.keep(context, emitter.buffer);
  }

  protected keep(context: Context, text: string): void {
    Object.assign(context.bottom(), { [this.variable]: text });
  }
}

/** What was captured has been escaped already. */
class MarkupCaptureTag extends BoundedCaptureTag {
  protected override keep(context: Context, text: string): void {
    Object.assign(context.bottom(), { [this.variable]: new Markup(text) });
  }
}

/** `{% echo x %}` escapes as `{{ x }}` does; Liquid's own forgets what is Markup. */
class MarkupEchoTag extends Tag {
  readonly #value: Value;

  constructor(...[token, tokens, liquid]: ConstructorParameters<typeof Tag>) {
    super(token, tokens, liquid);
    this.#value = new Value(this.tokenizer.readFilteredValue(), liquid);
  }

  *render(context: Context, emitter: Emitter): Generator<unknown, void, unknown> {
    emitter.write(toMarkup(yield this.#value.value(context, false)));
  }
}

/** Filters with a check in front: Liquid itself looks at the clock only between tags. */
function bounded(filter: FilterImplOptions): FilterImplOptions {
  if (typeof filter !== "function") return { ...filter, handler: guarded(filter.handler) };
  return guarded(filter);
}

function guarded(handler: FilterHandler): FilterHandler {
  return function (this: FilterThis, value: unknown, ...args: unknown[]): unknown {
    this.context.renderLimit.check(performance.now());
    if (Array.isArray(value) && value.length > MOST_ITEMS) {
      throw new LimitError(`A filter takes at most ${MOST_ITEMS} items.`);
    }
    return handler.apply(this, [value, ...args]);
  };
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

function registerMarkupFilters(engine: Liquid): void {
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

/** Leaves alone the references that `escape` makes. */
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

/** Lets a filter treat Markup in a way of its own; everything else goes to it as before. */
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

/** What becomes part of the HTML is escaped first. */
function joinMarkup(value: Markup, args: unknown[], call: Call): Markup {
  return asIs(call(value, args.map(toMarkup)));
}

function defaultMarkup(value: Markup, args: unknown[], call: Call): unknown {
  return value.valueOf() === "" ? call(value, args) : value;
}

const HIGHEST_START = 1_000_000_000;

/**
 * Liquid bounds the length of a range, but counts up by adding 1: from 2^53 on it would never end.
 * Ranges may stand in filter arguments and even in strings, so the tokenizer is the one place to
 * ask that they begin with a modest number.
 */
// oxlint-disable-next-line typescript/unbound-method -- called below with the `this` it is given.
const readRange = Tokenizer.prototype.readGroupOrRange;
Tokenizer.prototype.readGroupOrRange = function (this: Tokenizer) {
  const token = readRange.call(this);
  if (!TypeGuards.isRangeToken(token)) return token;
  const start = TypeGuards.isNumberToken(token.lhs) ? token.lhs.content : Number.NaN;
  this.assert(Math.abs(start) <= HIGHEST_START, "a range must begin with a number: (1..n)");
  return token;
};

/** The error a tag or filter threw, without Liquid's wrapping. */
export function causeOf(error: unknown): unknown {
  return error instanceof RenderError ? (error.originalError ?? error) : error;
}
