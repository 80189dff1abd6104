/**
 * Liquid as templates may use it: two engines, for HTML and for text, without files, without
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
import {
  BoundedCaptureTag,
  FileTag,
  LineCommentTag,
  MarkupCaptureTag,
  SingleLiquidTag,
} from "./template-tags.ts";
import { bounded, BoundedEmitter, MEMORY_LIMIT, RENDER_LIMIT_MS } from "./template-limits.ts";
import { MarkupEchoTag, registerMarkupFilters, toMarkup } from "./template-markup.ts";

/** Renders parsed nodes within `limitMs`; throws what Liquid throws. Variables are only read. */
export function renderNodes(
  engine: Liquid,
  nodes: Template[],
  variables: Readonly<Record<string, unknown>>,
  limitMs: number,
): string {
  const renderLimit = Math.min(limitMs, RENDER_LIMIT_MS);
  const options = { sync: true, globals: variables, renderLimit };
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
  engine.registerTag("#", LineCommentTag);
  engine.registerTag("liquid", SingleLiquidTag);
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
