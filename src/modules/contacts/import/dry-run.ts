/**
 * A dry run of an import: it reads the whole file, says how each column is read and what each row
 * would do, and changes nothing but its own progress. Its file is kept, so that the import can follow.
 */

import type { Writer } from "../../../db/writer.ts";
import type { CsvItem } from "../../../lib/csv.ts";
import { type Batch, readBatches } from "./batches.ts";
import type { ImportFaults, RowFault } from "./faults.ts";
import type { ImportFiles } from "./files.ts";
import { encodingError, examineSample, type FileFormat, nameError, readFormat } from "./format.ts";
import { FILE_GONE, type JobFile, readInput, targetOf } from "./job-file.ts";
import { PREVIEWED_ROWS, previewRows } from "./preview.ts";
import { peekItems, SAMPLED_ROWS, yieldIfBusy } from "./records.ts";
import { type Counters, countRow, importResults } from "./results.ts";
import type { Trial } from "./trial.ts";
import type { RowTarget } from "./write.ts";
import type { JobRunner, RunEnd } from "../jobs/worker.ts";
import type { JobRow, Jobs } from "../jobs/jobs.ts";

type Opened = {
  target: RowTarget;
  trial: Trial;
  batches: AsyncIterable<Batch>;
  isStopping: () => boolean;
};

/** Rows that are tried before the clock is read. */
const TRIED_AT_ONCE = 64;
const COMPLETED: RunEnd = { is: "completed", keepsFile: true };

export function createDryRunner(deps: {
  files: ImportFiles;
  jobFile: JobFile;
  jobs: Jobs;
  faults: ImportFaults;
  openTrial: (jobId: string) => Trial;
  writer: Writer;
}): JobRunner {
  const { files, jobFile, jobs, faults, openTrial, writer } = deps;

  /** Tries the rows of a batch in slices of a few milliseconds, and returns their faults. */
  async function tryRows(rows: Batch["rows"], tried: Opened & Counters) {
    const { trial, target } = tried;
    const found: RowFault[] = [];
    for (let row = rows.next(), n = 1; row.done !== true; row = rows.next(), n++) {
      countRow(row.value, (content) => trial.try(content, target), tried, found);
      if (n % TRIED_AT_ONCE === 0) await yieldIfBusy();
    }
    return found;
  }

  async function tryAll(job: JobRow, opened: Opened): Promise<RunEnd> {
    const progress = { cursor: 0, processed: 0, created: 0, updated: 0, failed: 0 };
    const results = importResults({});
    for await (const { rows, endedBy } of opened.batches) {
      const before = progress.failed;
      const found = await tryRows(rows, { ...opened, progress, results });
      await writer.write(() => {
        jobs.advance(job.seq, progress);
        faults.add(job.seq, found, before);
        jobs.changeInput(job.seq, results);
      });
      if (opened.isStopping()) return { is: "stopped" };
      if (endedBy !== null) return { is: "failed", message: endedBy };
    }
    return COMPLETED;
  }

  /** Shows the first rows as they will be stored. */
  function preview(format: FileFormat, first: Parameters<typeof previewRows>[1], opened: Opened) {
    return previewRows(format, first, (row) => opened.trial.preview(row, opened.target));
  }

  /** An interrupted dry run begins anew. */
  async function run(job: JobRow, isStopping: () => boolean): Promise<RunEnd> {
    const input = readInput(job);
    const found = await jobFile.survey(job, input);
    if (found === null) return { is: "failed", message: FILE_GONE };
    const { total, types, columns, errors, delimiter } = found;
    const end = await jobFile.open(job, input, async ({ header, rest }): Promise<RunEnd> => {
      const { format } = readFormat(header, { ...input, types });
      const { first, rest: all } = await peekItems(rest, SAMPLED_ROWS);
      const sample = examineSample(format, recordsOf(first));
      const misnamed = nameError(input, format);
      const others = [encodingError(input), misnamed].filter((error) => error !== null);
      const found = [...errors, ...sample.errors, ...others];
      // A column that the sample asks for is found in the whole file as well.
      const problems = [...new Map(found.map((problem) => [problem.message, problem])).values()];
      const trial = openTrial(job.id);
      const batches = readBatches(all, format);
      const opened = { target: targetOf(job, input), trial, batches, isStopping };
      try {
        const shown = preview(format, first.slice(0, PREVIEWED_ROWS), opened);
        await writer.write(() => {
          faults.clear(job.seq);
          faults.setHeader(job.seq, header);
          jobs.setTotal(job.seq, total);
          const read = { types, columns, foundDelimiter: delimiter };
          const { questions } = sample;
          jobs.changeInput(job.seq, { ...read, preview: shown, problems, questions });
        });
        return problems.length > 0 ? COMPLETED : await tryAll(job, opened);
      } finally {
        trial.close();
      }
    });
    return end ?? { is: "failed", message: FILE_GONE };
  }

  return {
    run,
    noteFailure: (job, message) => faults.addOfFile(job.seq, message),
    cleanUp: (job) => files.remove(job.id),
  };
}

function recordsOf(items: readonly CsvItem[]): (readonly string[])[] {
  return items.flatMap((item) => (item.kind === "record" ? [item.cells] : []));
}
