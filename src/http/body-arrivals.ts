/**
 * Waits for the bytes of request bodies. After a grace period a body must arrive at a minimum
 * average rate. Otherwise the request ends with 408, so that a slow client cannot hold its share of
 * the memory for long.
 */

import type { Clock } from "../lib/clock.ts";
import { AppError } from "../lib/errors.ts";

const KIB = 1024;

/** Time until the minimum rate applies. */
const GRACE_MS = 10_000;
/** With a public key it is shorter, because an event fits into one packet. */
const PUBLIC_GRACE_MS = 5_000;
/** 64 KiB per second. */
const MIN_BYTES_PER_MS = (64 * KIB) / 1000;
/** Interval between checks for overdue small bodies, which is cheaper than one timer per body. */
const CHECK_MS = 1_000;

/** The sender of a body: only the kind of its key matters here. */
type Holder = { isPublic: boolean };
export type Arrivals = ReturnType<typeof createArrivals>;

const graceOf = ({ isPublic }: Holder): number => (isPublic ? PUBLIC_GRACE_MS : GRACE_MS);

/** Waits for the bytes of bodies, which must arrive at a minimum rate after a grace period. */
export function createArrivals(clock: Clock) {
  /** The small bodies that have not arrived yet. */
  const pending = new Set<{ dueAt: number; reject: (error: AppError) => void }>();
  let isCheckScheduled = false;

  function scheduleCheck(): void {
    if (isCheckScheduled) return;
    isCheckScheduled = true;
    clock.after(CHECK_MS, () => {
      isCheckScheduled = false;
      const now = clock.elapsed();
      for (const { dueAt, reject } of pending) if (dueAt <= now) reject(tooSlow());
      if (pending.size > 0) scheduleCheck();
    });
  }

  return {
    /** Resolves to a small body after all of it has arrived. */
    async whole(request: Request, holder: Holder): Promise<Uint8Array> {
      const { promise: late, reject } = Promise.withResolvers<never>();
      const entry = { dueAt: clock.elapsed() + graceOf(holder), reject };
      pending.add(entry);
      scheduleCheck();
      try {
        return await Promise.race([request.bytes(), late]);
      } catch (error) {
        throw request.signal.aborted ? clientDisconnected() : error;
      } finally {
        pending.delete(entry);
      }
    },

    /** Yields the pieces of a body as they arrive. Only time spent waiting for the client counts. */
    async *pieces(request: Request, holder: Holder): AsyncGenerator<Uint8Array> {
      const reader = request.body?.getReader();
      if (reader === undefined) return;
      let receivedBytes = 0;
      let waitedMs = 0;
      try {
        for (;;) {
          const allowedMs = graceOf(holder) + receivedBytes / MIN_BYTES_PER_MS - waitedMs;
          const askedAt = clock.elapsed();
          const { done, value } = await withinLimit(reader.read(), allowedMs, clock);
          waitedMs += clock.elapsed() - askedAt;
          if (done) return;
          receivedBytes += value.byteLength;
          yield value;
        }
      } catch (error) {
        throw request.signal.aborted ? clientDisconnected() : error;
      } finally {
        // This makes Bun discard the rest of the body. It fails if the connection is already closed.
        reader.cancel().catch(() => undefined);
      }
    },
  };
}

async function withinLimit<T>(arriving: Promise<T>, limitMs: number, clock: Clock): Promise<T> {
  const late = Promise.withResolvers<never>();
  const cancel = clock.after(Math.max(0, limitMs), () => late.reject(tooSlow()));
  try {
    return await Promise.race([arriving, late.promise]);
  } finally {
    cancel();
  }
}

/** This response closes the connection, which would otherwise wait for the rest of the body. */
function tooSlow(): AppError {
  return new AppError(408, "REQUEST_TIMEOUT", "The body did not arrive in time.", {
    suggestion: "Send the request again, at 64 KiB per second or faster.",
    headers: { Connection: "close" },
  });
}

/** The client cannot read this response: it closed the connection, or sent malformed chunks. */
export function clientDisconnected(): AppError {
  const message = "The connection was closed before the body was complete.";
  return new AppError(400, "BAD_REQUEST", message);
}
