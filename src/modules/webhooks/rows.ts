/**
 * Rows of deliveries, and how they change; each function is part of a change. Where a contact has
 * several for a webhook, the first is due and holds the others, until it is settled or has used its
 * first tries: then the next one is due.
 */

import type { Db } from "../../db/open.ts";
import type { DELIVERY_STATUSES } from "../../db/schema/webhooks.ts";
import type { DueShift } from "../../lib/steady-clock.ts";
import { HOLDING_TRIES } from "./schedule.ts";

export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** A due delivery. It is settled only if the row still has this number of attempts. */
export type Due = {
  seq: number;
  id: string;
  webhookSeq: number;
  eventSeq: number;
  contactSeq: number | null;
  attempts: number;
  isHolding: number;
};

export type NewDelivery = {
  id: string;
  webhookSeq: number;
  eventSeq: number;
  contactSeq: number | null;
  now: number;
};

/** How a try ended for its row. */
export type Settled = {
  status: DeliveryStatus;
  /** Of the next try; null where there is none. */
  nextAt: number | null;
  responseCode: number | null;
  responseExcerpt: string | null;
  error: string | null;
  now: number;
};

export type DeliveryRows = ReturnType<typeof createDeliveryRows>;

export function createDeliveryRows({ sqlite }: Pick<Db, "sqlite">) {
  const insert = sqlite.prepare<unknown, [NewDelivery]>(`
    INSERT INTO webhook_deliveries
      (id, webhook_seq, event_seq, contact_seq, status, next_at, is_holding, created_at)
    SELECT $id, $webhookSeq, $eventSeq, $contactSeq, 'PENDING',
           CASE WHEN EXISTS (SELECT 1 FROM webhook_deliveries
                             WHERE webhook_seq = +$webhookSeq AND contact_seq = +$contactSeq
                               AND is_holding = 1)
                THEN NULL ELSE $now END,
           $contactSeq IS NOT NULL, $now
    WHERE true
    ON CONFLICT (event_seq, webhook_seq) DO NOTHING`);
  const findDue = sqlite.prepare<Due, [number, number, number]>(`
    SELECT seq, id, webhook_seq AS webhookSeq, event_seq AS eventSeq, contact_seq AS contactSeq,
           attempts, is_holding AS isHolding
    FROM webhook_deliveries
    WHERE webhook_seq = +? AND next_at IS NOT NULL AND next_at <= +?
    ORDER BY next_at, seq LIMIT +?`);
  const findNext = sqlite.prepare<{ at: number | null }, [number, number]>(`
    SELECT min(next_at) AS at FROM webhook_deliveries
    WHERE webhook_seq = +? AND next_at IS NOT NULL AND next_at > +?`);
  const findLane = sqlite.prepare<{ seq: number | null }, [number]>(`
    SELECT min(webhook_seq) AS seq FROM webhook_deliveries
    WHERE webhook_seq > +? AND next_at IS NOT NULL`);
  const update = sqlite.prepare<{ seq: number }, [Omit<Settled, "now"> & UpdateRest]>(`
    UPDATE webhook_deliveries
    SET status = $status, attempts = $attempts + 1, next_at = $nextAt, is_holding = $isHolding,
        last_attempt_at = $now, response_code = $responseCode,
        response_excerpt = $responseExcerpt, error = $error
    WHERE seq = +$seq AND status = 'PENDING' AND attempts = +$attempts
    RETURNING seq`);
  const releaseNext = sqlite.prepare<unknown, [{ webhook: number; contact: number; now: number }]>(`
    UPDATE webhook_deliveries SET next_at = $now
    WHERE seq = (SELECT min(seq) FROM webhook_deliveries
                 WHERE webhook_seq = +$webhook AND contact_seq = +$contact AND is_holding = 1)
      AND next_at IS NULL`);
  const setDue = sqlite.prepare<unknown, [number, number]>(`
    UPDATE webhook_deliveries SET status = 'PENDING', next_at = ?
    WHERE seq = +? AND (status <> 'PENDING' OR next_at IS NOT NULL)`);

  const shiftAll = sqlite.prepare<unknown, [DueShift]>(`
    UPDATE webhook_deliveries INDEXED BY webhook_deliveries_due SET next_at = next_at + $byMs
    WHERE next_at IS NOT NULL AND next_at > +$after`);

  /** What waits for a delivery that holds no more is due now. */
  function release(webhook: number, contact: number | null, now: number): void {
    if (contact !== null) releaseNext.run({ webhook, contact, now });
  }

  return {
    release,

    /** Does nothing where the event has one for this webhook already. */
    add: (delivery: NewDelivery): void => void insert.run(delivery),

    /** Those that are due, longest first. */
    due: (webhookSeq: number, now: number, limit: number): Due[] =>
      findDue.all(webhookSeq, now, limit),

    /** When one that is not due yet will be; null where there is none. */
    nextDueAt: (webhookSeq: number, now: number): number | null =>
      findNext.get(webhookSeq, now)?.at ?? null,

    /** Webhooks that have deliveries with a time, found by skipping from one to the next. */
    lanes(): number[] {
      const lanes: number[] = [];
      for (let seq = findLane.get(0)?.seq; typeof seq === "number";) {
        lanes.push(seq);
        seq = findLane.get(seq)?.seq;
      }
      return lanes;
    },

    /** After the clock was set: each try is as far away as it was. */
    shift: (shift: DueShift): void => void shiftAll.run(shift),

    /** False if the row went another way meanwhile; then nothing changes. */
    settle(delivery: Due, settled: Settled): boolean {
      const { seq, attempts, webhookSeq, contactSeq } = delivery;
      const tries = attempts + 1;
      const isHolding =
        delivery.isHolding === 1 && settled.status === "PENDING" && tries < HOLDING_TRIES;
      const updated = update.get({ ...settled, seq, attempts, isHolding: Number(isHolding) });
      if (updated === null) return false;
      if (delivery.isHolding === 1 && !isHolding) release(webhookSeq, contactSeq, settled.now);
      return true;
    },

    /** Due now, settled or not; but what waits for another goes on waiting. */
    tryNow: (seq: number, now: number): void => void setDue.run(now, seq),
  };
}

type UpdateRest = { seq: number; attempts: number; isHolding: number; now: number };
