/**
 * Templates: compiled once, rendered synchronously, never throwing.
 *
 * A name that is missing renders as nothing. In HTML every output is escaped, and in URLs it is
 * percent-encoded, unless it ends in `| raw`; subjects and text are not escaped. A render has at most
 * 1 s, bounded memory and 5 MiB of output.
 */

import type { Liquid, Template as LiquidNode } from "liquidjs";
import { systemClock } from "../../lib/clock.ts";
import type { FieldError } from "../../lib/errors.ts";
import { withoutLiquid } from "./placeholder.ts";
import {
  causeOf,
  liquidEngine,
  parseNodes,
  readTokens,
  renderNodes,
  type Rendering,
} from "./engine.ts";
import { placeOf, plainMessage, positionOf } from "./errors.ts";
import { BoundedEmitter, LimitError, LONGEST_OUTPUT, RENDER_LIMIT_MS } from "./limits.ts";
import { measureTemplate, sizeFault, type TemplateSize } from "./size.ts";
import { UrlEmitter, type UrlPart } from "./url.ts";

export type TemplateKind = "html" | "text" | "url";

/** A compiled template; pass it to `render`. */
export type Template = {
  readonly kind: TemplateKind;
  readonly source: string;
  /** Null where the source has no tag and is its own result. */
  readonly nodes: LiquidNode[] | null;
  readonly size: TemplateSize;
};

/** Line and column count from 1; the column counts UTF-16 units. */
export type CompileFault = { line: number; column: number; message: string };

export type Compiled = { ok: true; template: Template } | ({ ok: false } & CompileFault);

export type Rendered = { ok: true; text: string } | { ok: false; reason: string };

export type RenderedUrl = { ok: true; parts: readonly UrlPart[] } | { ok: false; reason: string };

export type Variables = Readonly<Record<string, unknown>>;

/** Longest source in octets. */
export const LONGEST_SOURCE = 1024 * 1024;

const ENGINES: Readonly<Record<TemplateKind, Liquid>> = {
  html: liquidEngine("html"),
  text: liquidEngine("text"),
  url: liquidEngine("url"),
};

const NO_CODE: TemplateSize = { tags: 0, code: 0 };

/** Parses a template, or names the line and column of its first error. */
export function compileTemplate(source: string, kind: TemplateKind): Compiled {
  if (Buffer.byteLength(source) > LONGEST_SOURCE) {
    return { ok: false, line: 1, column: 1, message: "the template is longer than 1 MiB" };
  }
  const nul = source.indexOf("\0");
  if (nul !== -1) {
    return { ok: false, ...positionOf(nul, source), message: "a NUL character is not allowed" };
  }
  const isStatic = !source.includes("{{") && !source.includes("{%");
  if (isStatic) return { ok: true, template: { kind, source, nodes: null, size: NO_CODE } };
  const size = measureTemplate(source);
  const tooLarge = sizeFault(size);
  if (tooLarge !== null) return { ok: false, line: 1, column: 1, message: tooLarge };
  try {
    const nodes = parseNodes(ENGINES[kind], source);
    return { ok: true, template: { kind, source, nodes, size } };
  } catch (error) {
    const place = placeOf(error, source) ?? { line: 1, column: 1 };
    return { ok: false, ...place, message: syntaxMessage(error) };
  }
}

/**
 * Renders with variables that come from JSON. Every failure is a reason, never an exception.
 * `limitMs` is the time that the render may take, at most the limit of a single render.
 */
export function render(
  template: Template,
  variables: Variables,
  limitMs: number = RENDER_LIMIT_MS,
): Rendered {
  return attempted(limitMs, () =>
    renderOnce(template, { variables, limitMs, emitter: new BoundedEmitter() }),
  );
}

/** As `render`, in parts, for a template of the kind "url". */
export function renderUrl(template: Template, variables: Variables): RenderedUrl {
  if (template.nodes === null) {
    return { ok: true, parts: [{ kind: "literal", text: template.source }] };
  }
  const limitMs = RENDER_LIMIT_MS;
  let emitter = new UrlEmitter();
  const rendered = attempted(limitMs, () => {
    emitter = new UrlEmitter();
    return renderOnce(template, { variables, limitMs, emitter });
  });
  return rendered.ok ? { ok: true, parts: emitter.parts } : rendered;
}

