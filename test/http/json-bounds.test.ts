import { describe, expect, test } from "bun:test";
import { createJsonBounds } from "../../src/http/json-checks.ts";
import { AppError } from "../../src/lib/errors.ts";

const MOST_VALUES = 50;
const encoder = new TextEncoder();

/** Returns the error status for a document in pieces of this size; null if it is accepted. */
function refusalOf(text: string, pieceBytes = Infinity): number | null {
  const bytes = encoder.encode(text);
  const bounds = createJsonBounds(MOST_VALUES);
  try {
    for (let at = 0; at < bytes.length; at += pieceBytes) {
      bounds.add(bytes.subarray(at, Math.min(at + pieceBytes, bytes.length)));
    }
    return null;
  } catch (error) {
    return error instanceof AppError ? error.status : Number.NaN;
  }
}

const list = (item: string, count: number) =>
  `[${Array.from({ length: count }, () => item).join()}]`;

/** Counts the values of a parsed document. */
function valuesIn(value: unknown): number {
  if (typeof value !== "object" || value === null) return 1;
  const members = Object.values(value);
  return members.reduce(
    (sum: number, inner) => sum + valuesIn(inner),
    members.length === 0 ? 2 : 1,
  );
}

describe("counts the values of a document before it is parsed", () => {
  const cases: [text: string, status: number | null][] = [
    [list('{"a":1}', 24), null],
    [list('{"a":1}', 25), 422],
    [list("{}", 24), null],
    [list("{}", 25), 422],
    [list("1", 49), null],
    [list("1", 51), 422],
    [`{"a":${list('"x"', 60)}}`, 422],
    [`{"a":"${",".repeat(500)}"}`, null],
    [`{"a":"${"[{".repeat(500)}"}`, null],
    [`{"a":"\\"${",".repeat(500)}"}`, null],
    [`{"a":"\\\\","b":${list("1", 60)}}`, 422],
    [`{"a":"\\\\\\"${",".repeat(500)}"}`, null],
    [`{"${",".repeat(500)}":1}`, null],
    [`{"a":"${"x".repeat(100)}\\"${",".repeat(500)}"}`, null],
    [`{"a":"${"x".repeat(100)}","b":${list("1", 60)}}`, 422],
    [" ".repeat(5000), null],
    ["]".repeat(5000), null],
  ];
  for (const [text, status] of cases) {
    test(`${text.slice(0, 30)} of ${text.length}: ${status ?? "accepted"}`, () => {
      for (const pieceBytes of [Infinity, 1, 2, 3, 7, 33, 64]) {
        expect([pieceBytes, refusalOf(text, pieceBytes)]).toEqual([pieceBytes, status]);
      }
    });
  }

  test("exactly, except that empty objects and arrays count twice", () => {
    let seed = 7;
    const random = (below: number) => (seed = (seed * 48_271) % 2_147_483_647) % below;
    const make = (depth: number): unknown => {
      const kind = random(depth === 0 ? 3 : 5);
      if (kind === 0) return random(100);
      if (kind === 1) return ['"', "\\", "a,b", "[]{}", "", "ü,\u{1f600}"][random(6)];
      if (kind === 2) return [null, true][random(2)];
      const items = Array.from({ length: random(6) }, () => make(depth - 1));
      return kind === 3 ? items : Object.fromEntries(items.map((item, i) => [`k"${i}\\`, item]));
    };
    for (let i = 0; i < 300; i++) {
      const document = make(4);
      const bounds = createJsonBounds(Infinity);
      bounds.add(encoder.encode(JSON.stringify(document, null, random(3))));
      expect(bounds.values()).toBe(valuesIn(document));
    }
  });
});

describe("counts levels and escape sequences", () => {
  const nested = (levels: number) => "[".repeat(levels) + "]".repeat(levels);
  const bound = (text: string): number | null => {
    const bounds = createJsonBounds(Infinity);
    try {
      bounds.add(encoder.encode(text));
      return null;
    } catch (error) {
      return error instanceof AppError ? error.status : Number.NaN;
    }
  };

  test("accepts a hundred levels and refuses one more with 400", () => {
    expect([100, 101, 100_000].map((levels) => bound(nested(levels)))).toEqual([null, 400, 400]);
    expect(bound(nested(60) + nested(60))).toBeNull();
    expect(bound('{"a":'.repeat(101))).toBe(400);
  });

  test("accepts four million escape sequences and refuses one more with 422", () => {
    const text = (escapes: number) => `"${"\\n".repeat(escapes)}"`;
    expect([4_000_000, 4_000_001].map((escapes) => bound(text(escapes)))).toEqual([null, 422]);
  });
});

describe("takes time in proportion to the length of the document", () => {
  const SIZE = 1 << 17;
  const pumps = ['"",', "{}", " ", '\\"', `${"x".repeat(40)}\\n`, `"${"x".repeat(40)}",`, "\\\\"];

  /** Measures the processor time for a document of this size, in milliseconds. */
  function timeOf(pump: string, size: number): number {
    const bytes = encoder.encode(pump.repeat(Math.floor(size / pump.length)));
    const bounds = createJsonBounds(Infinity);
    if (pump.includes("\\")) bounds.add(encoder.encode('"'));
    const before = process.cpuUsage();
    bounds.add(bytes);
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  }

  for (const pump of pumps) {
    test(`for ${JSON.stringify(pump).slice(0, 20)} repeated`, () => {
      const shortest = (size: number) => Math.min(...[1, 2, 3, 4, 5].map(() => timeOf(pump, size)));
      shortest(SIZE);
      expect(shortest(8 * SIZE)).toBeLessThan(24 * shortest(SIZE) + 5);
    });
  }
});
