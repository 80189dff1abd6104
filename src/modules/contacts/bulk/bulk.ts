/** Bulk actions: one action on the contacts of a list or a filter, done by a job. */

import type { Db } from "../../../db/open.ts";
import type { Change } from "../../../db/writer.ts";
import type { BulkError, BulkInput, BulkJob, BulkProgress } from "./model.ts";
import { presentJob } from "../jobs/model.ts";
import type { JobQuota } from "../jobs/quota.ts";
import type { JobRow, Jobs } from "../jobs/jobs.ts";

export type Bulk = ReturnType<typeof createBulk>;

/** Contacts of a filter: what the segments know how to find. */
export type FindAudience = {
  /** Refuses a filter that is not valid: 422 naming the faulty one. */
  check(projectSeq: number, filter: unknown): void;
  /** How many there are right now. */
  count(projectSeq: number, filter: unknown): Promise<number>;
  /** As `contacts.seq`, ascending, those after `afterSeq`, in slices of a few milliseconds. */
  members(projectSeq: number, filter: unknown, afterSeq: number): AsyncIterable<readonly number[]>;
};

export function createBulk(deps: { db: Db; jobs: Jobs; quota: JobQuota; audience: FindAudience }) {
  const { db, jobs, quota, audience } = deps;
  const readNewest = db.sqlite.prepare<{ seq: number }, []>(
    "SELECT coalesce(max(seq), 0) AS seq FROM contacts",
  );

  return {
    /** Refuses what cannot be done before anything is stored. */
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
      present(jobs.get(projectSeq, "BULK", id)),
  };
}

function present(job: JobRow): BulkProgress {
  const { action }: BulkJob = JSON.parse(job.input);
  const errors: BulkError[] = JSON.parse(job.errors);
  return { ...presentJob(job), action, updated: job.updated, failed: job.failed, errors };
}
