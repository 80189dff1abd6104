/** The fields that the responses of all jobs share. */

import { Type } from "@sinclair/typebox";
import { JOB_STATUSES } from "../../../db/schema/jobs.ts";
import { Nullable } from "../../../http/envelope.ts";
import { OneOf } from "../../../http/validation.ts";
import { isoTime, isoTimeOrNull } from "../../../lib/clock.ts";
import type { JobRow } from "./jobs.ts";

export const StartedJob = Type.Object({ jobId: Type.String() });

export const JobState = {
  id: Type.String(),
  status: OneOf(JOB_STATUSES),
  processed: Type.Integer(),
  total: Nullable(Type.Integer({ description: "null until the rows have been counted" })),
};

export const JobTimes = {
  createdAt: Type.String({ format: "date-time" }),
  finishedAt: Nullable(Type.String({ format: "date-time" })),
};

/** The fields of `JobState` and `JobTimes`. */
export function presentJob({ id, status, processed, total, createdAt, finishedAt }: JobRow) {
  const times = { createdAt: isoTime(createdAt), finishedAt: isoTimeOrNull(finishedAt) };
  return { id, status, processed, total, ...times };
}
