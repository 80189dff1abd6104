/** The tests that filters make, and the operators that make them (operators.ts). Pure. */

import type { Fragment } from "../sql/bind.ts";
import type { Incomparable } from "./comparable.ts";
import type { Target } from "./fields.ts";
import type { FilterInput, Readers, Values } from "./input.ts";

/** `now` is in milliseconds since the epoch; `within` and `olderThan` are relative to it. */
export type Context = { projectSeq: number; now: number };

/** The rows of a scan: each has one contact, and an index holds them in the order of `key`. */
export type RowSource = {
  from: Fragment;
  /** The column that holds `contacts.seq`. */
  key: Fragment;
  /** SQL condition for the part of the index to scan. */
  stretch: Fragment;
  /** SQL condition for the rows in this part. */
  filter: Fragment;
};

/** A checked filter on a field of the contact. */
export type FieldTest = {
  kind: "field";
  target: FieldTarget;
  takes: keyof Values;
  /** SQL condition for a row of `contacts`. */
  where: (context: Context) => Fragment;
  /** An index with all contacts that the test matches, and few others; null if there is none. */
  source: (context: Context) => RowSource | null;
  /** Given if only values of one type can match. */
  expects?: ComparedType;
  /** Given if the test cannot be made; then it matches nothing. */
  problem?: Incomparable;
  /** Given if time alone can alter the matches of the test, beside tests with a span. */
  isRelative?: true;
  /** The filter also has the members `property` and `test`. */
  isOfProperty?: true;
};

export type ComparedType = {
  type: "date" | "number";
  /** Keys of the data, the outermost first. */
  path: readonly string[];
  /** SQL condition for contacts that have a value of another type there. */
  unlike: Fragment;
};

export type SegmentTest = { kind: "segment"; id: string; isMember: boolean };

type FieldTarget = Exclude<Target, { kind: "segment" }>;
export type TargetOf<Kind> = Extract<FieldTarget, { kind: Kind }>;

/** The SQL of an operator for its field and value. */
export type TestSql<T, V, Result> = (target: T, value: V, context: Context) => Result;

export type Operator<T extends FieldTarget> = {
  takes: keyof Values;
  /** Reads the value; null if it is missing or wrong, which `input` has recorded. */
  read(target: T, input: FilterInput): FieldTest | null;
};

/** An operator whose tests can also be made without a filter that was sent. */
export type OperatorOn<T extends FieldTarget, K extends keyof Values> = Operator<T> & {
  test(target: T, value: Values[K]): FieldTest;
};

export function readValue<K extends keyof Values>(input: Readers, takes: K): Values[K] | null {
  return input[takes]();
}

export function operator<T extends FieldTarget, K extends keyof Values>(
  takes: K,
  where: TestSql<T, Values[K], Fragment>,
  source: TestSql<T, Values[K], RowSource | null> = () => null,
): OperatorOn<T, K> {
  const test = (target: T, value: Values[K]): FieldTest => ({
    kind: "field",
    target,
    takes,
    where: (context) => where(target, value, context),
    source: (context) => source(target, value, context),
  });
  return {
    takes,
    test,
    read(target, input) {
      const value = readValue(input, takes);
      return value === null ? null : test(target, value);
    },
  };
}
