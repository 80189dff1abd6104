/**
 * The events that a webhook got; each is one of our deliveries, and its id is the svix-id.
 *
 * GET  /webhooks/{id}/events
 * GET  /webhooks/{id}/events/{event}
 * POST /webhooks/{id}/events/{event}/replay
 * GET  /webhooks/{id}/events/{event}/attempts    the latest ten, newest first
 */

import { eq } from "drizzle-orm";
import type { App } from "../../core/app.ts";
import { webhookDeliveries } from "../../db/schema/webhooks.ts";
import { deliveryDetails, listedDelivery, retryDelivery } from "../webhooks/deliveries.ts";
import { webhookDispatcher } from "../webhooks/dispatcher.ts";
import type { Delivery, DeliveryDetails } from "../webhooks/model.ts";
import { type ResendCall, resendRoute, type ResendRoute } from "./call.ts";
import { pageOf, resendList, ResendPageQuery, resendRows } from "./pages.ts";
import { requireResendWebhook } from "./resend-webhooks.ts";
import { resendEventName } from "./webhook-event.ts";

export const resendDeliveryRoutes: readonly ResendRoute[] = [
  resendRoute(
    "GET /webhooks/:id/events",
    { role: "ADMIN", query: ResendPageQuery },
    (app, call) => {
      const { rows, hasMore } = resendRows(app, call.query, {
        table: webhookDeliveries,
        filter: eq(webhookDeliveries.webhookSeq, webhookOf(app, call).seq),
      });
      const found = rows.flatMap((row) => listedDelivery(app, row) ?? []);
      return resendList(found.map(shown), hasMore);
    },
  ),
  resendRoute("GET /webhooks/:id/events/:event", { role: "ADMIN" }, (app, call) => {
    const delivery = detailsOf(app, call);
    const payload: unknown = JSON.parse(delivery.request.body);
    const next_attempt_at = delivery.nextAttemptAt;
    return { object: "webhook_event", ...shown(delivery), next_attempt_at, payload };
  }),
  resendRoute(
    "POST /webhooks/:id/events/:event/replay",
    { role: "ADMIN", audit: ["retryWebhookDelivery", "webhook"] },
    (app, call) =>
      call.onceWithoutQuota(() => () => {
        const webhook = webhookOf(app, call);
        const { id } = retryDelivery(app, webhook, call.params["event"] ?? "");
        app.writer.afterCommit(() => webhookDispatcher(app).wake([webhook.seq]));
        return { status: 200, body: { object: "webhook_event", id } };
      }),
  ),
  resendRoute(
    "GET /webhooks/:id/events/:event/attempts",
    { role: "ADMIN", query: ResendPageQuery },
    (app, call) => pageOf(attemptsOf(detailsOf(app, call)), call.query),
  ),
];

type Asked = Pick<ResendCall, "project" | "params">;

const webhookOf = (app: App, { project, params }: Asked) =>
  requireResendWebhook(app, project.seq, params["id"] ?? "");

const detailsOf = (app: App, call: Asked): DeliveryDetails =>
  deliveryDetails(app, webhookOf(app, call), { id: call.params["event"] ?? "", role: "ADMIN" });

function shown({ id, eventName, createdAt, ...delivery }: Delivery) {
  const type = resendEventName(eventName) ?? eventName;
  return { id, type, created_at: createdAt, status: statusOf(delivery) };
}

function statusOf({ status, attempts }: Pick<Delivery, "status" | "attempts">): string {
  if (status === "PENDING") return attempts === 0 ? "pending" : "attempting";
  return status === "SUCCEEDED" ? "success" : "failed";
}

/** An attempt without a response has the status 0, and the reason in its place. */
function attemptsOf(delivery: DeliveryDetails) {
  const { id, attempts, lastAttemptAt, responseCode, responseExcerpt, error } = delivery;
  if (lastAttemptAt === null) return [];
  const latest = { at: lastAttemptAt, responseCode, text: responseExcerpt ?? error };
  const earlier = delivery.earlierAttempts.map((each) => ({ ...each, text: each.error }));
  return [latest, ...earlier.toReversed()].map((each, n) => ({
    id: `${id}-${attempts - n}`,
    http_status_code: each.responseCode ?? 0,
    response: each.text ?? "",
    sent_at: each.at,
  }));
}
