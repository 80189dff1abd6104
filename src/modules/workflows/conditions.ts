/**
 * Which branch a CONDITION takes. Filters on the contact are compiled as those of segments are and
 * asked for this one contact; filters on the context are evaluated here (context-test.ts).
 */

import type { JsonObject } from "../contacts/data.ts";
import type { Filter } from "../segments/filter.ts";
import type { Segments } from "../segments/service.ts";
import type { Condition } from "../segments/condition.ts";
import { type AskedFilter, askedCondition, withContext } from "./asked.ts";
import { holdsFor } from "./context-test.ts";
import type { ConditionConfig, ShortCondition } from "./graph.ts";

export type Subject = {
  projectSeq: number;
  contactSeq: number;
  context: JsonObject;
  now: number;
};

export type ChooseBranch = (config: ConditionConfig, subject: Subject) => string;

/** Part of a change. Throws AppError where a filter refers to what is not there any more. */
export function createChooseBranch({
  segments,
}: {
  segments: Pick<Segments, "audiences" | "audienceOfCondition">;
}): ChooseBranch {
  const conditions = new WeakMap<object, Condition<AskedFilter>>();

  function meets(config: { condition: unknown } | ShortCondition, subject: Subject): boolean {
    const { projectSeq, contactSeq, context, now } = subject;
    const holds = ({ test }: Filter) => test.kind === "data" && holdsFor(context, test, now);
    const left = withContext(read(config), holds);
    if (typeof left === "boolean") return left;
    const audience = segments.audienceOfCondition(projectSeq, left);
    return segments.audiences.matching(audience, [contactSeq]).length > 0;
  }

  /** Graphs are never changed, so what was read of one stays right. */
  function read(config: { condition: unknown } | ShortCondition): Condition<AskedFilter> {
    const known = conditions.get(config) ?? askedCondition(config, "config");
    conditions.set(config, known);
    return known;
  }

  return (config, subject) => {
    if (!("branches" in config)) return meets(config, subject) ? "yes" : "no";
    const { field, branches } = config;
    const match = branches.find(({ operator, value, unit }) =>
      meets({ field, operator, value, unit }, subject),
    );
    return match?.id ?? "default";
  };
}
