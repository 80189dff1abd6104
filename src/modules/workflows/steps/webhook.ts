/** Builds the request of a WEBHOOK step and interprets its response. Pure but for the template cache. */

import { isRecord } from "../../../http/validation.ts";
import type { FetchRefused } from "../../../protocols/fetch-guarded/refusal.ts";
import type { GuardedResponse } from "../../../protocols/fetch-guarded/exchange.ts";
import { isoTime } from "../../../lib/clock.ts";
import { isNestedDeeper } from "../../../lib/nesting.ts";
import {
  render,
  renderJson,
  renderUrl,
  type Template,
  type TemplateKind,
} from "../../../render/template/template.ts";
import type { TemplateCache } from "../../../render/template/cache.ts";
import { mergeVariables } from "../../../render/variables.ts";
import { type JsonObject, parseData } from "../../contacts/data.ts";
import { type ContactRow, presentContact } from "../../contacts/service.ts";
import { isContextTooLarge, type Occurrence } from "../run/engine.ts";
import type { Step, WebhookMethod } from "../graph/graph.ts";
import { parseRetryAfter } from "../../../lib/backoff.ts";
import { buildUrl } from "./webhook-url.ts";

type WebhookStep = Extract<Step, { type: "WEBHOOK" }>;

/** The data that the templates of a WEBHOOK step can use. */
export type WebhookContext = {
  workflow: { id: string; name: string };
  execution: { id: string; startedAt: number };
  contact: ContactRow;
  /** The latest event of the execution; null if it was started through the API and had none. */
  event: { id: string; name: string; data: JsonObject | null; createdAt: number } | null;
  context: JsonObject;
  /** The number of the step within the execution, from 1. */
  number: number;
};

export type WebhookRequest = {
  url: string;
  method: WebhookMethod;
  headers: Record<string, string>;
  body?: string;
};

/** Length of the excerpt of a response that is stored with the completed step. */
const EXCERPT_CHARACTERS = 1000;

const NO_BODY = "The body cannot be rendered";

class TemplateError extends Error {}

type FilledJson = { text: string; only: { value: unknown } | null };
type Fill = { text: (source: string) => string; json: (source: string) => FilledJson };

/**
 * Returns the request, or the reason why it cannot be built. `webhook-id` and `Idempotency-Key` name the
 * step of the execution and are the same in every attempt, so that receivers can detect a retry.
 */
export function requestOf(
  { config }: WebhookStep,
  webhookContext: WebhookContext,
  templates: TemplateCache,
): WebhookRequest | string {
  const variables = variablesOf(webhookContext);
  const compiled = (source: string, what: string, kind: TemplateKind): Template => {
    const made = templates.compile(source, kind);
    if (!made.ok) throw new TemplateError(`${what}: ${made.message}`);
    return made.template;
  };
  const fill = (source: string, what: string, kind: TemplateKind = "text"): string => {
    const rendered = render(compiled(source, what, kind), variables);
    if (!rendered.ok) throw new TemplateError(`${what}: ${rendered.reason}`);
    return rendered.text;
  };
  const fillJson = (source: string, what: string): FilledJson => {
    const rendered = renderJson(compiled(source, what, "json"), variables);
    if (!rendered.ok) throw new TemplateError(`${what}: ${rendered.reason}`);
    return rendered;
  };
  const fillUrl = (source: string, what: string): string => {
    const rendered = renderUrl(compiled(source, what, "url"), variables);
    if (!rendered.ok) throw new TemplateError(`${what}: ${rendered.reason}`);
    const built = buildUrl(rendered.parts);
    if (!built.ok) throw new TemplateError(built.reason);
    return built.url;
  };
  try {
    const body = bodyOf(config, webhookContext, {
      text: (source) => fill(source, NO_BODY),
      json: (source) => fillJson(source, NO_BODY),
    });
    const own = Object.entries(config.headers ?? {}).map(([name, value]) => [
      name.toLowerCase(),
      fill(value, `The header ${name} cannot be rendered`, "header"),
    ]);
    const id = `${webhookContext.execution.id}.${webhookContext.number}`;
    return {
      url: fillUrl(config.url, "The URL cannot be rendered"),
      method: config.method,
      headers: {
        "idempotency-key": id,
        ...(body === null ? {} : { "content-type": body.type }),
        ...Object.fromEntries(own),
        "webhook-id": id,
      },
      ...(body === null ? {} : { body: body.text }),
    };
  } catch (error) {
    if (error instanceof TemplateError) return error.message;
    throw error;
  }
}

function bodyOf(
  { method, body, headers }: WebhookStep["config"],
  webhookContext: WebhookContext,
  fill: Fill,
): { text: string; type: string } | null {
  if (method === "GET") return null;
  if (body === undefined) {
    if (method === "DELETE") return null;
    return { text: JSON.stringify(defaultBody(webhookContext)), type: "application/json" };
  }
  if (typeof body !== "string") {
    return { text: JSON.stringify(renderStrings(body, fill)), type: "application/json" };
  }
  return textBody(body, contentTypeIn(headers), fill);
}

/**
 * A body that is one string. It is filled as JSON if a header says that it is JSON, or if it begins
 * like an object or an array of JSON and the result is JSON.
 */
