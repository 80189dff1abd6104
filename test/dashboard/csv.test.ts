/** CSV files of the dashboard's tables. */

import { describe, expect, test } from "bun:test";
import { columnsOf, csvWriter } from "../../src/dashboard/ui/csv.ts";
import { SUPPRESSION_CSV } from "../../src/dashboard/pages/suppressions/csv.ts";

const writer = csvWriter<{ text: unknown; count: number }>([
  ...columnsOf<{ text: unknown; count: number }>(["text", "count"]),
  { name: "double", value: ({ count }) => count * 2 },
]);
const line = (text: unknown, count = -1) => writer.row({ text, count });

describe("CSV", () => {
  test("begins with a byte order mark, for Excel, and the names of the columns", () => {
    expect(writer.header).toBe("\u{feff}text,count,double\r\n");
  });

  test.each([
    ["plain", "plain"],
    ['One, "two"\nthree', '"One, ""two""\nthree"'],
    [null, ""],
    [undefined, ""],
    [true, "true"],
    [["a", 1], '"[""a"",1]"'],
    [{ city: "Bath" }, '"{""city"":""Bath""}"'],
    ["=1+1", "'=1+1"],
    ["@sum", "'@sum"],
    ["-1", "'-1"],
    ["\t=1", "'\t=1"],
    ["＝1", "'＝1"],
    ["+44 1", "'+44 1"],
    ["\r", `"'\r"`],
  ])("writes %j as %j, and numbers as they are", (value, cell) => {
    expect(line(value)).toBe(`${cell},-1,-2\r\n`);
  });

  test("has the cause of a suppression in columns of its own", () => {
    const suppressions = csvWriter(SUPPRESSION_CSV);
    const rest = { email: "ada@example.com", createdAt: "2026-01-02T10:00:00.000Z" };
    const cause = { emailId: "m1", reportedAt: null, reason: "550 no such user" };
    expect([
      suppressions.header,
      suppressions.row({ ...rest, reason: "MANUAL", expiresAt: null, cause: null }),
      suppressions.row({ ...rest, reason: "HARD_BOUNCE", expiresAt: null, cause }),
    ]).toEqual([
      "\u{feff}email,reason,createdAt,expiresAt,causeEmailId,causeReportedAt,causeReason\r\n",
      "ada@example.com,MANUAL,2026-01-02T10:00:00.000Z,,,,\r\n",
      "ada@example.com,HARD_BOUNCE,2026-01-02T10:00:00.000Z,,m1,,550 no such user\r\n",
    ]);
  });
});
