/**
 * Sliding-window counters: in any window of time, at most `limit` requests per key are accepted.
 */

export type Decision = {
  isAllowed: boolean;
  remaining: number;
  /**
   * Seconds until a request is possible again if this one was denied, otherwise until the window is
   * empty. At least 1.
   */
  resetSeconds: number;
};

export type SlidingWindow = {
  /** Counts a request if the limit allows it. */
  take(key: string | number): Decision;
  /**
   * Returns the decision of `take` if it would deny the request, otherwise null. It counts nothing.
   */
  refusal(key: string | number): Decision | null;
  /** Takes back the last request that was counted for a key. */
  giveBack(key: string | number): void;
  size(): number;
};

/** The times of the last `limit` accepted requests, in a ring buffer. Each takes 8 bytes. */
type Ring = { times: Float64Array; next: number; count: number };

const MIN_RING_SIZE = 16;

export function slidingWindow(options: {
  limit: number;
  windowMs: number;
  /** Monotonic milliseconds (`Clock.elapsed`). */
  now: () => number;
  /** Most keys in memory; the least recently used key is dropped first. */
  maxKeys: number;
}): SlidingWindow {
  const { limit, windowMs, now, maxKeys } = options;
  const rings = new Map<string | number, Ring>();

  function ringOf(key: string | number): Ring {
    const ring = rings.get(key) ?? newRing(Math.min(limit, MIN_RING_SIZE));
    rings.delete(key); // The key is inserted again as the last, so the map is in order of use.
    rings.set(key, ring);
    if (rings.size > maxKeys) dropOldestKey();
    return ring;
  }

  function dropOldestKey(): void {
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
    giveBack(key) {
      const ring = rings.get(key);
      if (ring !== undefined && ring.count > 0) removeNewest(ring);
    },
    size: () => rings.size,
  };
}

function newRing(capacity: number): Ring {
  return { times: new Float64Array(capacity), next: 0, count: 0 };
}

function oldest(ring: Ring): number {
  const { times, next, count } = ring;
  return times[(next - count + times.length) % times.length] ?? 0;
}

/**
 * Drops the requests from before and at `time`, so that a request counts for exactly `windowMs`.
 */
function dropBefore(ring: Ring, time: number): void {
  while (ring.count > 0 && oldest(ring) <= time) ring.count--;
}

function push(ring: Ring, at: number, limit: number): void {
  if (ring.count === ring.times.length) grow(ring, limit);
  ring.times[ring.next] = at;
  ring.next = (ring.next + 1) % ring.times.length;
  ring.count++;
}

function removeNewest(ring: Ring): void {
  ring.next = (ring.next - 1 + ring.times.length) % ring.times.length;
  ring.count--;
}

function grow(ring: Ring, limit: number): void {
  const { times, next, count } = ring;
  const larger = new Float64Array(Math.min(limit, times.length * 2));
  for (let i = 0; i < count; i++) {
    larger[i] = times[(next - count + i + times.length) % times.length] ?? 0;
  }
  ring.times = larger;
  ring.next = count % larger.length;
}

function wholeSeconds(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1000));
}
