/** Numbers that depend only on a text, so that a repetition decides as before. */

/**
 * A number from 0 to below 1. The numbers of many texts are evenly distributed, and those of similar
 * texts are unrelated.
 */
export function stableShare(text: string): number {
  const digest = new Bun.CryptoHasher("sha256").update(text).digest();
  return digest.readUIntBE(0, 6) / 2 ** 48;
}
