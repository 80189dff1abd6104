/**
 * The quota of imports, exports and bulk actions that a project has at once. Jobs that wait or run
 * are rows; uploads and exports, which end with their request, are counted in memory.
 */

import type { Db } from "../../../db/open.ts";
import type { AppError } from "../../../lib/errors.ts";
import { quotaExceeded } from "../../quotas/exceeded.ts";

export type JobQuota = {
  /** An upload or export begins: 429 at the quota. Returns what ends it, once or several times. */
  begin(projectSeq: number): () => void;
  /** Part of the change that stores a job: 429 at the quota. */
  ensureJob(projectSeq: number): void;
  /** The same for the job of an upload, which gives way to it. */
  ensureJobOfUpload(projectSeq: number): void;
};

/** About how long a large import takes. */
const RETRY_AFTER_SECONDS = 30;

/** `most`: of one project; 0 for no limit. */
export function createJobQuota({ db, most }: { db: Db; most: number }): JobQuota {
  const countJobs = db.sqlite.prepare<{ n: number }, [number]>(`
    SELECT count(*) AS n FROM jobs
    WHERE project_seq = +? AND status IN ('QUEUED', 'RUNNING')`);
  const requests = new Map<number, number>();

  function ensure(projectSeq: number, ownRequests: number): void {
    if (most === 0) return;
    const others = (requests.get(projectSeq) ?? 0) - ownRequests;
    if ((countJobs.get(projectSeq)?.n ?? 0) + others >= most) throw exceeded(most);
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
      let isOver = false;
      return () => {
        if (!isOver) add(projectSeq, -1);
        isOver = true;
      };
    },
    ensureJob: (projectSeq) => ensure(projectSeq, 0),
    ensureJobOfUpload: (projectSeq) => ensure(projectSeq, 1),
  };
}

function exceeded(most: number): AppError {
  return quotaExceeded({
    quota: `${most} imports, exports and bulk actions at once`,
    setting: "--quota-jobs",
    retryAfterSeconds: RETRY_AFTER_SECONDS,
    suggestion: "Wait until one of them has ended, then try again.",
  });
}
