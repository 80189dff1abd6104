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

/** Finds the contacts of a filter; implemented by the segments. */
export type FindAudience = {
  /** Throws 422 with the invalid condition if the filter is not valid. */
  check(projectSeq: number, filter: unknown): void;
  /** The current number of contacts. */
  count(projectSeq: number, filter: unknown): Promise<number>;
  /** The `seq` of the contacts after `afterSeq`, ascending, in slices of a few milliseconds. */
  members(projectSeq: number, filter: unknown, afterSeq: number): AsyncIterable<readonly number[]>;
  /** The same for the members of a segment. Throws 404 without such a segment. */
  membersOfSegment(projectSeq: number, id: string): AsyncIterable<readonly number[]>;
};

export function createBulk(deps: { db: Db; jobs: Jobs; quota: JobQuota; audience: FindAudience }) {
  const { db, jobs, quota, audience } = deps;
  const readNewest = db.sqlite.prepare<{ seq: number }, []>(
    "SELECT coalesce(max(seq), 0) AS seq FROM contacts",
  );

  return {
    /** Throws 422 if the filter is not valid, before anything is stored. */
    check(projectSeq: number, { filter = null }: BulkInput): void {
      if (filter !== null) audience.check(projectSeq, filter);
    },

    create(projectSeq: number, id: string, input: BulkInput): Change<void> {
      return () => {
        quota.ensureJob(projectSeq);
        const { action, ids = null, filter = null } = input;
        const job: BulkJob = {
          action,
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
  return { ...presentJob(job), action, updated: job.updated, failed: job.failed, errors };
}