/** The URL that a template makes where every output is `x`; its tags are left out. */
export function modelUrl(source: string): string {
  return withoutLiquid(readTokens(ENGINES.url, source), "x");
}

/** Renders again where the time went by without the processor having worked. */
function attempted(limitMs: number, renderOnce: () => Rendered): Rendered {
  const before = recentWork();
  const rendered = renderOnce();
  const isDone = rendered.ok || rendered.reason !== TOO_SLOW;
  return isDone || hasWorked(before, limitMs) ? rendered : renderOnce();
}

function renderOnce(template: Template, rendering: Rendering): Rendered {
  if (template.nodes === null) return finish(template.source);
  try {
    renderNodes(ENGINES[template.kind], template.nodes, rendering);
    return finish(rendering.emitter.buffer);
  } catch (error) {
    return { ok: false, reason: renderReason(error, template) };
  }
}

/** The processor time of this process, read at most every 20 ms: reading it takes as long as a render. */
function recentWork(): NodeJS.CpuUsage {
  const now = systemClock.elapsed();
  if (now - workAskedAt > WORK_KEPT_MS) {
    work = process.cpuUsage();
    workAskedAt = now;
  }
  return work;
}

const WORK_KEPT_MS = 20;
let work = process.cpuUsage();
let workAskedAt = systemClock.elapsed();

/** False where the machine was suspended meanwhile: that is no fault of the template. */
function hasWorked(since: NodeJS.CpuUsage, limitMs: number): boolean {
  const { user, system } = process.cpuUsage(since);
  return (user + system) / 1000 > limitMs / 10;
}

/** The template's error as a field error of a request; empty if it can be compiled. */
export function checkTemplate(source: string, field: string, kind: TemplateKind): FieldError[] {
  const compiled = compileTemplate(source, kind);
  if (compiled.ok) return [];
  return [{ field, message: syntaxFault(compiled), code: "invalid_format" }];
}

/** The reason of a compilation that failed, as the message of a field error. */
export function syntaxFault({ line, column, message }: CompileFault): string {
  return `has a syntax error in line ${line}, column ${column}: ${message}`;
}

/** The reason of a render that failed, as the message of a field error. */
export function renderFault(reason: string): string {
  return `cannot be rendered: ${reason.charAt(0).toLowerCase()}${reason.slice(1).replace(/\.$/, "")}`;
}

/** A message must not contain NUL (RFC 2045 §2.7), which may also come from a variable. */
function finish(text: string): Rendered {
  if (text.includes("\0")) return { ok: false, reason: "The result contains a NUL character." };
  if (text.length > LONGEST_OUTPUT)
    return { ok: false, reason: "The result is longer than 5 MiB." };
  return { ok: true, text };
}

function syntaxMessage(error: unknown): string {
  const message = plainMessage(error);
  return /call stack/i.test(message) ? "the template is nested too deeply" : message;
}

function renderReason(error: unknown, template: Template): string {
  const cause = causeOf(error);
  if (cause instanceof LimitError) return cause.message;
  const message = plainMessage(error);
  const limit = LIMITS.find(({ pattern }) => pattern.test(message));
  if (limit !== undefined) return limit.reason;
  const place = placeOf(error, template.source);
  if (place === null) return `The template failed: ${message}.`;
  return `Line ${place.line}, column ${place.column}: ${message}.`;
}

/** The reason of a render that took all of its time, during which the process served no request. */
export const TOO_SLOW = `The template takes longer than ${RENDER_LIMIT_MS} ms.`;

const LIMITS = [
  { pattern: /render limit exceeded/, reason: TOO_SLOW },
  { pattern: /alloc limit exceeded|out of memory/i, reason: "The template uses too much memory." },
  { pattern: /call stack/i, reason: "The template is nested too deeply." },
] as const satisfies readonly { pattern: RegExp; reason: string }[];
