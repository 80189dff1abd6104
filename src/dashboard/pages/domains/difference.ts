/** Finds the part of a found value that differs from the expected one. */

export type Difference = {
  /** The beginning that both texts share. */
  before: string;
  /** The part that differs. */
  middle: string;
  /** The end that both texts share. */
  after: string;
};

/** Splits `found` at its common beginning and end with `expected`. */
export function differenceOf(found: string, expected: string): Difference {
  const shortest = Math.min(found.length, expected.length);
  let start = 0;
  while (start < shortest && found[start] === expected[start]) start += 1;
  let end = 0;
  while (end < shortest - start && found.at(-1 - end) === expected.at(-1 - end)) end += 1;
  const stop = found.length - end;
  return {
    before: found.slice(0, start),
    middle: found.slice(start, stop),
    after: found.slice(stop),
  };
}
