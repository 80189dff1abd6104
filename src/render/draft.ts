/**
 * Renders a template that is being written, as it would be sent, and finds all of its faults, each with
 * its line and column in the field. Subject and body are rendered each for itself, so that a fault of
 * one does not hide the other.
 */

import type { FieldErrorCode } from "../lib/errors.ts";
import { assembleParts, type SourcePart } from "./layout.ts";
import { createRenderBudget, type RenderBudget, type RenderedField } from "./render-budget.ts";
import { checkSubject } from "./subject.ts";
import type { TemplateCache } from "./template/cache.ts";
import { positionOf } from "./template/errors.ts";
import {
  type CompileFault,
  renderErrorMessage,
  type Template,
  type Variables,
} from "./template/template.ts";

export type DraftSource = {
  subject: string;
  preheader: string | null;
  body: string;
  /** Source of the layout. */
  layout: string | null;
};

/** A place in a field; line and column count from 1, and are null for a fault of the whole field. */
export type DraftError = {
  field: "subject" | "preheader" | "body" | "layoutId";
  line: number | null;
  column: number | null;
  message: string;
  code: FieldErrorCode;
};

/** The rendered parts; a part that has errors is null. */
type RenderedDraft = {
  errors: DraftError[];
  subject: string | null;
  /** As text. */
  preheader: string | null;
  html: string | null;
  /** Source of the assembled body. */
  source: string | null;
};

/** The values with which the parts of a draft are rendered. */
type Rendering = {
  templates: TemplateCache;
  variables: Variables;
  /** Whether the syntax of another template language is no error. */
  isLenient: boolean;
  budget: RenderBudget;
  /** The faults that were found so far. */
  errors: DraftError[];
};

export function renderDraft(
  templates: TemplateCache,
  draft: DraftSource,
  options: Pick<Rendering, "variables" | "isLenient">,
): RenderedDraft {
  const errors: DraftError[] = [];
  const rendering = { ...options, templates, budget: createRenderBudget(), errors };
  const subject = renderSubject(rendering, draft.subject);
  const preheader = renderPreheader(rendering, draft.preheader);
  const body = renderBody(rendering, draft, preheader.isValid);
  return { errors, subject, preheader: preheader.text, ...body };
}

/** Null if the source does not compile. A construct of another language is an error, too. */
function compile(
  { templates, errors, isLenient }: Rendering,
  field: DraftError["field"],
  source: string,
): Template | null {
  const compiled = templates.compile(source, field === "subject" ? "header" : "html");
  const foreign = compiled.ok && !isLenient ? compiled.template.foreign : null;
  const fault = compiled.ok ? foreign : compiled;
  if (fault !== null) errors.push(syntaxError(field, fault));
  return compiled.ok ? compiled.template : null;
}

function render(
  { budget, variables, errors }: Rendering,
  template: Template,
  { field, parts }: { field: RenderedField; parts: readonly SourcePart[] },
): string | null {
  const result = budget.render(field, template, variables);
  if (result.ok) return result.text;
  errors.push(renderError(result.reason, parts, template.source));
  return null;
}

function renderSubject(rendering: Rendering, source: string): string | null {
  const template = compile(rendering, "subject", source);
  if (template === null) return null;
  const parts = [{ field: "subject", text: source, from: 0, whole: source } as const];
  const text = render(rendering, template, { field: "subject", parts });
  const fault = text === null ? null : checkSubject(text);
  if (fault === null) return text;
  rendering.errors.push({ field: "subject", line: null, column: null, ...fault });
  return null;
}

function renderPreheader(
  rendering: Rendering,
  source: string | null,
): { isValid: boolean; text: string | null } {
  if (source === null) return { isValid: true, text: null };
  if (compile(rendering, "preheader", source) === null) return { isValid: false, text: null };
  // As text its outputs are not escaped. Its faults are found in the body, of which it is a part.
  const plain = rendering.templates.compile(source, "header");
  if (!plain.ok) return { isValid: true, text: null };
  const result = rendering.budget.render("body", plain.template, rendering.variables);
  return { isValid: true, text: result.ok ? result.text : null };
}

function renderBody(
  rendering: Rendering,
  { preheader, body, layout }: DraftSource,
  isPreheaderValid: boolean,
): Pick<RenderedDraft, "html" | "source"> {
  const isValid = compile(rendering, "body", body) !== null && isPreheaderValid;
  if (!isValid) return { html: null, source: null };
  const parts = assembleParts({ preheader, body, layout });
  const source = parts.map(({ text }) => text).join("");
  const compiled = rendering.templates.compile(source, "html");
  if (compiled.ok) {
    return { html: render(rendering, compiled.template, { field: "body", parts }), source };
  }
  rendering.errors.push(syntaxError("body", { ...compiled, line: 1, column: 1 }));
  return { html: null, source: null };
}

function syntaxError(field: DraftError["field"], fault: CompileFault): DraftError {
  const { line, column, message } = fault;
  return { field, line, column, message, code: "invalid_format" };
}

/** The position in the reason of a render, as `renderReason` writes it. */
const POSITION = /^Line (\d{1,9}), column (\d{1,9}): /;

/** The fault of a render, at its place in the part that it comes from. */
function renderError(reason: string, parts: readonly SourcePart[], source: string): DraftError {
  const found = POSITION.exec(reason);
  const [first] = parts;
  const error = {
    message: renderErrorMessage(reason.replace(POSITION, "")),
    code: "invalid_value",
  } as const;
  if (found === null) return { field: fieldOf(first), line: null, column: null, ...error };
  let offset = offsetOf(source, Number(found[1]), Number(found[2]));
  for (const part of parts) {
    if (offset >= part.text.length) {
      offset -= part.text.length;
      continue;
    }
    const { line, column } = positionOf(part.from + offset, part.whole);
    return { field: fieldOf(part), line, column, ...error };
  }
  return { field: fieldOf(first), line: null, column: null, ...error };
}

function offsetOf(source: string, line: number, column: number): number {
  let start = 0;
  for (let at = 1; at < line; at++) start = source.indexOf("\n", start) + 1;
  return start + column - 1;
}

function fieldOf(part: SourcePart | undefined): DraftError["field"] {
  const field = part?.field ?? "body";
  return field === "layout" ? "layoutId" : field;
}
