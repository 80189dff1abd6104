/**
 * GET    /webhooks
 * POST   /webhooks                                       shows the secret once
 * GET    /webhooks/{id}
 * PATCH  /webhooks/{id}
 * DELETE /webhooks/{id}
 * POST   /webhooks/{id}/rotate-secret                    shows the new secret once
 * POST   /webhooks/{id}/test                             sends a message and returns its result
 *
 * The routes of deliveries are in delivery-routes.ts.
 */

import { Elysia, status } from "elysia";
import type { Admission } from "../../http/admission.ts";
import { BODY_LIMITS, limited } from "../../http/body-limits.ts";
import {
  Envelope,
  envelope,
  IdParams,
  ListEnvelope,
  NoContent,
  withErrors,
} from "../../http/envelope.ts";
import { ensureChecks } from "../../http/validation.ts";
import { TestResult, Webhook, webhookInputs, WebhookQuery, WebhookWithSecret } from "./model.ts";
import { webhookOperations } from "./operations.ts";
import { presentWebhook, type Webhooks } from "./service.ts";
import type { SendTest } from "./send-test.ts";

export function webhookRoutes(deps: {
  admission: Admission;
  webhooks: Webhooks;
  sendTest: SendTest;
  /** Polls these webhooks soon. Called when they may have due deliveries. */
  wake: (webhookSeqs: readonly number[]) => void;
  allowPrivateAddresses: boolean;
}) {
  const { admission, webhooks, sendTest, wake } = deps;
  const { WebhookInput, WebhookPatch } = webhookInputs(deps.allowPrivateAddresses);

  return new Elysia({ name: "webhook-routes", prefix: "/webhooks" })
    .use(admission.secretKey)
    .get("", async ({ project, query }) => envelope(await webhooks.list(project.seq, query)), {
      query: WebhookQuery,
      response: withErrors({ 200: ListEnvelope(Webhook) }),
      detail: webhookOperations.listWebhooks,
    })
    .post(
      "",
      ({ project, body, once }) =>
        once(() => {
          ensureChecks(WebhookInput, body);
          const create = webhooks.create(project.seq, body);
          return () => ({ status: 201, body: envelope(create()), isSecret: true });
        }),
      {
        body: limited(WebhookInput, BODY_LIMITS.settings),
        response: withErrors({ 201: Envelope(WebhookWithSecret) }),
        detail: webhookOperations.createWebhook,
      },
    )
    .get(
      "/:id",
      ({ project, params }) => envelope(presentWebhook(webhooks.get(project.seq, params.id))),
      {
        params: IdParams,
        response: withErrors({ 200: Envelope(Webhook) }),
        detail: webhookOperations.getWebhook,
      },
    )
    .patch(
      "/:id",
      async ({ project, params, body, store }) => {
        ensureChecks(WebhookPatch, body);
        const webhook = await store(webhooks.patch(project.seq, params.id, body));
        wake([webhook.seq]);
        return envelope(presentWebhook(webhook));
      },
      {
        params: IdParams,
        body: limited(WebhookPatch, BODY_LIMITS.settings),
        response: withErrors({ 200: Envelope(Webhook) }),
        detail: webhookOperations.updateWebhook,
      },
    )
    .delete(
      "/:id",
      async ({ project, params, storeWithoutQuota }) => {
        await storeWithoutQuota(webhooks.remove(project.seq, params.id));
        return status(204, undefined);
      },
      {
        params: IdParams,
        response: withErrors({ 204: NoContent }),
        detail: webhookOperations.deleteWebhook,
      },
    )
    .post(
      "/:id/rotate-secret",
      ({ project, params, once }) =>
        once(() => {
          const rotate = webhooks.rotateSecret(project.seq, params.id);
          return () => ({ status: 200, body: envelope(rotate()), isSecret: true });
        }),
      {
        params: IdParams,
        response: withErrors({ 200: Envelope(WebhookWithSecret) }),
        detail: webhookOperations.rotateWebhookSecret,
      },
    )
    .post(
      "/:id/test",
      async ({ project, params }) => envelope(await sendTest(webhooks.get(project.seq, params.id))),
      {
        params: IdParams,
        response: withErrors({ 200: Envelope(TestResult) }),
        detail: webhookOperations.testWebhook,
      },
    );
}
