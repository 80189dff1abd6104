/**
 * Collects garbage after large pieces of work. The texts and buffers of a request are garbage once
 * it is answered, but the engine counts their memory late: without this, several hundred megabytes
 * of them gather under load before it collects.
 */

export type Garbage = {
  /** So many bytes are not used any more. */
  add(bytes: number): void;
};

/** Smaller amounts are left to the engine. */
const WORTH_COUNTING_BYTES = 16 * 1024;
/** A collection takes a few dozen milliseconds. */
const COLLECT_AFTER_BYTES = 16 * 1024 * 1024;

export function createGarbage(collect: () => void = () => Bun.gc(true)): Garbage {
  let sum = 0;
  return {
    add(bytes) {
      if (bytes < WORTH_COUNTING_BYTES) return;
      sum += bytes;
      if (sum < COLLECT_AFTER_BYTES) return;
      sum = 0;
      collect();
    },
  };
}
