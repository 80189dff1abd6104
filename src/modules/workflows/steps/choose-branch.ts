/**
 * Chooses the branch of a CONDITION. Filters on the contact are compiled like those of segments and
 * evaluated for this one contact; filters on the context are evaluated in memory (context-test.ts).
 */

import type { JsonObject } from "../../contacts/data.ts";
import type { Filter } from "../../segments/condition/filter.ts";
import type { Segments } from "../../segments/service.ts";
import type { Condition } from "../../segments/condition/condition.ts";
import { type StepFilter, parseStepCondition, evaluateContextFilters } from "./step-condition.ts";
import { holdsFor } from "./context-test.ts";
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
    const holds = ({ test }: Filter) => test.kind === "data" && holdsFor(context, test, now);
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
