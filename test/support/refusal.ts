/** Checks the error format that every endpoint uses (docs/specification.md#s7). */

import { expect } from "bun:test";
import { at, listAt, textAt } from "./json.ts";

type Answer = { status: number; headers: Headers; body: unknown };

export type Refusal = {
  status: number;
  code: string;
  /** Field and code of each violation, in order. */
  errors?: readonly (readonly [field: string, code: string])[];
};

/**
 * Matches the message of a violation: a predicate without a full stop, such as `must not be empty`,
 * which can be read alone or after the name of the field.
 */
export const PREDICATE = /^(?:is|must|has|cannot|contains|names|does|repeats)\b[^]*[^.\s]$/;

/** Checks that a response is a complete error with this status, code and violations. */
export function expectRefusal(answer: Answer, { status, code, errors }: Refusal): void {
  const { body } = answer;
  expect({ status: answer.status, code: at(body, "error.code"), errors: violations(body) }).toEqual(
    { status, code, errors: errors?.map((error) => [...error]) },
  );
  expect(at(body, "success")).toBe(false);
  expect(at(body, "error.statusCode")).toBe(status);
  expect(textAt(body, "error.message").length).toBeGreaterThan(5);
  expect(textAt(body, "error.suggestion")).toMatch(/^[A-Z].{10,}[.=}\]\w]$/);
  expect(textAt(body, "error.requestId")).toBe(answer.headers.get("x-request-id") ?? "");
  expect(textAt(body, "timestamp")).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  expect(answer.headers.get("content-type")).toStartWith("application/json");
}

function violations(body: unknown): unknown[][] | undefined {
  if (at(body, "error.errors") === undefined) return undefined;
  const errors = listAt(body, "error.errors");
  const [first] = errors;
  const field = textAt(first, "field");
  const start = field === "" ? "request body" : field.slice(0, 100);
  expect(textAt(body, "error.message")).toStartWith(start);
  expect(textAt(body, "error.message")).toContain(`: ${textAt(first, "message")}`);
  return errors.map((error) => {
    expect(textAt(error, "message")).toMatch(PREDICATE);
    return [at(error, "field"), at(error, "code")];
  });
}
