/**
 * The rows of deliveries. Every function that writes is part of a change. If a contact has several
 * deliveries for a webhook, only the first one is due and it holds the others. The next one is due
 * when the first has succeeded, has failed or has used its first tries.
 */

import type { DELIVERY_STATUSES } from "../../db/schema/webhooks.ts";
import type { DueShift } from "../../lib/steady-clock.ts";
import { HOLDING_TRIES } from "./schedule.ts";
import type { App } from "../../core/app.ts";
import { statement } from "../../db/statement.ts";

type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** A due delivery. `settle` changes the row only if it still has this number of attempts. */
export type Due = {
  seq: number;
  id: string;
  webhookSeq: number;
  eventSeq: number;
  contactSeq: number | null;
  attempts: number;
  isHolding: number;
};

type NewDelivery = {
  id: string;
  webhookSeq: number;
  eventSeq: number;
  contactSeq: number | null;
  now: number;
};

/** The result of a try, as it is stored. */
type Settled = {
  status: DeliveryStatus;
  /** The time of the next try; null if there is none. */
  nextAt: number | null;
  responseCode: number | null;
  responseExcerpt: string | null;
  error: string | null;
  durationMs: number;
  now: number;
};

/** Attempts before the latest one that are kept. */
const EARLIER_ATTEMPTS = 9;
/** SQL of the attempts before the one that is stored: all earlier ones and the latest of the row. */
const EARLIER_WITH_LATEST = `json_insert(
  CASE WHEN json_array_length(earlier_attempts) >= ${EARLIER_ATTEMPTS}
       THEN json_remove(earlier_attempts, '$[0]') ELSE coalesce(earlier_attempts, '[]') END,
  '$[#]', json_object('at', last_attempt_at, 'durationMs', duration_ms,
                      'responseCode', response_code, 'error', error))`;

/**
 * SQL of the excerpt to store. A receiver may repeat the request, so the response that arrives after
 * the contact was deleted may contain its data.
 */
const EXCERPT = `
  CASE WHEN contact_seq IS NULL OR EXISTS (SELECT 1 FROM contacts WHERE contacts.seq = contact_seq)
       THEN $responseExcerpt END`;

