/**
 * The one change that makes `after` of `before`: what is the same at the start and at the end stays,
 * so that the cursor and the scroll position stay too.
 */
export function replacedRange(
  before: string,
  after: string,
): { from: number; to: number; insert: string } {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before[start] === after[start]) start++;
  let end = 0;
  while (
    end < shorter - start &&
    before[before.length - 1 - end] === after[after.length - 1 - end]
  ) {
    end++;
  }
  return {
    from: start,
    to: before.length - end,
    insert: after.slice(start, after.length - end),
  };
}
