/**
 * Tests on rows that were read already: counting a hundred audiences in one walk asks a hundred
 * conditions of every contact, and SQLite would look each value up a hundred times. What this file
 * does not know is asked in SQL, as a column of the row.
 *
 * It says the same as `compile` does; the tests ask both.
 */

import type { Fragment } from "./bind.ts";
import { compileTest, type Context } from "./compile.ts";
import type { DataTest, EventTest, TimeTest } from "../condition/operators.ts";
import type { Resolved, ResolvedTest } from "../condition/references.ts";

/** Contacts of a slice, column by column. */
export type Batch = {
  size: number;
  subscribed: ArrayLike<number>;
  createdAt: ArrayLike<number>;
  updatedAt: ArrayLike<number>;
  /** The value at each path of the data; undefined if there is none. */
  values: readonly (readonly unknown[])[];
  /** When each event was last; NaN for never. */
  lastAt: readonly ArrayLike<number>[];
  /** 1 where a test in SQL is true. */
  answers: readonly ArrayLike<number>[];
};

/** Whether the contact at `i` meets it. */
export type Predicate = (batch: Batch, i: number) => boolean;

/** What predicates have to be given: each is a place in the batch's columns of its kind. */
export type Needs = {
  path(keys: readonly string[]): number;
  event(name: string): number;
  sql(test: Fragment): number;
};

/** All of them must hold. */
export function predicateOfAll(
  tests: readonly ResolvedTest[],
  needs: Needs,
  context: Context,
): Predicate {
  return all(tests.map((test) => predicateOf(test, needs, context)));
}

function predicateOf(test: ResolvedTest, needs: Needs, context: Context): Predicate {
  switch (test.kind) {
    case "subscribed": {
      const wanted = Number(test.isSubscribed);
      return ({ subscribed }, i) => subscribed[i] === wanted;
    }
    case "time":
      return timePredicate(test, context.now);
    case "event":
      return eventPredicate(test, needs.event(test.name), context.now);
    case "condition": {
      const inner = conditionPredicate(test.condition, needs, context);
      return test.isMember ? inner : (batch, i) => !inner(batch, i);
    }
    case "data":
      return dataPredicate(test, needs) ?? sqlPredicate(test, needs, context);
    case "email":
    case "members":
      return sqlPredicate(test, needs, context);
  }
}

function conditionPredicate(condition: Resolved, needs: Needs, context: Context): Predicate {
  const groups = condition.groups.map(({ filters, conditions }) => {
    const own = filters.map((test) => predicateOf(test, needs, context));
    return all(
      conditions === null ? own : [...own, conditionPredicate(conditions, needs, context)],
    );
  });
  return condition.logic === "AND" ? all(groups) : any(groups);
}

/** Two by two: half the time that a loop over the parts takes. */
function all(parts: readonly Predicate[]): Predicate {
  return parts.length === 0
    ? () => true
    : parts.reduceRight((rest, part) => (batch, i) => part(batch, i) && rest(batch, i));
}

function any(parts: readonly Predicate[]): Predicate {
  return parts.length === 0
    ? () => false
    : parts.reduceRight((rest, part) => (batch, i) => part(batch, i) || rest(batch, i));
}

function sqlPredicate(test: ResolvedTest, needs: Needs, context: Context): Predicate {
  const place = needs.sql(compileTest(test, context));
  return ({ answers }, i) => answers[place]?.[i] === 1;
}

function timePredicate(test: TimeTest, now: number): Predicate {
  const { column } = test;
  const { fromMs, untilMs } = spanOf(test, now);
  const isOutside = test.operator === "notEquals";
  return (batch, i) => {
    const at = batch[column][i] ?? Number.NaN;
    return (at >= fromMs && at < untilMs) !== isOutside;
  };
}

/** The times that a test takes; of `notEquals`, those that it does not. */
function spanOf(test: TimeTest, now: number): { fromMs: number; untilMs: number } {
  switch (test.operator) {
    case "equals":
    case "notEquals":
      return test.period;
    case "greaterThan":
      return { fromMs: test.period.untilMs, untilMs: Infinity };
    case "greaterThanOrEqual":
      return { fromMs: test.period.fromMs, untilMs: Infinity };
    case "lessThan":
      return { fromMs: -Infinity, untilMs: test.period.fromMs };
    case "lessThanOrEqual":
      return { fromMs: -Infinity, untilMs: test.period.untilMs };
    case "within":
      return { fromMs: now - test.spanMs, untilMs: Infinity };
    case "olderThan":
      return { fromMs: -Infinity, untilMs: now - test.spanMs };
  }
}

function eventPredicate(test: EventTest, place: number, now: number): Predicate {
  const last = ({ lastAt }: Batch, i: number) => lastAt[place]?.[i] ?? Number.NaN;
  switch (test.operator) {
    case "triggered":
      return (batch, i) => !Number.isNaN(last(batch, i));
    case "notTriggered":
      return (batch, i) => Number.isNaN(last(batch, i));
  }
  const bound = now - test.spanMs;
  switch (test.operator) {
    case "triggeredWithin":
      return (batch, i) => last(batch, i) >= bound;
    case "notTriggeredWithin":
      return (batch, i) => !(last(batch, i) >= bound);
    case "triggeredOlderThan":
      return (batch, i) => last(batch, i) < bound;
  }
}

/** Null for what is left to SQL: parts of texts, their order by code point, dates in texts. */
function dataPredicate(test: DataTest, needs: Needs): Predicate | null {
  const holds = valueTest(test);
  if (holds === null) return null;
  const place = needs.path(test.path);
  return ({ values }, i) => holds(values[place]?.[i]);
}

function valueTest(test: DataTest): ((value: unknown) => boolean) | null {
  switch (test.operator) {
    case "exists":
      return exists;
    case "notExists":
      return (value) => !exists(value);
    case "equals": {
      const wanted = test.value;
      return (value) => value === wanted;
    }
    case "notEquals": {
      const unwanted = test.value;
      return (value) => exists(value) && value !== unwanted;
    }
    case "in": {
      const wanted = new Set<unknown>(test.values);
      return (value) => wanted.has(value);
    }
    case "notIn": {
      const unwanted = new Set<unknown>(test.values);
      return (value) => exists(value) && !unwanted.has(value);
    }
    case "greaterThan":
    case "greaterThanOrEqual":
    case "lessThan":
    case "lessThanOrEqual":
      return typeof test.value === "number" ? numberTest(test.operator, test.value) : null;
    default:
      return null;
  }
}

function exists(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function numberTest(
  operator: "greaterThan" | "greaterThanOrEqual" | "lessThan" | "lessThanOrEqual",
  wanted: number,
): (value: unknown) => boolean {
  switch (operator) {
    case "greaterThan":
      return (value) => typeof value === "number" && value > wanted;
    case "greaterThanOrEqual":
      return (value) => typeof value === "number" && value >= wanted;
    case "lessThan":
      return (value) => typeof value === "number" && value < wanted;
    case "lessThanOrEqual":
      return (value) => typeof value === "number" && value <= wanted;
  }
}
