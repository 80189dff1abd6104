/**
 * Compiles a condition to one SQL expression with bound values, which is true for the contacts that
 * meet the condition. Pure. The expression belongs in a query of the table `contacts` of one
 * project: `SELECT … FROM contacts WHERE project_seq = ? AND <expression>`.
 *
 * A test that matches is true; one that does not match is false or NULL. AND and OR preserve this.
 * A negated condition uses IS NOT TRUE, because NOT NULL would be NULL.
 */

import { storedAddress, storedSpellings } from "../../../protocols/mime/address.ts";
import { allOf, anyOf, bind, type Fragment } from "./bind.ts";
import { compileData } from "./compile-data.ts";
import type { Condition, Group } from "../condition/condition.ts";
import type { MembersTest, ResolvedTest } from "../condition/references.ts";
import type { EmailTest, EventTest, TimeTest } from "../condition/operators.ts";

/** `now` is in milliseconds since the epoch; `within` and `olderThan` are relative to it. */
export type Context = { projectSeq: number; now: number };

function compileCondition(condition: Condition<ResolvedTest>, context: Context): Fragment {
  const groups = condition.groups.map((group) => compileGroup(group, context));
  return condition.logic === "AND" ? allOf(groups) : anyOf(groups);
}

function compileGroup({ filters, conditions }: Group<ResolvedTest>, context: Context): Fragment {
  const parts = filters.map((test) => compileTest(test, context));
  const nested = conditions === null ? [] : [compileCondition(conditions, context)];
  return allOf([...parts, ...nested]);
}

export function compileTest(test: ResolvedTest, context: Context): Fragment {
  switch (test.kind) {
    case "email":
      return compileEmail(test);
    case "subscribed":
      return bind`contacts.is_subscribed = ${Number(test.isSubscribed)}`;
    case "time":
      return compileTime(test, context.now);
    case "data":
      return compileData(test, context.now);
    case "event":
      return compileEvent(test, context);
    case "members":
      return compileMembers(test);
    case "condition": {
      const inner = compileCondition(test.condition, context);
      return test.isMember ? inner : bind`(${inner} IS NOT TRUE)`;
    }
  }
}

function compileMembers({ segmentSeq, isMember }: MembersTest): Fragment {
  const belongs = bind`EXISTS (
    SELECT 1 FROM segment_members AS member
    WHERE member.segment_seq = ${segmentSeq} AND member.contact_seq = contacts.seq)`;
  return isMember ? belongs : bind`NOT ${belongs}`;
}

function anySpelling(part: string, matches: (spelling: string) => Fragment): Fragment {
  return anyOf(storedSpellings(part).map(matches));
}

function compileEmail({ operator, value }: EmailTest): Fragment {
  switch (operator) {
    case "equals":
      return bind`contacts.email = ${storedAddress(value)}`;
    case "notEquals":
      return bind`contacts.email <> ${storedAddress(value)}`;
    case "contains":
      return anySpelling(value, (part) => bind`instr(contacts.email, ${part}) > 0`);
    case "notContains":
      return allOf(storedSpellings(value).map((part) => bind`instr(contacts.email, ${part}) = 0`));
    case "startsWith":
      return anySpelling(
        value,
        (part) => bind`substr(contacts.email, 1, length(${part})) = ${part}`,
      );
    case "endsWith":
      return anySpelling(value, (part) =>
        part === "" ? bind`1` : bind`substr(contacts.email, -length(${part})) = ${part}`,
      );
  }
}

const COLUMNS = { createdAt: bind`contacts.created_at`, updatedAt: bind`contacts.updated_at` };

function compileTime(test: TimeTest, now: number): Fragment {
  const column = COLUMNS[test.column];
  switch (test.operator) {
    case "equals":
      return bind`(${column} >= ${test.period.fromMs} AND ${column} < ${test.period.untilMs})`;
    case "notEquals":
      return bind`(${column} < ${test.period.fromMs} OR ${column} >= ${test.period.untilMs})`;
    case "greaterThan":
      return bind`${column} >= ${test.period.untilMs}`;
    case "greaterThanOrEqual":
      return bind`${column} >= ${test.period.fromMs}`;
    case "lessThan":
      return bind`${column} < ${test.period.fromMs}`;
    case "lessThanOrEqual":
      return bind`${column} < ${test.period.untilMs}`;
    case "within":
      return bind`${column} >= ${now - test.spanMs}`;
    case "olderThan":
      return bind`${column} < ${now - test.spanMs}`;
  }
}

function compileEvent(test: EventTest, context: Context): Fragment {
  const happened = bind`EXISTS (
    SELECT 1 FROM contact_events AS history
    WHERE history.name_seq = ${eventName(test.name, context)}
      AND history.contact_seq = contacts.seq AND ${lastTime(test, context.now)})`;
  const isNegative = test.operator === "notTriggered" || test.operator === "notTriggeredWithin";
  return isNegative ? bind`NOT ${happened}` : happened;
}

/**
 * Compiles the time of an event test for a row of `contact_events AS history`. For the negative
 * operators it is the expression of the positive one, which the caller negates.
 */
export function lastTime(test: EventTest, now: number): Fragment {
  switch (test.operator) {
    case "triggered":
    case "notTriggered":
      return bind`1`;
    case "triggeredWithin":
    case "notTriggeredWithin":
      return bind`history.last_at >= ${now - test.spanMs}`;
    case "triggeredOlderThan":
      return bind`history.last_at < ${now - test.spanMs}`;
  }
}

export function eventName(name: string, { projectSeq }: Context): Fragment {
  return bind`(
    SELECT event_names.seq FROM event_names
    WHERE event_names.project_seq = ${projectSeq} AND event_names.name = ${name})`;
}
