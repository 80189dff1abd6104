/** A repeatable source of random choices. */

export type Random = {
  /** Returns an integer from 0 to below `limit`. */
  int(limit: number): number;
  chance(probability: number): boolean;
  pick<T>(from: readonly T[]): T;
  /** Returns up to `maxLength` items. */
  list<T>(maxLength: number, make: () => T): T[];
};

/** The generator is Mulberry32. */
export function seeded(seed: number): Random {
  let state = seed;
  function next(): number {
    state = (state + 0x6d2b79f5) | 0;
    let bits = Math.imul(state ^ (state >>> 15), 1 | state);
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits;
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
  }
  const int = (limit: number) => Math.floor(next() * limit);
  return {
    int,
    chance: (probability) => next() < probability,
    pick(from) {
      const item = from[int(from.length)];
      if (item === undefined) throw new Error("nothing to pick from");
      return item;
    },
    list: (maxLength, make) => Array.from({ length: int(maxLength + 1) }, make),
  };
}
