/** Checks one filter: its field determines the operators, its operator the type of the value. */

import { isRecord } from "../../../http/validation.ts";
import type { FieldError } from "../../../lib/errors.ts";
import type { Target } from "./fields.ts";
import {
  type CheckResult,
  type FilterInput,
  createFilterInput,
  type FilterOrigin,
  type Values,
} from "./input.ts";
import type { FieldTest, Operator, SegmentTest } from "./field-test.ts";
import { OPERATOR_NAMES, OPERATORS } from "./operators.ts";

export type Filter = {
  test: Test;
  /** The stored and shown form, without unknown or unused members. */
  wire: WireFilter;
  /** Path in the request, such as `condition.groups.0.filters.2`. */
  at: string;
};
export type WireFilter = {
  field: string;
  operator: string;
  property?: unknown;
  test?: unknown;
  value?: unknown;
  unit?: unknown;
};

/** A checked filter. Only the segment that it refers to may still be unknown. */
export type Test = FieldTest | SegmentTest;

type Read = { test: Test; takes: keyof Values; isOfProperty?: boolean };

export function checkFilter(
  given: unknown,
  at: string,
  origin: FilterOrigin = "REQUEST",
): CheckResult<Filter> {
  if (!isRecord(given)) {
    return {
      ok: false,
      errors: [{ field: at, message: "must be an object", code: "invalid_type" }],
    };
  }
  const errors: FieldError[] = [];
  const input = createFilterInput(given, { at, errors, origin });
  const target = input.target();
  if (target === null) input.operator(OPERATOR_NAMES);
  const read = target === null ? null : readTest(target, input);
  return read === null
    ? { ok: false, errors }
    : { ok: true, value: { test: read.test, wire: wireOf(given, read), at } };
}

function readTest(target: Target, input: FilterInput): Read | null {
  switch (target.kind) {
    case "email":
      return readFieldTest(target, OPERATORS.email, input);
    case "subscribed":
      return readFieldTest(target, OPERATORS.subscribed, input);
    case "time":
      return readFieldTest(target, OPERATORS.time, input);
    case "data":
      return readFieldTest(target, OPERATORS.data, input);
    case "event":
      return readFieldTest(target, OPERATORS.event, input);
    case "mail":
      return readFieldTest(target, OPERATORS.mail, input);
    case "link":
      return readFieldTest(target, OPERATORS.link, input);
    case "topic":
      return readFieldTest(target, OPERATORS.topic, input);
    case "segment": {
      const operator = readOperator(OPERATORS.segment, input);
      if (operator === null) return null;
      const { takes, isMember } = operator;
      return { test: { ...target, isMember }, takes };
    }
  }
}

function readFieldTest<T extends FieldTest["target"]>(
  target: T,
  operators: Readonly<Record<string, Operator<T>>>,
  input: FilterInput,
): Read | null {
  const operator = readOperator(operators, input);
  const test = operator === null ? null : operator.read(target, input);
  if (operator === null || test === null) return null;
  const { takes, isOfProperty = false } = test;
  return { test, takes, isOfProperty };
}

function readOperator<O>(operators: Readonly<Record<string, O>>, input: FilterInput): O | null {
  const name = input.operator(Object.keys(operators));
  return name === null ? null : (operators[name] ?? null);
}

function wireOf(
  given: Readonly<Record<string, unknown>>,
  { takes, isOfProperty = false }: Read,
): WireFilter {
  const { field, operator, property, test, value, unit } = given;
  return {
    field: String(field),
    operator: String(operator),
    ...(isOfProperty ? { property, test } : {}),
    ...(takes === "nothing" ? {} : { value }),
    ...(takes === "span" ? { unit } : {}),
  };
}
