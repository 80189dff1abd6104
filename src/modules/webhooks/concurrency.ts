import type { App } from "../../core/app.ts";
import { perApp } from "../../lib/per-app.ts";
/**
 * The concurrency limit of each webhook. It is doubled after a success and halved after a failure,
 * so that a receiver that answers gets more requests at once, and one that fails gets few.
 */

/** Limit of a webhook before its first try. */
const INITIAL_LIMIT = 8;
const MAX_LIMIT = 16;

/** Limits by webhook, also of webhooks without deliveries. */
const limits = perApp(() => new Map<number, number>());

export function deliveryLimit(app: App, webhookSeq: number): number {
  return limits(app).get(webhookSeq) ?? INITIAL_LIMIT;
}

/** Called after each try. */
export function adjustDeliveryLimit(app: App, webhookSeq: number, isDelivered: boolean): void {
  const limit = deliveryLimit(app, webhookSeq);
  const wanted = isDelivered ? limit * 2 : Math.floor(limit / 2);
  limits(app).set(webhookSeq, Math.min(MAX_LIMIT, Math.max(1, wanted)));
}
