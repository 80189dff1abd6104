/** The contacts that a filter of a bulk action or an export means. */

import { JOB_COUNT_MS } from "../contacts/search.ts";
import { parseCondition, parseStored } from "./condition/condition.ts";
import { type Segments, segmentService } from "./service.ts";
import type { App } from "../../core/app.ts";
import { perApp } from "../../lib/per-app.ts";

const FIELD = "filter";

/** The functions of segments that bulk actions and exports use. */
export const filterAudience = perApp((app: App) => createFilterAudience(segmentService(app)));

function createFilterAudience({
  audiences,
  audienceOf,
  audienceOfCondition,
  ensureResolvable,
  members,
}: Pick<
  Segments,
  "audiences" | "audienceOf" | "audienceOfCondition" | "ensureResolvable" | "members"
>) {
  /** The filter of a job, which was checked before the job was stored. */
  const find = (projectSeq: number, filter: unknown) =>
    audienceOfCondition(projectSeq, parseStored(filter, FIELD));

  return {
    /** Refuses an invalid filter with 422 that names the faulty part. */
    check(projectSeq: number, filter: unknown): void {
      ensureResolvable(projectSeq, parseCondition(filter, FIELD));
    },

    count: (projectSeq: number, filter: unknown): Promise<number> =>
      audiences.count(find(projectSeq, filter), JOB_COUNT_MS),

    members: (projectSeq: number, filter: unknown, afterSeq: number): AsyncIterable<number[]> =>
      audiences.members(find(projectSeq, filter), afterSeq),

    /** Throws 404 for an unknown segment, and 409 for a DYNAMIC one. */
    ensureStatic: members.ensureStatic,

    /** Part of a change. Returns true if the contact entered the segment, or left it. */
    move: (
      direction: "enter" | "leave",
      segment: { projectSeq: number; id: string },
      contactSeq: number,
    ): boolean => members.move(direction, segment, [contactSeq]).length > 0,

    /** Throws 404 without such a segment. */
    membersOfSegment: (projectSeq: number, id: string): AsyncIterable<number[]> =>
      audiences.members(audienceOf(projectSeq, id)),
  };
}
