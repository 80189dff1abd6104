/**
 * Waits for the bytes of request bodies. After a grace period a body must arrive at a minimum
 * average rate. Otherwise the request ends with 408, so that a slow client cannot hold its share of
 * the memory budget.
 */

import type { Clock } from "../lib/clock.ts";
import { AppError } from "../lib/errors.ts";

/** 64 KiB per second. */
const MIN_BYTES_PER_MS = (64 * 1024) / 1000;

/** Interval between checks for overdue small bodies, which is cheaper than one timer per body. */
const CHECK_MS = 1_000;

export type Arrivals = ReturnType<typeof createArrivals>;

type Pending = { dueAt: number; reject: (error: AppError) => void };

export function createArrivals(clock: Clock) {
  const pending = new Set<Pending>();
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
    whole(request: Request, graceMs: number): Promise<Uint8Array> {
      return new Promise((resolve, reject) => {
        const entry = { dueAt: clock.elapsed() + graceMs, reject };
        pending.add(entry);
        scheduleCheck();
        request.bytes().then(
          (bytes) => {
            pending.delete(entry);
            resolve(bytes);
            return undefined;
          },
          (error: unknown) => {
            pending.delete(entry);
            reject(request.signal.aborted ? clientDisconnected() : error);
          },
        );
      });
    },

    /**
     * Yields the pieces of a body as they arrive. Only time spent waiting for the client counts.
     */
    async *pieces(request: Request, graceMs: number): AsyncGenerator<Uint8Array> {
      const reader = request.body?.getReader();
      if (reader === undefined) return;
      let receivedBytes = 0;
      let waitedMs = 0;
      try {
        for (;;) {
          const allowedMs = graceMs + receivedBytes / MIN_BYTES_PER_MS - waitedMs;
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
        // This makes Bun discard the rest of the body. It fails if the connection is already
        // closed.
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
