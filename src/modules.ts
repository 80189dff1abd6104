/** The list of modules: each noun has one line here. The order of the list is explained below. */

import type { AppOptions, Core } from "./core.ts";
import type { App } from "./core/app.ts";
import { eventLog } from "./events/log.ts";
import { idempotencyOf } from "./http/idempotency.ts";
import { operationRoutes } from "./http/operations.ts";
import { admissionOf } from "./modules/admission.ts";
import { createAccountModule } from "./modules/accounts/module.ts";
import type { ServerFacts } from "./modules/accounts/state.ts";
import { createBounceModule } from "./modules/bounces/module.ts";
import { createCampaignModule } from "./modules/campaigns/module.ts";
import { createRehearsalModule } from "./modules/campaigns/rehearsal-module.ts";
import { contentWorkModule } from "./modules/content-work/content-work.ts";
import { createContactModule } from "./modules/contacts/module.ts";
import { createDomainModule } from "./modules/domains/module.ts";
import { createEmailModule } from "./modules/emails/module.ts";
import { createEventModule } from "./modules/events/module.ts";
import { createMxLookup } from "./modules/domains/mx-lookup.ts";
import { createInboundRouteModule } from "./modules/inbound-routes/module.ts";
import { createInboxModule } from "./modules/inboxes/module.ts";
import { findKey, keyNoun } from "./modules/keys.ts";
import { imageNoun } from "./modules/images/images.ts";
import { createImageModule } from "./modules/images/files.ts";
import { layoutNoun } from "./modules/layouts.ts";
import { liveModule } from "./modules/live.ts";
import type { Module, Noun } from "./modules/module.ts";
import { projectModule } from "./modules/projects.ts";
import { retentionNoun } from "./modules/retention.ts";
import { createSegmentModule } from "./modules/segments/module.ts";
import { statsNoun } from "./modules/stats/stats.ts";
import { createServerChecks } from "./server-checks.ts";
import { subscriptionNoun } from "./modules/subscription/subscription.ts";
import { suppressionNoun } from "./modules/suppressions.ts";
import { systemModule } from "./modules/system/system.ts";
import { templateNoun } from "./modules/templates.ts";
import { draftNoun } from "./modules/template-editor/drafts.ts";
import { templateTestNoun } from "./modules/template-editor/test-mail.ts";
import { trackNoun } from "./modules/track.ts";
import { trackingNoun } from "./modules/tracking/tracking.ts";
import { verificationNoun } from "./modules/verification/verification.ts";
import { viewNoun } from "./modules/views/views.ts";
import { createWebhookModule } from "./modules/webhooks/module.ts";
import { createWorkflowModule } from "./modules/workflows/module.ts";
import { describeRelay } from "./protocols/smtp/known-relays.ts";
import { createSubmissions } from "./modules/emails/submission/accept.ts";
import { createInboundModule } from "./smtp/inbound-module.ts";
import { createCaptureModule } from "./smtp/module.ts";
import { createSubmissionModule } from "./smtp/submission-module.ts";
import { createQueueModule, createSendingModule } from "./sending.ts";
import { mailQueued } from "./outbox/enqueue.ts";
import type { Services } from "./services.ts";

