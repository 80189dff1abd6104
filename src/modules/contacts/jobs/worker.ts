/**
 * Runs jobs: of a project one after the other, of several projects at once, so that no project waits
 * for the jobs of another. What a job did is committed together with how far it is, so a job goes on
 * where it was, whatever ended the process.
 */

import { isStorageRefusal } from "../../../db/refusal.ts";
import type { Writer } from "../../../db/writer.ts";
import type { Clock } from "../../../lib/clock.ts";
import { AppError } from "../../../lib/errors.ts";
import { describeError, type Log } from "../../../lib/log.ts";
import type { JobKind, JobRow, Jobs } from "./jobs.ts";

/** How a run of a job ended; `stopped`: it goes on at the next start. */
export type RunEnd = { is: "completed" } | { is: "stopped" } | { is: "failed"; message: string };

export type JobRunner = {
  /** Works in small changes; between them it asks whether to stop. */
  run(job: JobRow, isStopping: () => boolean): Promise<RunEnd>;
  /** Part of the change that ends the job: what to tell beside its status. */
  noteFailure(job: JobRow, message: string): void;
  /** After that change. */
  tidy(job: JobRow): Promise<void>;
};

export type JobWorker = {
  start(): void;
  /** A new job is there. */
  wake(): void;
  /** Resolves when no job is being worked on any more. */
  stop(): Promise<void>;
};

/** Jobs at once, of different projects. An import holds some MiB of its file in memory. */
const MOST_AT_ONCE = 4;
const STORAGE_RETRY_MS = 5_000;
const UNEXPECTED = "Something went wrong on our side. What was done so far is kept.";

export function createJobWorker(deps: {
  jobs: Jobs;
  runners: Readonly<Record<JobKind, JobRunner>>;
  writer: Writer;
  clock: Clock;
  log: Log;
}): JobWorker {
  const { jobs, runners, writer, clock, log } = deps;
  let isRunning = false;
  /** The storage refused: no job is begun for a while. */
  let isPausing = false;
  /** By project. */
  const underWay = new Map<number, Promise<void>>();
  let cancelRetry = () => {};

  const isStopping = () => !isRunning;

  function wake(): void {
    if (!isRunning || isPausing) return;
    while (underWay.size < MOST_AT_ONCE) {
      const job = jobs.next([...underWay.keys()]);
      if (job === null) return;
      const { projectSeq } = job;
      const work = begin(job).finally(() => {
        underWay.delete(projectSeq);
        wake();
      });
      underWay.set(projectSeq, work);
    }
  }

  async function begin(job: JobRow): Promise<void> {
    try {
      await writer.write(() => jobs.start(job.seq));
      await runOne(job);
    } catch (error) {
      log.error("a job waits", { job: job.id, error: describeError(error) });
      pause();
    }
  }

  function pause(): void {
    cancelRetry();
    isPausing = true;
    cancelRetry = clock.after(STORAGE_RETRY_MS, () => {
      isPausing = false;
      wake();
    });
  }

  async function runOne(job: JobRow): Promise<void> {
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
    await writer.write(() => {
      if (end.is === "failed") runner.noteFailure(job, end.message);
      jobs.end(job.seq, end.is === "failed" ? "FAILED" : "COMPLETED");
    });
    await runner.tidy(job);
  }

  return {
    start() {
      isRunning = true;
      isPausing = false;
      wake();
    },
    wake,
    async stop() {
      isRunning = false;
      cancelRetry();
      await Promise.all(underWay.values());
    },
  };
}

/** What was right when the job was accepted may not be so any more: a segment was deleted. */
function refusalOf(error: unknown): string | null {
  if (!(error instanceof AppError) || error.status >= 500) return null;
  return error.message;
}
