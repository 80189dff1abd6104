/**
 * Chooses the branch of a CONDITION. All filters are compiled to SQL like those of segments: filters
 * on the contact are evaluated for this one contact, filters on the context for its JSON.
 */

import type { JsonObject } from "../../contacts/data.ts";
import type { Filter } from "../../segments/condition/filter.ts";
import type { Segments } from "../../segments/service.ts";
import type { Condition } from "../../segments/condition/condition.ts";
import { type StepFilter, parseStepCondition, evaluateContextFilters } from "./step-condition.ts";
import type { ConditionConfig, ShortCondition } from "../graph/graph.ts";

type Subject = {
  projectSeq: number;
  contactSeq: number;
  context: JsonObject;
  now: number;
};

export type ChooseBranch = (config: ConditionConfig, subject: Subject) => string;

/** Part of a change. Throws AppError if a filter refers to a segment that was deleted. */
export function createChooseBranch({
  segments,
}: {
  segments: Pick<Segments, "audiences" | "audienceOfCondition">;
}): ChooseBranch {
  const conditions = new WeakMap<object, Condition<StepFilter>>();

  function meets(config: { condition: unknown } | ShortCondition, subject: Subject): boolean {
    const { projectSeq, contactSeq, context, now } = subject;
    const holds = ({ test }: Filter) =>
      test.kind === "field" && segments.audiences.holdsForData(test, context, { projectSeq, now });
    const remaining = evaluateContextFilters(read(config), holds);
    if (typeof remaining === "boolean") return remaining;
    const audience = segments.audienceOfCondition(projectSeq, remaining);
    return segments.audiences.matching(audience, [contactSeq]).length > 0;
  }

  /** Stored graphs are immutable, so a parsed condition stays valid. */
  function read(config: { condition: unknown } | ShortCondition): Condition<StepFilter> {
    const known = conditions.get(config) ?? parseStepCondition(config, "config");
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
