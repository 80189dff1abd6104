import { type Static, Type } from "@sinclair/typebox";
import { DELIVERY_STATUSES, DISABLED_REASONS } from "../../db/schema/webhooks.ts";
import { Nullable } from "../../http/envelope.ts";
import { PageQuery } from "../../http/pagination.ts";
import { Input, OneOf, withChecks } from "../../http/validation.ts";
import type { FieldError } from "../../lib/errors.ts";
import { urlFault } from "../../protocols/fetch-guarded/refusal.ts";
import { objectToTarget } from "../../protocols/fetch-guarded/target.ts";

const Time = Type.String({ format: "date-time" });

/** The members of a webhook (docs/interface.md#workflows). */
const members = {
  id: Type.String(),
  url: Type.String(),
  events: Type.Array(Type.String()),
  enabled: Type.Boolean(),
  description: Nullable(Type.String()),
  disabledReason: Nullable(OneOf(DISABLED_REASONS)),
  failingSince: Nullable(Time),
  createdAt: Time,
  updatedAt: Time,
};
export const Webhook = Type.Object(members);
export type Webhook = Static<typeof Webhook>;

export const WebhookWithSecret = Type.Object({
  ...members,
  secret: Type.String({ description: "whsec_ and base64; shown only in this response" }),
});
export type WebhookWithSecret = Static<typeof WebhookWithSecret>;

const fields = Input({
  url: Type.String({ minLength: 1, maxLength: 2048, description: "http or https" }),
  events: Type.Array(Type.String({ minLength: 1, maxLength: 255, format: "event-pattern" }), {
    minItems: 1,
    maxItems: 100,
    description: "Names of events, or prefixes that end in *, such as email.*",
  }),
  enabled: Type.Optional(Type.Boolean({ description: "Default true" })),
  description: Type.Optional(Nullable(Type.String({ maxLength: 1000 }))),
});
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
    WebhookInput: withChecks(fields, urlErrors),
    WebhookPatch: withChecks(someFields, urlErrors),
  };
}

export const Delivery = Type.Object({
  id: Type.String({ description: "The webhook-id of the requests, the same in every try" }),
  eventId: Type.String(),
  eventName: Type.String(),
  status: OneOf(DELIVERY_STATUSES),
  attempts: Type.Integer(),
  responseCode: Nullable(Type.Integer()),
  responseExcerpt: Nullable(Type.String()),
  error: Nullable(Type.String({ description: "Why the latest try failed" })),
  lastAttemptAt: Nullable(Time),
  nextAttemptAt: Nullable(
    Type.String({
      format: "date-time",
      description: "null while it waits for an earlier event of the same contact",
    }),
  ),
  createdAt: Time,
});
export type Delivery = Static<typeof Delivery>;

export const DeliveryQuery = Input({
  ...PageQuery.properties,
  status: Type.Optional(OneOf(DELIVERY_STATUSES)),
});
export type DeliveryQuery = Static<typeof DeliveryQuery>;

export const DeliveryParams = Type.Object({ id: Type.String(), deliveryId: Type.String() });

/** The result of a test message. */
export const TestResult = Type.Object({
  delivered: Type.Boolean({ description: "The receiver answered 2xx" }),
  webhookId: Type.String({ description: "The webhook-id of the message" }),
  responseCode: Nullable(Type.Integer()),
  responseExcerpt: Nullable(Type.String()),
  error: Nullable(Type.String()),
  durationMs: Type.Integer(),
});
export type TestResult = Static<typeof TestResult>;
