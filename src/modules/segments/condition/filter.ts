/** Checks one filter: its field determines the operators, its operator the type of the value. */

import { isRecord } from "../../../http/validation.ts";
import type { FieldError } from "../../../lib/errors.ts";
import type { Target } from "./fields.ts";
import { type CheckResult, type FilterInput, createFilterInput } from "./input.ts";
import {
  EQUALITY,
  HISTORY,
  LIST,
  MATCH,
  MEMBERSHIP,
  ORDER,
  PRESENCE,
  RECENCY,
  RELATIVE,
  type Test,
  TEXT,
} from "./operators.ts";

export type Filter = {
  test: Test;
  /** The stored and shown form, without unknown or unused members. */
  wire: WireFilter;
  /** Path in the request, such as `condition.groups.0.filters.2`. */
  at: string;
};
export type WireFilter = { field: string; operator: string; value?: unknown; unit?: unknown };

const TIME_OPERATORS = [...EQUALITY, ...ORDER, ...RELATIVE] as const;
const DATA_OPERATORS = [...MATCH, ...ORDER, ...PRESENCE, ...RELATIVE, ...LIST] as const;
const EVENT_OPERATORS = [...HISTORY, ...RECENCY] as const;

export const OPERATORS = [
  ...new Set([...TEXT, ...DATA_OPERATORS, ...EVENT_OPERATORS, ...MEMBERSHIP]),
];

const WITHOUT_VALUE: readonly string[] = [...PRESENCE, ...HISTORY, ...MEMBERSHIP];
const WITH_UNIT: readonly string[] = [...RELATIVE, ...RECENCY];

export function checkFilter(given: unknown, at: string): CheckResult<Filter> {
  if (!isRecord(given)) {
    return {
      ok: false,
      errors: [{ field: at, message: "must be an object", code: "invalid_type" }],
    };
  }
  const errors: FieldError[] = [];
  const input = createFilterInput(given, at, errors);
  const target = input.target();
  const test = target === null ? input.operator(OPERATORS) && null : readTest(target, input);
  return test === null
    ? { ok: false, errors }
    : { ok: true, value: { test, wire: wireOf(given), at } };
}

function readTest(target: Target, input: FilterInput): Test | null {
  switch (target.kind) {
    case "email":
      return emailTest(input);
    case "subscribed":
      return subscribedTest(input);
    case "time":
      return timeTest(target, input);
    case "data":
      return dataTest(target, input);
    case "event":
      return eventTest(target, input);
    case "segment":
      return segmentTest(target, input);
  }
}

function emailTest(input: FilterInput): Test | null {
  const operator = input.operator(TEXT);
  const value = operator && input.text();
  return operator === null || value === null ? null : { kind: "email", operator, value };
}

function subscribedTest(input: FilterInput): Test | null {
  const operator = input.operator(EQUALITY);
  const value = operator && input.flag();
  if (operator === null || value === null) return null;
  return { kind: "subscribed", isSubscribed: (operator === "equals") === value };
}

function timeTest(target: Extract<Target, { kind: "time" }>, input: FilterInput): Test | null {
  const operator = input.operator(TIME_OPERATORS);
  switch (operator) {
    case null:
      return null;
    case "within":
    case "olderThan": {
      const spanMs = input.span();
      return spanMs === null ? null : { ...target, operator, spanMs };
    }
    default: {
      const period = input.period();
      return period === null ? null : { ...target, operator, period };
    }
  }
}

function dataTest(target: Extract<Target, { kind: "data" }>, input: FilterInput): Test | null {
  const operator = input.operator(DATA_OPERATORS);
  switch (operator) {
    case null:
      return null;
    case "exists":
    case "notExists":
      return { ...target, operator };
    case "within":
    case "olderThan": {
      const spanMs = input.span();
      return spanMs === null ? null : { ...target, operator, spanMs };
    }
    case "in":
    case "notIn": {
      const values = input.list();
      return values === null ? null : { ...target, operator, values };
    }
    case "equals":
    case "notEquals": {
      const value = input.scalar();
      return value === null ? null : { ...target, operator, value };
    }
    case "contains":
    case "notContains": {
      const value = input.part();
      return value === null ? null : { ...target, operator, value };
    }
    default: {
      const value = input.comparable();
      return value === null ? null : { ...target, operator, value };
    }
  }
}

function eventTest(target: Extract<Target, { kind: "event" }>, input: FilterInput): Test | null {
  const operator = input.operator(EVENT_OPERATORS);
  switch (operator) {
    case null:
      return null;
    case "triggered":
    case "notTriggered":
      return { ...target, operator };
    default: {
      const spanMs = input.span();
      return spanMs === null ? null : { ...target, operator, spanMs };
    }
  }
}

function segmentTest(
  target: Extract<Target, { kind: "segment" }>,
  input: FilterInput,
): Test | null {
  const operator = input.operator(MEMBERSHIP);
  return operator === null ? null : { ...target, isMember: operator === "memberOf" };
}

function wireOf(given: Readonly<Record<string, unknown>>): WireFilter {
  const { field, operator, value, unit } = given;
  return {
    field: String(field),
    operator: String(operator),
    ...(WITHOUT_VALUE.includes(String(operator)) ? {} : { value }),
    ...(WITH_UNIT.includes(String(operator)) ? { unit } : {}),
  };
}
