/**
 * Which branch a CONDITION takes. Filters on the contact are compiled as those of segments are and
 * asked for this one contact; filters on the context are evaluated here (context-test.ts).
 */

import { AppError } from "../../lib/errors.ts";
import type { JsonObject } from "../contacts/data.ts";
import { parseCondition } from "../segments/condition.ts";
import { checkFilter } from "../segments/filter.ts";
import type { Segments } from "../segments/service.ts";
import { holdsFor } from "./context-test.ts";
import type { ConditionConfig, ShortCondition } from "./graph.ts";

const CONTEXT = "context.";

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
  function meets(condition: unknown, { projectSeq, contactSeq }: Subject): boolean {
    const checked = parseCondition(condition, "condition");
    const audience = segments.audienceOfCondition(projectSeq, checked);
    return segments.audiences.matching(audience, [contactSeq]).length > 0;
  }

  function passes(filter: ShortCondition, subject: Subject): boolean {
    if (filter.field.startsWith(CONTEXT)) return contextPasses(filter, subject);
    return meets({ logic: "AND", groups: [{ filters: [filter] }] }, subject);
  }

  return (config, subject) => {
    if ("condition" in config) return meets(config.condition, subject) ? "yes" : "no";
    if (!("branches" in config)) return passes(config, subject) ? "yes" : "no";
    const { field, branches } = config;
    const match = branches.find(({ operator, value, unit }) =>
      passes({ field, operator, value, unit }, subject),
    );
    return match?.id ?? "default";
  };
}

/** By the rules of `data.<path>`. */
function contextPasses(filter: ShortCondition, { context, now }: Subject): boolean {
  const field = `data.${filter.field.slice(CONTEXT.length)}`;
  const checked = checkFilter({ ...filter, field }, "condition");
  if (!checked.ok || checked.value.test.kind !== "data") {
    const message = checked.ok ? "Expected a path." : (checked.errors[0]?.message ?? "");
    throw new AppError(422, "VALIDATION_ERROR", message);
  }
  return holdsFor(context, checked.value.test, now);
}
