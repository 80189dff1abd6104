import { describe, expect, test } from "bun:test";
import { maskAddress } from "../../../src/modules/subscription/view.ts";

describe("a masked address", () => {
  const cases: [address: string, shown: string][] = [
    ["ada@example.net", "ad…@example.net"],
    ["ab@example.net", "a…@example.net"],
    ["a@example.net", "a…@example.net"],
    ["ada.lovelace@example.net", "ad…@example.net"],
    ["😀😀😀@example.net", "😀😀…@example.net"],
    ['"a@b"@example.net', '"a…@example.net'],
  ];

  for (const [address, shown] of cases) {
    test(`shows ${shown} for ${address}`, () => {
      expect(maskAddress(address).replace("\u2060", "")).toBe(shown);
    });
  }
});