function textBody(
  source: string,
  contentType: string | null,
  fill: Fill,
): { text: string; type: string } {
  const isJson = contentType !== null && /[/+]json\b/i.test(contentType);
  if (isJson || (contentType === null && /^\s*(?:\{(?![{%])|\[)/.test(source))) {
    const { text, only } = fill.json(source);
    // A value that is a document of JSON as text is sent as that document.
    const document = typeof only?.value === "string" ? documentIn(only.value) : null;
    if (isJson || parsedJson(text) !== undefined) {
      return { text: document ?? text, type: "application/json" };
    }
  }
  const text = fill.text(source);
  const type = parsedJson(text) !== undefined ? "application/json" : "text/plain; charset=utf-8";
  return { text, type };
}

function contentTypeIn(headers: WebhookStep["config"]["headers"]): string | null {
  const found = Object.entries(headers ?? {}).find(
    ([name]) => name.toLowerCase() === "content-type",
  );
  return found?.[1] ?? null;
}

/** The text if it is an object or an array of JSON; otherwise null. */
function documentIn(text: string): string | null {
  const value = parsedJson(text);
  return typeof value === "object" && value !== null ? text : null;
}

/**
 * Renders every string in a JSON value. A string that is one output and nothing else becomes the value
 * of the output, with its type. The recursion is bounded: requests nest at most 100 levels.
 */
function renderStrings(value: unknown, fill: Fill): unknown {
  if (typeof value === "string") {
    const { only } = fill.json(value);
    return only === null || only.value === undefined ? fill.text(value) : only.value;
  }
  if (Array.isArray(value)) return value.map((item) => renderStrings(item, fill));
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, renderStrings(item, fill)]),
  );
}

/** The body of a step without a configured body. */
function defaultBody({ workflow, execution, contact, event, context }: WebhookContext) {
  return {
    workflow,
    execution: { id: execution.id, startedAt: isoTime(execution.startedAt), context },
    contact: presentContact(contact),
    event: event === null ? null : { ...event, createdAt: isoTime(event.createdAt) },
  };
}

/**
 * The variables of templates: the contact's data, overlaid by the context, as in mails; and the
 * members of the default body.
 */
function variablesOf(webhookContext: WebhookContext): JsonObject {
  const { contact, context } = webhookContext;
  const { id, email } = contact;
  const data = mergeVariables(parseData(contact.data), context);
  const names = { id, email, plunk_id: id, plunk_email: email };
  return mergeVariables(data, { data, ...names, context, ...defaultBody(webhookContext) });
}

/** Returns undefined if the text is not JSON. */
function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * A 2xx response completes the step, and its JSON becomes `webhook` in the context; a response
 * without JSON removes the `webhook` of an earlier step. After 408,
 * 429 and 5xx the call is retried. Any other status fails the step (docs/interface.md#workflows).
 */
export function occurrenceOfResponse(
  response: GuardedResponse,
  { context, now, random }: { context: JsonObject; now: number; random: number },
): Occurrence {
  const { status } = response;
  const text = new TextDecoder().decode(response.body);
  const detail = { status, body: text.slice(0, EXCERPT_CHARACTERS) };
  if (status >= 200 && status < 300) {
    const addition = additionOf(response, text, context);
    if (addition.kind === "added") {
      return done({ outcome: "COMPLETED", detail, addToContext: { webhook: addition.json } });
    }
    const why = addition.reason === null ? {} : { isLeftOut: true, reason: addition.reason };
    return done({
      outcome: "COMPLETED",
      detail: { ...detail, ...why },
      removeFromContext: "webhook",
    });
  }
  const error = `The receiver answered ${status}.`;
  if (status === 408 || status === 429 || status >= 500) {
    const retryAfterMs = parseRetryAfter(response.headers.get("retry-after"), now);
    return { kind: "callFailed", reason: error, retryAfterMs, random };
  }
  return done({ outcome: "FAILED", detail, error });
}

/** The result of a request without a response. */
export function occurrenceOfRefusal(refusal: FetchRefused, random: number): Occurrence {
  if (refusal.isTemporary) {
    return { kind: "callFailed", reason: refusal.message, retryAfterMs: null, random };
  }
  return done({ outcome: "FAILED", error: refusal.message, detail: { reason: refusal.reason } });
}

type ContextAddition =
  { kind: "added"; json: unknown } | { kind: "omitted"; reason: string | null };

/**
 * Decides whether the JSON of a response is added to the context. `reason` is null if the response
 * is empty.
 */
function additionOf(response: GuardedResponse, text: string, context: JsonObject): ContextAddition {
  const isDeclared = /\bjson\b/i.test(response.headers.get("content-type") ?? "");
  if (!isDeclared && text === "") return omitted(null);
  if (!isDeclared) return omitted("The content type of the response is not JSON.");
  if (response.isTruncated) return omitted("The response is longer than 64 KiB.");
  const json = parsedJson(text);
  if (json === undefined) return omitted("The response is not JSON.");
  if (isNestedDeeper(json)) return omitted("The response is nested too deeply.");
  if (isContextTooLarge({ ...context, webhook: json })) {
    return omitted("The response is too large for the context.");
  }
  return { kind: "added", json };
}

function omitted(reason: string | null): ContextAddition {
  return { kind: "omitted", reason };
}

function done(result: Extract<Occurrence, { kind: "done" }>["result"]): Occurrence {
  return { kind: "done", result };
}
