/** Requests and responses of webhooks. */

import { type Static, Type } from "@sinclair/typebox";
import { DELIVERY_STATUSES, DISABLED_REASONS, WEBHOOK_SHAPES } from "../../db/schema/webhooks.ts";
import { described, describedUse, named } from "../../http/documented.ts";
import { Nullable } from "../../http/envelope.ts";
import { EXAMPLE } from "../../http/example-values.ts";
import { PageQuery } from "../../http/pagination.ts";
import { Input, OneOf, withChecks } from "../../http/validation.ts";
import type { FieldError } from "../../lib/errors.ts";
import { urlFault } from "../../protocols/fetch-guarded/refusal.ts";
import { objectToTarget } from "../../protocols/fetch-guarded/target.ts";

const Time = Type.String({ format: "date-time" });

/** Descriptions of the fields that callers set. */
const FIELD_TEXTS = {
  url: "Address of the receiver, http or https",
  events: "Names of events, or prefixes that end in *, such as email.*",
  enabled: "Whether events are delivered; default true",
  description: "Note about the webhook",
} as const;

const EXAMPLE_FIELDS = { url: "https://acme.example/hooks/mail", events: ["email.*"] };
const EXAMPLE_WEBHOOK = {
  id: EXAMPLE.webhookId,
  ...EXAMPLE_FIELDS,
  shape: "MAILSTEAD",
  enabled: true,
  description: null,
  disabledReason: null,
  failingSince: null,
  createdAt: EXAMPLE.createdAt,
  updatedAt: EXAMPLE.updatedAt,
};

/** The members of a webhook (docs/interface.md#workflows). */
const members = described(
  Type.Object({
    id: Type.String(),
    url: Type.String(),
    events: Type.Array(Type.String()),
    shape: OneOf(WEBHOOK_SHAPES),
    enabled: Type.Boolean(),
    description: Nullable(Type.String()),
    disabledReason: Nullable(OneOf(DISABLED_REASONS)),
    failingSince: Nullable(Time),
    createdAt: Time,
    updatedAt: Time,
  }),
  {
    id: "Id of the webhook",
    ...FIELD_TEXTS,
    shape: "The form of its requests: RESEND for a webhook that a client of Resend created",
    disabledReason: "Why the service disabled the webhook; null if it did not",
    failingSince: "When the first failure after the latest success happened; null if there is none",
    createdAt: "When the webhook was created",
    updatedAt: "When the webhook was changed last",
  },
);
export const Webhook = named("Webhook", members, {
  description: "A URL to which events are delivered",
  example: EXAMPLE_WEBHOOK,
});
export type Webhook = Static<typeof Webhook>;

export const WebhookWithSecret = named(
  "WebhookWithSecret",
  Type.Object({
    ...members.properties,
    secret: Type.String({ description: "whsec_ and base64; shown only in this response" }),
  }),
  {
    description: "A webhook with the secret that signs its requests",
    example: { ...EXAMPLE_WEBHOOK, secret: "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD" },
  },
);
export type WebhookWithSecret = Static<typeof WebhookWithSecret>;

const fields = described(
  Input({
    url: Type.String({ minLength: 1, maxLength: 2048 }),
    events: Type.Array(Type.String({ minLength: 1, maxLength: 255, format: "event-pattern" }), {
      minItems: 1,
      maxItems: 100,
    }),
    enabled: Type.Optional(Type.Boolean()),
    description: Type.Optional(Nullable(Type.String({ maxLength: 1000 }))),
  }),
  FIELD_TEXTS,
);
const someFields = Type.Partial(fields);
export type WebhookInput = Static<typeof fields>;
export type WebhookPatch = Static<typeof someFields>;

/** The schemas of input. A setting decides whether URLs may have private addresses. */
export function webhookInputs(allowPrivateAddresses: boolean) {
  function urlErrors({ url }: Readonly<Record<string, unknown>>): FieldError[] {
    if (typeof url !== "string" || url === "") return [];
    const refusal = objectToTarget(url, { allowPrivateAddresses });
    if (refusal === null) return [];
    const code = refusal.reason === "invalid_url" ? "invalid_format" : "invalid_value";
    return [{ field: "url", message: urlFault(refusal.reason), code }];
  }
  return {
    WebhookInput: named("WebhookInput", withChecks(fields, urlErrors), {
      description: "A webhook to create",
      example: EXAMPLE_FIELDS,
    }),
    WebhookPatch: named("WebhookPatch", withChecks(someFields, urlErrors), {
      description: "Changes of a webhook; omitted fields stay as they are",
      example: { enabled: false },
    }),
  };
}

const DeliveryStatus = named("WebhookDeliveryStatus", OneOf(DELIVERY_STATUSES), {
  description:
    "PENDING: will be tried; SUCCEEDED: the receiver answered 2xx; FAILED: will not be tried again",
});

