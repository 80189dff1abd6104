/**
 * The table of operators: for each kind of field its operators, and for each operator the kind of
 * value that it takes and the SQL that defines what it means (docs/interface.md#campaigns). All else
 * that concerns operators derives from this table: the check of a filter, its stored form, the
 * OpenAPI document, segments, audiences, and the CONDITION steps of workflows. Pure.
 *
 * A test that matches is true; one that does not match is false or NULL. AND and OR preserve this.
 */

import { storedAddress, storedSpellings } from "../../../protocols/mime/address.ts";
import { searchedAddress } from "../../../protocols/mime/mailbox.ts";
import { allOf, anyOf, bind, type Fragment } from "../sql/bind.ts";
import {
  compare,
  type Comparison,
  contains,
  type DataField,
  equals,
  exists,
  existsAndNot,
  fieldAt,
  isDateBefore,
  isDateBetween,
  isListed,
  isMissing,
  isUnlike,
} from "../sql/data-fields.ts";
import { type Comparable, isIncomparable, type Incomparable } from "./comparable.ts";
import type { Target } from "./fields.ts";
import type { Readers, Values } from "./input.ts";

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
  source: ((context: Context) => RowSource) | null;
  /** Given if only values of one type can match. */
  expects?: ComparedType;
  /** Given if the test cannot be made; then it matches nothing. */
  problem?: Incomparable;
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
type TargetOf<Kind> = Extract<FieldTarget, { kind: Kind }>;

/** The SQL of an operator for its field and value. */
type Sql<T, V, Result> = (target: T, value: V, context: Context) => Result;

export type Operator<T extends FieldTarget> = {
  takes: keyof Values;
  /** Reads the value; null if it is missing or wrong, which `input` has recorded. */
  read(target: T, input: Readers): FieldTest | null;
};

/** An operator whose tests can also be made without a filter that was sent. */
type OperatorOn<T extends FieldTarget, K extends keyof Values> = Operator<T> & {
  test(target: T, value: Values[K]): FieldTest;
};

function operator<T extends FieldTarget, K extends keyof Values>(
  takes: K,
  where: Sql<T, Values[K], Fragment>,
  source?: Sql<T, Values[K], RowSource>,
): OperatorOn<T, K> {
  const test = (target: T, value: Values[K]): FieldTest => ({
    kind: "field",
    target,
    takes,
    where: (context) => where(target, value, context),
    source: source === undefined ? null : (context) => source(target, value, context),
  });
  return {
    takes,
    test,
    read(target, input) {
      const value = input[takes]();
      return value === null ? null : test(target, value);
    },
  };
}

type Email = TargetOf<"email">;

const addressIn = (text: string): string => storedAddress(searchedAddress(text));

function anySpelling(part: string, matches: (spelling: string) => Fragment): Fragment {
  return anyOf(storedSpellings(part).map(matches));
}

const EMAIL = {
  equals: operator<Email, "text">(
    "text",
    (_, value) => bind`contacts.email = ${addressIn(value)}`,
    (_, value, { projectSeq }) => ({
      from: bind`contacts AS addressed`,
      key: bind`addressed.seq`,
      stretch: bind`addressed.project_seq = ${projectSeq}
          AND addressed.email = ${addressIn(value)}`,
      filter: bind`1`,
    }),
  ),
  notEquals: operator<Email, "text">(
    "text",
    (_, value) => bind`contacts.email <> ${addressIn(value)}`,
  ),
  contains: operator<Email, "text">("text", (_, value) =>
    anySpelling(value, (part) => bind`instr(contacts.email, ${part}) > 0`),
  ),
  notContains: operator<Email, "text">("text", (_, value) =>
    allOf(storedSpellings(value).map((part) => bind`instr(contacts.email, ${part}) = 0`)),
  ),
  startsWith: operator<Email, "text">("text", (_, value) =>
    anySpelling(value, (part) => bind`substr(contacts.email, 1, length(${part})) = ${part}`),
  ),
  endsWith: operator<Email, "text">("text", (_, value) =>
    anySpelling(value, (part) =>
      part === "" ? bind`1` : bind`substr(contacts.email, -length(${part})) = ${part}`,
    ),
  ),
};

