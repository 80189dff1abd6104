/**
 * GET    /webhooks/{id}/deliveries
 * POST   /webhooks/{id}/deliveries/retry                 retries all failed deliveries
 * GET    /webhooks/{id}/deliveries/{deliveryId}          includes the request
 * POST   /webhooks/{id}/deliveries/{deliveryId}/retry
 */

import { Elysia } from "elysia";
import type { Admission } from "../../http/admission.ts";
import { Envelope, envelope, IdParams, ListEnvelope, withErrors } from "../../http/envelope.ts";
import type { Deliveries } from "./deliveries.ts";
import {
  Delivery,
  DeliveryDetails,
  DeliveryParams,
  DeliveryQuery,
  RetriedDeliveries,
} from "./model.ts";
import { webhookOperations } from "./operations.ts";
import type { Webhooks } from "./service.ts";

export function deliveryRoutes(deps: {
  admission: Admission;
  webhooks: Webhooks;
  deliveries: Deliveries;
  /** Polls these webhooks soon. Called when they may have due deliveries. */
  wake: (webhookSeqs: readonly number[]) => void;
}) {
  const { admission, webhooks, deliveries, wake } = deps;
  return new Elysia({ name: "delivery-routes", prefix: "/webhooks/:id/deliveries" })
    .use(admission.secretKey)
    .get(
      "",
      async ({ project, params, query }) =>
        envelope(await deliveries.list(webhooks.get(project.seq, params.id), query)),
      {
        params: IdParams,
        query: DeliveryQuery,
        response: withErrors({ 200: ListEnvelope(Delivery) }),
        detail: webhookOperations.listWebhookDeliveries,
      },
    )
    .post(
      "/retry",
      async ({ project, params, storeWithoutQuota }) => {
        const webhook = webhooks.get(project.seq, params.id);
        const retried = await deliveries.retryFailed(webhook, storeWithoutQuota);
        wake([webhook.seq]);
        return envelope({ retried });
      },
      {
        params: IdParams,
        response: withErrors({ 200: Envelope(RetriedDeliveries) }),
        detail: webhookOperations.retryFailedWebhookDeliveries,
      },
    )
    .get(
      "/:deliveryId",
      ({ project, params }) =>
        envelope(deliveries.details(webhooks.get(project.seq, params.id), params.deliveryId)),
      {
        params: DeliveryParams,
        response: withErrors({ 200: Envelope(DeliveryDetails) }),
        detail: webhookOperations.getWebhookDelivery,
      },
    )
    .post(
      "/:deliveryId/retry",
      async ({ project, params, storeWithoutQuota }) => {
        const webhook = webhooks.get(project.seq, params.id);
        const delivery = await storeWithoutQuota(deliveries.retry(webhook, params.deliveryId));
        wake([webhook.seq]);
        return envelope(delivery);
      },
      {
        params: DeliveryParams,
        response: withErrors({ 200: Envelope(Delivery) }),
        detail: webhookOperations.retryWebhookDelivery,
      },
    );
}
