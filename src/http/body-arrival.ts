/**
 * Waits for the bytes of request bodies. A client that sends nothing, or next to nothing, is not
 * waited for: after a grace period a body has to arrive at a least pace on average, so that a slow
 * client cannot keep what its body has taken from the budget.
 */

import type { Clock } from "../lib/clock.ts";
import { AppError } from "../lib/errors.ts";

/** 64 KiB a second. */
const LEAST_BYTES_PER_MS = (64 * 1024) / 1000;

/** How exact the grace period of small bodies is: a timer for each would cost more than it is worth. */
const SWEEP_MS = 1_000;

export type Arrivals = ReturnType<typeof createArrivals>;

type Pending = { dueAt: number; reject: (error: AppError) => void };

export function createArrivals(clock: Clock) {
  const pending = new Set<Pending>();
  let isSweeping = false;

  function sweepLater(): void {
    if (isSweeping) return;
    isSweeping = true;
    clock.after(SWEEP_MS, () => {
      isSweeping = false;
      const now = clock.elapsed();
      for (const { dueAt, reject } of pending) if (dueAt <= now) reject(tooSlow());
      if (pending.size > 0) sweepLater();
    });
  }

  return {
    /** The whole of a small body. */
    whole(request: Request, graceMs: number): Promise<Uint8Array> {
      return new Promise((resolve, reject) => {
        const entry = { dueAt: clock.elapsed() + graceMs, reject };
        pending.add(entry);
        sweepLater();
        request.bytes().then(
          (bytes) => {
            pending.delete(entry);
            resolve(bytes);
            return undefined;
          },
          (error: unknown) => {
            pending.delete(entry);
            reject(request.signal.aborted ? brokenOff() : error);
          },
        );
      });
    },

    /** The pieces of a body as they arrive. Only the time spent waiting for the client counts. */
    async *pieces(request: Request, graceMs: number): AsyncGenerator<Uint8Array> {
      const reader = request.body?.getReader();
      if (reader === undefined) return;
      let receivedBytes = 0;
      let waitedMs = 0;
      try {
        for (;;) {
          const allowedMs = graceMs + receivedBytes / LEAST_BYTES_PER_MS - waitedMs;
          const askedAt = clock.elapsed();
          const { done, value } = await inTime(reader.read(), allowedMs, clock);
          waitedMs += clock.elapsed() - askedAt;
          if (done) return;
          receivedBytes += value.byteLength;
          yield value;
        }
      } catch (error) {
        throw request.signal.aborted ? brokenOff() : error;
      } finally {
        // The server discards the rest. A connection that is gone needs no cancelling.
        reader.cancel().catch(() => undefined);
      }
    },
  };
}

async function inTime<T>(arriving: Promise<T>, limitMs: number, clock: Clock): Promise<T> {
  const late = Promise.withResolvers<never>();
  const cancel = clock.after(Math.max(0, limitMs), () => late.reject(tooSlow()));
  try {
    return await Promise.race([arriving, late.promise]);
  } finally {
    cancel();
  }
}

/** The rest would be waited for, were the connection kept. */
function tooSlow(): AppError {
  return new AppError(408, "REQUEST_TIMEOUT", "The body did not arrive in time.", {
    suggestion: "Send the request again, at 64 KiB a second or faster.",
    headers: { Connection: "close" },
  });
}

/** For the log: the client that would read it is gone, or its chunks were malformed. */
export function brokenOff(): AppError {
  const message = "The connection was closed before the body was complete.";
  return new AppError(400, "BAD_REQUEST", message);
}
