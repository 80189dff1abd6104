/**
 * Imports an uploaded file in changes of a few milliseconds. Each change also stores the progress.
 */

import { Value } from "@sinclair/typebox/value";
import type { Writer } from "../../../db/writer.ts";
import { systemClock } from "../../../lib/clock.ts";
import type { FairScheduler } from "../../../lib/slice-queue.ts";
import type { Quotas } from "../../quotas/service.ts";
import { readHeader } from "./columns.ts";
import { type Batch, readBatches } from "./batches.ts";
import type { ImportFiles } from "./files.ts";
import { type ImportError, ImportJob } from "./model.ts";
import { readRecords, splitHeader, type TextFile } from "./records.ts";
import type { ImportRow } from "./rows.ts";
import type { RowOutcome, RowTarget, RowWriter } from "./write.ts";
import type { JobRunner, RunEnd } from "../jobs/worker.ts";
import { type JobRow, type Jobs, type Progress, progressOf } from "../jobs/jobs.ts";

/** The remaining rows, and the progress of the job before them. */
type Position = { rows: Iterator<ImportRow>; progress: Progress };

/** Time that one change may take. */
const CHUNK_MS = 5;
const FILE_GONE = "The uploaded file no longer exists. Upload it again.";
const NO_HEADER = "The header of the file is not valid.";

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
  function writeChunk(job: JobRow, target: RowTarget, { rows, progress }: Position) {
    return (): Progress => {
      quotas.ensureStorage(job.projectSeq);
      const endsAt = systemClock.elapsed() + CHUNK_MS;
      const next = { ...progress };
      const errors: ImportError[] = [];
      do {
        const row = rows.next();
        if (row.done === true) break;
        next[apply(target, row.value, errors)]++;
        next.processed++;
        next.cursor++;
      } while (systemClock.elapsed() < endsAt);
      jobs.advance(job.seq, next);
      if (errors.length > 0) jobs.addErrors(job.seq, errors, byLine);
      return next;
    };
  }

  /** Writes one row and returns its result, which is also the name of the counter to increase. */
  function apply(target: RowTarget, row: ImportRow, errors: ImportError[]): RowOutcome["is"] {
    const outcome: RowOutcome =
      row.kind === "row" ? rowWriter.write(row, target) : { is: "failed", message: row.message };
    if (outcome.is === "failed") errors.push({ line: row.line, message: outcome.message });
    return outcome.is;
  }

  /** Writes the batches, beginning at the job's cursor. */
  async function writeAll(
    job: JobRow,
    batches: AsyncIterable<Batch>,
    { target, isStopping }: { target: RowTarget; isStopping: () => boolean },
  ): Promise<RunEnd> {
    let progress = progressOf(job);
    let end = 0;
    for await (const { rows, count, endedBy } of batches) {
      skipRows(rows, Math.min(count, progress.cursor - end));
      end += count;
      while (progress.cursor < end && !isStopping()) {
        progress = await writer.write(writeChunk(job, target, { rows, progress }));
      }
      // The rows of this batch are garbage now. Collect them concurrently, before the heap grows.
      Bun.gc(false);
      if (isStopping()) return { is: "stopped" };
      if (endedBy !== null) return { is: "failed", message: endedBy };
    }
    return { is: "completed" };
  }

  /** The number of rows after the header, with invalid ones. */
  async function countRecords(projectSeq: number, file: TextFile): Promise<number> {
    let count = 0;
    for await (const items of readRecords(file, scheduler.queueOf(projectSeq))) {
      count += items.filter((item) => item.kind !== "end").length;
    }
    return Math.max(0, count - 1);
  }

  return {
    async run(job, isStopping) {
      const input = Value.Parse(ImportJob, JSON.parse(job.input));
      const target = { projectSeq: job.projectSeq, subscribesNew: input.subscribesNew };
      if (job.total === null) {
        const bytes = await files.read(job.id);
        const total =
          bytes === null
            ? 0
            : await countRecords(job.projectSeq, { bytes, encoding: input.encoding });
        await writer.write(() => jobs.setTotal(job.seq, total));
      }
      const bytes = await files.read(job.id);
      if (bytes === null) return { is: "failed", message: FILE_GONE };
      const records = readRecords(
        { bytes, encoding: input.encoding },
        scheduler.queueOf(job.projectSeq),
      );
      try {
        const { header, rest } = await splitHeader(records);
        const read = readHeader(header, input.mapping);
        if (!read.ok) return { is: "failed", message: NO_HEADER };
        return await writeAll(job, readBatches(rest, read.columns), { target, isStopping });
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
