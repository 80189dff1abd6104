/**
 * Imports an uploaded file in changes of a few milliseconds. Each change also stores the progress.
 */

import { Value } from "@sinclair/typebox/value";
import type { Writer } from "../../../db/writer.ts";
import { systemClock } from "../../../lib/clock.ts";
import type { FairScheduler } from "../../../lib/slice-queue.ts";
import type { Quotas } from "../../quotas/service.ts";
import { readFormat } from "./format.ts";
import { type FileSurvey, surveyRows } from "./survey.ts";
import { type Batch, readBatches } from "./batches.ts";
import type { ImportFiles } from "./files.ts";
import { type ImportError, ImportJob } from "./model.ts";
import { readRecords, splitHeader } from "./records.ts";
import type { ImportRow } from "./rows.ts";
import type { RowOutcome, RowTarget, RowWriter } from "./write.ts";
import type { JobRunner, RunEnd } from "../jobs/worker.ts";
import { type JobRow, type Jobs, type Progress, progressOf } from "../jobs/jobs.ts";

/** The remaining rows, and the progress of the job before them. */
type Position = { rows: Iterator<ImportRow>; progress: Progress; results: Results };

/** Counts beside those of every job. */
type Results = Required<Pick<ImportJob, "suppressed" | "keptUnsubscribed">>;

/** Time that one change may take. */
const CHUNK_MS = 5;
const FILE_GONE = "The uploaded file no longer exists. Upload it again.";
const NO_HEADER = "The header of the file is not valid. Upload it again to see its faults.";

export function createImportRunner(deps: {
  files: ImportFiles;
  jobs: Jobs;
  rows: RowWriter;
  quotas: Pick<Quotas, "ensureStorage">;
  writer: Writer;
  scheduler: FairScheduler;
}): JobRunner {
  const { files, jobs, rows: rowWriter, quotas, writer, scheduler } = deps;

  /** The change that writes the next rows for `CHUNK_MS`; it returns the new progress. */
  function writeChunk(job: JobRow, target: RowTarget, { rows, progress, results }: Position) {
    return (): Omit<Position, "rows"> => {
      quotas.ensureStorage(job.projectSeq);
      const endsAt = systemClock.elapsed() + CHUNK_MS;
      const next = { ...progress };
      const counts = { ...results };
      const errors: ImportError[] = [];
      do {
        const row = rows.next();
        if (row.done === true) break;
        const outcome = apply(target, row.value, errors);
        next[outcome.is]++;
        if (outcome.is !== "failed") {
          counts.suppressed += Number(outcome.isSuppressed);
          counts.keptUnsubscribed += Number(outcome.isKeptUnsubscribed);
        }
        next.processed++;
        next.cursor++;
      } while (systemClock.elapsed() < endsAt);
      jobs.advance(job.seq, next);
      if (errors.length > 0) jobs.addErrors(job.seq, errors, byLine);
      if (!Bun.deepEquals(counts, results)) jobs.changeInput(job.seq, counts);
      return { progress: next, results: counts };
    };
  }

  /** Writes one row. The result names the counter to increase. */
  function apply(target: RowTarget, row: ImportRow, errors: ImportError[]): RowOutcome {
    const outcome: RowOutcome =
      row.kind === "row" ? rowWriter.write(row, target) : { is: "failed", message: row.message };
    if (outcome.is === "failed") errors.push({ line: row.line, message: outcome.message });
    return outcome;
  }

  /** Writes the batches, beginning at the job's cursor. */
  async function writeAll(
    job: JobRow,
    batches: AsyncIterable<Batch>,
    { target, isStopping }: { target: RowTarget; isStopping: () => boolean },
  ): Promise<RunEnd> {
    let progress = progressOf(job);
    const { suppressed = 0, keptUnsubscribed = 0 } = readInput(job);
    let results: Results = { suppressed, keptUnsubscribed };
    let end = 0;
    for await (const { rows, count, endedBy } of batches) {
      skipRows(rows, Math.min(count, progress.cursor - end));
      end += count;
      while (progress.cursor < end && !isStopping()) {
        const position = { rows, progress, results };
        ({ progress, results } = await writer.write(writeChunk(job, target, position)));
      }
      // The rows of this batch are garbage now. Collect them concurrently, before the heap grows.
      Bun.gc(false);
      if (isStopping()) return { is: "stopped" };
      if (endedBy !== null) return { is: "failed", message: endedBy };
    }
    return { is: "completed" };
  }

  /** Reads the whole file once, before the first row is written. */
  async function surveyFile(job: JobRow, input: ImportJob): Promise<FileSurvey | string> {
    const bytes = await files.read(job.id);
    if (bytes === null) return FILE_GONE;
    const { encoding } = input;
    const records = readRecords({ bytes, encoding }, scheduler.queueOf(job.projectSeq));
    try {
      const { header, rest } = await splitHeader(records);
      const read = readFormat(header, input);
      if (!read.ok) return NO_HEADER;
      const survey = surveyRows(read.format, input);
      for await (const items of rest) for (const item of items) survey.see(item);
      return survey.result();
    } finally {
      await records.return(undefined);
    }
  }

  /**
   * Surveys the file and stores the number of its rows and the types of its columns. Returns the
   * input with the types, or why the file is refused.
   */
  async function prepare(job: JobRow, input: ImportJob): Promise<ImportJob | string> {
    if (job.total !== null && input.types !== undefined) return input;
    const found = await surveyFile(job, input);
    if (typeof found === "string") return found;
    const { total, types, columns } = found;
    await writer.write(() => {
      jobs.setTotal(job.seq, total);
      jobs.changeInput(job.seq, { types, columns });
    });
    return { ...input, types };
  }

  return {
    async run(job, isStopping) {
      const input = await prepare(job, readInput(job));
      if (typeof input === "string") return { is: "failed", message: input };
      const target = {
        projectSeq: job.projectSeq,
        subscribesNew: input.subscribesNew,
        resubscribes: input.resubscribes ?? false,
        suppressAs: input.suppressAs ?? null,
      };
      const bytes = await files.read(job.id);
      if (bytes === null) return { is: "failed", message: FILE_GONE };
      const records = readRecords(
        { bytes, encoding: input.encoding },
        scheduler.queueOf(job.projectSeq),
      );
      try {
        const { header, rest } = await splitHeader(records);
        const read = readFormat(header, input);
        if (!read.ok) return { is: "failed", message: NO_HEADER };
        return await writeAll(job, readBatches(rest, read.format), { target, isStopping });
      } finally {
        await records.return(undefined); // Closes the file, even if it was not read to its end.
      }
    },

    noteFailure(job, message) {
      jobs.addErrors<ImportError>(job.seq, [{ line: null, message }], byLine);
    },

    cleanUp: (job) => files.remove(job.id),
  };
}

/** Skips rows that were written before the job was resumed. */
function skipRows(rows: Iterator<ImportRow>, count: number): void {
  for (let i = 0; i < count; i++) rows.next();
}

function byLine(a: ImportError, b: ImportError): number {
  return (a.line ?? 0) - (b.line ?? 0);
}

function readInput(job: JobRow): ImportJob {
  return Value.Parse(ImportJob, JSON.parse(job.input));
}