const SUBSCRIBED = {
  equals: operator<TargetOf<"subscribed">, "flag">(
    "flag",
    (_, value) => bind`contacts.is_subscribed = ${Number(value)}`,
  ),
  notEquals: operator<TargetOf<"subscribed">, "flag">(
    "flag",
    (_, value) => bind`contacts.is_subscribed = ${Number(!value)}`,
  ),
};

type Time = TargetOf<"time">;

const COLUMNS = { createdAt: bind`contacts.created_at`, updatedAt: bind`contacts.updated_at` };

const ofPeriod = (sql: (column: Fragment, from: number, until: number) => Fragment) =>
  operator<Time, "period">("period", ({ column }, { fromMs, untilMs }) =>
    sql(COLUMNS[column], fromMs, untilMs),
  );
const ofSpan = (sql: (column: Fragment, startMs: number) => Fragment) =>
  operator<Time, "span">("span", ({ column }, spanMs, { now }) =>
    sql(COLUMNS[column], now - spanMs),
  );

const TIME = {
  equals: ofPeriod((at, from, until) => bind`(${at} >= ${from} AND ${at} < ${until})`),
  notEquals: ofPeriod((at, from, until) => bind`(${at} < ${from} OR ${at} >= ${until})`),
  greaterThan: ofPeriod((at, _, until) => bind`${at} >= ${until}`),
  greaterThanOrEqual: ofPeriod((at, from) => bind`${at} >= ${from}`),
  lessThan: ofPeriod((at, from) => bind`${at} < ${from}`),
  lessThanOrEqual: ofPeriod((at, _, until) => bind`${at} < ${until}`),
  within: ofSpan((at, start) => bind`${at} >= ${start}`),
  olderThan: ofSpan((at, start) => bind`${at} < ${start}`),
};

type Data = TargetOf<"data">;

/** A missing key and null match only `notExists`. `expected` is the type of values that can match. */
function ofData<K extends keyof Values>(
  takes: K,
  sql: Sql<DataField, Values[K], Fragment>,
  expected: (value: Values[K]) => ComparedType["type"] | null = () => null,
): OperatorOn<Data, K> {
  const plain = operator<Data, K>(takes, ({ path }, value, context) =>
    sql(fieldAt(path), value, context),
  );
  const test = (target: Data, value: Values[K]): FieldTest => {
    const type = expected(value);
    const made = plain.test(target, value);
    if (type === null) return made;
    const { path } = target;
    return { ...made, expects: { type, path, unlike: isUnlike(fieldAt(path), type) } };
  };
  return {
    takes,
    test,
    read(target, input) {
      const value = input[takes]();
      return value === null ? null : test(target, value);
    },
  };
}

function ofComparison(name: Comparison): Operator<Data> {
  const valid = ofData<"comparable">(
    "comparable",
    (field, value) => (isIncomparable(value) ? bind`0` : compare(field, value, name)),
    typeOf,
  );
  return {
    takes: "comparable",
    read(target, input) {
      const value = input.comparable();
      if (value === null) return null;
      const test = valid.test(target, value);
      return isIncomparable(value) ? { ...test, problem: value } : test;
    },
  };
}

function typeOf(value: Comparable): ComparedType["type"] | null {
  if (typeof value === "number") return "number";
  return isIncomparable(value) ? null : "date";
}

