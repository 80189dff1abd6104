/**
 * Conditions on contacts. Plunk's have the shape of ours. Its operators on segments end in "Segment",
 * and the field of an operator on events may be the bare name of the event. A condition of another
 * shape is passed on unchanged, and the check of our conditions names its fault.
 */

import { isRecord } from "../../http/validation.ts";

type Filter = Readonly<Record<string, unknown>>;

/** The end of Plunk's operators on the fields `segment.<id>`. */
const SEGMENT_ENDING = "Segment";
const EVENT_OPERATOR = /^(?:t|notT)riggered/;
const PREFIXED_EVENT = /^(?:event|email)\./;

/** The condition of a request in our names. */
export const ourCondition = (condition: unknown): unknown => withFilters(condition, ourFilter);

/** A stored condition in Plunk's names. */
export const plunkCondition = (condition: unknown): unknown => withFilters(condition, plunkFilter);

function ourFilter(filter: Filter): Filter {
  const { field, operator } = filter;
  if (typeof field !== "string" || typeof operator !== "string") return filter;
  if (isOfSegment(field) && operator.endsWith(SEGMENT_ENDING)) {
    return { ...filter, operator: operator.slice(0, -SEGMENT_ENDING.length) };
  }
  const isBareEvent = EVENT_OPERATOR.test(operator) && !PREFIXED_EVENT.test(field);
  return isBareEvent ? { ...filter, field: `event.${field}` } : filter;
}

function plunkFilter(filter: Filter): Filter {
  const { field, operator } = filter;
  if (typeof field !== "string" || typeof operator !== "string") return filter;
  return isOfSegment(field) ? { ...filter, operator: operator + SEGMENT_ENDING } : filter;
}

const isOfSegment = (field: string): boolean => field.startsWith("segment.");

/** The body of a request is nested less deeply than the stack allows (http/json-checks.ts). */
function withFilters(condition: unknown, change: (filter: Filter) => Filter): unknown {
  if (!isRecord(condition) || !Array.isArray(condition["groups"])) return condition;
  return {
    ...condition,
    groups: condition["groups"].map((group: unknown) => {
      if (!isRecord(group)) return group;
      const { filters, conditions } = group;
      return {
        ...group,
        ...(Array.isArray(filters)
          ? { filters: filters.map((each: unknown) => (isRecord(each) ? change(each) : each)) }
          : {}),
        ...(conditions === undefined ? {} : { conditions: withFilters(conditions, change) }),
      };
    }),
  };
}
