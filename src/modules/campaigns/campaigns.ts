/**
 * Campaigns: one mail to every contact of an audience. In order: a campaign is created as a DRAFT
 * (service.ts, columns.ts); it is sent or scheduled (lifecycle.ts, states.ts); the runner starts it
 * when it is due (runner.ts). Its audience is fixed then (audience.ts, audience-snapshot.ts). One mail
 * per recipient is written (expand.ts), while the outbox already sends the first of them; events of
 * these mails update its counters and may pause it (event-handlers.ts, stats.ts, render-cost.ts); the
 * runner finishes it when no mail is left. Its statistics are read at any time (report.ts,
 * recipients.ts). Campaigns that another product has sent are stored beside them (imported.ts).
 */

import type { App } from "../../core/app.ts";
import { eventLog } from "../../events/log.ts";
import { operationRoutes } from "../../http/operations.ts";
import { perApp } from "../../lib/per-app.ts";
import { admissionOf } from "../admission.ts";
import type { Module } from "../module.ts";
import { abTestOperations } from "./ab-tests/ab-operations.ts";
import { shiftDecisions } from "./ab-tests/ab-progress.ts";
import { campaignActionRoutes } from "./action-routes.ts";
import { archivePages } from "./archive-pages.ts";
import { campaignHandlers } from "./event-handlers.ts";
import { campaignImportOperations } from "./imported.ts";
import { campaignReportRoutes } from "./report-routes.ts";
import { campaignRoutes } from "./routes.ts";
import { campaignRunner } from "./runner.ts";
import { campaignService } from "./service.ts";
import { rehearsalRoutes } from "./rehearsal-routes.ts";
import { onMachineHit } from "../tracking/tracking.ts";

export const campaignModule = perApp((app: App): Module => {
  const campaigns = campaignService(app);
  const handlers = campaignHandlers(app);
  const runner = campaignRunner(app);
  app.references.register("segment", campaigns.usersOfSegment, campaigns.checkUsersOfSegments);
  app.references.register("domain", campaigns.usersOfDomain);
  app.references.register("layout", campaigns.usersOfLayout);
  app.references.register("topic", campaigns.usersOfTopic);
  eventLog(app).onEvent(handlers.handle);
  onMachineHit(app, handlers.noteMachine);
  return {
    name: "campaigns",
    routes: [
      campaignRoutes(app),
      archivePages(app),
      campaignActionRoutes(app),
      campaignReportRoutes(app),
      rehearsalRoutes(app),
      operationRoutes(app, admissionOf(app), campaignImportOperations),
      operationRoutes(app, admissionOf(app), abTestOperations),
    ],
    recurring: [{ name: "campaigns", pattern: "*/5 * * * * *", run: runner.tick }],
    dueTimes: [(shift) => shiftDecisions(app, shift)],
    wake: runner.wake,
    start: runner.start,
    stop: runner.stop,
  };
});
