/** Tells random tokens from words, such as those in the path of a link. */

const SHORTEST = 16;
/** A run of letters and digits, or a UUID. */
const RANDOM_RUN = /[a-z0-9]{16}|^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

/**
 * Whether a text looks random: it is long, has digits, and is not made of words with hyphens between
 * them. A slug such as `ten-tips-for-2026` is made of words.
 */
export function isTokenLike(text: string): boolean {
  if (text.length < SHORTEST || !/\d/.test(text)) return false;
  const hasBothCases = /[a-z]/.test(text) && /[A-Z]/.test(text);
  return hasBothCases || RANDOM_RUN.test(text);
}
