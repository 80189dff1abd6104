/**
 * The quota of concurrent imports, exports and bulk actions of a project. Queued and running jobs
 * are counted in the database; uploads and exports, which end with their request, are counted in
 * memory.
 */

import type { Db } from "../../../db/open.ts";
import type { AppError } from "../../../lib/errors.ts";
import { quotaExceeded } from "../../quotas.ts";

export type JobQuota = {
  /**
   * Begins an upload or export; throws 429 at the quota. The returned function ends it and is
   * idempotent.
   */
  begin(projectSeq: number): () => void;
  /** Throws 429 at the quota. It must be called inside the change that stores a job. */
  ensureJob(projectSeq: number): void;
  /** Like `ensureJob` for the job of an upload; that upload itself is not counted. */
  ensureJobOfUpload(projectSeq: number): void;
};

/** Roughly the duration of a large import. */
const RETRY_AFTER_SECONDS = 30;

/** `maxJobs` is the limit of one project; 0 for no limit. */
export function createJobQuota({ db, maxJobs }: { db: Db; maxJobs: number }): JobQuota {
  const countJobs = db.sqlite.prepare<{ n: number }, [number]>(`
    SELECT count(*) AS n FROM jobs
    WHERE project_seq = +? AND status IN ('QUEUED', 'RUNNING')`);
  const requests = new Map<number, number>();

  function ensure(projectSeq: number, ownRequests: number): void {
    if (maxJobs === 0) return;
    const others = (requests.get(projectSeq) ?? 0) - ownRequests;
    if ((countJobs.get(projectSeq)?.n ?? 0) + others >= maxJobs) throw exceeded(maxJobs);
  }

  function add(projectSeq: number, change: 1 | -1): void {
    const count = (requests.get(projectSeq) ?? 0) + change;
    if (count === 0) requests.delete(projectSeq);
    else requests.set(projectSeq, count);
  }

  return {
    begin(projectSeq) {
      ensure(projectSeq, 0);
      add(projectSeq, 1);
      let hasEnded = false;
      return () => {
        if (!hasEnded) add(projectSeq, -1);
        hasEnded = true;
      };
    },
    ensureJob: (projectSeq) => ensure(projectSeq, 0),
    ensureJobOfUpload: (projectSeq) => ensure(projectSeq, 1),
  };
}

function exceeded(maxJobs: number): AppError {
  return quotaExceeded({
    quota: `${maxJobs} imports, exports and bulk actions at once`,
    setting: "--quota-jobs",
    retryAfterSeconds: RETRY_AFTER_SECONDS,
    suggestion: "Wait until one of them has ended, then repeat the request.",
  });
}
