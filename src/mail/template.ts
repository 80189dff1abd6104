/**
 * Templates (interface decisions F): compiled once, rendered synchronously, never throwing.
 *
 * Names that are missing render as nothing. In HTML every output is escaped unless `| raw` says
 * otherwise; subjects and text are not. A render has 1 s, bounded memory and at most 5 MiB.
 */

import { type Liquid, LiquidError, type Template as LiquidNode } from "liquidjs";
import type { FieldError } from "../lib/errors.ts";
import { causeOf, liquidEngine, renderNodes } from "./template-engine.ts";
import { rewriteFallbacks, type Shift, sourceOffset } from "./template-fallback.ts";
import { LimitError, LONGEST_OUTPUT, RENDER_LIMIT_MS } from "./template-limits.ts";

export type TemplateKind = "html" | "text";

/** A compiled template; pass it to `render`. */
export type Template = {
  readonly kind: TemplateKind;
  readonly source: string;
  /** Null where the source has no tag and is its own result. */
  readonly nodes: LiquidNode[] | null;
  readonly shifts: readonly Shift[];
};

export type Compiled =
  | { ok: true; template: Template }
  | {
      ok: false;
      /** From 1; the column counts UTF-16 units. */
      line: number;
      column: number;
      message: string;
    };

export type Rendered = { ok: true; text: string } | { ok: false; reason: string };

export type Variables = Readonly<Record<string, unknown>>;

/** Longest source in octets. */
export const LONGEST_SOURCE = 1024 * 1024;

const ENGINES: Readonly<Record<TemplateKind, Liquid>> = {
  html: liquidEngine("html"),
  text: liquidEngine("text"),
};

/** Parses a template, or says where it is wrong. */
export function compileTemplate(source: string, kind: TemplateKind): Compiled {
  if (Buffer.byteLength(source) > LONGEST_SOURCE) {
    return { ok: false, line: 1, column: 1, message: "the template is longer than 1 MiB" };
  }
  const nul = source.indexOf("\0");
  if (nul !== -1) {
    return { ok: false, ...positionOf(nul, source), message: "a NUL character is not allowed" };
  }
  const isStatic = !source.includes("{{") && !source.includes("{%");
  if (isStatic) return { ok: true, template: { kind, source, nodes: null, shifts: [] } };
  const { text, shifts } = rewriteFallbacks(source);
  try {
    const nodes = ENGINES[kind].parse(text);
    return { ok: true, template: { kind, source, nodes, shifts } };
  } catch (error) {
    const offset = sourceOffset(offsetOf(error) ?? 0, shifts);
    return { ok: false, ...positionOf(offset, source), message: syntaxMessage(error) };
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
  const before = recentWork();
  const rendered = renderOnce(template, variables, limitMs);
  const isDone = rendered.ok || rendered.reason !== TOO_SLOW;
  return isDone || hasWorked(before, limitMs) ? rendered : renderOnce(template, variables, limitMs);
}

function renderOnce(template: Template, variables: Variables, limitMs: number): Rendered {
  if (template.nodes === null) return finish(template.source);
  try {
    return finish(renderNodes(ENGINES[template.kind], template.nodes, variables, limitMs));
  } catch (error) {
    return { ok: false, reason: renderReason(error, template) };
  }
}

/** The processor time this process had used a moment ago: asking takes as long as rendering. */
function recentWork(): NodeJS.CpuUsage {
  const now = performance.now();
  if (now - workAskedAt > WORK_KEPT_MS) {
    work = process.cpuUsage();
    workAskedAt = now;
  }
  return work;
}

const WORK_KEPT_MS = 20;
let work = process.cpuUsage();
let workAskedAt = performance.now();

/** Else the machine stood still, a lid was closed: that is no fault of the template. */
function hasWorked(since: NodeJS.CpuUsage, limitMs: number): boolean {
  const { user, system } = process.cpuUsage(since);
  return (user + system) / 1000 > limitMs / 10;
}

/** The template's faults as field errors of a request; empty if it can be compiled. */
export function checkTemplate(source: string, field: string, kind: TemplateKind): FieldError[] {
  const compiled = compileTemplate(source, kind);
  if (compiled.ok) return [];
  const message = `Line ${compiled.line}, column ${compiled.column}: ${compiled.message}.`;
  return [{ field, message, code: "invalid_format" }];
}

/** Delivery rule C1: no NUL in a message, also where a variable brings it. */
function finish(text: string): Rendered {
  if (text.includes("\0")) return { ok: false, reason: "The result contains a NUL character." };
  if (text.length > LONGEST_OUTPUT)
    return { ok: false, reason: "The result is longer than 5 MiB." };
  return { ok: true, text };
}

function offsetOf(error: unknown): number | null {
  return error instanceof LiquidError ? error.token.begin : null;
}

function positionOf(offset: number, source: string): { line: number; column: number } {
  const before = source.slice(0, offset);
  const line = before.split("\n").length;
  return { line, column: offset - before.lastIndexOf("\n") };
}

/** Liquid's own words without the position it adds, which is that of the rewritten text. */
function plainMessage(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const plain = message.replace(/(?:, file:[^,]*)?, line:\d+, col:\d+$/, "").replace(/\.$/, "");
  return plain.length > LONGEST_MESSAGE ? `${plain.slice(0, LONGEST_MESSAGE)}…` : plain;
}

const LONGEST_MESSAGE = 200;

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
  const offset = offsetOf(error);
  if (offset === null) return `The template cannot be rendered: ${message}.`;
  const { line, column } = positionOf(sourceOffset(offset, template.shifts), template.source);
  return `Line ${line}, column ${column}: ${message}.`;
}

/** Everybody waits while a template is rendered: one that takes its whole time is told by this. */
export const TOO_SLOW = `The template takes longer than ${RENDER_LIMIT_MS} ms.`;

const LIMITS = [
  { pattern: /render limit exceeded/, reason: TOO_SLOW },
  { pattern: /alloc limit exceeded|out of memory/i, reason: "The template uses too much memory." },
  { pattern: /call stack/i, reason: "The template is nested too deeply." },
] as const satisfies readonly { pattern: RegExp; reason: string }[];
