/** What a WEBHOOK step asks, and what becomes of the answer. Pure but for the templates' cache. */

import { isRecord } from "../../http/validation.ts";
import type { FetchRefused } from "../../lib/fetch-guarded/refusal.ts";
import type { GuardedResponse } from "../../lib/fetch-guarded/exchange.ts";
import { isoTime } from "../../lib/clock.ts";
import { isNestedDeeper } from "../../lib/nesting.ts";
import { render } from "../../mail/template.ts";
import type { TemplateCache } from "../../mail/template-cache.ts";
import { type JsonObject, parseData } from "../contacts/data.ts";
import { type ContactRow, presentContact } from "../contacts/service.ts";
import { isContextTooLarge, type Occurrence } from "./engine.ts";
import type { Step, WebhookMethod } from "./graph.ts";
import { retryAfter } from "./times.ts";

export type WebhookStep = Extract<Step, { type: "WEBHOOK" }>;

/** What a webhook is told about. */
export type Situation = {
  workflow: { id: string; name: string };
  execution: { id: string; startedAt: number };
  contact: ContactRow;
  /** The latest event that the execution met; null for one that was started by hand. */
  event: { id: string; name: string; data: JsonObject | null; createdAt: number } | null;
  context: JsonObject;
  /** Which of the execution's steps this is, from 1. */
  number: number;
};

export type WebhookRequest = {
  url: string;
  method: WebhookMethod;
  headers: Record<string, string>;
  body?: string;
};

/** Of an answer, what the completed step shows. */
const EXCERPT_CHARACTERS = 1000;

class TemplateError extends Error {}

/**
 * The request. `webhook-id` and `Idempotency-Key` name the step of the execution: every try has the
 * same, so that receivers can tell a repetition. A sentence where it cannot be made.
 */
export function requestOf(
  { config }: WebhookStep,
  situation: Situation,
  templates: TemplateCache,
): WebhookRequest | string {
  const variables = variablesOf(situation);
  const fill = (source: string, what: string): string => {
    const compiled = templates.compile(source, "text");
    if (!compiled.ok) throw new TemplateError(`${what}: ${compiled.message}`);
    const rendered = render(compiled.template, variables);
    if (!rendered.ok) throw new TemplateError(`${what}: ${rendered.reason}`);
    return rendered.text;
  };
  try {
    const body = bodyOf(config, situation, (source) => fill(source, "The body cannot be rendered"));
    const own = Object.entries(config.headers ?? {}).map(([name, value]) => [
      name.toLowerCase(),
      fill(value, `The header ${name} cannot be rendered`),
    ]);
    const id = `${situation.execution.id}.${situation.number}`;
    return {
      url: fill(config.url, "The URL cannot be rendered").trim(),
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
    return { text: JSON.stringify(told(situation)), type: "application/json" };
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

/** Every text in a JSON value, rendered. Requests nest at most a hundred levels deep. */
function filled(value: unknown, fill: (source: string) => string): unknown {
  if (typeof value === "string") return fill(value);
  if (Array.isArray(value)) return value.map((item) => filled(item, fill));
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, filled(item, fill)]),
  );
}

/** The body where the step has none of its own. */
function told({ workflow, execution, contact, event, context }: Situation) {
  return {
    workflow,
    execution: { id: execution.id, startedAt: isoTime(execution.startedAt), context },
    contact: presentContact(contact),
    event: event === null ? null : { ...event, createdAt: isoTime(event.createdAt) },
  };
}

/** As in mails: the contact's data with the context over it; besides, what the body tells. */
function variablesOf(situation: Situation): JsonObject {
  const { contact, context } = situation;
  const data = { ...parseData(contact.data), ...context };
  return { ...data, data, id: contact.id, email: contact.email, context, ...told(situation) };
}

/** Undefined where it is not JSON. */
function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * 2xx: done; JSON that was answered joins the context as `webhook`. 408, 429, 5xx: to be tried
 * again. Anything else: failed.
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

/** The same where there was no answer. */
export function judgeRefusal(refusal: FetchRefused, random: number): Occurrence {
  if (refusal.isTemporary) {
    return { kind: "unanswered", reason: refusal.message, retryAfterMs: null, random };
  }
  return done({ outcome: "FAILED", error: refusal.message, detail: { reason: refusal.reason } });
}

type Joining = { kind: "joins"; answer: unknown } | { kind: "left out"; reason: string | null };

/** What of an answer joins the context; `reason` where it was meant to and cannot. */
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
