/** Texts of ASCII are folded byte by byte; the results are those of `foldText`. */

import { expect, test } from "bun:test";
import {
  foldAscii,
  MAX_ASCII_BYTES,
  spacedAscii,
} from "../../../../src/modules/inboxes/search/fold-ascii.ts";
import { foldText, singleSpaces } from "../../../../src/modules/inboxes/search/fold.ts";

let seed = 7;
const below = (limit: number): number => {
  seed = (seed * 1103515245 + 12345) % 2147483648;
  return Math.floor((seed / 2147483648) * limit);
};
const randomText = () =>
  Array.from({ length: below(80) }, () =>
    String.fromCharCode(below(3) === 0 ? 9 + below(24) : below(128)),
  ).join("");

test("random texts", () => {
  for (let round = 0; round < 5_000; round++) {
    const text = randomText();
    expect(foldAscii(Buffer.from(text))).toBe(foldText(text));
    expect(spacedAscii(Buffer.from(text), 80)).toBe(singleSpaces(text).trim());
  }
});

test("a limit of characters", () => {
  expect(spacedAscii(Buffer.from(" Two\r\n  words follow"), 7)).toBe("Two wor");
});

test.each([
  ["another character", Buffer.from("a \u00fc")],
  ["a text that is too long", Buffer.alloc(MAX_ASCII_BYTES + 1, "a")],
])("%s is left to the other functions", (_, text) => {
  expect(foldAscii(text)).toBeNull();
});
