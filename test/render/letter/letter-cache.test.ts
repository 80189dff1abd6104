import { expect, test } from "bun:test";
import { compileLetter, type Letter } from "../../../src/render/letter/letter.ts";
import { createLetterCache } from "../../../src/render/letter/letter-cache.ts";
import { SAMPLE_ID, sampleLinks } from "../../../src/render/letter/tokens.ts";
import { TOKEN_KEYS } from "../../support/compose.ts";

function compile(body: string): Letter | null {
  const sample = {
    emailId: SAMPLE_ID,
    headers: [],
    links: sampleLinks(TOKEN_KEYS),
    marketing: null,
    tracking: null,
  };
  const from = { name: null, address: "news@acme.test" };
  const message = { from, replyTo: null, bounceHost: null, sample };
  return compileLetter(body, 0, { message, keys: TOKEN_KEYS });
}

/** A cache, and the keys that it compiled. */
function setUp(limits: { maxLetters: number; maxBytes: number }) {
  const cache = createLetterCache(limits);
  const compiled: string[] = [];
  function find(key: string): Letter | null {
    return cache.find(key, () => {
      compiled.push(key);
      return compile(`<p>${key}</p>`);
    });
  }
  return { cache, compiled, find };
}

test("the least recently used letters are evicted, and compiled again", () => {
  const { cache, compiled, find } = setUp({ maxLetters: 2, maxBytes: 1_000_000 });
  const first = find("a");
  for (const key of ["b", "a", "c", "a", "b"]) find(key);
  expect(compiled).toEqual(["a", "b", "c", "b"]);
  expect(cache.size).toBe(2);
  expect(find("a")).toBe(first);
  expect(find("c")).toEqual(setUp({ maxLetters: 1, maxBytes: 1_000_000 }).find("c"));
});

test("the cache stays within its memory", () => {
  const { cache, find } = setUp({ maxLetters: 100, maxBytes: 30_000 });
  for (let i = 0; i < 50; i++) find(`${i} ${"x".repeat(500)}`);
  expect(cache.bytes).toBeLessThanOrEqual(30_000);
  expect(cache.size).toBeGreaterThan(3);
  find("y".repeat(40_000));
  expect(cache).toMatchObject({ size: 0, bytes: 0 });
});

test("a key without a letter is not compiled again", () => {
  const cache = createLetterCache({ maxLetters: 2, maxBytes: 1_000_000 });
  let count = 0;
  const none = () => {
    count++;
    return null;
  };
  expect([cache.find("a", none), cache.find("a", none), count]).toEqual([null, null, 1]);
});
