/** Imports an uploaded file in changes of a few milliseconds. Each change also stores the progress. */

import type { App } from "../../../core/app.ts";
import type { Writer } from "../../../db/writer.ts";
import { systemClock } from "../../../lib/clock.ts";
import { ensureStorage } from "../../quotas.ts";
import { readFormat } from "./format.ts";
import { type Batch, readBatches } from "./batches.ts";
import type { ImportFaults, RowFault } from "./faults.ts";
import type { ImportFiles } from "./files.ts";
import { FILE_GONE, type JobFile, readInput, targetOf } from "./job-file.ts";
import type { ImportJob } from "./model.ts";
import { type Counters, countRow, importResults } from "./results.ts";
import type { ImportRow } from "./rows.ts";
import type { RowTarget, RowWriter } from "./write.ts";
import type { JobRunner, RunEnd } from "../jobs/worker.ts";
import { type JobRow, type Jobs, progressOf } from "../jobs/jobs.ts";

/** The remaining rows, and the progress of the job before them. */
type Position = Counters & { rows: Iterator<ImportRow> };

/** Time that one change may take. */
const CHUNK_MS = 5;
const NO_HEADER = "The header of the file is not valid. Upload it again to see its faults.";

export function createImportRunner(deps: {
  files: ImportFiles;
  jobFile: JobFile;
  jobs: Jobs;
  rows: RowWriter;
  faults: ImportFaults;
  app: App;
  writer: Writer;
}): JobRunner {
  const { app, files, jobFile, jobs, rows: rowWriter, faults, writer } = deps;

  /** The change that writes the next rows for `CHUNK_MS`; it returns the new progress. */
  function writeChunk(job: JobRow, target: RowTarget, { rows, progress, results }: Position) {
    return (): Counters => {
      ensureStorage(app, job.projectSeq);
      const endsAt = systemClock.elapsed() + CHUNK_MS;
      const next = { progress: { ...progress }, results: importResults(results, progress.created) };
      const found: RowFault[] = [];
      do {
        const row = rows.next();
        if (row.done === true) break;
        countRow(row.value, (content) => rowWriter.write(content, target), next, found);
        next.progress.cursor++;
      } while (systemClock.elapsed() < endsAt);
      jobs.advance(job.seq, next.progress);
      faults.add(job.seq, found, progress.failed);
      if (!Bun.deepEquals(next.results, results)) jobs.changeInput(job.seq, next.results);
      return next;
    };
  }

  /** Writes the batches, beginning at the job's cursor. */
  async function writeAll(
    job: JobRow,
    batches: AsyncIterable<Batch>,
    { target, isStopping }: { target: RowTarget; isStopping: () => boolean },
  ): Promise<RunEnd> {
    const results = importResults(readInput(job), job.created);
    let counters: Counters = { progress: progressOf(job), results };
    let end = 0;
    for await (const { rows, count, endedBy } of batches) {
      skipRows(rows, Math.min(count, counters.progress.cursor - end));
      end += count;
      while (counters.progress.cursor < end && !isStopping()) {
        counters = await writer.write(writeChunk(job, target, { rows, ...counters }));
      }
      // The rows of this batch are garbage now. Collect them concurrently, before the heap grows.
      Bun.gc(false);
      if (isStopping()) return { is: "stopped" };
      if (endedBy !== null) return { is: "failed", message: endedBy };
    }
    return { is: "completed" };
  }

  /**
   * Surveys the file and stores the number of its rows and the types of its columns. Returns the
   * input with the types, or why the file is refused.
   */
  async function prepare(job: JobRow, input: ImportJob): Promise<ImportJob | string> {
    if (job.total !== null && input.types !== undefined) return input;
    const found = await jobFile.survey(job, input);
    if (found === null) return FILE_GONE;
    const [error] = found.errors;
    if (error !== undefined)
      return error.field === "file" ? `The file ${error.message}.` : NO_HEADER;
    const { total, types, columns, delimiter } = found;
    await writer.write(() => {
      jobs.setTotal(job.seq, total);
      jobs.changeInput(job.seq, { types, columns, foundDelimiter: delimiter });
    });
    return { ...input, types };
  }

  async function importFile(job: JobRow, isStopping: () => boolean): Promise<RunEnd> {
    const input = await prepare(job, readInput(job));
    if (typeof input === "string") return { is: "failed", message: input };
    const end = await jobFile.open(job, input, async ({ header, rest }): Promise<RunEnd> => {
      const { format, errors } = readFormat(header, input);
      if (errors.length > 0) return { is: "failed", message: NO_HEADER };
      await writer.write(() => faults.setHeader(job.seq, header));
      const target = targetOf(job, input);
      return writeAll(job, readBatches(rest, format), { target, isStopping });
    });
    return end ?? { is: "failed", message: FILE_GONE };
  }

  return {
    run: importFile,
    noteFailure: (job, message) => faults.addOfFile(job.seq, message),
    cleanUp: (job) => files.remove(job.id),
  };
}

/** Skips rows that were written before the job was resumed. */
function skipRows(rows: Iterator<ImportRow>, count: number): void {
  for (let i = 0; i < count; i++) rows.next();
}
