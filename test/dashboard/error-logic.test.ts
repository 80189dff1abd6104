/** Tests which texts of a refusal a page shows. */

import { describe, expect, test } from "bun:test";
import { ApiError } from "../../src/dashboard/api.ts";
import { errorHint, errorText, failureId } from "../../src/dashboard/ui/error-text.ts";

describe("the suggestion of an error", () => {
  const errorOf = (status: number, suggestion: string) =>
    new ApiError({
      status,
      code: "X",
      message: "Refused.",
      suggestion,
      requestId: "r",
      errors: [],
    });

  test.each([
    [404, "Ask for a new link. Each link works once, and for a limited time."],
    [401, "Try again, or ask for a link to set a new password."],
    [409, "Choose another name."],
  ])("is shown if a person can follow it: %i %s", (status, suggestion) => {
    expect(errorHint(errorOf(status, suggestion))).toBe(suggestion);
  });

  test.each([
    [401, "Send the header Authorization: Bearer and a key of the project."],
    [404, "Check the campaign id; it must belong to the project of the API key."],
    [409, 'Enable it first with PATCH and `"enabled": true`.'],
    [422, "Correct the fields listed in errors and send the request again."],
    [429, "Wait for the number of seconds in Retry-After, then try again."],
    [404, "GET /team lists the members."],
    [404, "Read its text instead: …/text."],
  ])("is left out if it is for programs: %i %s", (status, suggestion) => {
    expect(errorHint(errorOf(status, suggestion))).toBe("");
  });

  test("the request id is shown for failures of the server only", () => {
    expect([404, 422, 500, 503].map((status) => failureId(errorOf(status, "")))).toEqual([
      "",
      "",
      "r",
      "r",
    ]);
    expect(errorText(new Error("Broken."))).toBe("Broken.");
  });
});
