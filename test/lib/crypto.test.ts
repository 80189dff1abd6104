import { describe, expect, test } from "bun:test";
import { createHmac, randomBytes } from "node:crypto";
import {
  deriveKey,
  hmac,
  hmacInto,
  isSameBytes,
  randomBase62,
  seal,
  sha256,
  unseal,
} from "../../src/lib/crypto.ts";

const bytes = (text: string) => Buffer.from(text);

describe("digests", () => {
  test("SHA-256 of text and bytes (FIPS 180-4)", () => {
    const known = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    expect([sha256("abc"), sha256(bytes("abc"))]).toEqual([known, known]);
    expect(sha256("ü")).toBe(sha256(new Uint8Array([0xc3, 0xbc])));
  });

  test("HMAC-SHA-256 (RFC 4231, test case 2)", () => {
    const digest = hmac(bytes("Jefe"), "what do ya want for nothing?").toString("hex");
    expect(digest).toBe("5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  });

  test("HMAC-SHA-256 with several keys in turn, as node:crypto computes it", () => {
    const keys = [1, 32, 64, 65, 200].map((length) => randomBytes(length));
    const digest = Buffer.alloc(64);
    for (const length of [0, 1, 16, 63, 64, 65, 2_000, 100]) {
      for (const key of keys) {
        const [first, second] = [randomBytes(16), randomBytes(length)];
        const expected = createHmac("sha256", key).update(first).update(second).digest("hex");
        expect(hmac(key, first, second).toString("hex")).toBe(expected);
        hmacInto(digest, key, [first, second]);
        expect(digest.toString("hex", 0, 32)).toBe(expected);
      }
    }
  });

  test("are compared by length and content", () => {
    expect(isSameBytes(bytes("abc"), bytes("abc"))).toBe(true);
    expect(isSameBytes(bytes("abc"), bytes("abd"))).toBe(false);
    expect(isSameBytes(bytes("abc"), bytes("ab"))).toBe(false);
    expect(isSameBytes(bytes(""), bytes(""))).toBe(true);
  });
});

describe("random text", () => {
  test("has the given length, consists of letters and digits, and does not repeat", () => {
    for (const length of [0, 1, 43, 200])
      expect(randomBase62(length)).toMatch(new RegExp(`^[0-9A-Za-z]{${length}}$`));
    expect(new Set(Array.from({ length: 1000 }, () => randomBase62(43))).size).toBe(1000);
  });

  test("has each character equally often", () => {
    const counts = new Map<string, number>();
    const text = randomBase62(62_000);
    for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1);
    expect(counts.size).toBe(62);
    for (const count of counts.values()) expect(Math.abs(count - 1000)).toBeLessThan(250); // 8 sigma.
  });
});

test("each purpose and secret has one key that never changes", () => {
  const key = deriveKey("secret", "cursors");
  expect(key).toHaveLength(32);
  expect(deriveKey("secret", "cursors").equals(key)).toBe(true);
  expect(deriveKey("secret", "links").equals(key)).toBe(false);
  expect(deriveKey("secres", "cursors").equals(key)).toBe(false);
});

describe("sealed values", () => {
  const key = deriveKey("secret", "seal");

  for (const text of ["", "x", "x".repeat(100_000)]) {
    test(`of ${text.length} bytes are decrypted, and encrypted differently each time`, () => {
      const [one, two] = [seal(key, bytes(text)), seal(key, bytes(text))];
      expect(unseal(key, one)?.toString()).toBe(text);
      expect(one.equals(two)).toBe(false);
      if (text.length > 1) expect(one.includes(text)).toBe(false);
    });
  }

  test("that were changed, truncated or encrypted with another key give null", () => {
    const sealed = seal(key, bytes("hello"));
    for (let i = 0; i < sealed.length; i++) {
      const altered = Buffer.from(sealed);
      altered[i] = (altered[i] ?? 0) ^ 1;
      expect(unseal(key, altered)).toBeNull();
    }
    for (let length = 0; length < sealed.length; length++) {
      expect(unseal(key, sealed.subarray(0, length))).toBeNull();
    }
    expect(unseal(deriveKey("another", "seal"), sealed)).toBeNull();
  });
});
