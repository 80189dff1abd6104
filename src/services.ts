/**
 * Creates the services that several modules use, the lower ones first. A service has no routes and
 * no work of its own; its module in the list (`modules.ts`) has them.
 */

import type { Core } from "./core.ts";
import { bodiesOf } from "./http/body.ts";
import { localAccessOf } from "./http/local-access.ts";
import { admissionOf } from "./modules/admission.ts";
import { accountService } from "./modules/accounts/service.ts";
import { createBounces } from "./modules/bounces/service.ts";
import { createParser } from "./modules/inboxes/parsing/parser.ts";
import { contactService } from "./modules/contacts/service.ts";
import { contactRemoval } from "./modules/contacts/remove.ts";
import { domainService, isSenderVerified, signerOf } from "./modules/domains/service.ts";
import { createFilterAudience } from "./modules/segments/filter-audience.ts";
import { segmentService } from "./modules/segments/service.ts";
import { addSuppression } from "./modules/suppressions.ts";
import { createBounceSuppression } from "./outbox/bounce-suppression.ts";
import { cancellation } from "./outbox/cancel.ts";
import { emailStore } from "./outbox/enqueue.ts";
import { createLateReports } from "./outbox/late-reports.ts";
import { submittedStore } from "./outbox/submitted.ts";

export type Services = ReturnType<typeof createServices>;

export function createServices(core: Core) {
  const { app, config, db, clock, log, usage, events } = core;
  const removal = contactRemoval(app);
  const contacts = contactService(app);

  const suppressBounced = createBounceSuppression({
    db,
    limits: {
      bounces: config.softBounceLimit,
      withinDays: config.softBounceDays,
      forDays: config.softBounceSuppressDays,
    },
    suppress: (...args) => addSuppression(app, ...args),
  });
  const reports = createLateReports({ db, usage, recordEvent: events.record, suppressBounced });
  removal.onRemove(reports.forget);
  // A thread of its own, so that hostile reports do not delay the inboxes. It starts with the first one.
  const reportParser = createParser({ clock, log });

  return {
    admission: admissionOf(app),
    bodies: bodiesOf(app),
    localAccess: localAccessOf(app),
    accounts: accountService(app),
    suppressBounced,
    reports,
    bounces: createBounces({
      ...core,
      reports,
      contacts,
      readReport: reportParser.report,
    }),
    reportParser,
    domains: domainService(app),
    signerOf: (projectSeq: number, domain: string) => signerOf(app, projectSeq, domain),
    isSenderVerified: (projectSeq: number, domain: string) =>
      isSenderVerified(app, projectSeq, domain),
    cancellation: cancellation(app),
    removal,
    contacts,
    segments: segmentService(app),
    filterAudience: createFilterAudience(segmentService(app)),
    store: emailStore(app),
    submitted: submittedStore(app),
  };
}
