/** Makes one try of a delivery: signs the event, sends it and reads the response. */

import type { GuardedResponse } from "../../protocols/fetch-guarded/exchange.ts";
import { FetchRefused } from "../../protocols/fetch-guarded/refusal.ts";
import type { Event } from "../events/model.ts";
import { parseRetryAfter } from "../../lib/backoff.ts";
import { resendEvent } from "../resend/webhook-event.ts";
import {
  type HeaderPrefix,
  signedHeaders,
  signingKeysOf,
  type StoredSecrets,
  UnreadableSecretError,
} from "./secrets.ts";
import type { CachedWebhook } from "./webhooks.ts";
import type { App } from "../../core/app.ts";
import { statement } from "../../db/statement.ts";

/** The fields of a webhook that its requests depend on. */
type Receiver = Pick<CachedWebhook, "seq" | "projectSeq" | "url" | "shape">;

/** A message to one webhook. `id` is its `webhook-id`, the same in every try. */
type Message = { id: string; webhook: Receiver; event: Event };

export type Attempted = {
  isDelivered: boolean;
  /** True after a 410 response: the receiver asks to be disabled (Standard Webhooks). */
  isGone: boolean;
  responseCode: number | null;
  responseExcerpt: string | null;
  error: string | null;
  retryAfterMs: number | null;
};

const EXCERPT_CHARACTERS = 500;

const findSecrets = statement<StoredSecrets, [number]>(`
    SELECT secret, previous_secret AS previousSecret, previous_until AS previousUntil
    FROM webhooks WHERE seq = +?`);

function headersOf(app: App, id: string, webhook: Receiver, body: string): Record<string, string> {
  const stored = findSecrets(app).get(webhook.seq);
  if (stored === null) throw new UnreadableSecretError();
  const now = app.clock.now();
  return {
    "content-type": "application/json",
    ...signedHeaders(
      { id, body, prefix: headerPrefix(webhook) },
      signingKeysOf(app, stored, now),
      now,
    ),
  };
}

/** Resolves to null if the caller aborted the try, which says nothing about the receiver. */
export async function attemptDelivery(
  app: App,
  { id, webhook, event }: Message,
  signal?: AbortSignal,
): Promise<Attempted | null> {
  const body = bodyOf(app, webhook, event);
  try {
    const headers = headersOf(app, id, webhook, body);
    const request = { method: "POST", headers, body, ...(signal !== undefined && { signal }) };
    return read(await app.fetchGuarded(webhook.url, request), app.clock.now());
  } catch (error) {
    if (error instanceof UnreadableSecretError) return withoutResponse(error.message);
    if (!(error instanceof FetchRefused)) throw error;
    return error.reason === "aborted" ? null : withoutResponse(error.message);
  }
}

/** The body of the requests with an event. */
export function bodyOf(
  app: App,
  { shape, projectSeq }: Pick<Receiver, "shape" | "projectSeq">,
  event: Event,
): string {
  if (shape === "RESEND") return JSON.stringify(resendEvent(app, projectSeq, event));
  return JSON.stringify({ type: event.name, timestamp: event.createdAt, data: event });
}

export const headerPrefix = ({ shape }: Pick<Receiver, "shape">): HeaderPrefix =>
  shape === "RESEND" ? "svix" : "webhook";

function read({ status, headers, body }: GuardedResponse, now: number): Attempted {
  const isDelivered = status >= 200 && status < 300;
  return {
    isDelivered,
    isGone: status === 410,
    responseCode: status,
    responseExcerpt: excerptOf(body),
    error: isDelivered ? null : `The receiver answered ${status}.`,
    retryAfterMs: parseRetryAfter(headers.get("retry-after"), now),
  };
}

function withoutResponse(error: string): Attempted {
  return {
    isDelivered: false,
    isGone: false,
    responseCode: null,
    responseExcerpt: null,
    error,
    retryAfterMs: null,
  };
}

// oxlint-disable-next-line no-control-regex
const CONTROLS = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]/g;

/** The beginning of the body as text; null if it is empty. */
function excerptOf(body: Uint8Array): string | null {
  const bytes = body.subarray(0, 4 * EXCERPT_CHARACTERS);
  const text = new TextDecoder().decode(bytes).replace(CONTROLS, "\ufffd");
  return text === "" ? null : text.slice(0, EXCERPT_CHARACTERS);
}
