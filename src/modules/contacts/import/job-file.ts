/** Reads the file of an import, as its job says. */

import { Value } from "@sinclair/typebox/value";
import type { Delimiter } from "../../../lib/csv.ts";
import type { FieldError } from "../../../lib/errors.ts";
import type { ImportFiles } from "./files.ts";
import { unknownTopics } from "./columns.ts";
import { readFormat } from "./format.ts";
import { ImportJob } from "./model.ts";
import { withRecords } from "./records.ts";
import { type FileSurvey, surveyRows } from "./survey.ts";
import type { RowTarget } from "./write.ts";
import type { JobRow } from "../jobs/jobs.ts";

export type JobFile = ReturnType<typeof createJobFile>;

type Surveyed = FileSurvey & { errors: FieldError[]; delimiter: Delimiter };

export const FILE_GONE = "The uploaded file no longer exists. Upload it again.";

/** `isTopic` says whether a project has a topic with a key. */
export function createJobFile(
  files: ImportFiles,
  isTopic: (projectSeq: number, key: string) => boolean,
) {
  /** Opens the file of a job. Returns null if it does not exist. */
  async function open<T>(
    job: Pick<JobRow, "id">,
    { encoding, delimiter }: Pick<ImportJob, "encoding" | "delimiter">,
    use: Parameters<typeof withRecords<T>>[1],
  ): Promise<T | null> {
    const bytes = await files.read(job.id);
    if (bytes === null) return null;
    return withRecords({ bytes, encoding, delimiter }, use);
  }

  return {
    open,

    /** Reads the whole file once, before the first row is written or tried. */
    survey: (job: JobRow, input: ImportJob): Promise<Surveyed | null> =>
      open(job, input, async ({ header, rest, delimiter }) => {
        const { format, errors: ofHeader } = readFormat(header, input);
        const isKnown = (key: string) => isTopic(job.projectSeq, key);
        const errors = [...ofHeader, ...unknownTopics(format.columns, isKnown)];
        const survey = surveyRows(format, input);
        for await (const items of rest) for (const item of items) survey.see(item);
        const { faults, ...found } = survey.result();
        return { ...found, errors: [...errors, ...faults], delimiter };
      }),
  };
}

export function readInput(job: JobRow): ImportJob {
  return Value.Parse(ImportJob, JSON.parse(job.input));
}

export function targetOf({ id, projectSeq }: JobRow, input: ImportJob): RowTarget {
  return {
    projectSeq,
    jobId: id,
    subscribesNew: input.subscribesNew,
    resubscribes: input.resubscribes ?? false,
    suppressAs: input.suppressAs ?? null,
  };
}
