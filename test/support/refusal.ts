/** Checks the error format that every endpoint uses (docs/specification.md#s7). */

import { expect } from "bun:test";
import { valueAt, listAt, stringAt } from "./json.ts";

type Answer = { status: number; headers: Headers; body: unknown };

export type ExpectedError = {
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
export function expectError(answer: Answer, { status, code, errors }: ExpectedError): void {
  const { body } = answer;
  expect({
    status: answer.status,
    code: valueAt(body, "error.code"),
    errors: violations(body),
  }).toEqual({ status, code, errors: errors?.map((error) => [...error]) });
  expect(valueAt(body, "success")).toBe(false);
  expect(valueAt(body, "error.statusCode")).toBe(status);
  expect(stringAt(body, "error.message").length).toBeGreaterThan(5);
  expect(stringAt(body, "error.suggestion")).toMatch(/^[A-Z].{10,}[.=}\]\w]$/);
  expect(stringAt(body, "error.requestId")).toBe(answer.headers.get("x-request-id") ?? "");
  expect(stringAt(body, "timestamp")).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  expect(answer.headers.get("content-type")).toStartWith("application/json");
}

function violations(body: unknown): unknown[][] | undefined {
  if (valueAt(body, "error.errors") === undefined) return undefined;
  const errors = listAt(body, "error.errors");
  const [first] = errors;
  const field = stringAt(first, "field");
  const start = field === "" ? "request body" : field.slice(0, 100);
  expect(stringAt(body, "error.message")).toStartWith(start);
  expect(stringAt(body, "error.message")).toContain(`: ${stringAt(first, "message")}`);
  return errors.map((error) => {
    expect(stringAt(error, "message")).toMatch(PREDICATE);
    return [valueAt(error, "field"), valueAt(error, "code")];
  });
}
