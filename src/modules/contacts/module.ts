/**
 * The module of contacts. `service.ts` creates, updates and finds single contacts, with the data
 * rules of `data.ts`; `remove.ts` deletes them. This file creates all other parts: `list.ts` lists
 * contacts, which `search.ts` finds; `fields.ts` surveys their keys; `activity.ts`
 * shows their events and mails; `export.ts` streams them. Imports (`import/`) and bulk actions
 * (`bulk/`) are stored as jobs, which the worker in `jobs/` runs after the response, in many small
 * changes.
 */

import type { App } from "../../core/app.ts";
import type { Config } from "../../config/settings.ts";
import type { Db } from "../../db/open.ts";
import type { Writer } from "../../db/writer.ts";
import type { Admission } from "../../http/admission.ts";
import type { Bodies } from "../../http/body.ts";
import { operationRoutes } from "../../http/operations.ts";
import type { Clock } from "../../lib/clock.ts";
import { describeError, type Log } from "../../lib/log.ts";
import type { EventLog } from "../../events/log.ts";
import type { Module } from "../module.ts";
import { createBulkActions } from "./bulk/actions.ts";
import { createBulkRunner } from "./bulk/run.ts";
import { bulkRoutes } from "./bulk/routes.ts";
import { createBulk, type FindAudience } from "./bulk/bulk.ts";
import { createExports } from "./export.ts";
import { exportRoutes } from "./export-routes.ts";
import { createDryRunner } from "./import/dry-run.ts";
import { createImportFaults } from "./import/faults.ts";
import { createImportFiles } from "./import/files.ts";
import { importListOperations } from "./import/list.ts";
import { importRoutes } from "./import/routes.ts";
import { createJobFile } from "./import/job-file.ts";
import { createImportRunner } from "./import/run.ts";
import { createImports } from "./import/imports.ts";
import { openTrial } from "./import/trial.ts";
import { createRowWriter } from "./import/write.ts";
import { createJobQuota } from "./jobs/quota.ts";
import { createJobWorker } from "./jobs/worker.ts";
import { createJobs } from "./jobs/jobs.ts";
import type { UsageCounter } from "../../db/usage-counter.ts";
import type { Removal } from "./remove.ts";
import { suppressAddress, suppressionReason } from "../suppressions.ts";
import { contactRoutes } from "./routes.ts";
import type { Contacts } from "./service.ts";

export function createContactModule(deps: {
  app: App;
  db: Db;
  /** The data folder; null if the database is in memory. */
  folder: string | null;
  writer: Writer;
  clock: Clock;
  log: Log;
  events: EventLog;
  contacts: Contacts;
  removal: Pick<Removal, "remove">;
  filterAudience: FindAudience;
  usage: Pick<UsageCounter, "addBytes">;
  config: Pick<Config, "quotaJobs">;
  admission: Admission;
  bodies: Bodies;
}): Module {
  const { app, db, folder, writer, clock, log } = deps;
  const { events, contacts, admission, bodies } = deps;
  const { remove } = deps.removal;
  const audience = deps.filterAudience;
  const files = createImportFiles(folder);
  const jobs = createJobs({ db, clock });
  const quota = createJobQuota({ db, maxJobs: deps.config.quotaJobs });
  const jobFile = createJobFile(files);
  const faults = createImportFaults(db);
  const imports = createImports({ app, files, jobs, quota, clock, jobFile, faults, writer });
  const actionOf = createBulkActions({ db, clock, events, contacts, audience, remove });
  const worker = createJobWorker({
    jobs,
    runners: {
      IMPORT: createImportRunner({
        app,
        files,
        jobFile,
        jobs,
        faults,
        rows: createRowWriter({
          db,
          clock,
          events,
          usage: deps.usage,
          suppress: (projectSeq, email, reason) => suppressAddress(app, projectSeq, email, reason),
        }),
        writer,
      }),
      DRY_RUN: createDryRunner({
        files,
        jobFile,
        jobs,
        faults,
        writer,
        openTrial: (jobId) =>
          openTrial({
            db,
            path: files.trialPath(jobId),
            isSuppressed: (projectSeq, email) => suppressionReason(app, projectSeq, email) !== null,
          }),
      }),
      BULK: createBulkRunner({ app, db, jobs, actionOf, audience, writer }),
    },
    writer,
    clock,
    log,
  });

  const exports = createExports({ app, quota, audience });
  const bulk = createBulk({ db, jobs, quota, audience });
  const { wake } = worker;

  return {
    name: "contacts",
    routes: [
      contactRoutes({ app, admission, contacts }),
      exportRoutes({ admission, exports }),
      operationRoutes(app, admission, importListOperations),
      importRoutes({ admission, bodies, imports, writer, wake }),
      bulkRoutes({ admission, bulk, writer, clock, wake }),
    ],

    recurring: [
      { name: "files of dry runs", pattern: "0 17 * * * *", run: imports.removeKeptFiles },
    ],

    /** Removes the files of ended imports, and resumes unfinished jobs. */
    async start(): Promise<void> {
      await imports.removeUnneededFiles().catch((error: unknown) =>
        log.error("the files of ended imports could not be removed", {
          error: describeError(error),
        }),
      );
      worker.start();
    },

    /** Stops running jobs between two changes; they continue at the next start. */
    async stop(): Promise<void> {
      await worker.stop();
      await files.close();
    },
  };
}
