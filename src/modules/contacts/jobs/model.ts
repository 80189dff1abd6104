/** The fields that the responses of all jobs share. */

import { Type } from "@sinclair/typebox";
import { JOB_STATUSES } from "../../../db/schema/jobs.ts";
import { described, describedUse, named } from "../../../http/documented.ts";
import { Nullable } from "../../../http/envelope.ts";
import { EXAMPLE } from "../../../http/example-values.ts";
import { OneOf } from "../../../http/validation.ts";
import { isoTime, isoTimeOrNull } from "../../../lib/clock.ts";
import type { JobRow } from "./jobs.ts";

const JobStatus = named("JobStatus", OneOf(JOB_STATUSES), {
  description: "QUEUED: waits; RUNNING: at work; COMPLETED or FAILED: ended",
});

export const StartedJob = named(
  "Job",
  described(Type.Object({ jobId: Type.String() }), {
    jobId: "Id of the job, whose progress can be read",
  }),
  {
    description: "A job that was started and runs after the response",
    example: { jobId: EXAMPLE.jobId },
  },
);

export const JobState = {
  id: Type.String({ description: "Id of the job" }),
  status: describedUse(JobStatus, "Whether the job waits, runs or has ended"),
  processed: Type.Integer({ description: "Number of rows or contacts that were processed" }),
  total: describedUse(Nullable(Type.Integer()), "null until the rows have been counted"),
};

export const JobTimes = {
  createdAt: Type.String({ format: "date-time", description: "When the job was accepted" }),
  finishedAt: describedUse(
    Nullable(Type.String({ format: "date-time" })),
    "When the job ended; null before",
  ),
};

/** The fields of `JobState` and `JobTimes`. */
export function presentJob({ id, status, processed, total, createdAt, finishedAt }: JobRow) {
  const times = { createdAt: isoTime(createdAt), finishedAt: isoTimeOrNull(finishedAt) };
  return { id, status, processed, total, ...times };
}