const insert = statement<unknown, [NewDelivery]>(`
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

const findDue = statement<Due, [number, number, number]>(`
    SELECT seq, id, webhook_seq AS webhookSeq, event_seq AS eventSeq, contact_seq AS contactSeq,
           attempts, is_holding AS isHolding
    FROM webhook_deliveries
    WHERE webhook_seq = +? AND next_at IS NOT NULL AND next_at <= +?
    ORDER BY next_at, seq LIMIT +?`);

const findNext = statement<{ at: number | null }, [number, number]>(`
    SELECT min(next_at) AS at FROM webhook_deliveries
    WHERE webhook_seq = +? AND next_at IS NOT NULL AND next_at > +?`);

const findNextWebhook = statement<{ seq: number | null }, [number]>(`
    SELECT min(webhook_seq) AS seq FROM webhook_deliveries
    WHERE webhook_seq > +? AND next_at IS NOT NULL`);

const update = statement<unknown, [Omit<Settled, "now"> & UpdateRest]>(`
    UPDATE webhook_deliveries
    SET status = $status, attempts = $attempts + 1, next_at = $nextAt, is_holding = $isHolding,
        last_attempt_at = $now, response_code = $responseCode,
        response_excerpt = ${EXCERPT}, error = $error, duration_ms = $durationMs,
        earlier_attempts = CASE WHEN last_attempt_at IS NULL THEN NULL
                                ELSE ${EARLIER_WITH_LATEST} END
    WHERE seq = +$seq AND status = 'PENDING' AND attempts = +$attempts`);

const releaseNext = statement<unknown, [{ webhook: number; contact: number; now: number }]>(`
    UPDATE webhook_deliveries SET next_at = $now
    WHERE seq = (SELECT min(seq) FROM webhook_deliveries
                 WHERE webhook_seq = +$webhook AND contact_seq = +$contact AND is_holding = 1)
      AND next_at IS NULL`);

const eraseExcerpts = statement<unknown, [string]>(`
    UPDATE webhook_deliveries SET response_excerpt = NULL
    WHERE event_seq IN (SELECT value FROM json_each(?)) AND response_excerpt IS NOT NULL`);

const setDue = statement<unknown, [number, number]>(`
    UPDATE webhook_deliveries SET status = 'PENDING', next_at = ?
    WHERE seq = +? AND (status <> 'PENDING' OR next_at IS NOT NULL)`);

const setFailedDue = statement<
  { seq: number },
  [{ webhook: number; after: number; limit: number; now: number }]
>(`
    UPDATE webhook_deliveries SET status = 'PENDING', next_at = $now
    WHERE seq IN (SELECT seq FROM webhook_deliveries INDEXED BY webhook_deliveries_status
                  WHERE webhook_seq = +$webhook AND status = 'FAILED' AND seq > +$after
                  ORDER BY seq LIMIT +$limit)
    RETURNING seq`);

const shiftAll = statement<unknown, [DueShift]>(`
    UPDATE webhook_deliveries INDEXED BY webhook_deliveries_due SET next_at = next_at + $byMs
    WHERE next_at IS NOT NULL AND next_at > +$after`);

/** Makes the next delivery of a contact due now, after the one before stopped holding it. */
export function releaseNextOf(
  app: Pick<App, "db">,
  webhook: number,
  contact: number | null,
  now: number,
): void {
  if (contact !== null) releaseNext(app).run({ webhook, contact, now });
}

/** Adds a delivery; does nothing if the event already has one for this webhook. */
export function addDelivery(app: App, delivery: NewDelivery): void {
  insert(app).run(delivery);
}

/** The due deliveries of a webhook, in the order of their due times. */
export function dueDeliveries(app: App, webhookSeq: number, now: number, limit: number): Due[] {
  return findDue(app).all(webhookSeq, now, limit);
}

/** The earliest due time after `now`; null if there is none. */
export function nextDeliveryAt(app: App, webhookSeq: number, now: number): number | null {
  return findNext(app).get(webhookSeq, now)?.at ?? null;
}

/**
 * Webhooks whose deliveries have a due time. Each step of the loop skips to the next webhook in
 * the index, so the cost does not depend on the number of deliveries.
 */
export function webhooksWithDue(app: App): number[] {
  const found: number[] = [];
  for (let seq = findNextWebhook(app).get(0)?.seq; typeof seq === "number";) {
    found.push(seq);
    seq = findNextWebhook(app).get(seq)?.seq;
  }
  return found;
}

/** Moves all due times after the clock was set, so that every wait lasts as long as before. */
export function shiftDeliveries(app: App, shift: DueShift): void {
  shiftAll(app).run(shift);
}

/** Stores the result of a try. Returns false without a change if the row has changed meanwhile. */
export function settleDelivery(app: App, delivery: Due, settled: Settled): boolean {
  const { seq, attempts, webhookSeq, contactSeq } = delivery;
  const tries = attempts + 1;
  const isHolding =
    delivery.isHolding === 1 && settled.status === "PENDING" && tries < HOLDING_TRIES;
  const updated = update(app).run({ ...settled, seq, attempts, isHolding: Number(isHolding) });
  if (updated.changes === 0) return false;
  if (delivery.isHolding === 1 && !isHolding)
    releaseNextOf(app, webhookSeq, contactSeq, settled.now);
  return true;
}

/** Makes failed deliveries after `after` due now; returns their `seq`. */
export function tryFailedNow(
  app: App,
  given: {
    webhook: number;
    after: number;
    limit: number;
    now: number;
  },
): number[] {
  return setFailedDue(app)
    .all(given)
    .map(({ seq }) => seq);
}

/** Erases the responses of the deliveries of these events. */
export function eraseExcerptsOf(app: App, eventSeqs: readonly number[]): void {
  eraseExcerpts(app).run(JSON.stringify(eventSeqs));
}

/** Makes a delivery due now, even after its end; a held delivery still waits. */
export function tryDeliveryNow(app: App, seq: number, now: number): void {
  setDue(app).run(now, seq);
}

type UpdateRest = { seq: number; attempts: number; isHolding: number; now: number };
