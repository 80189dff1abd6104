/** Compares words with typing errors, and finds the most similar one of several words. */

/** Most letters that may be missing, added, replaced or exchanged. */
const MAX_DISTANCE = 2;

/**
 * The most similar word; null if none is similar. A word that begins with `given` is similar, and of
 * two words that are equally far away it is the nearer one.
 */
export function nearestOf(given: string, words: readonly string[]): string | null {
  let nearest: string | null = null;
  let least = MAX_DISTANCE + 1;
  for (const word of words) {
    const isLong = Math.abs(word.length - given.length) > MAX_DISTANCE;
    const distance = isLong ? Infinity : editDistance(given, word);
    const isBeginning = given !== "" && word.startsWith(given);
    const compared = isBeginning ? Math.min(distance, MAX_DISTANCE) - 0.5 : distance;
    if (compared < least) [nearest, least] = [word, compared];
  }
  return nearest;
}

/** Letters to add, remove, replace or exchange with the next (optimal string alignment). */
export function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isExchanged = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const exchanged = isExchanged ? (before[j - 2] ?? 0) + 1 : Infinity;
      next.push(Math.min(replaced, exchanged, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    [before, row] = [row, next];
  }
  return row[b.length] ?? Infinity;
}
