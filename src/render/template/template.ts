/**
 * Compiles and renders templates. `compileTemplate` measures the source (`size.ts`), splits it into
 * text, tags and placeholders (`placeholder.ts`) and parses them (`engine.ts`); `templateCache`
 * stores the result. `render` runs it with variables, within the limits of time, memory and output
 * (`limits.ts`). Both are synchronous and return errors as values; neither throws.
 *
 * A variable that does not exist renders as nothing. In HTML every output is escaped (`markup.ts`),
 * and in URLs it is percent-encoded (`url.ts`), unless it ends in `| raw`; subjects and text are
 * not escaped. A render may take 1 s, limited memory and 5 MiB of output.
 */

import { type Liquid, TypeGuards } from "liquidjs";
import { oneLine } from "../../lib/one-line.ts";
import type { FieldError } from "../../lib/errors.ts";
import { placeholderText, withoutLiquid } from "./placeholder.ts";
import {
  causeOf,
  liquidEngine,
  parseNodes,
  readTokens,
  renderNodes,
  type Rendering,
  type TemplateNode,
} from "./engine.ts";
import { foreignLiteral } from "./foreign-literals.ts";
import { foreignPlaceholder, type ForeignSyntax } from "./foreign-syntax.ts";
import { errorPosition, plainMessage, positionOf } from "./errors.ts";
import { JsonEmitter } from "./json.ts";
import { BoundedEmitter, LimitError, LONGEST_OUTPUT, RENDER_LIMIT_MS } from "./limits.ts";
import { measureTemplate, sizeFault, type TemplateSize } from "./size.ts";
import { UrlEmitter, type UrlPart } from "./url.ts";

/**
 * A `header` is text whose result is one line, such as a subject or the value of a header. The outputs
 * of `json` are values of JSON (json.ts).
 */
export type TemplateKind = "html" | "text" | "header" | "url" | "json";

/** A compiled template, the input of `render`. */
export type Template = {
  readonly kind: TemplateKind;
  readonly source: string;
  /** Null if the source has no outputs and tags, so that it is its own result. */
  readonly nodes: readonly TemplateNode[] | null;
  readonly size: TemplateSize;
  /** The first construct of another template language, which a new source must not have. */
  readonly foreign: ForeignFault | null;
};

/** Line and column count from 1; the column counts UTF-16 units. */
export type CompileFault = { line: number; column: number; message: string };

/**
 * `isLiteral`: it stands outside of braces, where the text of a user may have it as well. So it is a
 * fault of a template that is stored, but none of a mail that a program composes.
 */
type ForeignFault = CompileFault & { isLiteral: boolean };

export type Compiled = { ok: true; template: Template } | ({ ok: false } & CompileFault);

export type Rendered = { ok: true; text: string } | { ok: false; reason: string };

type RenderedUrl = { ok: true; parts: readonly UrlPart[] } | { ok: false; reason: string };

export type Variables = Readonly<Record<string, unknown>>;

/** Longest source in octets. */
const LONGEST_SOURCE = 1024 * 1024;

const TEXT_ENGINE = liquidEngine("text");
const ENGINES: Readonly<Record<TemplateKind, Liquid>> = {
  html: liquidEngine("html"),
  text: TEXT_ENGINE,
  header: TEXT_ENGINE,
  url: liquidEngine("url"),
  json: liquidEngine("json"),
};

const NO_CODE: TemplateSize = { tags: 0, code: 0 };

/** Parses a template, or reports the line and column of its first error. */
export function compileTemplate(source: string, kind: TemplateKind): Compiled {
  if (Buffer.byteLength(source) > LONGEST_SOURCE) {
    return { ok: false, line: 1, column: 1, message: "the template is longer than 1 MiB" };
  }
  const nul = source.indexOf("\0");
  if (nul !== -1) {
    return { ok: false, ...positionOf(nul, source), message: "a NUL character is not allowed" };
  }
  const found = kind === "html" || kind === "header" ? foreignLiteral(source) : null;
  const literal = found === null ? null : { ...faultAt(found, source), isLiteral: true };
  const isStatic = !source.includes("{{") && !source.includes("{%");
  if (isStatic) {
    return { ok: true, template: { kind, source, nodes: null, size: NO_CODE, foreign: literal } };
  }
  const size = measureTemplate(source);
  const tooLarge = sizeFault(size);
  if (tooLarge !== null) return { ok: false, line: 1, column: 1, message: tooLarge };
  let foreign: ForeignFault | null = null;
  try {
    const tokens = readTokens(ENGINES[kind], source);
    const placeholder = foreignPlaceholder(tokens);
    foreign =
      placeholder === null ? literal : { ...faultAt(placeholder, source), isLiteral: false };
    const nodes = parseNodes(ENGINES[kind], tokens);
    return { ok: true, template: { kind, source, nodes, size, foreign } };
  } catch (error) {
    if (foreign !== null && !foreign.isLiteral) return { ok: false, ...foreign };
    const position = errorPosition(error, source) ?? { line: 1, column: 1 };
    return { ok: false, ...position, message: syntaxMessage(error) };
  }
}

const faultAt = ({ offset, message }: ForeignSyntax, source: string): CompileFault => ({
  ...positionOf(offset, source),
  message,
});

/**
 * Renders with variables that come from JSON. It returns every failure as a reason and never
 * throws. `limitMs` is the processor time that the render may take; the limit of a single render
 * applies too.
 */
