/** Sliding-window counters: never more than `limit` accepted in any window. */

export type Decision = {
  isAllowed: boolean;
  remaining: number;
  /** Seconds until a place is free again (denied) or the window is empty (allowed); at least 1. */
  resetSeconds: number;
};

export type SlidingWindow = {
  /** Counts an event if the limit allows it. */
  take(key: string | number): Decision;
  /** The decision of `take` where that would refuse, otherwise null; nothing is counted. */
  refusal(key: string | number): Decision | null;
  size(): number;
};

/** The times of the last `limit` accepted requests, in a ring; exact, 8 bytes each. */
type Ring = { moments: Float64Array; next: number; count: number };

const SMALLEST_RING = 16;

export function slidingWindow(options: {
  limit: number;
  windowMs: number;
  /** Monotonic milliseconds (`Clock.elapsed`). */
  now: () => number;
  /** Most keys kept; the least recently used are dropped first. */
  maxKeys: number;
}): SlidingWindow {
  const { limit, windowMs, now, maxKeys } = options;
  const rings = new Map<string | number, Ring>();

  function ringOf(key: string | number): Ring {
    const ring = rings.get(key) ?? newRing(Math.min(limit, SMALLEST_RING));
    rings.delete(key); // Re-inserted last: the map's order is the order of use.
    rings.set(key, ring);
    if (rings.size > maxKeys) forgetOldest();
    return ring;
  }

  function forgetOldest(): void {
    for (const key of rings.keys()) {
      rings.delete(key);
      return;
    }
  }

  function refusalOf(ring: Ring, at: number): Decision | null {
    dropBefore(ring, at - windowMs);
    if (ring.count < limit) return null;
    const waitMs = oldest(ring) + windowMs - at;
    return { isAllowed: false, remaining: 0, resetSeconds: wholeSeconds(waitMs) };
  }

  return {
    take(key) {
      const at = now();
      const ring = ringOf(key);
      const refusal = refusalOf(ring, at);
      if (refusal !== null) return refusal;
      push(ring, at, limit);
      return {
        isAllowed: true,
        remaining: limit - ring.count,
        resetSeconds: wholeSeconds(oldest(ring) + windowMs - at),
      };
    },
    refusal(key) {
      const ring = rings.get(key);
      return ring === undefined ? null : refusalOf(ring, now());
    },
    size: () => rings.size,
  };
}

function newRing(capacity: number): Ring {
  return { moments: new Float64Array(capacity), next: 0, count: 0 };
}

function oldest(ring: Ring): number {
  const { moments, next, count } = ring;
  return moments[(next - count + moments.length) % moments.length] ?? 0;
}

/** A request leaves the window when it is `windowMs` old, not a moment before. */
function dropBefore(ring: Ring, moment: number): void {
  while (ring.count > 0 && oldest(ring) <= moment) ring.count--;
}

function push(ring: Ring, at: number, limit: number): void {
  if (ring.count === ring.moments.length) grow(ring, limit);
  ring.moments[ring.next] = at;
  ring.next = (ring.next + 1) % ring.moments.length;
  ring.count++;
}

function grow(ring: Ring, limit: number): void {
  const { moments, next, count } = ring;
  const larger = new Float64Array(Math.min(limit, moments.length * 2));
  for (let i = 0; i < count; i++) {
    larger[i] = moments[(next - count + i + moments.length) % moments.length] ?? 0;
  }
  ring.moments = larger;
  ring.next = count % larger.length;
}

function wholeSeconds(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1000));
}
