/** The imports of a project, newest first. */

import { and, eq } from "drizzle-orm";
import { jobs } from "../../../db/schema/jobs.ts";
import { ListEnvelope } from "../../../http/envelope.ts";
import { operations, read } from "../../../http/operations.ts";
import { PageQuery, smallPage } from "../../../http/pagination.ts";
import { presentJob } from "../jobs/model.ts";
import { ImportSummary } from "./model.ts";

export const importListOperations = operations("Contacts", {}, [
  read("GET /contacts/import", {
    id: "listImports",
    role: "VIEWER",
    scopes: ["READ", "CONTACTS"],
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
