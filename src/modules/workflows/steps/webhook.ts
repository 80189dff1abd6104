/** The data for the request of a WEBHOOK step, and the meaning of its response. Pure. */

import type { FetchRefused } from "../../../protocols/fetch-guarded/refusal.ts";
import type { GuardedResponse } from "../../../protocols/fetch-guarded/exchange.ts";
import { isoTime } from "../../../lib/clock.ts";
import { isNestedDeeper } from "../../../lib/nesting.ts";
import { mergeVariables } from "../../../render/variables.ts";
import type { WebhookTemplates } from "../../../render/webhook-request.ts";
import { type JsonObject, parseData } from "../../contacts/data.ts";
import { type ContactRow, presentContact } from "../../contacts/service.ts";
import { isContextTooLarge, type Occurrence } from "../run/engine.ts";
import type { Step, WebhookMethod } from "../graph/graph.ts";
import { parseRetryAfter } from "../../../lib/backoff.ts";

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

/** Length of the excerpt of a response that is stored with the completed step. */
const EXCERPT_CHARACTERS = 1000;

/** The templates of the request of a step, and their data. */
export function webhookTemplates(
  { config }: WebhookStep,
  webhookContext: WebhookContext,
): WebhookTemplates & { method: WebhookMethod } {
  return {
    ...config,
    defaultBody: defaultBody(webhookContext),
    variables: variablesOf(webhookContext),
    id: `${webhookContext.execution.id}.${webhookContext.number}`,
  };
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
