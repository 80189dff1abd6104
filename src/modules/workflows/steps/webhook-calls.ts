/**
 * Makes the calls of WEBHOOK steps. A call is leased in a change (call-lease.ts) and made outside of
 * any change (call-attempt.ts). After a crash the call is repeated with the same `webhook-id`, but its
 * result is stored only once. call-slots.ts limits the calls that are under way.
 */

import { createCallAttempt, type CallAttemptDeps } from "./call-attempt.ts";
import { createCallLease, type CallLeaseDeps, type LeasedCall } from "./call-lease.ts";
import { createCallSlots } from "./call-slots.ts";

export type WebhookCalls = ReturnType<typeof createWebhookCalls>;

/** Delay before the calls that a stopped process left under way are repeated. */
const ORPHAN_DELAY_MS = 5_000;

type WebhookCallsDeps = CallLeaseDeps &
  CallAttemptDeps & {
    /** Largest number of concurrent calls of one project; 0 for no limit but a fair share. */
    mostCallsOfProject: number;
    /** Called when a call has ended: its execution may be due. */
    wake: () => void;
  };

export function createWebhookCalls(deps: WebhookCallsDeps) {
  const { callQueue, clock } = deps;
  const slots = createCallSlots(deps.mostCallsOfProject);
  const { canLease, lease } = createCallLease(deps, slots);
  const attempt = createCallAttempt(deps);
  /** Resolves when the call has ended; by the `seq` of the execution. */
  const underWay = new Map<number, Promise<void>>();
  let abortController = new AbortController();

  async function ended(): Promise<void> {
    await Promise.all(underWay.values());
  }

  return {
    canLease,
    lease,

    underWay: (): number => underWay.size,
    /** Resolves when the calls that are under way now have ended. */
    ended,

    /** The earliest due time of a call after `now`; null if there is none. */
    nextDueAt: callQueue.nextDueAt,

    /** Starts leased calls; called after the commit of the leases. */
    start(calls: readonly LeasedCall[]): void {
      for (const call of calls) {
        const { execution } = call;
        slots.acquire(execution);
        const end = attempt(call, abortController.signal).finally(() => {
          slots.release(execution);
          underWay.delete(execution.seq);
          deps.wake();
        });
        underWay.set(execution.seq, end);
      }
    },

    /** Part of a change: calls whose lease ended without a result are due again. */
    requeueExpired: (now: number): number => callQueue.requeue(now, now, [...underWay.keys()]),

    /** Executions whose calls are under way. */
    executionsUnderWay: (): number[] => [...underWay.keys()],

    /** Part of a change: the calls that an earlier process left under way are due again. */
    requeueAll(now: number): number {
      abortController = new AbortController();
      return callQueue.requeue(Number.MAX_SAFE_INTEGER, now + ORPHAN_DELAY_MS, []);
    },

    /** Aborts the calls that are still under way after `graceMs`; resolves when all have ended. */
    async stop(graceMs: number): Promise<void> {
      const cancel = clock.after(graceMs, () => abortController.abort());
      await ended();
      cancel();
    },
  };
}
