/**
 * Bulk actions: one action on all contacts of a list of ids or of a filter. The request checks the
 * filter and stores a job; the job worker then runs it (`run.ts`) and applies the action to each
 * contact (`actions.ts`).
 */

import type { Db } from "../../../db/open.ts";
import type { Change } from "../../../db/writer.ts";
import type { BulkError, BulkInput, BulkJob, BulkProgress } from "./model.ts";
import { presentJob } from "../jobs/model.ts";
import type { JobQuota } from "../jobs/quota.ts";
import type { JobRow, Jobs } from "../jobs/jobs.ts";

export type Bulk = ReturnType<typeof createBulk>;

/** The functions of segments that bulk actions call. */
export type FindAudience = {
  /** Throws 422 with the invalid condition if the filter is not valid. */
  check(projectSeq: number, filter: unknown): void;
  /** The current number of contacts. */
  count(projectSeq: number, filter: unknown): Promise<number>;
  /** The `seq` of the contacts after `afterSeq`, ascending, some thousand at a time. */
  members(projectSeq: number, filter: unknown, afterSeq: number): AsyncIterable<readonly number[]>;
  /** Throws 404 for an unknown segment, and 409 for one that is not STATIC. */
  ensureStatic(projectSeq: number, segmentId: string): void;
  /** Part of a change. Returns true if the contact entered the segment, or left it. */
  move(
    direction: "enter" | "leave",
    segment: { projectSeq: number; id: string },
    contactSeq: number,
  ): boolean;
  /** The same for the members of a segment. Throws 404 without such a segment. */
  membersOfSegment(projectSeq: number, id: string): AsyncIterable<readonly number[]>;
};

export function createBulk(deps: {
  db: Db;
  jobs: Jobs;
  quota: JobQuota;
  audience: FindAudience;
  /** Throws 422 for an unknown topic. */
  ensureTopic: (projectSeq: number, topicId: string) => void;
}) {
  const { db, jobs, quota, audience, ensureTopic } = deps;
  const readNewest = db.sqlite.prepare<{ seq: number }, []>(
    "SELECT coalesce(max(seq), 0) AS seq FROM contacts",
  );

  return {
    /** Throws 422 if the filter or the topic is not valid, and 404 or 409 if the segment is not. */
    check(projectSeq: number, { filter = null, segmentId, topicId }: BulkInput): void {
      if (filter !== null) audience.check(projectSeq, filter);
      if (segmentId !== undefined) audience.ensureStatic(projectSeq, segmentId);
      if (topicId !== undefined) ensureTopic(projectSeq, topicId);
    },

    create(projectSeq: number, id: string, input: BulkInput): Change<void> {
      return () => {
        quota.ensureJob(projectSeq);
        const { ids = null, filter = null, query = null } = input;
        const job: BulkJob = {
          ...input,
          query,
          ids: ids === null ? null : [...new Set(ids)],
          filter,
          newestSeq: readNewest.get()?.seq ?? 0,
        };
        jobs.create({ id, projectSeq, kind: "BULK" }, job)();
      };
    },

    progress: (projectSeq: number, id: string): BulkProgress =>
      present(jobs.get(projectSeq, ["BULK"], id)),
  };
}

function present(job: JobRow): BulkProgress {
  const { action }: BulkJob = JSON.parse(job.input);
  const errors: BulkError[] = JSON.parse(job.errors);
  const { processed, updated, failed } = job;
  const unchanged = processed - updated - failed;
  return { ...presentJob(job), action, updated, unchanged, failed, errors };
}
