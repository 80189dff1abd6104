/**
 * Renders the mails of one request, to refuse what cannot be sent. The input is data alone, so the
 * same code runs on the event loop and in a thread. On the event loop only if `isCheapRequest`.
 */

import type { FieldError } from "../lib/errors.ts";
import type { RecipientLinks } from "./links.ts";
import { createRenderBudget, type RenderBudget, type RenderedField } from "./render-budget.ts";
import { checkSubject } from "./subject.ts";
import type { TemplateCache } from "./template/cache.ts";
import { cheapTags } from "./template/cheap.ts";
import { measureTemplate } from "./template/size.ts";
import {
  checkTemplate,
  renderErrorMessage,
  type SourceOrigin,
  type Template,
  type Variables,
} from "./template/template.ts";
import { templateVariables } from "./variables.ts";

/** Subject and body as Liquid templates, and the text of a mail that has one of its own. */
type MailSource = { subject: string; body: string; text?: string };

type MailRecipient = {
  /** Contact id. */
  id: string;
  email: string;
  /** The data that the templates see, as JSON. */
  data: string;
  links: RecipientLinks;
};

/**
 * `given`: the sources that were written for the request; the others are stored. A text is always of
 * the request.
 */
export type RequestMails = {
  source: MailSource;
  given: Readonly<Record<"subject" | "body", boolean>>;
  /** Whether they may have the syntax of another template language. */
  isLenient: boolean;
  project: { name: string; language: string };
  recipients: readonly MailRecipient[];
};

type CompiledSource = { subject: Template; body: Template; text: Template | null };

/** `spent`: no time is left, so the rest is not rendered. */
type RenderedMail =
  | { kind: "rendered"; subject: string; html: string }
  | { kind: "fault"; fault: FieldError }
  | { kind: "spent"; fault: FieldError };

/** Most UTF-16 units that the mails of a request may have together to be rendered on the event loop. */
const MAX_CHEAP_UNITS = 128 * 1024;
const MAX_CHEAP_RECIPIENTS = 20;

/** Whether the mails of a request certainly take a few milliseconds together. */
export function isCheapRequest({ source, recipients }: RequestMails): boolean {
  if (recipients.length > MAX_CHEAP_RECIPIENTS) return false;
  const { subject, body, text = "" } = source;
  const tags = [subject, body, text].map(tagsOf);
  let units = 0;
  for (const count of tags) {
    if (count === null) return false;
    for (const { data } of recipients) units += (count + 1) * data.length;
  }
  const length = body.length + text.length;
  const written = tags.some((count) => count !== 0) ? length * recipients.length : 0;
  return units + written <= MAX_CHEAP_UNITS;
}

/** A text without outputs and tags is its own result, so it may be long. */
function tagsOf(source: string): number | null {
  return source.includes("{{") || source.includes("{%") ? cheapTags(source) : 0;
}

/** Compiles subject, body and text, or returns the errors of all. */
export function compileSource(
  templates: TemplateCache,
  { source, given, isLenient }: RequestMails,
): { ok: true; compiled: CompiledSource } | { ok: false; errors: FieldError[] } {
  const subject = templates.compile(source.subject, "header");
  const body = templates.compile(source.body, "html");
  const text = source.text === undefined ? null : templates.compile(source.text, "text");
  const origin = { isLenient, isStored: false };
  if (!subject.ok || !body.ok || text?.ok === false) {
    return { ok: false, errors: templateErrors(source, origin) };
  }
  const isForeign =
    (given.subject && subject.template.foreign?.isLiteral === false) ||
    (given.body && body.template.foreign?.isLiteral === false) ||
    text?.template.foreign?.isLiteral === false;
  if (isForeign && !isLenient) {
    const own = {
      subject: given.subject ? source.subject : null,
      body: given.body ? source.body : null,
      text: source.text,
    };
    return { ok: false, errors: templateErrors(own, origin) };
  }
  const compiled = { subject: subject.template, body: body.template };
  return { ok: true, compiled: { ...compiled, text: text?.template ?? null } };
}