export function createModules(parts: Core & Services, options: AppOptions) {
  const { app, dns } = parts;
  const queues = createQueueModule(parts, options);
  // Before workflows and webhooks, whose handlers of events run after those of campaigns.
  const campaigns = createCampaignModule(parts);
  const workflows = createWorkflowModule(parts);
  const inboxes = createInboxModule({ ...parts, transport: queues.transport });
  const live = liveModule({ ...parts, onInboxMessage: inboxes.changes.onMessage });
  const capture = createCaptureModule({ ...parts, inboxes });
  const submission = createSubmissionModule({
    ...parts,
    submissions: createSubmissions({
      ...parts,
      parser: inboxes.parser,
      hostname: parts.config.hostname,
      wake: mailQueued(app).raise,
      noteArrival: inboxes.noteArrival,
    }),
    findKey: (digest) => findKey(app, digest),
    takeRate(projectSeq) {
      const budget = parts.admission.takeRate(projectSeq);
      return budget === null || budget.isAllowed ? null : budget.resetSeconds;
    },
  });
  const inboundRoutes = createInboundRouteModule({
    ...parts,
    parser: inboxes.parser,
    findMx: createMxLookup(dns, parts.config.hostname),
    wake: mailQueued(app).raise,
    noteArrival: inboxes.noteArrival,
  });
  const inbound = createInboundModule({
    ...parts,
    inboxes,
    inboundRoutes,
    isBounceHost: parts.domains.isBounceHost,
    isReportAddress: parts.bounces.isReportAddress,
    processReport: parts.bounces.processReport,
  });
  const sending = createSendingModule({ ...parts, campaigns, inboxes, queues });

  /**
   * Started in this order and stopped in the reverse one. So the stop begins with the lease of mails,
   * then ends the other workers; it closes the transport before the DNS client, and the DNS client
   * before it waits for DNS checks; the last write returns the leases of the queue.
   */
  const list: readonly Module[] = [
    queues,
    contentWorkModule(app),
    answerModule(app),
    moduleOf(app, keyNoun),
    projectModule({ ...parts, projectsOf: parts.accounts.members.projectsOf }),
    createAccountModule({
      ...parts,
      passwordCost: options.passwordCost,
      transport: queues.transport,
      readFacts: () => serverFacts(parts, capture),
    }),
    moduleOf(app, viewNoun),
    moduleOf(app, templateNoun),
    moduleOf(app, draftNoun),
    moduleOf(
      app,
      templateTestNoun({
        ...parts,
        isCapturing: () => queues.transport.name === "capture",
        wake: () => parts.writer.afterCommit(mailQueued(app).raise),
      }),
    ),
    moduleOf(app, layoutNoun),
    moduleOf(app, imageNoun),
    createImageModule(parts),
    moduleOf(app, suppressionNoun),
    createBounceModule(parts),
    inboundRoutes,
    moduleOf(app, trackNoun),
    createEventModule(parts),
    moduleOf(app, statsNoun),
    moduleOf(app, verificationNoun),
    moduleOf(app, subscriptionNoun),
    moduleOf(app, trackingNoun),
    moduleOf(app, retentionNoun),
    createSegmentModule(parts),
    createDomainModule(parts),
    { name: "DNS client", close: async () => dns.close() },
    createWebhookModule(parts),
    workflows,
    campaigns,
    createRehearsalModule({ ...parts, campaigns, inboxes, composer: sending.composer }),
    createContactModule(parts),
    createEmailModule({
      ...parts,
      composer: sending.composer,
      transport: queues.transport,
      messages: inboxes.parser,
    }),
    systemModule({
      ...parts,
      dispatcher: sending.dispatcher,
      findHold: () => queues.transport.holdOf?.("") ?? null,
      runChecks: createServerChecks(parts),
    }),
    inboxes,
    live,
    capture,
    submission,
    inbound,
    sending,
  ];
  return {
    list,
    queues,
    campaigns,
    workflows,
    inboxes,
    capture,
    submission,
    inbound,
    inboundRoutes,
    sending,
  };
}

/** The properties of this server that the dashboard shows. */
function serverFacts(
  { config, hasOpenInboxes, url }: Core,
  capture: { port: () => number | null },
): ServerFacts {
  const port = capture.port();
  const { transport, captureSmtp, host, relayUrl, inbound } = config;
  return {
    capture: transport === "capture" || captureSmtp !== null,
    dev: hasOpenInboxes,
    transport,
    requiresVerifiedDomain: config.requireVerifiedDomain,
    url,
    receivesAs: inbound === null ? null : config.hostname,
    relay: transport === "relay" && relayUrl !== null ? describeRelay(relayUrl) : null,
    smtp: port === null ? null : { host: captureSmtp?.host ?? host, port },
  };
}

/** Purges the answers that are stored for an Idempotency-Key. */
function answerModule(app: App): Module {
  const { purge, shift } = idempotencyOf(app);
  return {
    name: "idempotency",
    recurring: [{ name: "idempotency purge", pattern: "17 * * * * *", run: purge }],
    lifetimes: [shift],
  };
}

/** A noun as a part of one server. */
export function moduleOf(
  app: App,
  { name, operations, routes, connect, recurring = [], onEvent, flush }: Noun,
): Module {
  const admission = admissionOf(app);
  connect?.(app);
  if (onEvent !== undefined) eventLog(app).onEvent((event) => onEvent(app, event));
  return {
    name,
    routes: [
      ...(operations === undefined ? [] : [operationRoutes(app, admission, operations)]),
      ...(routes?.(app, admission) ?? []),
    ],
    recurring: recurring.map((work) => ({ ...work, run: () => work.run(app) })),
    ...(flush === undefined ? {} : { flush: () => flush(app) }),
  };
}
