/** The audience of a bulk action's filter, and of an export, for modules that must not import segments. */

import { parseCondition, parseStored } from "./condition/condition.ts";
import type { Segments } from "./service.ts";

const FIELD = "filter";

export function createFilterAudience({
  audiences,
  audienceOf,
  audienceOfCondition,
  ensureResolvable,
}: Pick<Segments, "audiences" | "audienceOf" | "audienceOfCondition" | "ensureResolvable">) {
  /** The filter of a job, which was checked before the job was stored. */
  const find = (projectSeq: number, filter: unknown) =>
    audienceOfCondition(projectSeq, parseStored(filter, FIELD));

  return {
    /** Refuses an invalid filter with 422 that names the faulty part. */
    check(projectSeq: number, filter: unknown): void {
      ensureResolvable(projectSeq, parseCondition(filter, FIELD));
    },

    count: (projectSeq: number, filter: unknown): Promise<number> =>
      audiences.count(find(projectSeq, filter)),

    members: (projectSeq: number, filter: unknown, afterSeq: number): AsyncIterable<number[]> =>
      audiences.members(find(projectSeq, filter), afterSeq),

    /** Throws 404 without such a segment. */
    membersOfSegment: (projectSeq: number, id: string): AsyncIterable<number[]> =>
      audiences.members(audienceOf(projectSeq, id)),
  };
}