const DATA = {
  equals: ofData("scalar", equals),
  notEquals: ofData("scalar", (field, value) => existsAndNot(field, equals(field, value))),
  contains: ofData("part", contains),
  notContains: ofData("part", (field, value) => existsAndNot(field, contains(field, value))),
  greaterThan: ofComparison("greaterThan"),
  greaterThanOrEqual: ofComparison("greaterThanOrEqual"),
  lessThan: ofComparison("lessThan"),
  lessThanOrEqual: ofComparison("lessThanOrEqual"),
  exists: ofData("nothing", exists),
  notExists: ofData("nothing", isMissing),
  within: ofData(
    "span",
    (field, spanMs, { now }) => isDateBetween(field, now - spanMs, now),
    () => "date",
  ),
  olderThan: ofData(
    "span",
    (field, spanMs, { now }) => isDateBefore(field, now - spanMs),
    () => "date",
  ),
  in: ofData("list", isListed),
  notIn: ofData("list", (field, values) => existsAndNot(field, isListed(field, values))),
};

type Event = TargetOf<"event">;
/** SQL condition for a row of `contact_events AS history`, which has the time of the last event. */
type LastTime<K extends keyof Values> = (value: Values[K], now: number) => Fragment;

/** Matches contacts with such an event. */
function happened<K extends keyof Values>(takes: K, lastTime: LastTime<K>) {
  return operator<Event, K>(
    takes,
    ({ name }, value, context) => hasHistory(name, lastTime(value, context.now), context),
    ({ name }, value, context) => ({
      from: bind`contact_events AS history`,
      key: bind`history.contact_seq`,
      stretch: bind`history.name_seq = ${eventName(name, context)}`,
      filter: lastTime(value, context.now),
    }),
  );
}

/** Matches contacts without such an event. */
function neverHappened<K extends keyof Values>(takes: K, lastTime: LastTime<K>) {
  return operator<Event, K>(
    takes,
    ({ name }, value, context) =>
      bind`NOT ${hasHistory(name, lastTime(value, context.now), context)}`,
  );
}

function hasHistory(name: string, lastTime: Fragment, context: Context): Fragment {
  return bind`EXISTS (
    SELECT 1 FROM contact_events AS history
    WHERE history.name_seq = ${eventName(name, context)}
      AND history.contact_seq = contacts.seq AND ${lastTime})`;
}

function eventName(name: string, { projectSeq }: Context): Fragment {
  return bind`(
    SELECT event_names.seq FROM event_names
    WHERE event_names.project_seq = ${projectSeq} AND event_names.name = ${name})`;
}

const anyTime = () => bind`1`;
const isRecent = (spanMs: number, now: number) => bind`history.last_at >= ${now - spanMs}`;
const isOld = (spanMs: number, now: number) => bind`history.last_at < ${now - spanMs}`;

const EVENT = {
  triggered: happened("nothing", anyTime),
  notTriggered: neverHappened("nothing", anyTime),
  triggeredWithin: happened("span", isRecent),
  notTriggeredWithin: neverHappened("span", isRecent),
  triggeredOlderThan: happened("span", isOld),
};

/** Membership of a segment. references.ts resolves the segment, which defines the SQL. */
const SEGMENT = {
  memberOf: { takes: "nothing", isMember: true },
  notMemberOf: { takes: "nothing", isMember: false },
} as const;

/** The operators of each kind of field, in the order in which error messages name them. */
export const OPERATORS = {
  email: EMAIL,
  subscribed: SUBSCRIBED,
  time: TIME,
  data: DATA,
  event: EVENT,
  segment: SEGMENT,
};

/** The names of all operators. */
export const OPERATOR_NAMES: readonly string[] = [
  ...new Set(Object.values(OPERATORS).flatMap((operators) => Object.keys(operators))),
];

/** Matches subscribed contacts. */
export const IS_SUBSCRIBED: FieldTest = SUBSCRIBED.equals.test({ kind: "subscribed" }, true);

/** Matches contacts whose address is suppressed. No filter of a request has this test. */
export const IS_SUPPRESSED: FieldTest = {
  kind: "field",
  target: { kind: "email" },
  takes: "nothing",
  where: ({ projectSeq }) => bind`EXISTS (
    SELECT 1 FROM suppressions
    WHERE suppressions.project_seq = ${projectSeq} AND suppressions.email = contacts.email)`,
  source: null,
};
