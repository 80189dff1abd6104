/** The corpus of bounces and of messages that are none (corpus/). */

import { describe, expect, test } from "bun:test";
import { NO_BOUNCES } from "./corpus/automatic-forms.ts";
import { BOUNCE_FORMS, expectedOf, readForm } from "./corpus/table.ts";

test("the corpus has at least 120 forms of bounces and 60 other messages", () => {
  expect(BOUNCE_FORMS.length).toBeGreaterThanOrEqual(120);
  expect(NO_BOUNCES.length).toBeGreaterThanOrEqual(60);
});

describe("a bounce is read", () => {
  test.each(BOUNCE_FORMS.map((form) => [`${form.kind}: ${form.source}`, form] as const))(
    "%s",
    (_, form) => {
      expect(readForm(form)).toMatchObject(expectedOf(form));
    },
  );
});

describe("no bounce", () => {
  test.each(NO_BOUNCES.map((form) => [`${form.kind}: ${form.source}`, form] as const))(
    "%s",
    (_, form) => {
      expect(readForm(form)).toBeNull();
    },
  );
});