export function render(
  template: Template,
  variables: Variables,
  limitMs: number = RENDER_LIMIT_MS,
): Rendered {
  return renderChecked(template, { variables, limitMs, emitter: new BoundedEmitter() });
}

/** Like `render` for a template of the kind "url", with the result split into parts. */
export function renderUrl(
  template: Template,
  variables: Variables,
  limitMs: number = RENDER_LIMIT_MS,
): RenderedUrl {
  if (template.nodes === null) {
    return { ok: true, parts: [{ kind: "literal", text: template.source }] };
  }
  const emitter = new UrlEmitter();
  const rendered = renderChecked(template, { variables, limitMs, emitter });
  return rendered.ok ? { ok: true, parts: emitter.parts } : rendered;
}

/**
 * Like `render` for a template of the kind "json". `only` is the value of a template that is one
 * output and nothing else, with its type; null for another template.
 */
export function renderJson(
  template: Template,
  variables: Variables,
  limitMs: number = RENDER_LIMIT_MS,
): { ok: true; text: string; only: { value: unknown } | null } | { ok: false; reason: string } {
  const emitter = new JsonEmitter();
  const rendered = renderChecked(template, { variables, limitMs, emitter });
  if (!rendered.ok) return rendered;
  return { ...rendered, only: template.nodes?.length === 1 ? emitter.only() : null };
}

/**
 * Like `render` into an emitter that records more than the text. The result is not checked: see
 * `checkResult`.
 */
export function renderInto<E extends BoundedEmitter>(
  template: Template,
  { variables, limitMs, emitter }: Rendering & { emitter: E },
): { ok: true; emitter: E } | { ok: false; reason: string } {
  if (template.nodes === null) {
    emitter.write(template.source);
    return { ok: true, emitter };
  }
  const failure = runNodes(template, { variables, limitMs, emitter });
  return failure ?? { ok: true, emitter };
}

/** The text of a URL template with every output replaced by `x` and every tag removed. */
export function sampleUrl(source: string): string {
  return withoutLiquid(readTokens(ENGINES.url, source), "x");
}

/** A part of a template: text, a tag, or an output, of which `output` is the content. */
type TemplatePiece = { from: number; to: number; isText: boolean; output: string | null };

/**
 * The pieces of an HTML template that compiles; `isTopLevel` without those inside of a tag with an end,
 * such as `if`. Throws the errors of Liquid.
 */
export function piecesOf(source: string, { isTopLevel = false } = {}): TemplatePiece[] {
  const tokens = readTokens(ENGINES.html, source);
  const read = isTopLevel
    ? ENGINES.html.parser.parseTokens(tokens).map(({ token }) => token)
    : tokens;
  return read.map((token) => ({
    from: token.begin,
    to: token.end,
    isText: TypeGuards.isHTMLToken(token),
    output: placeholderText(token)?.trim() ?? null,
  }));
}

function renderChecked(template: Template, rendering: Rendering): Rendered {
  const failure = template.nodes === null ? null : runNodes(template, rendering);
  if (failure !== null) return failure;
  const text = template.nodes === null ? template.source : rendering.emitter.buffer;
  return checkResult(template.kind === "header" ? oneLine(text) : text);
}

/** Renders into the emitter. Returns the failure, or null. */
function runNodes(
  template: Template,
  rendering: Rendering,
): Extract<Rendered, { ok: false }> | null {
  try {
    renderNodes(ENGINES[template.kind], template.nodes ?? [], rendering);
    return null;
  } catch (error) {
    return { ok: false, reason: renderReason(error, template) };
  }
}

/** Where a source comes from: whether it is stored as a template, and may have foreign syntax. */
export type SourceOrigin = { isLenient: boolean; isStored: boolean };

/**
 * The syntax error of a new source as a field error of a request; empty if it is valid. The syntax of
 * another template language is an error as well, unless the caller says that it is meant.
 */
export function checkTemplate(
  source: string,
  field: string,
  { kind, isLenient = false, isStored = true }: { kind: TemplateKind } & Partial<SourceOrigin>,
): FieldError[] {
  const compiled = compileTemplate(source, kind);
  if (!compiled.ok) {
    return [{ field, message: syntaxErrorMessage(compiled), code: "invalid_format" }];
  }
  const { foreign } = compiled.template;
  if (foreign === null || isLenient || (foreign.isLiteral && !isStored)) return [];
  return [{ field, message: syntaxErrorMessage(foreign), code: "invalid_format" }];
}

/** The message of a field error for a template that cannot be compiled. */
function syntaxErrorMessage({ line, column, message }: CompileFault): string {
  return `has a syntax error in line ${line}, column ${column}: ${message}`;
}

/** The message of a field error for a template that cannot be rendered. */
export function renderErrorMessage(reason: string): string {
  return `cannot be rendered: ${reason.charAt(0).toLowerCase()}${reason.slice(1).replace(/\.$/, "")}`;
}

/**
 * Checks the result. A mail must not contain NUL (RFC 2045 §2.7), which may come from a variable.
 */
export function checkResult(text: string): Rendered {
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
  const position = errorPosition(error, template.source);
  if (position === null) return `The template failed: ${message}.`;
  return `Line ${position.line}, column ${position.column}: ${message}.`;
}

const LIMITS = [
  { pattern: /alloc limit exceeded|out of memory/i, reason: "The template uses too much memory." },
  { pattern: /call stack/i, reason: "The template is nested too deeply." },
] as const satisfies readonly { pattern: RegExp; reason: string }[];
