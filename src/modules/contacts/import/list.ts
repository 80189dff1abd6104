/** The imports of a project, newest first. */

import { type Static, Type } from "@sinclair/typebox";
import { and, eq } from "drizzle-orm";
import { jobs } from "../../../db/schema/jobs.ts";
import { named } from "../../../http/documented.ts";
import { ListEnvelope } from "../../../http/envelope.ts";
import { EXAMPLE } from "../../../http/example-values.ts";
import { operations, read } from "../../../http/operations.ts";
import { PageQuery, smallPage } from "../../../http/pagination.ts";
import { JobState, JobTimes, presentJob } from "../jobs/model.ts";

const ImportSummary = named(
  "ImportSummary",
  Type.Object({
    ...JobState,
    created: Type.Integer({ description: "Contacts that were created" }),
    updated: Type.Integer({ description: "Lines about contacts that existed" }),
    failed: Type.Integer({ description: "Lines that could not be imported" }),
    ...JobTimes,
  }),
  {
    description: "The state of an import in a list",
    example: {
      id: EXAMPLE.jobId,
      status: "RUNNING",
      processed: 1200,
      total: 5000,
      created: 1100,
      updated: 90,
      failed: 10,
      createdAt: EXAMPLE.createdAt,
      finishedAt: null,
    },
  },
);
export type ImportSummary = Static<typeof ImportSummary>;

export const importListOperations = operations("Contacts", {}, [
  read("GET /contacts/import", {
    id: "listImports",
    role: "VIEWER",
    summary: "List the imports of contacts",
    description: "Imports that wait, run or have ended, newest first, without dry runs.",
    query: PageQuery,
    answer: ListEnvelope(ImportSummary),
    run: (app, { project, query }) =>
      smallPage(app, project, {
        name: "imports",
        query,
        table: jobs,
        filter: and(eq(jobs.projectSeq, project.seq), eq(jobs.kind, "IMPORT")),
        present: (job): ImportSummary => {
          const { created, updated, failed } = job;
          return { ...presentJob(job), created, updated, failed };
        },
      }),
  }),
]);
