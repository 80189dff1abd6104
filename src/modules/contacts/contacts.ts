/**
 * The module of contacts. `service.ts` creates, updates and finds single contacts, with the data
 * rules of `data.ts`; `remove.ts` deletes them. This file creates all other parts: `list.ts` lists
 * contacts, which `search.ts` finds; `fields.ts` surveys their keys; `activity.ts`
 * shows their events and mails; `export.ts` streams them. Imports (`import/`) and bulk actions
 * (`bulk/`) are stored as jobs, which the worker in `jobs/` runs after the response, in many small
 * changes.
 */

import type { App } from "../../core/app.ts";
import { operationRoutes } from "../../http/operations.ts";
import { describeError } from "../../lib/log.ts";
import type { Module } from "../module.ts";
import { createBulkActions } from "./bulk/actions.ts";
import { createBulkRunner } from "./bulk/run.ts";
import { bulkRoutes } from "./bulk/routes.ts";
import { createBulk } from "./bulk/bulk.ts";
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
import { suppressReturned } from "../privacy/returned.ts";
import { standingOfErased, suppressAddress, suppressionReason } from "../suppressions.ts";
import { type RecordOwnConsent, recordOwnConsent } from "../consents/record.ts";
import { contactRoutes } from "./routes.ts";
import { perApp } from "../../lib/per-app.ts";
import { admissionOf } from "../admission.ts";
import { bodiesOf } from "../../http/body.ts";
import { eventLog } from "../../events/log.ts";
import { contactService } from "./service.ts";
import { findTopic, setChoice, topicByKey, topicIn, topicStateOf } from "../topics/choices.ts";
import { filterAudience } from "../segments/filter-audience.ts";
import { contactRemoval } from "./remove.ts";

/** Imports, exports and bulk actions, and the worker that runs their jobs. */
export const contactJobs = perApp(createContactJobs);

function createContactJobs(app: App) {
  const { db, folder, writer, clock, log, usage } = app;
  const [events, contacts, audience] = [eventLog(app), contactService(app), filterAudience(app)];
  const { remove } = contactRemoval(app);
  const recordConsent: RecordOwnConsent = (...change) => recordOwnConsent(app, ...change);
  const files = createImportFiles(folder);
  const jobs = createJobs({ db, clock });
  const quota = createJobQuota({ db, maxJobs: app.config.quotaJobs });
  const isTopic = (projectSeq: number, key: string) => topicByKey(app, projectSeq, key) !== null;
  const jobFile = createJobFile(files, isTopic);
  const faults = createImportFaults(db);
  const imports = createImports({
    app,
    files,
    jobs,
    quota,
    clock,
    jobFile,
    faults,
    writer,
    isTopic,
  });
  const hasLeft = (projectSeq: number, email: string) =>
    standingOfErased(app, projectSeq, email) === "UNSUBSCRIBED";
  function topicState(projectSeq: number, key: string, contactSeq: number | null) {
    const topic = topicByKey(app, projectSeq, key);
    return topic === null ? null : topicStateOf(app, topic, contactSeq);
  }
  const actionOf = createBulkActions({
    db,
    clock,
    events,
    contacts,
    audience,
    remove,
    recordConsent,
    hasLeft(contactSeq) {
      const contact = contacts.findBySeq(contactSeq);
      return contact !== null && hasLeft(contact.projectSeq, contact.email);
    },
    setTopic(contact, { topicId, isSubscribed }, jobId) {
      const topic = findTopic(app, contact.projectSeq, topicId);
      if (topic === null) return false;
      const cause = { consent: { source: { type: "BULK", id: jobId } } } as const;
      return setChoice(app, contact, { topic, isSubscribed, cause });
    },
  });
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
          usage: usage,
          recordConsent,
          hasLeft,
          keepSuppressed: (projectSeq, email) => suppressReturned(app, projectSeq, email),
          topicState,
          setTopic(contact, { key, isSubscribed }, jobId) {
            const topic = topicByKey(app, contact.projectSeq, key);
            if (topic === null) throw new Error("a topic was deleted while its row was imported");
            const cause = { consent: { source: { type: "IMPORT", id: jobId } } } as const;
            setChoice(app, contact, { topic, isSubscribed, cause });
          },
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
            topicState,
          }),
      }),
      BULK: createBulkRunner({ app, db, jobs, actionOf, audience, writer }),
    },
    writer,
    clock,
    log,
  });

  return {
    files,
    imports,
    exports: createExports({ app, quota, audience }),
    bulk: createBulk({
      db,
      jobs,
      quota,
      audience,
      ensureTopic: (projectSeq, topicId) => void topicIn(app, projectSeq, topicId),
    }),
    worker,
  };
}

export const contactModule = perApp(createContactModule);

function createContactModule(app: App): Module {
  const { writer, clock, log } = app;
  const [admission, bodies, contacts] = [admissionOf(app), bodiesOf(app), contactService(app)];
  const { files, imports, exports, bulk, worker } = contactJobs(app);
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
