/** Whom a filter of a bulk action means, for modules below this one. */

import { parseCondition } from "./condition.ts";
import type { Segments } from "./service.ts";

const FIELD = "filter";

export function createFilterAudience({
  audiences,
  audienceOfCondition,
  ensureResolvable,
}: Pick<Segments, "audiences" | "audienceOfCondition" | "ensureResolvable">) {
  const find = (projectSeq: number, filter: unknown) =>
    audienceOfCondition(projectSeq, parseCondition(filter, FIELD));

  return {
    /** Refuses a filter that is not valid: 422 naming the faulty one. */
    check(projectSeq: number, filter: unknown): void {
      ensureResolvable(projectSeq, parseCondition(filter, FIELD));
    },

    count: (projectSeq: number, filter: unknown): Promise<number> =>
      audiences.count(find(projectSeq, filter)),

    members: (projectSeq: number, filter: unknown, afterSeq: number): AsyncIterable<number[]> =>
      audiences.members(find(projectSeq, filter), afterSeq),
  };
}
