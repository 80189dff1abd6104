/** The operations of the API on deliveries: list and retry. */

import { and, eq } from "drizzle-orm";
import type { Db } from "../../db/open.ts";
import { events } from "../../db/schema/events.ts";
import { webhookDeliveries } from "../../db/schema/webhooks.ts";
import type { Change } from "../../db/writer.ts";
import type { Page } from "../../http/envelope.ts";
import { type ListPage, newestRows } from "../../http/pagination.ts";
import { type Clock, isoTime, isoTimeOrNull } from "../../lib/clock.ts";
import { AppError, notFound } from "../../lib/errors.ts";
import type { Delivery, DeliveryQuery } from "./model.ts";
import type { DeliveryRows } from "./rows.ts";
import type { WebhookRow } from "./webhook-rows.ts";

export type Deliveries = ReturnType<typeof createDeliveries>;

export function createDeliveries(deps: {
  db: Db;
  clock: Clock;
  listPage: ListPage;
  rows: DeliveryRows;
}) {
  const { db, clock, listPage, rows } = deps;
  const select = () =>
    db
      .select({
        seq: webhookDeliveries.seq,
        delivery: webhookDeliveries,
        eventId: events.id,
        eventName: events.name,
      })
      .from(webhookDeliveries)
      .innerJoin(events, eq(events.seq, webhookDeliveries.eventSeq));

  function get(webhookSeq: number, id: string): Row {
    const [row] = select()
      .where(and(eq(webhookDeliveries.id, id), eq(webhookDeliveries.webhookSeq, webhookSeq)))
      .limit(1)
      .all();
    if (row === undefined) throw notFound("DELIVERY");
    return row;
  }

  return {
    list: (webhook: WebhookRow, query: DeliveryQuery): Promise<Page<Delivery>> =>
      listPage(
        { scope: `${webhook.seq}:webhook-deliveries`, query },
        newestRows(db, {
          table: webhookDeliveries,
          filter: and(
            eq(webhookDeliveries.webhookSeq, webhook.seq),
            query.status === undefined ? undefined : eq(webhookDeliveries.status, query.status),
          ),
          select: select(),
        }),
        (rows) => rows.map(present),
      ),

    /** Makes a delivery due at once, even if it succeeded or failed; 409 if the webhook is disabled. */
    retry(webhook: WebhookRow, id: string): Change<Delivery> {
      return () => {
        const { seq } = get(webhook.seq, id);
        if (!webhook.isEnabled) throw disabled();
        rows.tryNow(seq, clock.now());
        return present(get(webhook.seq, id));
      };
    },
  };
}

type Row = {
  seq: number;
  delivery: typeof webhookDeliveries.$inferSelect;
  eventId: string;
  eventName: string;
};

function present({ delivery, eventId, eventName }: Row): Delivery {
  const { id, status, attempts, responseCode, responseExcerpt, error } = delivery;
  return {
    id,
    eventId,
    eventName,
    status,
    attempts,
    responseCode,
    responseExcerpt,
    error,
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
