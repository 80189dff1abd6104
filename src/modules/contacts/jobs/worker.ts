/**
 * Runs jobs. The jobs of one project run one after the other; several projects run concurrently, so
 * that no project waits for the jobs of another. The work of a job and its progress are committed
 * together, so a job continues at the same position after a crash.
 */

import { isEndOfReads } from "../../../db/reader.ts";
import { isStorageRefusal } from "../../../db/refusal.ts";
import type { Writer } from "../../../db/writer.ts";
import type { Clock } from "../../../lib/clock.ts";
import { AppError } from "../../../lib/errors.ts";
import { describeError, type Log } from "../../../lib/log.ts";
import { createWorker } from "../../../lib/worker.ts";
import type { JobKind, JobRow, Jobs } from "./jobs.ts";

/** The end of a run of a job. A `stopped` job continues at the next start of the process. */
export type RunEnd =
  { is: "completed"; keepsFile?: boolean } | { is: "stopped" } | { is: "failed"; message: string };

export type JobRunner = {
  /** Runs the job in small changes and checks between them whether to stop. */
  run(job: JobRow, isStopping: () => boolean): Promise<RunEnd>;
  /** Stores the message of a failure, inside the change that ends the job. */
  noteFailure(job: JobRow, message: string): void;
  /**
   * Removes the files and rows that the job no longer needs. Called after the change that ended the
   * job.
   */
  cleanUp(job: JobRow): Promise<void>;
};

type JobWorker = {
  start(): void;
  /** Starts new jobs if there is capacity. Call it after a job was stored. */
  wake(): void;
  /** Resolves when no job is running. */
  stop(): Promise<void>;
};

/** Most concurrent jobs, each of another project. An import holds some MiB of its file in memory. */
const MAX_CONCURRENT_JOBS = 4;
const STORAGE_RETRY_MS = 5_000;
const UNEXPECTED = "An internal error stopped the job. Its changes before the error are kept.";

export function createJobWorker(deps: {
  jobs: Jobs;
  runners: Readonly<Record<JobKind, JobRunner>>;
  writer: Writer;
  clock: Clock;
  log: Log;
}): JobWorker {
  const { jobs, runners, writer, clock, log } = deps;
  /** Running jobs by `project_seq`. */
  const running = new Map<number, Promise<void>>();
  const worker = createWorker({
    clock,
    step: startJobs,
    onError: (error) => log.error("jobs could not be read", { error: describeError(error) }),
    pauseMs: STORAGE_RETRY_MS,
  });

  const isStopping = () => !worker.isRunning();

  function startJobs(): null {
    while (running.size < MAX_CONCURRENT_JOBS) {
      const job = jobs.next([...running.keys()]);
      if (job === null) break;
      const { projectSeq } = job;
      const work = startJob(job).finally(() => {
        running.delete(projectSeq);
        worker.wake();
      });
      running.set(projectSeq, work);
    }
    return null;
  }

  async function startJob(job: JobRow): Promise<void> {
    try {
      await writer.write(() => jobs.start(job.seq));
      await runJob(job);
    } catch (error) {
      const problem = { job: job.id, error: describeError(error) };
      if (!isEndOfReads(error)) log.error("a job could not go on and will be retried", problem);
      worker.pause();
    }
  }

  async function runJob(job: JobRow): Promise<void> {
    const runner = runners[job.kind];
    const end = await runner.run(job, isStopping).catch((error: unknown): RunEnd => {
      if (isStorageRefusal(error)) throw error;
      const refusal = refusalOf(error);
      if (refusal === null) {
        log.error("a job failed", { job: job.id, error: describeError(error) });
      }
      return { is: "failed", message: refusal ?? UNEXPECTED };
    });
    if (end.is === "stopped") return;
    const keepsFile = end.is === "completed" && end.keepsFile === true;
    await writer.write(() => {
      if (end.is === "failed") runner.noteFailure(job, end.message);
      jobs.end(job.seq, end.is === "failed" ? "FAILED" : "COMPLETED", keepsFile);
    });
    if (!keepsFile) await runner.cleanUp(job);
  }

  return {
    start: worker.start,
    wake: worker.wake,
    async stop() {
      await worker.stop();
      await Promise.all(running.values());
    },
  };
}

/** The message of a refusal, for example if the job's segment was deleted after the job was created. */
function refusalOf(error: unknown): string | null {
  if (!(error instanceof AppError) || error.status >= 500) return null;
  return error.message;
}
