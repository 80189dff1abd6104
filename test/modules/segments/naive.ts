/**
 * A second, simple implementation of conditions without SQL, to compare with the compiler
 * (docs/interface.md#campaigns). It evaluates conditions as they are sent.
 */

import { domainToUnicode } from "node:url";

export type NaiveContact = {
  email: string;
  subscribed: boolean;
  createdAt: number;
  updatedAt: number;
  data: Record<string, unknown>;
  /** Time of the last event of each name. */
  events: Record<string, number>;
  /** Ids of the STATIC segments of which the contact is a member. */
  segments: readonly string[];
};

export type NaiveFilter = { field: string; operator: string; value?: unknown; unit?: string };
export type NaiveCondition = {
  logic: "AND" | "OR";
  groups: { filters: NaiveFilter[]; conditions?: NaiveCondition }[];
};

export type NaiveWorld = {
  now: number;
  /** Conditions of DYNAMIC segments, by id. */
  dynamic: Record<string, NaiveCondition>;
};

export function meets(
  world: NaiveWorld,
  contact: NaiveContact,
  condition: NaiveCondition,
): boolean {
  const groups = condition.groups.map(
    ({ filters, conditions }) =>
      filters.every((filter) => matchesFilter(world, contact, filter)) &&
      (conditions === undefined || meets(world, contact, conditions)),
  );
  return condition.logic === "AND" ? groups.every(Boolean) : groups.some(Boolean);
}

export function matchesFilter(
  world: NaiveWorld,
  contact: NaiveContact,
  filter: NaiveFilter,
): boolean {
  const { field } = filter;
  if (field === "email") return emailMatches(contact.email, filter);
  if (field === "subscribed") {
    const isSame = contact.subscribed === filter.value;
    return filter.operator === "equals" ? isSame : !isSame;
  }
  if (field === "createdAt") return timeMatches(world.now, contact.createdAt, filter);
  if (field === "updatedAt") return timeMatches(world.now, contact.updatedAt, filter);
  if (field.startsWith("data."))
    return dataMatches(world.now, valueAt(contact.data, field), filter);
  if (field.startsWith("segment.")) {
    const id = field.slice("segment.".length);
    const condition = world.dynamic[id];
    const isMember =
      condition === undefined ? contact.segments.includes(id) : meets(world, contact, condition);
    return filter.operator === "memberOf" ? isMember : !isMember;
  }
  const name = field.startsWith("event.") ? field.slice("event.".length) : field;
  const last = Object.hasOwn(contact.events, name) ? contact.events[name] : undefined;
  return eventMatches(world.now, last, filter);
}

const UNIT_MS: Record<string, number> = { minutes: 60e3, hours: 3600e3, days: 86400e3 };

function since(now: number, filter: NaiveFilter): number {
  return now - Number(filter.value) * (UNIT_MS[filter.unit ?? ""] ?? Number.NaN);
}

/** The domain may be written as it is stored (A-labels) or in Unicode. */
function emailMatches(email: string, filter: NaiveFilter): boolean {
  const [local = "", domain = ""] = email.split("@");
  const spellings = [email, `${local}@${domainToUnicode(domain)}`];
  const matches = (spelling: string) => spellingMatches(spelling, filter);
  return filter.operator.startsWith("not") ? spellings.every(matches) : spellings.some(matches);
}

function spellingMatches(email: string, { operator, value }: NaiveFilter): boolean {
  const part = String(value).toLowerCase();
  switch (operator) {
    case "equals":
      return email === part;
    case "notEquals":
      return email !== part;
    case "contains":
      return email.includes(part);
    case "notContains":
      return !email.includes(part);
    case "startsWith":
      return email.startsWith(part);
    case "endsWith":
      return email.endsWith(part);
  }
  throw new Error(operator);
}

