/** Reads the configs of TIME_WINDOW and SPLIT strictly; each error names the field. */

import type { FieldError } from "../../../lib/errors.ts";
import { readZone } from "./config-trigger.ts";
import { CONTACT_ZONE, type Step, type TimeWindow } from "./graph.ts";
import { readShape } from "./read-shape.ts";
import { SplitConfig, TimeWindowConfig, WEEKDAYS } from "./step-schemas.ts";

type Split = Extract<Step, { type: "SPLIT" }>["config"];

const CLOCK = /^(?:[01]\d|2[0-3]):[0-5]\d$/;
/** The end of a window that lasts until midnight. */
const MIDNIGHT = "24:00";

export function readTimeWindow(
  given: unknown,
  at: string,
  errors: FieldError[],
): TimeWindow | null {
  if (!readShape(TimeWindowConfig, given, at, errors)) return null;
  const before = errors.length;
  const fail = (member: string, message: string) =>
    errors.push({ field: `${at}.${member}`, message, code: "invalid_value" });
  const { from, to, fallbackTimeZone = null } = given;
  if (!CLOCK.test(from)) fail("from", "must be a time of day from 00:00 to 23:59");
  if (!CLOCK.test(to) && to !== MIDNIGHT) fail("to", "must be a time of day from 00:01 to 24:00");
  else if (to === from) fail("to", "must differ from the field from");
  const isOfContact = given.timeZone === CONTACT_ZONE;
  const timeZone = isOfContact ? CONTACT_ZONE : readZone(given.timeZone, `${at}.timeZone`, errors);
  if (!isOfContact && fallbackTimeZone !== null) {
    fail("fallbackTimeZone", `must be omitted unless timeZone is ${CONTACT_ZONE}`);
  }
  const fallback =
    isOfContact && fallbackTimeZone !== null
      ? readZone(fallbackTimeZone, `${at}.fallbackTimeZone`, errors)
      : null;
  if (errors.length > before || timeZone === null) return null;
  return {
    days: WEEKDAYS.filter((day) => given.days.includes(day)),
    from,
    to,
    timeZone,
    ...(fallback === null ? {} : { fallbackTimeZone: fallback }),
  };
}

export function readSplit(given: unknown, at: string, errors: FieldError[]): Split | null {
  if (!readShape(SplitConfig, given, at, errors)) return null;
  const seen = new Set<string>();
  for (const [i, { id }] of given.branches.entries()) {
    if (seen.has(id)) {
      const message = `must be unique: "${id}" is used twice`;
      errors.push({ field: `${at}.branches.${i}.id`, message, code: "invalid_value" });
      return null;
    }
    seen.add(id);
  }
  return { branches: given.branches.map(({ id, weight }) => ({ id, weight })) };
}
