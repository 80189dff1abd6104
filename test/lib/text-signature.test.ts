/** Signatures of long texts. */

import { expect, test } from "bun:test";
import { mayContain, signatureOf } from "../../src/lib/text-signature.ts";

const words = Array.from({ length: 3_000 }, (_, i) => `w${(i * 7_919).toString(36)}`);
const text = words.join(" ");
const signature = signatureOf(text);

test("a contained term is never missed", () => {
  for (let at = 0; at < text.length; at += 7) {
    expect(mayContain(signature, text.slice(at, at + 1 + (at % 20)))).toBe(true);
  }
  expect(mayContain(signature, "")).toBe(true);
});

test("few other terms pass", () => {
  const others = Array.from({ length: 1_000 }, (_, i) => `ABC${(i * 104_729).toString(36)}XYZ`);
  expect(others.filter((term) => mayContain(signature, term)).length).toBeLessThan(10);
});

test("its length is bounded", () => {
  expect(signatureOf("").byteLength).toBe(256);
  const varied = Array.from({ length: 400_000 }, (_, i) =>
    String.fromCharCode(32 + (Math.imul(i, 2_654_435_761) >>> 17)),
  );
  expect(signatureOf(varied.join("")).byteLength).toBe(64 * 1024);
});
