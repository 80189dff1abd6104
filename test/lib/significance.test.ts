import { describe, expect, test } from "bun:test";
import {
  anyDifferencePValue,
  chiSquareTail,
  differencePValue,
  fisherPValue,
  neededTotal,
} from "../../src/lib/significance.ts";

const share = (hits: number, total: number) => ({ hits, total });

describe("the upper tail of the chi-square distribution", () => {
  // Critical values of printed tables.
  test.each([
    [3.841459, 1, 0.05],
    [6.634897, 1, 0.01],
    [10.827566, 1, 0.001],
    [5.991465, 2, 0.05],
    [9.21034, 2, 0.01],
    [7.814728, 3, 0.05],
    [11.344867, 3, 0.01],
    [0, 1, 1],
  ])("of %d with %d degrees of freedom is %d", (value, degrees, tail) => {
    expect(chiSquareTail(value, degrees)).toBeCloseTo(tail, 6);
  });
});

describe("Fisher's exact test", () => {
  test.each([
    // The lady tasting tea: three of four right.
    [share(3, 4), share(1, 4), 34 / 70],
    [share(4, 4), share(0, 4), 2 / 70],
    // 1 of 10 against 11 of 14, a example of textbooks.
    [share(1, 10), share(11, 14), 0.0027594562],
    [share(0, 5), share(0, 7), 1],
  ])("of %j and %j is %d", (a, b, p) => {
    expect(fisherPValue(a, b)).toBeCloseTo(p, 6);
    expect(fisherPValue(b, a)).toBeCloseTo(p, 6);
  });
});

describe("the two-proportion test", () => {
  test.each([
    // Pooled 0.5, error 0.0223607: z = 2.236068 and 1.788854.
    [share(525, 1000), share(475, 1000), 0.0253473],
    [share(520, 1000), share(480, 1000), 0.0736383],
    [share(500, 1000), share(500, 1000), 1],
    [share(10, 0), share(5, 100), 1],
  ])("of %j and %j is %d", (a, b, p) => {
    expect(differencePValue(a, b)).toBeCloseTo(p, 6);
  });

  test("is exact for few hits, and quick for a large group", () => {
    expect(differencePValue(share(1, 20), share(4, 20))).toBe(
      fisherPValue(share(1, 20), share(4, 20)),
    );
    expect(differencePValue(share(2, 3), share(400_000, 500_000))).toBeGreaterThan(0.4);
  });
});

describe("several shares", () => {
  test("are compared by one table", () => {
    // Chi-square 6.060606 with two degrees of freedom.
    const shares = [share(30, 100), share(40, 100), share(23, 100)];
    const expected = chiSquareTail(
      [30, 40, 23].reduce((total, hits) => total + (hits - 31) ** 2 / (100 * 0.31 * 0.69), 0),
      2,
    );
    expect(anyDifferencePValue(shares)).toBeCloseTo(expected, 12);
    expect(anyDifferencePValue([...shares, share(0, 0)])).toBeCloseTo(expected, 12);
  });

  test("without hits or without mails do not differ", () => {
    expect(anyDifferencePValue([share(0, 10), share(0, 10), share(0, 10)])).toBe(1);
    expect(anyDifferencePValue([share(1, 10)])).toBe(1);
    expect(anyDifferencePValue([])).toBe(1);
  });
});

test("the needed size of a group is that of textbooks", () => {
  // 10 % against 15 %: 686 in each group (power 80 %, 5 % both sides).
  expect(neededTotal(share(10, 100), share(15, 100))).toBe(686);
  expect(neededTotal(share(10, 100), share(10, 100))).toBeNull();
});
