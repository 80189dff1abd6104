/** The operations of the API on deliveries: list, get, retry. */

import { and, eq } from "drizzle-orm";
import { webhookDeliveries } from "../../db/schema/webhooks.ts";
import { statement } from "../../db/statement.ts";
import { eventLog } from "../../events/log.ts";
import { newestPage } from "../../http/pagination.ts";
import { HIDDEN_VALUE, hostFor, seesSecrets, textFor } from "../../http/role-views.ts";
import type { Role } from "../../http/roles.ts";
import { presentEvent, readableEvent } from "../events/events.ts";
import type { Writer } from "../../db/writer.ts";
import type { Page } from "../../http/envelope.ts";
import { isoTime, isoTimeOrNull } from "../../lib/clock.ts";
import { AppError, notFound } from "../../lib/errors.ts";
import { bodyOf, headerPrefix } from "./attempt.ts";
import { earlierAttemptsOf } from "./earlier-attempts.ts";
import type { Delivery, DeliveryDetails, DeliveryQuery } from "./model.ts";
import type { WebhookRow } from "./webhooks.ts";
import type { App } from "../../core/app.ts";
import { tryDeliveryNow, tryFailedNow } from "./rows.ts";

/** Deliveries that one transaction makes due again, which takes about ten milliseconds. */
const SLICE = 500;

function getDelivery({ db }: App, webhookSeq: number, id: string): DeliveryRow {
  const row = db
    .select()
    .from(webhookDeliveries)
    .where(and(eq(webhookDeliveries.id, id), eq(webhookDeliveries.webhookSeq, webhookSeq)))
    .get();
  if (row === undefined) throw notFound("DELIVERY");
  return row;
}

export function listDeliveries(
  app: App,
  { seq, projectSeq }: WebhookRow,
  { status, ...query }: DeliveryQuery,
): Promise<Page<Delivery>> {
  return newestPage(
    app,
    { seq: projectSeq },
    {
      name: `${seq}:webhook-deliveries`,
      query,
      table: webhookDeliveries,
      filter: and(
        eq(webhookDeliveries.webhookSeq, seq),
        status === undefined ? undefined : eq(webhookDeliveries.status, status),
      ),
      present: (row) => listedDelivery(app, row),
    },
  );
}

const findEventOf = statement<{ id: string; name: string }, [number]>(
  "SELECT id, name FROM events WHERE seq = +?",
);

/** A delivery as a role sees it. A receiver may repeat the request in its response. */
export function readableDelivery<
  Shown extends { responseExcerpt: string | null; error: string | null },
>(role: Role | null, delivery: Shown): Shown {
  if (seesSecrets(role)) return delivery;
  const { responseExcerpt, error } = delivery;
  return {
    ...delivery,
    responseExcerpt: responseExcerpt === null ? null : HIDDEN_VALUE,
    error: error === null ? null : textFor(role, error),
  };
}

/** A delivery with its request, as a role sees it. */
export function deliveryDetails(
  app: App,
  webhook: WebhookRow,
  { id, role }: { id: string; role: Role | null },
): DeliveryDetails {
  const row = getDelivery(app, webhook.seq, id);
  const event = eventLog(app).find(row.eventSeq);
  if (event === null) throw notFound("DELIVERY");
  return {
    ...readableDelivery(role, present(app, row)),
    earlierAttempts: earlierAttemptsOf(row.earlierAttempts),
    request: {
      method: "POST",
      url: hostFor(role, webhook.url),
      headers: { "content-type": "application/json", [`${headerPrefix(webhook)}-id`]: id },
      body: readableBody(app, webhook, { event: presentEvent(event), role }),
    },
  };
}

/** In the form of Resend, the body has more of the mail than the event, so a viewer does not see it. */
function readableBody(
  app: App,
  webhook: WebhookRow,
  { event, role }: { event: ReturnType<typeof presentEvent>; role: Role | null },
): string {
  if (webhook.shape === "RESEND" && !seesSecrets(role)) return HIDDEN_VALUE;
  return bodyOf(app, webhook, readableEvent(role, event));
}

/** Makes a delivery due at once, even if it succeeded or failed; 409 if the webhook is disabled. */
export function retryDelivery(app: App, webhook: WebhookRow, id: string): Delivery {
  const { seq } = getDelivery(app, webhook.seq, id);
  if (!webhook.isEnabled) throw disabled();
  tryDeliveryNow(app, seq, app.clock.now());
  return present(app, getDelivery(app, webhook.seq, id));
}

/** Makes all failed deliveries due at once, in slices; returns their number. */
export async function retryFailedDeliveries(
  app: App,
  webhook: WebhookRow,
  storeWithoutQuota: Writer["write"],
): Promise<number> {
  if (!webhook.isEnabled) throw disabled();
  let retried = 0;
  // Deliveries that fail again meanwhile are before this position.
  let after = 0;
  for (;;) {
    const seqs = await storeWithoutQuota(() =>
      tryFailedNow(app, { webhook: webhook.seq, after, limit: SLICE, now: app.clock.now() }),
    );
    retried += seqs.length;
    if (seqs.length < SLICE) return retried;
    after = Math.max(...seqs);
  }
}

type DeliveryRow = typeof webhookDeliveries.$inferSelect;

/** Null if the event was deleted, and the delivery with it. */
export function listedDelivery(app: App, delivery: DeliveryRow): Delivery | null {
  const event = findEventOf(app).get(delivery.eventSeq);
  return event === null ? null : withEvent(delivery, event);
}

function present(app: App, delivery: DeliveryRow): Delivery {
  const shown = listedDelivery(app, delivery);
  if (shown === null) throw notFound("DELIVERY");
  return shown;
}

function withEvent(delivery: DeliveryRow, event: { id: string; name: string }): Delivery {
  const { id, status, attempts, responseCode, responseExcerpt, error, durationMs } = delivery;
  return {
    id,
    eventId: event.id,
    eventName: event.name,
    status,
    attempts,
    responseCode,
    responseExcerpt,
    error,
    durationMs,
    lastAttemptAt: isoTimeOrNull(delivery.lastAttemptAt),
    nextAttemptAt: isoTimeOrNull(delivery.nextAt),
    createdAt: isoTime(delivery.createdAt),
  };
}

function disabled(): AppError {
  return new AppError(409, "INVALID_STATE", "The webhook is disabled.", {
    suggestion:
      'Enable it first with PATCH and `"enabled": true`; pending deliveries are then sent.',
  });
}
