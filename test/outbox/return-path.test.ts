import { describe, expect, test } from "bun:test";
import { newId } from "../../src/lib/id.ts";
import { bounceHostOf, makeReturnPath, openReturnPath } from "../../src/outbox/return-path.ts";

const KEY = Buffer.alloc(32, 7);
const ID = "0195570c-0a40-7abc-8def-0123456789ab";
const HOST = bounceHostOf("example.com");

function made(id = ID): string {
  const address = makeReturnPath(KEY, id, HOST);
  if (address === null) throw new Error("no return path");
  return address;
}

describe("a return path", () => {
  test("is at the bounce host, of lower-case letters and digits, and short enough", () => {
    expect(made()).toMatch(/^b\+[a-z2-7]{45}@bounce\.example\.com$/);
    expect(made().indexOf("@")).toBeLessThanOrEqual(64);
  });

  test("contains the id of its email", () => {
    for (let i = 0; i < 500; i++) {
      const id = newId(i * 1e9);
      expect(openReturnPath(KEY, made(id))).toBe(id);
    }
  });

  test("is recognised after a change of letter case", () => {
    expect(openReturnPath(KEY, made().toUpperCase())).toBe(ID);
  });

  test("is the same for every attempt", () => {
    expect(made()).toBe(made());
  });

  test("is not created if it would be too long for an address", () => {
    const label = "a".repeat(60);
    expect(makeReturnPath(KEY, ID, `${label}.${label}.${label}.example`)).not.toBeNull();
    expect(makeReturnPath(KEY, ID, `${label}.${label}.${label}.${label}.com`)).toBeNull();
  });
});

describe("an address that is not ours", () => {
  const local = made().slice(0, made().indexOf("@"));
  const cases: [why: string, address: string][] = [
    ["of another form", "bounces@bounce.example.com"],
    ["without @", local],
    ["empty", ""],
    ["shortened", `${local.slice(0, -1)}@${HOST}`],
    ["lengthened", `${local}a@${HOST}`],
    ["with another prefix", `c${local.slice(1)}@${HOST}`],
    ["with characters that base32 has not", `${local.slice(0, -1)}1@${HOST}`],
    [
      "with another spelling of the last bits",
      `${local.slice(0, -1)}${next(local.at(-1))}@${HOST}`,
    ],
  ];
  test.each(cases)("%s", (_, address) => {
    expect(openReturnPath(KEY, address)).toBeNull();
  });

  test("with any one character changed", () => {
    for (let i = 2; i < local.length; i++) {
      const altered = `${local.slice(0, i)}${next(local[i])}${local.slice(i + 1)}@${HOST}`;
      expect(openReturnPath(KEY, altered)).toBeNull();
    }
  });

  test("created with another key", () => {
    expect(openReturnPath(Buffer.alloc(32, 8), made())).toBeNull();
  });
});

/** Another letter of the alphabet. */
function next(letter: string | undefined): string {
  return letter === "b" ? "c" : "b";
}
