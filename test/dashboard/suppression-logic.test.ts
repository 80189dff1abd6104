/** The logic of the page of suppressions that needs no browser. */

import { describe, expect, test } from "bun:test";
import {
  readSuppressionSearch,
  suppressionQuery,
} from "../../src/dashboard/pages/suppressions/search.ts";

describe("the search of suppressions", () => {
  test.each([
    [
      { q: "ada", reason: "hard_bounce", other: "x" },
      { email: "ada", reason: "HARD_BOUNCE" },
    ],
    [
      { q: "", reason: 5 },
      { email: undefined, reason: undefined },
    ],
    [{ address: "ada@example.com" }, { email: undefined, reason: undefined }],
  ])("of %j asks for %j", (given, query) => {
    expect(suppressionQuery(readSuppressionSearch(given))).toEqual(query);
  });
});
