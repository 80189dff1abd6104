/** Texts of the operations on webhooks for the OpenAPI document. */

import { describeOperations } from "../../http/documented.ts";

const id = "/data/id";

export const webhookOperations = describeOperations(
  { tag: "Webhooks", id: "Id of the webhook" },
  {
    listWebhooks: {
      role: "VIEWER",
      summary: "List webhooks",
      description: "All webhooks of the project, newest first, without their secrets.",
    },
    createWebhook: {
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
    },
    getWebhook: {
      role: "VIEWER",
      summary: "Get a webhook",
      description: "The webhook without its secret.",
    },
    updateWebhook: {
      role: "ADMIN",
      summary: "Update a webhook; enabling it resumes its pending deliveries",
      description: "Changes the given fields.",
    },
    deleteWebhook: {
      role: "ADMIN",
      summary: "Delete a webhook",
      description: "Its deliveries are deleted with it.",
    },
    rotateWebhookSecret: {
      role: "ADMIN",
      summary: "Create a new secret; the old one also signs for 24 hours",
      description: "The new secret is shown once. Needs no body.",
      needsConfirmation: true,
      isIdempotent: true,
    },
    testWebhook: {
      role: "ADMIN",
      isAudited: false,
      summary: "Send a webhook.test event and return its result",
      description: "Nothing is stored, and nothing is tried again. Needs no body.",
    },
    listWebhookDeliveries: {
      role: "VIEWER",
      summary: "List the deliveries of the last 30 days",
      description: "Deliveries that match the filter, newest first.",
    },
    getWebhookDelivery: {
      role: "VIEWER",
      summary: "Get a delivery with its request",
      description: "The delivery with the response to its latest try, and the request.",
      parameters: { deliveryId: "Id of the delivery" },
    },
    retryFailedWebhookDeliveries: {
      role: "ADMIN",
      summary: "Retry all failed deliveries at once",
      description:
        "Answers with their number. The deliveries of a disabled webhook are refused with 409. " +
        "Needs no body.",
    },
    retryWebhookDelivery: {
      role: "ADMIN",
      summary: "Retry a delivery at once",
      description: "A delivery of a disabled webhook is refused with 409. Needs no body.",
      parameters: { deliveryId: "Id of the delivery" },
    },
  },
);