const deliveryFields = described(
  Type.Object({
    id: Type.String(),
    eventId: Type.String(),
    eventName: Type.String(),
    status: DeliveryStatus,
    attempts: Type.Integer(),
    responseCode: Nullable(Type.Integer()),
    responseExcerpt: Nullable(Type.String()),
    error: Nullable(Type.String()),
    durationMs: Nullable(Type.Integer()),
    lastAttemptAt: Nullable(Time),
    nextAttemptAt: Nullable(Time),
    createdAt: Time,
  }),
  {
    id: "The webhook-id of the requests, the same in every try",
    eventId: "Id of the event",
    eventName: "Name of the event",
    status: "Whether the event was delivered, or will be tried again",
    attempts: "Number of tries",
    responseCode: "Status of the latest response; null without one",
    responseExcerpt: "Beginning of the latest response; null without one",
    error: "Why the latest try failed",
    durationMs: "Duration of the latest try in milliseconds; null before the first",
    lastAttemptAt: "When the latest try was made; null before the first",
    nextAttemptAt: "null while it waits for an earlier event of the same contact",
    createdAt: "When the delivery was created",
  },
);

const EXAMPLE_DELIVERY = {
  id: EXAMPLE.deliveryId,
  eventId: EXAMPLE.eventId,
  eventName: "email.sent",
  status: "SUCCEEDED",
  attempts: 1,
  responseCode: 200,
  responseExcerpt: "ok",
  error: null,
  durationMs: 35,
  lastAttemptAt: EXAMPLE.updatedAt,
  nextAttemptAt: null,
  createdAt: EXAMPLE.createdAt,
};

export const Delivery = named("WebhookDelivery", deliveryFields, {
  description: "One event for one webhook, with its tries",
  example: EXAMPLE_DELIVERY,
});
export type Delivery = Static<typeof Delivery>;

const WebhookRequest = named(
  "WebhookRequest",
  described(
    Type.Object({
      method: Type.Literal("POST"),
      url: Type.String(),
      headers: Type.Record(Type.String(), Type.String()),
      body: Type.String(),
    }),
    {
      method: "Always POST",
      url: "The present address of the webhook",
      headers: "The headers that are the same in every try, so without the signature and its time",
      body: "JSON with the type, the time and the event as it is now",
    },
  ),
  { description: "The request of a delivery, as the next try sends it" },
);

const EarlierAttempt = named(
  "EarlierWebhookAttempt",
  described(
    Type.Object({
      at: Time,
      durationMs: Nullable(Type.Integer()),
      responseCode: Nullable(Type.Integer()),
      error: Nullable(Type.String()),
    }),
    {
      at: "When the try ended",
      durationMs: "Its duration in milliseconds; null if it is not known",
      responseCode: "Status of the response; null without one",
      error: "Why it failed; null if the receiver answered 2xx",
    },
  ),
  { description: "A try of a delivery before the latest one" },
);

export const DeliveryDetails = named(
  "WebhookDeliveryDetails",
  Type.Object({
    ...deliveryFields.properties,
    earlierAttempts: Type.Array(EarlierAttempt, {
      description: "The tries before the latest one, oldest first, at most the last nine of them",
    }),
    request: describedUse(WebhookRequest, "The request, as the next try sends it"),
  }),
  {
    description: "A delivery with its earlier tries and its request",
    example: {
      ...EXAMPLE_DELIVERY,
      earlierAttempts: [],
      request: {
        method: "POST",
        url: EXAMPLE_FIELDS.url,
        headers: { "content-type": "application/json", "webhook-id": EXAMPLE.deliveryId },
        body: JSON.stringify({ type: "email.sent", timestamp: EXAMPLE.createdAt, data: {} }),
      },
    },
  },
);
export type DeliveryDetails = Static<typeof DeliveryDetails>;

export const RetriedDeliveries = named(
  "RetriedWebhookDeliveries",
  described(Type.Object({ retried: Type.Integer() }), {
    retried: "Number of deliveries that are tried again",
  }),
  { description: "The result of retrying all failed deliveries", example: { retried: 3 } },
);

export const WebhookQuery = Input({
  ...PageQuery.properties,
  url: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      description: "Only webhooks whose address contains this text; case matters beyond ASCII",
    }),
  ),
});
export type WebhookQuery = Static<typeof WebhookQuery>;

export const DeliveryQuery = Input({
  ...PageQuery.properties,
  status: Type.Optional(describedUse(DeliveryStatus, "Only deliveries of this status")),
});
export type DeliveryQuery = Static<typeof DeliveryQuery>;

/** The result of a test message. */
export const TestResult = named(
  "WebhookTest",
  described(
    Type.Object({
      delivered: Type.Boolean(),
      webhookId: Type.String(),
      responseCode: Nullable(Type.Integer()),
      responseExcerpt: Nullable(Type.String()),
      error: Nullable(Type.String()),
      durationMs: Type.Integer(),
    }),
    {
      delivered: "Whether the receiver answered 2xx",
      webhookId: "The webhook-id of the message",
      responseCode: "Status of the response; null without one",
      responseExcerpt: "Beginning of the response; null without one",
      error: "Why the message was not delivered; null if it was",
      durationMs: "Duration of the call in milliseconds",
    },
  ),
  {
    description: "The result of a test message",
    example: {
      delivered: true,
      webhookId: EXAMPLE.deliveryId,
      responseCode: 200,
      responseExcerpt: "ok",
      error: null,
      durationMs: 35,
    },
  },
);
export type TestResult = Static<typeof TestResult>;
