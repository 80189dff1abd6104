/** A reproducible generator of pseudorandom numbers (xorshift32). */

export type Random = {
  /** Returns an integer from 0 to 2^32 - 1. */
  bits(): number;
  /** Returns an integer from 0 up to but not including `below`. */
  integer(below: number): number;
  pick<T>(values: readonly T[]): T;
};

export function createRandom(seed: number): Random {
  let state = seed >>> 0 || 1;

  function bits(): number {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state >>> 0;
  }

  const integer = (below: number) => Math.floor((bits() / 2 ** 32) * below);
  return {
    bits,
    integer,
    pick(values) {
      const value = values[integer(values.length)];
      if (value === undefined) throw new Error("nothing to pick from");
      return value;
    },
  };
}

/** Returns a UUIDv7 with the given time (RFC 9562 §5.7). */
export function uuidAt(epochMs: number, random: Random): string {
  const time = epochMs.toString(16).padStart(12, "0");
  const [a, b, c] = [hex(random), hex(random), hex(random)];
  const variant = "89ab"[random.integer(4)];
  return `${time.slice(0, 8)}-${time.slice(8)}-7${a.slice(0, 3)}-${variant}${a.slice(3, 6)}-${b}${c.slice(0, 4)}`;
}

function hex(random: Random): string {
  return random.bits().toString(16).padStart(8, "0");
}
