/**
 * The filters of dates. A time with an offset, such as `2026-07-01T18:00:00+02:00`, is shown at that
 * offset, as in Liquid for Ruby, and other times in UTC. Names of months and days are those of the
 * mail's language, which is a variable.
 */

import { filters as standardFilters, type FilterImplOptions, toValue } from "liquidjs";
import { textsIn } from "../language.ts";
import type { FilterHandler, FilterThis } from "./limits.ts";

const NAMES = new Set(
  "date date_to_xmlschema date_to_rfc822 date_to_string date_to_long_string".split(" "),
);

/** A time of the day and its offset at the end of a text. */
const OFFSET = /\d{2}:\d{2}[\d:., ]{0,20}([+-])(\d{2}):?(\d{2})$/;
const LONGEST_DATE = 64;

/** The filters of Liquid, with those of dates replaced. */
export const FILTERS: Readonly<Record<string, FilterImplOptions>> = Object.fromEntries(
  Object.entries<FilterImplOptions>(standardFilters).map(([name, filter]) => [
    name,
    NAMES.has(name) && typeof filter === "function" ? localFilter(filter) : filter,
  ]),
);

function localFilter(filter: FilterHandler): FilterHandler {
  return function (this: FilterThis, value: unknown, ...args: unknown[]): unknown {
    const offset = offsetMinutes(toValue(value));
    const locale = localeOf(this.context.globals);
    if (offset === null && locale === null) return filter.apply(this, [value, ...args]);
    const { opts } = this.context;
    const changed = {
      ...opts,
      timezoneOffset: offset ?? opts.timezoneOffset,
      locale: locale ?? opts.locale,
    };
    const context = Object.create(this.context, { opts: { value: changed } });
    return filter.apply({ ...this, context }, [value, ...args]);
  };
}

/** Minutes to add to the local time to get UTC; null if the text names no offset. */
function offsetMinutes(value: unknown): number | null {
  if (typeof value !== "string" || value.length > LONGEST_DATE) return null;
  const match = OFFSET.exec(value.trimEnd());
  if (match === null) return null;
  const [, sign, hours, minutes] = match;
  return (sign === "+" ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
}

/** The language of a mail (`templateVariables`); null for English and where there is none. */
function localeOf(variables: object): string | null {
  const project: unknown = Reflect.get(variables, "project");
  if (typeof project !== "object" || project === null) return null;
  const language: unknown = Reflect.get(project, "language");
  const texts = typeof language === "string" ? textsIn(language) : null;
  return texts === null || texts.language === "en" ? null : texts.language;
}
