/** What this module has beside its service, put together. */

import type { Db } from "../../db/open.ts";
import type { Writer } from "../../db/writer.ts";
import type { Cursors } from "../../http/pagination.ts";
import type { Clock } from "../../lib/clock.ts";
import { describeError, type Log } from "../../lib/log.ts";
import type { EventLog } from "../../events/log.ts";
import type { FairScheduler } from "../../lib/slice-queue.ts";
import type { Quotas } from "../quotas/service.ts";
import type { ContactEvents } from "../../events/contact-events.ts";
import { createActivity } from "./activity.ts";
import { createAddressIndex } from "./address-index.ts";
import { createBulkActions } from "./bulk/actions.ts";
import { createBulkRunner } from "./bulk/run.ts";
import { createBulk, type FindAudience } from "./bulk/bulk.ts";
import { createExports } from "./export.ts";
import { createFields } from "./fields.ts";
import { createImportFiles } from "./import/files.ts";
import { createImportRunner } from "./import/run.ts";
import { createImports } from "./import/imports.ts";
import { createRowWriter } from "./import/write.ts";
import { createJobQuota } from "./jobs/quota.ts";
import { createJobWorker } from "./jobs/worker.ts";
import { createJobs } from "./jobs/jobs.ts";
import { createContactList } from "./list.ts";
import type { RemoveContact } from "./remove.ts";
import type { Contacts } from "./service.ts";

export type ContactParts = ReturnType<typeof createContactParts>;

export function createContactParts(deps: {
  db: Db;
  /** Of the data; null where it lives in memory. */
  folder: string | null;
  writer: Writer;
  clock: Clock;
  log: Log;
  cursors: Cursors;
  events: EventLog;
  contacts: Contacts;
  remove: RemoveContact;
  audience: FindAudience;
  scheduler: FairScheduler;
  eventsOfContact: ContactEvents;
  /** Imports, exports and bulk actions of one project at once; 0 for no limit. */
  mostJobsOfProject: number;
  quotas: Pick<Quotas, "ensureStorage">;
}) {
  const { db, folder, writer, clock, log, cursors, scheduler } = deps;
  const { events, eventsOfContact, contacts, remove, audience, quotas } = deps;
  const addresses = createAddressIndex({ db, clock, scheduler });
  const fields = createFields({ db, scheduler });
  const files = createImportFiles(folder);
  const jobs = createJobs({ db, clock });
  const quota = createJobQuota({ db, most: deps.mostJobsOfProject });
  const imports = createImports({ files, jobs, quota, quotas, clock, scheduler });
  const actions = createBulkActions({ db, clock, events, remove });
  const worker = createJobWorker({
    jobs,
    runners: {
      IMPORT: createImportRunner({
        files,
        jobs,
        rows: createRowWriter({ db, clock, events }),
        quotas,
        writer,
        scheduler,
      }),
      BULK: createBulkRunner({ db, jobs, actions, audience, writer }),
    },
    writer,
    clock,
    log,
  });

  let sweeping = Promise.resolve();

  return {
    list: createContactList({ db, cursors, addresses }),
    fields,
    exports: createExports({ db, scheduler, fields, quota }),
    activity: createActivity({ db, cursors, contacts, eventsOfContact }),
    imports,
    bulk: createBulk({ db, jobs, quota, audience }),
    wake: worker.wake,

    /** Goes on with jobs that were under way; what else there is to do is done meanwhile. */
    start(): void {
      worker.start();
      sweeping = imports
        .sweep()
        .catch((error: unknown) =>
          log.error("old imports were not swept", { error: describeError(error) }),
        );
    },

    /** The job under way stops between two changes. */
    async stop(): Promise<void> {
      addresses.release();
      await worker.stop();
      await sweeping;
      await files.close();
    },
  };
}
