/**
 * The concurrency limit of each webhook. It is doubled after a success and halved after a failure,
 * so that a receiver that answers gets more requests at once, and one that fails gets few.
 */

/** Limit of a webhook before its first try. */
const INITIAL_LIMIT = 8;
const MAX_LIMIT = 16;

export type ConcurrencyLimits = ReturnType<typeof createConcurrencyLimits>;

export function createConcurrencyLimits() {
  /** Limits by webhook, also of webhooks without deliveries. */
  const limits = new Map<number, number>();
  const of = (webhookSeq: number): number => limits.get(webhookSeq) ?? INITIAL_LIMIT;

  return {
    of,

    /** Called after each try. */
    adjust(webhookSeq: number, isDelivered: boolean): void {
      const limit = of(webhookSeq);
      const wanted = isDelivered ? limit * 2 : Math.floor(limit / 2);
      limits.set(webhookSeq, Math.min(MAX_LIMIT, Math.max(1, wanted)));
    },
  };
}
