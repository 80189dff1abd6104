/** The operations of the API on deliveries: list, get, retry. */

import { and, eq } from "drizzle-orm";
import type { Db } from "../../db/open.ts";
import { events } from "../../db/schema/events.ts";
import { webhookDeliveries } from "../../db/schema/webhooks.ts";
import type { CountedRows, SlicedCount } from "../../db/sliced-count.ts";
import type { Change, Writer } from "../../db/writer.ts";
import type { Page } from "../../http/envelope.ts";
import { type ListPage, newestRows } from "../../http/pagination.ts";
import { type Clock, isoTime, isoTimeOrNull } from "../../lib/clock.ts";
import { AppError, notFound } from "../../lib/errors.ts";
import type { Event } from "../events/model.ts";
import { bodyOf } from "./attempt.ts";
import { earlierAttemptsOf } from "./earlier-attempts.ts";
import type { Delivery, DeliveryDetails, DeliveryQuery } from "./model.ts";
import type { DeliveryRows } from "./rows.ts";
import type { WebhookRow } from "./webhook-rows.ts";

export type Deliveries = ReturnType<typeof createDeliveries>;

/** Deliveries that one transaction makes due again, which takes about ten milliseconds. */
const SLICE = 500;

export function createDeliveries(deps: {
  db: Db;
  clock: Clock;
  listPage: ListPage;
  rows: DeliveryRows;
  /** Null if the event was removed. */
  findEvent: (seq: number) => Event | null;
  count: SlicedCount;
}) {
  const { db, clock, listPage, rows, findEvent, count } = deps;
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

  /** A webhook that receives all events may have millions of deliveries. */
  function readerOf({ seq, projectSeq }: WebhookRow, { status }: DeliveryQuery) {
    const read = newestRows(db, {
      table: webhookDeliveries,
      filter: and(
        eq(webhookDeliveries.webhookSeq, seq),
        status === undefined ? undefined : eq(webhookDeliveries.status, status),
      ),
      select: select(),
      total: () => 0,
    });
    return async (request: Parameters<typeof read>[0]) => {
      const total = await count(projectSeq, countedRows(seq, status));
      return { ...read(request), total };
    };
  }

  return {
    list: (webhook: WebhookRow, query: DeliveryQuery): Promise<Page<Delivery>> =>
      listPage(
        { scope: `${webhook.seq}:webhook-deliveries`, query },
        readerOf(webhook, query),
        (found) => found.map(present),
      ),

    details(webhook: WebhookRow, id: string): DeliveryDetails {
      const row = get(webhook.seq, id);
      const event = findEvent(row.delivery.eventSeq);
      if (event === null) throw notFound("DELIVERY");
      return {
        ...present(row),
        earlierAttempts: earlierAttemptsOf(row.delivery.earlierAttempts),
        request: {
          method: "POST",
          url: webhook.url,
          headers: { "content-type": "application/json", "webhook-id": id },
          body: bodyOf(event),
        },
      };
    },

    /** Makes a delivery due at once, even if it succeeded or failed; 409 if the webhook is disabled. */
    retry(webhook: WebhookRow, id: string): Change<Delivery> {
      return () => {
        const { seq } = get(webhook.seq, id);
        if (!webhook.isEnabled) throw disabled();
        rows.tryNow(seq, clock.now());
        return present(get(webhook.seq, id));
      };
    },

    /** Makes all failed deliveries due at once, in slices; returns their number. */
    async retryFailed(webhook: WebhookRow, write: Writer["write"]): Promise<number> {
      if (!webhook.isEnabled) throw disabled();
      let retried = 0;
      // Deliveries that fail again meanwhile are before this position.
      let after = 0;
      for (;;) {
        const seqs = await write(() =>
          rows.tryFailedNow({ webhook: webhook.seq, after, limit: SLICE, now: clock.now() }),
        );
        retried += seqs.length;
        if (seqs.length < SLICE) return retried;
        after = Math.max(...seqs);
      }
    },
  };
}

function countedRows(webhookSeq: number, status: DeliveryQuery["status"]): CountedRows {
  const table = "webhook_deliveries INDEXED BY";
  if (status === undefined) {
    const from = `${table} webhook_deliveries_page WHERE webhook_seq = +?`;
    return { from, values: [webhookSeq] };
  }
  const from = `${table} webhook_deliveries_status WHERE webhook_seq = +? AND status = +?`;
  return { from, values: [webhookSeq, status] };
}

type Row = {
  seq: number;
  delivery: typeof webhookDeliveries.$inferSelect;
  eventId: string;
  eventName: string;
};

function present({ delivery, eventId, eventName }: Row): Delivery {
  const { id, status, attempts, responseCode, responseExcerpt, error, durationMs } = delivery;
  return {
    id,
    eventId,
    eventName,
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
