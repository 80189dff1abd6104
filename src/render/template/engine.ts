/**
 * Liquid as templates may use it: an engine each for HTML, text and URLs, without files, without
 * prototypes and with bounds on time, memory and output.
 */

import {
  Context,
  filters as standardFilters,
  Liquid,
  RenderError,
  type Template,
  Tokenizer,
  TypeGuards,
  toValue,
  toValueSync,
} from "liquidjs";
import { registerPlaceholders, TemplateTokenizer } from "./placeholder.ts";
import {
  BoundedCaptureTag,
  echoTag,
  type Escape,
  FileTag,
  LineCommentTag,
  MarkupCaptureTag,
  SingleLiquidTag,
  UnavailableTag,
} from "./tags.ts";
import { bounded, type BoundedEmitter, MEMORY_LIMIT, RENDER_LIMIT_MS } from "./limits.ts";
import { registerMarkupFilters, toMarkup } from "./markup.ts";
import { registerUrlFilters, toUrlText } from "./url.ts";

/** Parses a template; throws what Liquid throws. */
export function parseNodes(engine: Liquid, source: string): Template[] {
  return engine.parser.parseTokens(readTokens(engine, source));
}

/** Splits a template into text, tags and placeholders; throws what Liquid throws. */
export function readTokens(engine: Liquid, source: string) {
  const tokenizer = new TemplateTokenizer(source, engine.options.operators);
  return tokenizer.readTopLevelTokens(engine.options);
}

/**
 * Renders parsed nodes into the emitter within `limitMs`; throws what Liquid throws. Variables are
 * only read.
 */
export function renderNodes(
  engine: Liquid,
  nodes: Template[],
  { variables, limitMs, emitter }: Rendering,
): void {
  const renderLimit = Math.min(limitMs, RENDER_LIMIT_MS);
  const options = { sync: true, globals: variables, renderLimit };
  const context = new Context({}, engine.options, options, { liquid: engine });
  toValueSync(engine.renderer.renderTemplates(nodes, context, emitter));
}

export type Rendering = {
  variables: Readonly<Record<string, unknown>>;
  limitMs: number;
  emitter: BoundedEmitter;
};

/** The last step of every output that does not end in `| raw`. */
const ESCAPES: Readonly<Record<"html" | "text" | "url", Escape>> = {
  html: toMarkup,
  text: (value) => value,
  url: toUrlText,
};

/** Makes the engine for one kind of template. */
export function liquidEngine(kind: "html" | "text" | "url"): Liquid {
  const isHtml = kind === "html";
  const engine = new Liquid({
    strictFilters: true,
    ownPropertyOnly: true,
    // A map instead of the file system, in case a tag looks for a file.
    templates: {},
    // The same time zone and language on every machine.
    timezoneOffset: 0,
    locale: "en-US",
    renderLimit: RENDER_LIMIT_MS,
    memoryLimit: MEMORY_LIMIT,
    // The library's own tags ask for it: of these, `cycle` is left.
    ...(isHtml ? { outputEscape: (value: unknown) => toValue(toMarkup(value)) } : {}),
  });
  for (const name of ["include", "render", "layout", "block"]) engine.registerTag(name, FileTag);
  registerPlaceholders(engine, ESCAPES[kind]);
  engine.registerTag("echo", echoTag(ESCAPES[kind]));
  engine.registerTag("#", LineCommentTag);
  engine.registerTag("liquid", SingleLiquidTag);
  engine.registerTag("capture", isHtml ? MarkupCaptureTag : BoundedCaptureTag);
  for (const [name, filter] of Object.entries(standardFilters)) {
    engine.registerFilter(name, bounded(filter));
  }
  if (isHtml) registerMarkupFilters(engine);
  if (kind === "url") {
    engine.registerTag("cycle", UnavailableTag);
    registerUrlFilters(engine);
  }
  return engine;
}

const HIGHEST_START = 1_000_000_000;

/**
 * Liquid bounds the length of a range, but counts up by adding 1: from 2^53 on it would never end.
 * Ranges may stand in filter arguments and even in strings, so the tokenizer is the one place that
 * can require that they begin with a small number.
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

/** The error that a tag or filter threw, without the error of Liquid around it. */
export function causeOf(error: unknown): unknown {
  return error instanceof RenderError ? (error.originalError ?? error) : error;
}
