/** Digests, keyed digests, random keys and encrypted values. */

import {
  createCipheriv,
  createDecipheriv,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
} from "node:crypto";

/** The characters in the order of their codes. */
export const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/** Bytes from this value on are discarded, because they would make some characters more likely. */
const BASE62_FAIR_LIMIT = 256 - (256 % 62);
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** SHA-256 of text or bytes, hexadecimal. */
export function sha256(value: string | Uint8Array): string {
  return new Bun.CryptoHasher("sha256").update(value).digest("hex");
}

/**
 * HMAC-SHA-256 of the values one after the other, raw 32 bytes. The octets of a key must not be
 * changed after its first use.
 */
export function hmac(key: Uint8Array, ...values: (string | Uint8Array)[]): Buffer {
  const hasher = keyedHasher(key);
  for (const value of values) hasher.update(value);
  return hasher.digest();
}

/** Like `hmac` of two values, written to the beginning of `digest`, which has at least 64 bytes. */
export function hmacInto(
  digest: Uint8Array,
  key: Uint8Array,
  [first, second]: readonly [Uint8Array, Uint8Array],
): void {
  const hasher = keyedHasher(key).update(first);
  if (second.byteLength > 0) hasher.update(second);
  hasher.digest(digest);
}

/** To copy a hasher that has read the key takes less time than to read the key again. */
function keyedHasher(key: Uint8Array): Bun.CryptoHasher {
  const known = KEYED_HASHERS.get(key);
  if (known !== undefined) return known.copy();
  const hasher = new Bun.CryptoHasher("sha256", key);
  KEYED_HASHERS.set(key, hasher);
  return hasher.copy();
}

const KEYED_HASHERS = new WeakMap<Uint8Array, Bun.CryptoHasher>();

/** Compares in constant time, so that the duration does not reveal where two values differ. */
export function isSameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.byteLength === b.byteLength && timingSafeEqual(a, b);
}

/** Returns `length` random characters of [0-9A-Za-z]; 43 characters have 256 bits of entropy. */
export function randomBase62(length: number): string {
  let text = "";
  while (text.length < length) {
    for (const byte of randomBytes(length)) {
      if (byte < BASE62_FAIR_LIMIT && text.length < length) text += BASE62.charAt(byte % 62);
    }
  }
  return text;
}

/** Derives a 32-byte key for a purpose from the installation secret (RFC 5869). */
export function deriveKey(secret: string, purpose: string): Buffer {
  return Buffer.from(hkdfSync("sha256", secret, "mailstead", purpose, 32));
}

/** Encrypts with AES-256-GCM. The result is the iv, the tag and the ciphertext. */
export function seal(key: Uint8Array, plain: Uint8Array): Buffer {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv("aes-256-gcm", key, iv);
  const sealed = Buffer.concat([cipher.update(plain), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), sealed]);
}

/** Decrypts the result of `seal`. Returns null if the key is wrong or the value was changed. */
export function unseal(key: Uint8Array, sealed: Uint8Array): Buffer | null {
  if (sealed.byteLength < IV_BYTES + TAG_BYTES) return null;
  const decipher = createDecipheriv("aes-256-gcm", key, sealed.subarray(0, IV_BYTES));
  decipher.setAuthTag(sealed.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
  const start = decipher.update(sealed.subarray(IV_BYTES + TAG_BYTES));
  try {
    return Buffer.concat([start, decipher.final()]);
  } catch {
    return null; // The authentication failed, which is an expected result.
  }
}
