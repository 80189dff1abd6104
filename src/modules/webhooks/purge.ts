/**
 * Removes deliveries to webhooks: old ones of any status, and all deliveries of a deleted webhook,
 * followed by the webhook itself.
 */

import type { App } from "../../core/app.ts";
import { statement } from "../../db/statement.ts";
import { releaseNextOf } from "./rows.ts";

type Row = {
  seq: number;
  webhookSeq: number;
  contactSeq: number | null;
  isHolding: number;
  createdAt: number;
};

const PAGE = 100;

const findDeleted = statement<{ seq: number }, []>(
  "SELECT seq FROM webhooks WHERE deleted_at IS NOT NULL ORDER BY seq LIMIT 1",
);

const findOfWebhook = statement<{ seq: number }, [number, number]>(
  "SELECT seq FROM webhook_deliveries WHERE webhook_seq = +? LIMIT +?",
);

const findOldest = statement<Row, [number]>(`
    SELECT seq, webhook_seq AS webhookSeq, contact_seq AS contactSeq, is_holding AS isHolding,
           created_at AS createdAt
    FROM webhook_deliveries ORDER BY seq LIMIT +?`);

const drop = statement<unknown, [number]>("DELETE FROM webhook_deliveries WHERE seq = +?");

const dropWebhook = statement<unknown, [number]>("DELETE FROM webhooks WHERE seq = +?");

/** True once no deleted webhook is left. */
function purgeDeleted(app: Pick<App, "db">, hasTime: () => boolean): boolean {
  for (let found = findDeleted(app).get(); found !== null; found = findDeleted(app).get()) {
    const deliveries = findOfWebhook(app).all(found.seq, PAGE);
    for (const { seq } of deliveries) {
      if (!hasTime()) return false;
      drop(app).run(seq);
    }
    if (deliveries.length < PAGE) dropWebhook(app).run(found.seq);
  }
  return true;
}

export function purgeDeliveries(
  app: Pick<App, "db">,
  before: number,
  hasTime: () => boolean,
): boolean {
  if (!purgeDeleted(app, hasTime)) return true;
  while (hasTime()) {
    const rows = findOldest(app).all(PAGE);
    for (const { seq, webhookSeq, contactSeq, isHolding, createdAt } of rows) {
      if (createdAt >= before) return false;
      if (!hasTime()) return true;
      drop(app).run(seq);
      if (isHolding === 1) releaseNextOf(app, webhookSeq, contactSeq, before);
    }
    if (rows.length < PAGE) return false;
  }
  return true;
}

const find = statement<{ yes: number }, [number]>(`
    SELECT 1 AS yes FROM webhook_deliveries
    WHERE event_seq = +? AND status = 'PENDING' LIMIT 1`);

/** Whether an event still has to be delivered to a webhook. */
export function hasPendingDelivery(app: Pick<App, "db">, eventSeq: number): boolean {
  return find(app).get(eventSeq) !== null;
}
