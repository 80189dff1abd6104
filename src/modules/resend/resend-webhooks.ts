/**
 * POST   /webhooks
 * GET    /webhooks
 * GET    /webhooks/{id}
 * PATCH  /webhooks/{id}
 * POST   /webhooks/{id}/signing-secret/rotate
 * DELETE /webhooks/{id}
 *
 * Their requests have the form of Resend (webhook-event.ts). Webhooks of our own form are not among them.
 */

import { type Static, Type } from "@sinclair/typebox";
import { and, eq, isNull } from "drizzle-orm";
import type { App } from "../../core/app.ts";
import { webhooks as webhookTable } from "../../db/schema/webhooks.ts";
import { BODY_LIMITS } from "../../http/body-limits.ts";
import { fieldErrors } from "../../http/validation.ts";
import { notFound, validationError } from "../../lib/errors.ts";
import { webhookDispatcher } from "../webhooks/dispatcher.ts";
import { type Webhook, webhookInputs } from "../webhooks/model.ts";
import {
  createWebhook,
  getWebhook,
  patchWebhook,
  presentWebhook,
  removeWebhook,
  rotateWebhookSecret,
  type WebhookRow,
} from "../webhooks/webhooks.ts";
import {
  Fields,
  Maybe,
  refuseOther,
  type ResendCall,
  resendRoute,
  type ResendRoute,
  withNames,
} from "./call.ts";
import { resendPage, ResendPageQuery } from "./pages.ts";
import { ensureResendEvents } from "./webhook-event.ts";

const Endpoint = Type.String({ minLength: 1, maxLength: 2048 });
const Events = Type.Array(Type.String(), { minItems: 1, maxItems: 100 });
const NewWebhook = Fields({ endpoint: Endpoint, events: Events });
const WebhookChange = Fields({
  endpoint: Maybe(Endpoint),
  events: Maybe(Events),
  status: Maybe(Type.Union([Type.Literal("enabled"), Type.Literal("disabled")])),
  /** The client in Python repeats what the path has. */
  webhook_id: Maybe(Type.String()),
});
type WebhookChange = Static<typeof WebhookChange>;

const NAMES = { url: "endpoint" };

export const resendWebhookRoutes: readonly ResendRoute[] = [
  resendRoute(
    "POST /webhooks",
    {
      role: "ADMIN",
      audit: ["createWebhook", "webhook"],
      body: NewWebhook,
      limit: BODY_LIMITS.settings,
    },
    (app, { project, body: { endpoint, events }, once }) =>
      once(async () => {
        ensureResendEvents(events);
        await ensureEndpoint(app, endpoint);
        return () => {
          const { id, secret } = createWebhook(app, project.seq, {
            url: endpoint,
            events,
            shape: "RESEND",
          });
          return {
            status: 201,
            body: { object: "webhook", id, signing_secret: secret },
            isSecret: true,
          };
        };
      }),
  ),
  resendRoute(
    "GET /webhooks",
    { role: "ADMIN", query: ResendPageQuery },
    (app, { project, query }) =>
      resendPage(app, query, {
        table: webhookTable,
        filter: and(
          eq(webhookTable.projectSeq, project.seq),
          eq(webhookTable.shape, "RESEND"),
          isNull(webhookTable.deletedAt),
        ),
        present: (row) => shown(presentWebhook(row)),
      }),
  ),
  resendRoute("GET /webhooks/:id", { role: "ADMIN" }, (app, { project, params: { id = "" } }) => ({
    object: "webhook",
    ...shown(presentWebhook(requireResendWebhook(app, project.seq, id))),
    // Only the answers that made it show the secret.
    signing_secret: null,
  })),
  resendRoute(
    "PATCH /webhooks/:id",
    {
      role: "ADMIN",
      audit: ["updateWebhook", "webhook"],
      body: WebhookChange,
      limit: BODY_LIMITS.settings,
    },
    changeWebhook,
  ),
  resendRoute(
    "POST /webhooks/:id/signing-secret/rotate",
    { role: "ADMIN", audit: ["rotateWebhookSecret", "webhook"] },
    (app, { project, params: { id = "" }, once }) =>
      once(() => () => {
        requireResendWebhook(app, project.seq, id);
        const { secret } = rotateWebhookSecret(app, project.seq, id);
        const body = { object: "webhook", id, signing_secret: secret };
        return { status: 200, body, isSecret: true };
      }),
  ),
  resendRoute(
    "DELETE /webhooks/:id",
    { role: "ADMIN", audit: ["deleteWebhook", "webhook"] },
    async (app, { project, params: { id = "" }, storeWithoutQuota }) => {
      await storeWithoutQuota(() => {
        requireResendWebhook(app, project.seq, id);
        removeWebhook(app, project.seq, id);
      });
      return { object: "webhook", id, deleted: true };
    },
  ),
];

export function requireResendWebhook(app: App, projectSeq: number, id: string): WebhookRow {
  const webhook = getWebhook(app, projectSeq, id);
  if (webhook.shape !== "RESEND") throw notFound("WEBHOOK");
  return webhook;
}

async function changeWebhook(app: App, call: ResendCall<WebhookChange>) {
  const { project, params, body, store } = call;
  const { id = "" } = params;
  const { endpoint, events, status } = body;
  refuseOther(body, { webhook_id: id });
  if (events) ensureResendEvents(events);
  if (endpoint) await ensureEndpoint(app, endpoint);
  await store(() => {
    requireResendWebhook(app, project.seq, id);
    const { seq } = patchWebhook(app, project.seq, id, {
      ...(endpoint ? { url: endpoint } : {}),
      ...(events ? { events } : {}),
      ...(status ? { enabled: status === "enabled" } : {}),
    });
    app.writer.afterCommit(() => webhookDispatcher(app).wake([seq]));
  });
  return { object: "webhook", id };
}

/** Throws 422 for an address that webhooks may not have. */
function ensureEndpoint(app: App, endpoint: string): Promise<void> {
  const { WebhookPatch } = webhookInputs(app.config.allowPrivateAddresses);
  return withNames(NAMES, () => {
    const errors = fieldErrors(WebhookPatch, { url: endpoint });
    if (errors.length > 0) throw validationError(errors);
  });
}

function shown({ id, url, events, enabled, createdAt }: Webhook) {
  const status = enabled ? "enabled" : "disabled";
  return { id, endpoint: url, created_at: createdAt, status, events };
}
