/**
 * Waits for the bytes of request bodies. After a grace period a body must arrive at a minimum average
 * pace; otherwise the request ends with 408, so that a slow client cannot hold its share of the budget.
 */

import type { Clock } from "../lib/clock.ts";
import { AppError } from "../lib/errors.ts";

/** 64 KiB a second. */
const LEAST_BYTES_PER_MS = (64 * 1024) / 1000;

/** The grace period of small bodies is checked this often, which costs less than a timer for each. */
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
    /** Resolves to a small body when all of it has arrived. */
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

    /** Yields the pieces of a body as they arrive. Only the time of waiting for the client counts. */
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
        // Bun discards the rest of the body. Cancelling fails if the connection is closed already.
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

/** The connection is closed, because a kept connection would wait for the rest of the body. */
function tooSlow(): AppError {
  return new AppError(408, "REQUEST_TIMEOUT", "The body did not arrive in time.", {
    suggestion: "Send the request again, at 64 KiB a second or faster.",
    headers: { Connection: "close" },
  });
}

/** The client cannot read this response: it closed the connection, or sent malformed chunks. */
export function brokenOff(): AppError {
  const message = "The connection was closed before the body was complete.";
  return new AppError(400, "BAD_REQUEST", message);
}
