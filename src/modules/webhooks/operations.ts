/** The operations of the API on webhooks and their deliveries. */

import type { App } from "../../core/app.ts";
import { BODY_LIMITS, limited } from "../../http/body-limits.ts";
import { Envelope, ListEnvelope, NoContent } from "../../http/envelope.ts";
import { operations, read, write } from "../../http/operations.ts";
import {
  deliveryDetails,
  readableDelivery,
  listDeliveries,
  retryDelivery,
  retryFailedDeliveries,
} from "./deliveries.ts";
import { webhookDispatcher } from "./dispatcher.ts";
import {
  Delivery,
  DeliveryDetails,
  DeliveryQuery,
  RetriedDeliveries,
  TestResult,
  Webhook,
  webhookInputs,
  WebhookQuery,
  WebhookWithSecret,
} from "./model.ts";
import { sendTest } from "./send-test.ts";
import {
  createWebhook,
  getWebhook,
  listWebhooks,
  patchWebhook,
  presentWebhook,
  readableWebhook,
  removeWebhook,
  rotateWebhookSecret,
  type WebhookRow,
} from "./webhooks.ts";

const id = "/data/id";

export function webhookOperations(app: App) {
  const { WebhookInput, WebhookPatch } = webhookInputs(app.config.allowPrivateAddresses);
  const parameters = { id: "Id of the webhook", deliveryId: "Id of the delivery" };

  return operations("Webhooks", { parameters }, [
    read("GET /webhooks", {
      id: "listWebhooks",
      role: "VIEWER",
      scopes: ["READ"],
      summary: "List webhooks",
      description: "All webhooks of the project, newest first, without their secrets.",
      query: WebhookQuery,
      answer: ListEnvelope(Webhook),
      run: (app, { project, role, query }) =>
        listWebhooks(app, { projectSeq: project.seq, role }, query),
    }),
    write("POST /webhooks", {
      id: "createWebhook",
      role: "ADMIN",
      summary: "Create a webhook; the secret is shown once",
      description:
        "Requests to the URL are signed with the secret according to Standard Webhooks. Only " +
        "events recorded from now on are delivered.",
      isIdempotent: true,
      needsConfirmation: true,
      links: {
        getWebhook: { id },
        updateWebhook: { id },
        deleteWebhook: { id },
        testWebhook: { id },
        rotateWebhookSecret: { id },
        listWebhookDeliveries: { id },
      },
      body: limited(WebhookInput, BODY_LIMITS.settings),
      answer: Envelope(WebhookWithSecret),
      status: 201,
      isSecret: true,
      run: (app, { project, body }) => createWebhook(app, project.seq, body),
    }),
    read("GET /webhooks/:id", {
      id: "getWebhook",
      role: "VIEWER",
      scopes: ["READ"],
      summary: "Get a webhook",
      description: "The webhook without its secret.",
      answer: Envelope(Webhook),
      run: (app, { project, role, params }) =>
        readableWebhook(role, presentWebhook(getWebhook(app, project.seq, params.id))),
    }),
    write("PATCH /webhooks/:id", {
      id: "updateWebhook",
      role: "ADMIN",
      summary: "Update a webhook; enabling it resumes its pending deliveries",
      description: "Changes the given fields.",
      body: limited(WebhookPatch, BODY_LIMITS.settings),
      answer: Envelope(Webhook),
      run(app, { project, params, body }) {
        const webhook = patchWebhook(app, project.seq, params.id, body);
        wakeAfterCommit(app, webhook);
        return presentWebhook(webhook);
      },
    }),
    write("DELETE /webhooks/:id", {
      id: "deleteWebhook",
      role: "ADMIN",
      summary: "Delete a webhook",
      description: "Its deliveries are deleted with it.",
      isWithinQuota: false,
      answer: NoContent,
      run: (app, { project, params }) => removeWebhook(app, project.seq, params.id),
    }),
    write("POST /webhooks/:id/rotate-secret", {
      id: "rotateWebhookSecret",
      role: "ADMIN",
      summary: "Create a new secret; the old one also signs for 24 hours",
      description: "The new secret is shown once. Needs no body.",
      needsConfirmation: true,
      isIdempotent: true,
      answer: Envelope(WebhookWithSecret),
      isSecret: true,
      run: (app, { project, params }) => rotateWebhookSecret(app, project.seq, params.id),
    }),
    read("POST /webhooks/:id/test", {
      id: "testWebhook",
      role: "ADMIN",
      isAudited: false,
      summary: "Send a webhook.test event and return its result",
      description: "Nothing is stored, and nothing is tried again. Needs no body.",
      answer: Envelope(TestResult),
      run: (app, { project, params }) => sendTest(app, getWebhook(app, project.seq, params.id)),
    }),
    read("GET /webhooks/:id/deliveries", {
      id: "listWebhookDeliveries",
      role: "VIEWER",
      scopes: ["READ"],
      summary: "List the deliveries of the last 30 days",
      description: "Deliveries that match the filter, newest first.",
      query: DeliveryQuery,
      answer: ListEnvelope(Delivery),
      async run(app, { project, role, params, query }) {
        const webhook = getWebhook(app, project.seq, params.id);
        const { items, ...page } = await listDeliveries(app, webhook, query);
        return { ...page, items: items.map((delivery) => readableDelivery(role, delivery)) };
      },
    }),
    read("POST /webhooks/:id/deliveries/retry", {
      id: "retryFailedWebhookDeliveries",
      role: "ADMIN",
      summary: "Retry all failed deliveries at once",
      description:
        "Answers with their number. The deliveries of a disabled webhook are refused with 409. " +
        "Needs no body.",
      answer: Envelope(RetriedDeliveries),
      async run(app, { project, params }, storeWithoutQuota) {
        const webhook = getWebhook(app, project.seq, params.id);
        const retried = await retryFailedDeliveries(app, webhook, storeWithoutQuota);
        webhookDispatcher(app).wake([webhook.seq]);
        return { retried };
      },
    }),
    read("GET /webhooks/:id/deliveries/:deliveryId", {
      id: "getWebhookDelivery",
      role: "VIEWER",
      scopes: ["READ"],
      summary: "Get a delivery with its request",
      description: "The delivery with the response to its latest try, and the request.",
      answer: Envelope(DeliveryDetails),
      run(app, { project, role, params }) {
        const webhook = getWebhook(app, project.seq, params.id);
        return deliveryDetails(app, webhook, { id: params.deliveryId, role });
      },
    }),
    write("POST /webhooks/:id/deliveries/:deliveryId/retry", {
      id: "retryWebhookDelivery",
      role: "ADMIN",
      summary: "Retry a delivery at once",
      description: "A delivery of a disabled webhook is refused with 409. Needs no body.",
      isWithinQuota: false,
      answer: Envelope(Delivery),
      run(app, { project, params }) {
        const webhook = getWebhook(app, project.seq, params.id);
        wakeAfterCommit(app, webhook);
        return retryDelivery(app, webhook, params.deliveryId);
      },
    }),
  ]);
}

function wakeAfterCommit(app: App, { seq }: WebhookRow): void {
  app.writer.afterCommit(() => webhookDispatcher(app).wake([seq]));
}
