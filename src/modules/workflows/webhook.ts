/** The request of a WEBHOOK step, and the result of its response. Pure except for the template cache. */

import { isRecord } from "../../http/validation.ts";
import type { FetchRefused } from "../../lib/fetch-guarded/refusal.ts";
import type { GuardedResponse } from "../../lib/fetch-guarded/exchange.ts";
import { isoTime } from "../../lib/clock.ts";
import { isNestedDeeper } from "../../lib/nesting.ts";
import { render, renderUrl, type Template, type TemplateKind } from "../../mail/template.ts";
import type { TemplateCache } from "../../mail/template-cache.ts";
import { overlaid } from "../../mail/variables.ts";
import { type JsonObject, parseData } from "../contacts/data.ts";
import { type ContactRow, presentContact } from "../contacts/service.ts";
import { isContextTooLarge, type Occurrence } from "./engine.ts";
import type { Step, WebhookMethod } from "./graph.ts";
import { retryAfter } from "./times.ts";
import { buildUrl } from "./webhook-url.ts";

export type WebhookStep = Extract<Step, { type: "WEBHOOK" }>;

/** The data that a webhook can name and send. */
export type Situation = {
  workflow: { id: string; name: string };
  execution: { id: string; startedAt: number };
  contact: ContactRow;
  /** The latest event of the execution; null for one that was started through the API. */
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

/** Length of the part of a response that the completed step shows. */
const EXCERPT_CHARACTERS = 1000;

class TemplateError extends Error {}

/**
 * The request, or a sentence where it cannot be made. `webhook-id` and `Idempotency-Key` name the
 * step of the execution and are the same in every attempt, so that receivers can detect a retry.
 */
export function requestOf(
  { config }: WebhookStep,
  situation: Situation,
  templates: TemplateCache,
): WebhookRequest | string {
  const variables = variablesOf(situation);
  const compiled = (source: string, what: string, kind: TemplateKind): Template => {
    const made = templates.compile(source, kind);
    if (!made.ok) throw new TemplateError(`${what}: ${made.message}`);
    return made.template;
  };
  const fill = (source: string, what: string): string => {
    const rendered = render(compiled(source, what, "text"), variables);
    if (!rendered.ok) throw new TemplateError(`${what}: ${rendered.reason}`);
    return rendered.text;
  };
  const fillUrl = (source: string, what: string): string => {
    const rendered = renderUrl(compiled(source, what, "url"), variables);
    if (!rendered.ok) throw new TemplateError(`${what}: ${rendered.reason}`);
    const built = buildUrl(rendered.parts);
    if (!built.ok) throw new TemplateError(built.reason);
    return built.url;
  };
  try {
    const body = bodyOf(config, situation, (source) => fill(source, "The body cannot be rendered"));
    const own = Object.entries(config.headers ?? {}).map(([name, value]) => [
      name.toLowerCase(),
      fill(value, `The header ${name} cannot be rendered`),
    ]);
    const id = `${situation.execution.id}.${situation.number}`;
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
  { method, body }: WebhookStep["config"],
  situation: Situation,
  fill: (source: string) => string,
): { text: string; type: string } | null {
  if (method === "GET") return null;
  if (body === undefined) {
    if (method === "DELETE") return null;
    return { text: JSON.stringify(defaultBody(situation)), type: "application/json" };
  }
  if (typeof body !== "string") {
    return { text: JSON.stringify(filled(body, fill)), type: "application/json" };
  }
  const text = fill(body);
  return {
    text,
    type: parsedJson(text) !== undefined ? "application/json" : "text/plain; charset=utf-8",
  };
}

/** A JSON value with every text rendered. Requests nest at most a hundred levels deep. */
function filled(value: unknown, fill: (source: string) => string): unknown {
  if (typeof value === "string") return fill(value);
  if (Array.isArray(value)) return value.map((item) => filled(item, fill));
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, filled(item, fill)]),
  );
}

/** The body of a step without a body of its own. */
function defaultBody({ workflow, execution, contact, event, context }: Situation) {
  return {
    workflow,
    execution: { id: execution.id, startedAt: isoTime(execution.startedAt), context },
    contact: presentContact(contact),
    event: event === null ? null : { ...event, createdAt: isoTime(event.createdAt) },
  };
}

/** As in mails, the contact's data with the context over it; also the values of the default body. */
function variablesOf(situation: Situation): JsonObject {
  const { contact, context } = situation;
  const { id, email } = contact;
  const data = overlaid(parseData(contact.data), context);
  const names = { id, email, plunk_id: id, plunk_email: email };
  return overlaid(data, { data, ...names, context, ...defaultBody(situation) });
}

/** Undefined for text that is not JSON. */
function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * 2xx completes the step, and a JSON response joins the context as `webhook`. 408, 429 and 5xx are
 * retried. Any other status fails the step.
 */
export function judgeAnswer(
  response: GuardedResponse,
  { context, now, random }: { context: JsonObject; now: number; random: number },
): Occurrence {
  const { status } = response;
  const text = new TextDecoder().decode(response.body);
  const detail = { status, body: text.slice(0, EXCERPT_CHARACTERS) };
  if (status >= 200 && status < 300) {
    const joining = joinsOf(response, text, context);
    if (joining.kind === "joins") {
      return done({ outcome: "COMPLETED", detail, joins: { webhook: joining.answer } });
    }
    const why = joining.reason === null ? {} : { isLeftOut: true, reason: joining.reason };
    return done({ outcome: "COMPLETED", detail: { ...detail, ...why } });
  }
  const error = `The receiver answered ${status}.`;
  if (status === 408 || status === 429 || status >= 500) {
    const retryAfterMs = retryAfter(response.headers.get("retry-after"), now);
    return { kind: "unanswered", reason: error, retryAfterMs, random };
  }
  return done({ outcome: "FAILED", detail, error });
}

/** The result of a request without a response. */
export function judgeRefusal(refusal: FetchRefused, random: number): Occurrence {
  if (refusal.isTemporary) {
    return { kind: "unanswered", reason: refusal.message, retryAfterMs: null, random };
  }
  return done({ outcome: "FAILED", error: refusal.message, detail: { reason: refusal.reason } });
}

type Joining = { kind: "joins"; answer: unknown } | { kind: "left out"; reason: string | null };

/** The JSON of a response that joins the context; `reason` where JSON was declared and cannot join. */
function joinsOf(response: GuardedResponse, text: string, context: JsonObject): Joining {
  const isDeclared = /\bjson\b/i.test(response.headers.get("content-type") ?? "");
  if (!isDeclared) return leftOut(null);
  if (response.isTruncated) return leftOut("The answer is longer than 64 KiB.");
  const answer = parsedJson(text);
  if (answer === undefined) return leftOut("The answer is not JSON.");
  if (isNestedDeeper(answer)) return leftOut("The answer is nested too deeply.");
  if (isContextTooLarge({ ...context, webhook: answer })) {
    return leftOut("The answer is too large for the context.");
  }
  return { kind: "joins", answer };
}

function leftOut(reason: string | null): Joining {
  return { kind: "left out", reason };
}

function done(result: Extract<Occurrence, { kind: "done" }>["result"]): Occurrence {
  return { kind: "done", result };
}
