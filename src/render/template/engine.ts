/**
 * The Liquid engines, one each for HTML, text, URLs and JSON. Templates cannot load files or read
 * inherited properties, and their time, memory and output are limited.
 */

import {
  Context,
  Liquid,
  LiquidError,
  RenderError,
  type Template,
  Tokenizer,
  TypeGuards,
  toValue,
  toValueSync,
} from "liquidjs";
import { FILTERS } from "./dates.ts";
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
import {
  checkTime,
  renderTimeCheck,
  limitFilter,
  type BoundedEmitter,
  MEMORY_LIMIT,
  RENDER_LIMIT_MS,
} from "./limits.ts";
import { registerJsonFilters, toJsonOutput } from "./json.ts";
import { registerMarkupFilters, toMarkup } from "./markup.ts";
import { registerUrlFilters, toUrlText } from "./url.ts";

/** Fixed text, or an output or tag of Liquid. */
export type TemplateNode = string | Template;

/** Parses a template. Throws the errors of Liquid. */
export function parseNodes(engine: Liquid, tokens: ReturnType<typeof readTokens>): TemplateNode[] {
  return engine.parser
    .parseTokens(tokens)
    .map((node) => (TypeGuards.isHTMLToken(node.token) ? node.token.getContent() : node));
}

/** Splits a template into text, tags and placeholders. Throws the errors of Liquid. */
export function readTokens(engine: Liquid, source: string) {
  const tokenizer = new TemplateTokenizer(source, engine.options.operators);
  return tokenizer.readTopLevelTokens(engine.options);
}

/**
 * Renders parsed nodes into the emitter within `limitMs`. It does not change the variables. Throws
 * the errors of Liquid. The loop does what `renderTemplates` of Liquid does, without a generator for
 * each fixed text.
 */
export function renderNodes(
  engine: Liquid,
  nodes: readonly TemplateNode[],
  { variables, limitMs, emitter }: Rendering,
): void {
  const options = { sync: true, globals: variables };
  const context = new Context({}, engine.options, options, { liquid: engine });
  context.renderLimit.check = renderTimeCheck(Math.min(limitMs, RENDER_LIMIT_MS));
  for (const node of nodes) {
    checkTime(context);
    if (typeof node === "string") emitter.write(node);
    else renderNode(node, context, emitter);
    if (context.breakCalled || context.continueCalled) return;
  }
}

function renderNode(node: Template, context: Context, emitter: BoundedEmitter): void {
  try {
    const html: unknown = toValueSync(node.render(context, emitter));
    if (html) emitter.write(html);
  } catch (error) {
    throw LiquidError.is(error) ? error : new RenderError(asError(error), node);
  }
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}

export type Rendering = {
  variables: Readonly<Record<string, unknown>>;
  limitMs: number;
  emitter: BoundedEmitter;
};

/** For each kind of template, the last step of every output that does not end in `| raw`. */
const ESCAPES: Readonly<Record<EngineKind, Escape>> = {
  html: toMarkup,
  text: (value) => value,
  url: toUrlText,
  json: toJsonOutput,
};

type EngineKind = "html" | "text" | "url" | "json";

/** Creates the engine for one kind of template. */
export function liquidEngine(kind: EngineKind): Liquid {
  const isHtml = kind === "html";
  const engine = new Liquid({
    strictFilters: true,
    ownPropertyOnly: true,
    // An empty map replaces the file system, so that no tag can read a file.
    templates: {},
    // The same time zone and language on every machine, for a value and a mail that name none.
    timezoneOffset: 0,
    locale: "en-US",
    memoryLimit: MEMORY_LIMIT,
    // Used by the library's own tags; `cycle` is the only one of them that is not replaced below.
    ...(isHtml ? { outputEscape: (value: unknown) => toValue(toMarkup(value)) } : {}),
  });
  for (const name of ["include", "render", "layout", "block"]) engine.registerTag(name, FileTag);
  registerPlaceholders(engine, ESCAPES[kind]);
  engine.registerTag("echo", echoTag(ESCAPES[kind]));
  engine.registerTag("#", LineCommentTag);
  engine.registerTag("liquid", SingleLiquidTag);
  engine.registerTag("capture", isHtml ? MarkupCaptureTag : BoundedCaptureTag);
  for (const [name, filter] of Object.entries(FILTERS)) {
    engine.registerFilter(name, limitFilter(filter));
  }
  if (isHtml) registerMarkupFilters(engine);
  if (kind === "json") registerJsonFilters(engine);
  if (kind === "url") {
    engine.registerTag("cycle", UnavailableTag);
    registerUrlFilters(engine);
  }
  return engine;
}

/** Largest absolute value of the first number of a range. */
const MAX_RANGE_START = 1_000_000_000;

/**
 * Requires that a range begins with a small number. Liquid limits the length of a range, but counts
 * by adding 1, which changes nothing from 2^53 on, so the loop would never end. A range can occur
 * in filter arguments and even in strings; only the tokenizer sees all of them.
 */
// oxlint-disable-next-line typescript/unbound-method -- it is called below with an explicit `this`.
const readRange = Tokenizer.prototype.readGroupOrRange;
Tokenizer.prototype.readGroupOrRange = function (this: Tokenizer) {
  const token = readRange.call(this);
  if (!TypeGuards.isRangeToken(token)) return token;
  const start = TypeGuards.isNumberToken(token.lhs) ? token.lhs.content : Number.NaN;
  this.assert(Math.abs(start) <= MAX_RANGE_START, "a range must begin with a number: (1..n)");
  return token;
};

/** The error that a tag or filter threw, unwrapped from the error of Liquid. */
export function causeOf(error: unknown): unknown {
  return error instanceof RenderError ? (error.originalError ?? error) : error;
}