/** A template with more may take longer to compile than a few milliseconds. */
const MAX_QUICK = { units: 64 * 1024, tags: 300, code: 16 * 1024 };

/** Whether a template may take long to compile. */
export function isLargeTemplate(source: string): boolean {
  if (source.length > MAX_QUICK.units) return true;
  const { tags, code } = measureTemplate(source);
  return tags > MAX_QUICK.tags || code > MAX_QUICK.code;
}

/** `templateErrors` without those of large templates, which a thread finds. */
export function quickTemplateErrors(
  fields: Readonly<Record<string, unknown>>,
  { isLenient, isStored = true }: Pick<SourceOrigin, "isLenient"> & Partial<SourceOrigin>,
): FieldError[] {
  const quick = ["subject", "preheader", "body", "text"].filter((field) => {
    const source = fields[field];
    return typeof source === "string" && !isLargeTemplate(source);
  });
  const sources = Object.fromEntries(quick.map((field) => [field, fields[field]]));
  return templateErrors(sources, { isLenient, isStored });
}

/** The syntax errors of the fields; those that are not text are skipped. */
function templateErrors(
  { subject, preheader, body, text }: Readonly<Record<string, unknown>>,
  origin: SourceOrigin,
): FieldError[] {
  const html = { kind: "html", ...origin } as const;
  const header = { kind: "header", ...origin } as const;
  const plain = { kind: "text", ...origin } as const;
  return [
    ...(typeof subject === "string" ? checkTemplate(subject, "subject", header) : []),
    ...(typeof preheader === "string" ? checkTemplate(preheader, "preheader", html) : []),
    ...(typeof body === "string" ? checkTemplate(body, "body", html) : []),
    ...(typeof text === "string" ? checkTemplate(text, "text", plain) : []),
  ];
}

/**
 * Renders the mail of each recipient as it will be sent. All share one limit of time: after a mail for
 * which none was left it ends.
 */
export function* renderMails(
  compiled: CompiledSource,
  { project, recipients }: RequestMails,
  limitMs?: number,
): Generator<RenderedMail, void> {
  const budget = createRenderBudget(limitMs);
  const { subject, body, text } = compiled;
  const isStatic = [subject, body, text].every((each) => (each?.nodes ?? null) === null);
  for (const { id, email, data, links } of recipients) {
    const variables = isStatic
      ? {}
      : templateVariables({
          id,
          email,
          data: parseVariables(data),
          links,
          projectName: project.name,
          language: project.language,
        });
    const mail = renderMail(compiled, variables, budget);
    yield mail;
    if (mail.kind === "spent") return;
  }
}

export function parseVariables(text: string): Variables {
  const value: unknown = JSON.parse(text);
  return isVariables(value) ? value : {};
}

const isVariables = (value: unknown): value is Variables =>
  typeof value === "object" && value !== null;

function renderMail(
  { subject, body, text }: CompiledSource,
  variables: Variables,
  budget: RenderBudget,
): RenderedMail {
  const line = renderField(budget, "subject", subject, variables);
  if (!line.ok) return line.refusal;
  const fault = checkSubject(line.text);
  if (fault !== null) return { kind: "fault", fault: { field: "subject", ...fault } };
  const html = renderField(budget, "body", body, variables);
  if (!html.ok) return html.refusal;
  const own = text === null ? null : renderField(budget, "text", text, variables);
  if (own?.ok === false) return own.refusal;
  return { kind: "rendered", subject: line.text, html: html.text };
}

function renderField(
  budget: RenderBudget,
  field: RenderedField,
  template: Template,
  variables: Variables,
): { ok: true; text: string } | { ok: false; refusal: RenderedMail } {
  const result = budget.render(field, template, variables);
  if (result.ok) return result;
  const message = renderErrorMessage(result.reason);
  const fault: FieldError = { field: result.field, message, code: "invalid_value" };
  return { ok: false, refusal: { kind: budget.isSpent() ? "spent" : "fault", fault } };
}