function timeMatches(now: number, at: number, filter: NaiveFilter): boolean {
  if (filter.operator === "within") return at >= since(now, filter);
  if (filter.operator === "olderThan") return at < since(now, filter);
  const text = String(filter.value);
  const isDay = text.length === 10;
  const first = Date.parse(text);
  const last = isDay ? first + 86400e3 - 1 : first;
  switch (filter.operator) {
    case "equals":
      return first <= at && at <= last;
    case "notEquals":
      return at < first || at > last;
    case "greaterThan":
      return at > last;
    case "greaterThanOrEqual":
      return at >= first;
    case "lessThan":
      return at < first;
    case "lessThanOrEqual":
      return at <= last;
  }
  throw new Error(filter.operator);
}

function eventMatches(now: number, last: number | undefined, filter: NaiveFilter): boolean {
  switch (filter.operator) {
    case "triggered":
      return last !== undefined;
    case "notTriggered":
      return last === undefined;
    case "triggeredWithin":
      return last !== undefined && last >= since(now, filter);
    case "notTriggeredWithin":
      return last === undefined || last < since(now, filter);
    case "triggeredOlderThan":
      return last !== undefined && last < since(now, filter);
  }
  throw new Error(filter.operator);
}

function valueAt(data: unknown, field: string): unknown {
  const name = field.slice("data.".length);
  if (typeof data === "object" && data !== null && Object.hasOwn(data, name)) {
    return Reflect.get(data, name);
  }
  let value = data;
  for (const key of name.split(".")) {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
    if (!Object.hasOwn(value, key)) return undefined;
    value = Reflect.get(value, key);
  }
  return value;
}

function dataMatches(now: number, value: unknown, filter: NaiveFilter): boolean {
  const { operator, value: wanted } = filter;
  const exists = value !== undefined && value !== null;
  switch (operator) {
    case "exists":
      return exists;
    case "notExists":
      return !exists;
  }
  if (!exists) return false;
  switch (operator) {
    case "equals":
      return value === wanted;
    case "notEquals":
      return value !== wanted;
    case "contains":
      return contains(value, wanted);
    case "notContains":
      return !contains(value, wanted);
    case "in":
      return Array.isArray(wanted) && wanted.includes(value);
    case "notIn":
      return Array.isArray(wanted) && !wanted.includes(value);
    case "anniversary":
      return (
        dateOf(value) !== null &&
        typeof value === "string" &&
        value.slice(5, 10) === new Date(now).toISOString().slice(5, 10)
      );
    case "within":
    case "olderThan": {
      const at = dateOf(value);
      if (at === null) return false;
      return operator === "within"
        ? at >= since(now, filter) && at <= now
        : at < since(now, filter);
    }
  }
  const first = dateOf(wanted);
  if (first !== null) return timeMatches(now, dateOf(value) ?? Number.NaN, filter);
  const order = compare(value, wanted);
  if (order === null) return false;
  switch (operator) {
    case "greaterThan":
      return order > 0;
    case "greaterThanOrEqual":
      return order >= 0;
    case "lessThan":
      return order < 0;
    case "lessThanOrEqual":
      return order <= 0;
  }
  throw new Error(operator);
}

function contains(value: unknown, wanted: unknown): boolean {
  if (Array.isArray(value)) return value.some((item) => item === wanted);
  return typeof value === "string" && typeof wanted === "string" && value.includes(wanted);
}

/** Compares two numbers. Null for other values. */
function compare(a: unknown, b: unknown): number | null {
  return typeof a === "number" && typeof b === "number" ? a - b : null;
}

function dateOf(value: unknown): number | null {
  if (typeof value !== "string") return null;
  const [, day, time = "00:00:00", zone = "Z"] =
    /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(Z|[+-]\d\d:\d\d)?)?$/.exec(value) ??
    [];
  if (day === undefined) return null;
  const midnight = new Date(`${day}T00:00:00Z`);
  if (Number.isNaN(midnight.getTime()) || midnight.toISOString().slice(0, 10) !== day) return null;
  const at = Date.parse(`${day}T${time}${zone}`);
  return Number.isNaN(at) ? null : at;
}
