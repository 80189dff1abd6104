/** Finds the most similar one of several words, for a word with a typing error. */

/** Most letters that may be missing, added or replaced. */
const MAX_DISTANCE = 2;

/** The most similar word; null if none is similar. A word that begins with `given` is similar. */
export function nearestOf(given: string, words: readonly string[]): string | null {
  let nearest: string | null = null;
  let least = MAX_DISTANCE + 1;
  for (const word of words) {
    const distance = word.startsWith(given) ? MAX_DISTANCE : distanceOf(given, word);
    if (distance < least) [nearest, least] = [word, distance];
  }
  return nearest;
}

/** Number of letters to add, remove or replace (the Levenshtein distance). */
function distanceOf(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > MAX_DISTANCE) return Infinity;
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 0; i < a.length; i++) {
    const next = [i + 1];
    for (let j = 0; j < b.length; j++) {
      const replaced = (row[j] ?? 0) + (a[i] === b[j] ? 0 : 1);
      next.push(Math.min(replaced, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? Infinity;
}
