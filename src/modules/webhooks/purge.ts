/**
 * Removes deliveries to webhooks: old ones of any status, and all deliveries of a deleted webhook,
 * followed by the webhook itself.
 */

import type { Db } from "../../db/open.ts";
import { createDeliveryRows } from "./rows.ts";
import type { Purge } from "../../db/purge.ts";

type Row = {
  seq: number;
  webhookSeq: number;
  contactSeq: number | null;
  isHolding: number;
  createdAt: number;
};

const PAGE = 100;

export function createDeliveryPurge(db: Db): Purge {
  const { sqlite } = db;
  const { release } = createDeliveryRows(db);
  const findDeleted = sqlite.prepare<{ seq: number }, []>(
    "SELECT seq FROM webhooks WHERE deleted_at IS NOT NULL ORDER BY seq LIMIT 1",
  );
  const findOfWebhook = sqlite.prepare<{ seq: number }, [number, number]>(
    "SELECT seq FROM webhook_deliveries WHERE webhook_seq = +? LIMIT +?",
  );
  const findOldest = sqlite.prepare<Row, [number]>(`
    SELECT seq, webhook_seq AS webhookSeq, contact_seq AS contactSeq, is_holding AS isHolding,
           created_at AS createdAt
    FROM webhook_deliveries ORDER BY seq LIMIT +?`);
  const drop = sqlite.prepare<unknown, [number]>("DELETE FROM webhook_deliveries WHERE seq = ?");
  const dropWebhook = sqlite.prepare<unknown, [number]>("DELETE FROM webhooks WHERE seq = ?");

  /** True once no deleted webhook is left. */
  function purgeDeleted(hasTime: () => boolean): boolean {
    for (let found = findDeleted.get(); found !== null; found = findDeleted.get()) {
      const deliveries = findOfWebhook.all(found.seq, PAGE);
      for (const { seq } of deliveries) {
        if (!hasTime()) return false;
        drop.run(seq);
      }
      if (deliveries.length < PAGE) dropWebhook.run(found.seq);
    }
    return true;
  }

  return (before, hasTime) => {
    if (!purgeDeleted(hasTime)) return true;
    while (hasTime()) {
      const rows = findOldest.all(PAGE);
      for (const { seq, webhookSeq, contactSeq, isHolding, createdAt } of rows) {
        if (createdAt >= before) return false;
        if (!hasTime()) return true;
        drop.run(seq);
        if (isHolding === 1) release(webhookSeq, contactSeq, before);
      }
      if (rows.length < PAGE) return false;
    }
    return true;
  };
}

/** Returns a function that tells whether an event still has to be delivered to a webhook. */
export function createPendingCheck({ sqlite }: Db): (eventSeq: number) => boolean {
  const find = sqlite.prepare<{ yes: number }, [number]>(`
    SELECT 1 AS yes FROM webhook_deliveries
    WHERE event_seq = +? AND status = 'PENDING' LIMIT 1`);
  return (eventSeq) => find.get(eventSeq) !== null;
}
