/**
 * The composition root. It creates every module once and connects them: first the services that
 * others need (clock, log, writer, quotas, event log), then the modules, then the routes, and last
 * the recurring work. `start` starts the workers, `listen` opens the HTTP server, and `stop` ends
 * them in the reverse order.
 */

import { Cron } from "croner";
import { Elysia } from "elysia";
import type { Config } from "./config/settings.ts";
import { describeFault, recoveryOf, type StorageFault } from "./db/fault.ts";
import { freeBytes } from "./db/folder.ts";
import type { Db } from "./db/open.ts";
import { createReferences } from "./lib/references.ts";
import { createCancellation } from "./outbox/cancel.ts";
import { createContactMails } from "./outbox/contact-mails.ts";
import { createEngagement } from "./outbox/engagement.ts";
import { createUsageCounter } from "./db/usage-counter.ts";
import { createWriter } from "./db/writer.ts";
import { createAttempt } from "./outbox/attempt.ts";
import { createDispatcher } from "./outbox/dispatcher.ts";
import { createLoader } from "./outbox/load-mail.ts";
import { databaseSiteStore } from "./outbox/direct/site-store.ts";
import type { Transport } from "./outbox/outcome.ts";
import { databasePolicyStore } from "./outbox/direct/mta-sts-store.ts";
import { createPace } from "./outbox/pace.ts";
import { createLeaseQueue } from "./outbox/lease.ts";
import { createRecordOutcome } from "./outbox/record.ts";
import { createAdmission } from "./http/admission.ts";
import { createBodies } from "./http/bodies.ts";
import { defineFormats } from "./http/formats.ts";
import { healthRoutes, type Readiness } from "./http/health.ts";
import { createIdempotency } from "./http/idempotency.ts";
import { openApiRoutes } from "./http/openapi.ts";
import { createCursors } from "./http/pagination.ts";
import { createListener } from "./http/listener.ts";
import { createRoot } from "./http/server.ts";
import { installationOf } from "./installation.ts";
import { createClockSteps } from "./clock-steps.ts";
import type { Clock } from "./lib/clock.ts";
import { createLoopWatch, platformWatch } from "./lib/loop-watch.ts";
import { serveMetrics } from "./lib/metrics.ts";
import { metricsOf } from "./metrics.ts";
import { deriveKey } from "./lib/crypto.ts";
import { createYield } from "./lib/yield.ts";
import { createDns, type Dns } from "./protocols/dns/client.ts";
import { systemDnsServers } from "./protocols/dns/servers.ts";
import { createFetchGuarded, type FetchGuarded } from "./protocols/fetch-guarded/fetch-guarded.ts";
import { describeError, type Log, withoutErrors } from "./lib/log.ts";
import { createSteadyClock } from "./lib/steady-clock.ts";
import { createFairScheduler } from "./lib/slice-queue.ts";
import { domainOf } from "./protocols/mime/address.ts";
import { type DkimKeyPair, generateDkimKeys } from "./protocols/dkim/keys.ts";
import { makeReturnPath } from "./outbox/return-path.ts";
import { templateCache as createTemplateCache } from "./render/template/cache.ts";
import { bulkRoutes } from "./modules/contacts/bulk/routes.ts";
import { importRoutes } from "./modules/contacts/import/routes.ts";
import { createContactModule } from "./modules/contacts/module.ts";
import { createRemoval } from "./modules/contacts/remove.ts";
import { createCampaignModule } from "./modules/campaigns/module.ts";
import { campaignRoutes } from "./modules/campaigns/routes.ts";
import { contactRoutes } from "./modules/contacts/routes.ts";
import { createContacts } from "./modules/contacts/service.ts";
import { createDomainChecks } from "./modules/domains/check-worker.ts";
import { createDkimKeys, dkimSealKey } from "./modules/domains/keys.ts";
import { createDnsCheck } from "./modules/domains/dns-check.ts";
import { createCheckRows } from "./modules/domains/check-rows.ts";
import { domainRoutes } from "./modules/domains/routes.ts";
import { createDomains } from "./modules/domains/service.ts";
import { createAccept } from "./modules/emails/accept.ts";
import { emailRoutes } from "./modules/emails/routes.ts";
import { createEmailList } from "./modules/emails/list.ts";
import { createEmailRecords } from "./modules/emails/records.ts";
import { createEmailStore } from "./outbox/enqueue.ts";
import { createEventList } from "./modules/events/list.ts";
import { createEventNameList } from "./modules/events/names-list.ts";
import { createContactEvents } from "./events/contact-events.ts";
import { eventRoutes } from "./modules/events/routes.ts";
import { createEventLog } from "./events/log.ts";
import { createKeys } from "./modules/keys/service.ts";
import { createProjects } from "./modules/projects/service.ts";
import { createFilterAudience } from "./modules/segments/filter-audience.ts";
import { segmentRoutes } from "./modules/segments/routes.ts";
import { createSegments } from "./modules/segments/service.ts";
import { createQuotas } from "./modules/quotas/service.ts";
import { createRetention } from "./modules/retention/service.ts";
import { subscriptionRoutes } from "./modules/subscription/routes.ts";
import { createSubscriptions } from "./modules/subscription/service.ts";
import { createSuppressionList } from "./modules/suppressions/list.ts";
import { suppressionRoutes } from "./modules/suppressions/routes.ts";
import { createSuppressions } from "./modules/suppressions/service.ts";
import { createPreviews } from "./modules/templates/preview.ts";
import { templateRoutes } from "./modules/templates/routes.ts";
import { createTemplates } from "./modules/templates/service.ts";
import { trackRoutes } from "./modules/track/routes.ts";
import { verificationRoutes } from "./modules/verification/routes.ts";
import { createVerify } from "./modules/verification/verify.ts";
import { executionRoutes } from "./modules/workflows/execution-routes.ts";
import { createWorkflowModule } from "./modules/workflows/module.ts";
import { workflowRoutes } from "./modules/workflows/routes.ts";
import { createWorkflows } from "./modules/workflows/service.ts";
import { createCollector } from "./modules/tracking/collector.ts";
import { createHitCounter } from "./modules/tracking/count.ts";
import { trackingRoutes } from "./modules/tracking/routes.ts";
import { createWebhookModule } from "./modules/webhooks/module.ts";
import { webhookRoutes } from "./modules/webhooks/routes.ts";
import { createTransport } from "./outbox/transports/create-transport.ts";

type AppOptions = {
  config: Config;
  db: Db;
  /** Folder of the database; null if the database is in memory. */
  folder: string | null;
  secret: string;
  clock: Clock;
  log: Log;
  /** Replacements for tests. Without them, these are created from the configuration. */
  transport?: Transport;
  dns?: Dns;
  makeDkimKeys?: () => Promise<DkimKeyPair[]>;
  fetchGuarded?: FetchGuarded;
};

export type App = ReturnType<typeof createApp>;

const STOP_GRACE_MS = 10_000;
/** Time for webhook requests under way. A receiver that is cut off gets the same message again. */
const WEBHOOK_GRACE_MS = 3_000;
const DELIVERY_DAYS = 30;
/** If due mail that nothing pauses does not move for this long, the process is not ready. */
const MAX_STALLED_MS = 60_000;
/** With less free space the process is not ready, because writes are about to fail. */
const MIN_FREE_BYTES = 16 * 1024 * 1024;
const FAULT_REASONS = {
  damaged: "The database is damaged.",
  displaced: "A file of the database was deleted, moved or replaced.",
} as const satisfies Record<StorageFault["kind"], string>;
const TEMPLATE_CACHE = { maxEntries: 500, maxBytes: 32 * 1024 * 1024 };
const IDLE_TIMEOUT_SECONDS = 60;
/**
 * Bun's own body limit is off, because Bun would answer 413 without an error body.
 * `http/body-bytes` limits the bytes that are read, and the rest is discarded.
 */
const BUN_MAX_BODY_BYTES = Number.MAX_SAFE_INTEGER;

export function createApp(options: AppOptions) {
  const { config, db, folder, secret } = options;
  const clock = createSteadyClock(options.clock);
  const log = withoutErrors(options.log, () => db.fault.current() !== null);
  defineFormats();
  const url = config.url ?? `http://${config.host}:${config.port}`;
  const linkKey = deriveKey(secret, "recipient-links");
  const returnPathKey = deriveKey(secret, "return-paths");
  const trackingUrl = config.trackingUrl ?? url;
  const trackingKey = deriveKey(secret, "tracking-links");
  const templateCache = createTemplateCache(TEMPLATE_CACHE);
  const loopWatch = createLoopWatch(platformWatch(log));
  const writer = createWriter(db, log, undefined, () => loopWatch.begin("write", "transaction"));
  const cursors = createCursors(deriveKey(secret, "cursors"));

  const references = createReferences();
  const usage = createUsageCounter(db, writer);
  const quotas = createQuotas({
    db,
    usage,
    clock,
    log,
    limits: {
      storedBytes: config.quotaStorage * 1024 * 1024,
      queuedMails: config.quotaQueuedMails,
    },
  });
  const events = createEventLog({ db, writer, usage });
  const suppressions = createSuppressions({ db });
  const suppressionList = createSuppressionList({ db, cursors });
  const projects = createProjects({ db, clock });
  const keys = createKeys({ db, clock });
  const dns = options.dns ?? createDns({ servers: config.dns ?? systemDnsServers(), clock });
  const dkimKeys = createDkimKeys({
    db,
    clock,
    sealKey: dkimSealKey(secret),
    makePairs: options.makeDkimKeys ?? generateDkimKeys,
  });
  const installation = installationOf(config);
  const domains = createDomains({
    db,
    clock,
    cursors,
    keys: dkimKeys,
    installation,
    references,
  });
  const domainChecks = createDomainChecks({
    domains,
    checkRows: createCheckRows({ db, clock }),
    checkDns: createDnsCheck(dns),
    writer,
    clock,
    log,
  });
  const templates = createTemplates({
    db,
    clock,
    cursors,
    references,
  });
  /** Runs the slices of all long reads in turn. */
  const scheduler = createFairScheduler(() => loopWatch.begin("work", "a slice of a long read"));
  const eventsOfContact = createContactEvents({ db, scheduler });
  const cancellation = createCancellation({ db, usage, events, clock });
  const contactMails = createContactMails({ db, cancellation });
  const removal = createRemoval({ db, mails: contactMails, events: eventsOfContact });
  const { remove } = removal;
  const contacts = createContacts({ db, clock, events, remove, mails: contactMails });
  const segments = createSegments({
    db,
    writer,
    clock,
    log,
    cursors,
    contacts,
    events,
    scheduler,
    references,
  });
  const contactParts = createContactModule({
    db,
    folder,
    writer,
    clock,
    log,
    cursors,
    events,
    eventsOfContact,
    contacts,
    remove,
    audience: createFilterAudience(segments),
    maxJobsPerProject: config.quotaJobs,
    quotas,
    scheduler,
  });
  const records = createEmailRecords({ db });
  const store = createEmailStore({ db, usage });
  const isSenderVerified = (projectSeq: number, domain: string) =>
    !config.requireVerifiedDomain || domains.isVerified(projectSeq, domain);
  const accept = createAccept({
    clock,
    contacts,
    domains,
    events,
    store,
    suppressions,
    templateCache,
    templates,
    requireVerifiedDomain: config.requireVerifiedDomain,
    quotas,
    url,
    linkKey,
  });

  const workflows = createWorkflows({
    db,
    writer,
    clock,
    cursors,
    segments,
    allowPrivateAddresses: config.allowPrivateAddresses,
  });
  const { preview, renderFor } = createPreviews({ clock, contacts, templateCache, url, linkKey });
  const campaigns = createCampaignModule({
    db,
    writer,
    clock,
    log,
    cursors,
    contacts,
    segments,
    store,
    cancellation,
    references,
    scheduler,
    renderFor,
    isSenderVerified,
    suppressionOf: suppressions.reasonFor,
    quotas,
    limits: {
      bounceRate: config.campaignBounceLimit,
      complaintRate: config.campaignComplaintLimit,
      afterMails: config.campaignLimitAfter,
    },
    wakeDispatcher: () => dispatcher.wake(),
  });
  events.onEvent(campaigns.facts.handle);

  const siteStore = databaseSiteStore({ db, writer, clock, log });
  const transport =
    options.transport ??
    createTransport(config, {
      dns,
      clock,
      log,
      policyStore: databasePolicyStore({ db, writer, clock, log }),
      siteStore,
    });
  const queue = createLeaseQueue(db, (to) => transport.admit?.(to) ?? null);
  const dispatcher = createDispatcher({
    queue,
    pace: createPace({
      ratePerSecond: config.sendRate,
      concurrency: transport.maxUnderWay ?? transport.concurrency,
      clock,
      maxPrefetch: transport.maxPrefetch,
    }),
    load: createLoader(db),
    attempt: createAttempt({
      yieldIfBusy: createYield(),
      beginWork: (emailId) => loopWatch.begin("mail", emailId),
      transport,
      templateCache,
      clock,
      suppressionOf: suppressions.reasonFor,
      isSenderVerified,
      signerOf: domains.signerOf,
      isCampaignSending: campaigns.lifecycle.isSending,
      noteRendering: campaigns.cost.noteRendering,
      isTooCostly: campaigns.cost.isStopped,
      returnPathOf,
      url,
      linkKey,
      trackingUrl,
      trackingKey,
    }),
    settle: createRecordOutcome({
      db,
      usage,
      random: Math.random,
      recordFact: events.record,
      suppress: (projectSeq, address, at) =>
        suppressions.add(projectSeq, address, { reason: "HARD_BOUNCE", at }),
    }),
    writer,
    clock,
    log,
    url,
    paceIntervalMs: config.sendRate === 0 ? 0 : 1000 / config.sendRate,
  });

  const hits = createHitCounter({
    engagement: createEngagement({ db }),
    clock,
    record: events.record,
  });
  hits.onMachineHit(campaigns.facts.noteMachine);
  const collector = createCollector({ count: hits.count, writer, clock, log });
  const { allowPrivateAddresses } = config;
  const fetchGuarded = options.fetchGuarded ?? createFetchGuarded({ dns, allowPrivateAddresses });
  const automation = createWorkflowModule({
    onContactRemoved: removal.onRemove,
    references,
    db,
    writer,
    clock,
    log,
    cursors,
    contacts,
    events,
    eventsOfContact,
    segments,
    store,
    suppressions,
    templateCache,
    templates,
    workflows,
    fetchGuarded,
    isSenderVerified,
    random: Math.random,
    mostCallsOfProject: config.quotaWebhookCalls,
    quotas,
    settleFacts: collector.flush,
    wakeDispatcher: dispatcher.wake,
    url,
    linkKey,
  });
  const subscriptions = createSubscriptions({ db, contacts });
  const retention = createRetention({
    db,
    writer,
    clock,
    days: {
      bodies: config.retainBodies,
      raw: config.retainRaw,
      events: config.retainEvents,
      deliveries: DELIVERY_DAYS,
    },
  });

  /** Returns the address that receives the bounces of a mail (docs/delivery.md#C5). */
  function returnPathOf(mail: { id: string; projectSeq: number; fromAddress: string }): string {
    const host = domains.bounceHostOf(mail.projectSeq, domainOf(mail.fromAddress));
    const path = host === null ? null : makeReturnPath(returnPathKey, mail.id, host);
    return path ?? mail.fromAddress;
  }

  const webhooks = createWebhookModule({
    db,
    writer,
    clock,
    log,
    cursors,
    events,
    fetchGuarded,
    sealKey: deriveKey(secret, "webhook-secrets"),
    random: Math.random,
    mostCallsOfProject: config.quotaWebhookCalls,
  });

  const idempotency = createIdempotency({
    db,
    writer,
    clock,
    sealKey: deriveKey(secret, "idempotency"),
    storing: quotas.runWithinStorage,
  });
  const beginWork = (route: string) => loopWatch.begin("route", route);
  const bodies = createBodies({ clock, beginWork });
  const admission = createAdmission({
    findKey: keys.findByDigest,
    idempotency,
    readJson: bodies.readJson,
    writer,
    storing: quotas.runWithinStorage,
    apiRate: config.apiRate,
    publicKeyRate: config.publicKeyRate,
    publicClientRate: config.publicClientRate,
    trustedProxies: config.trustedProxies,
    log,
    now: clock.elapsed,
  });
  const {
    root,
    registerRoutes: learnRoutes,
    responses,
  } = createRoot({
    log,
    now: clock.now,
    elapsed: clock.elapsed,
    projectOf: admission.projectOf,
    beginWork,
    onAnswered: bodies.returnShares,
  });
  const api = new Elysia({ name: "api" })
    .use(healthRoutes(readiness))
    .use(
      emailRoutes({
        admission,
        accept,
        bodies,
        list: createEmailList({ db, cursors, scheduler, records }),
        records,
        writer,
        wake: dispatcher.wake,
      }),
    )
    .use(contactRoutes({ admission, contacts, ...contactParts, writer }))
    .use(importRoutes({ admission, bodies, ...contactParts, writer }))
    .use(bulkRoutes({ admission, ...contactParts, writer, clock }))
    .use(templateRoutes({ admission, templates, preview, writer }))
    .use(domainRoutes({ admission, domains, checks: domainChecks, writer }))
    .use(suppressionRoutes({ admission, clock, list: suppressionList, suppressions, writer }))
    .use(trackRoutes({ admission, clock, contacts, events }))
    .use(
      eventRoutes({
        admission,
        names: createEventNameList({ db, cursors }),
        list: createEventList({ db, cursors, scheduler, ofContact: eventsOfContact }),
      }),
    )
    .use(verificationRoutes({ admission, verify: createVerify({ dns }) }))
    .use(segmentRoutes({ admission, segments, writer }))
    .use(campaignRoutes({ admission, ...campaigns, preview, writer }))
    .use(workflowRoutes({ admission, workflows, writer }))
    .use(
      webhookRoutes({
        admission,
        ...webhooks,
        writer,
        allowPrivateAddresses: config.allowPrivateAddresses,
      }),
    )
    .use(executionRoutes({ admission, executions: automation.executions, writer }))
    .use(subscriptionRoutes({ subscriptions, linkKey, writer, arrivals: bodies.arrivals, log }))
    .use(trackingRoutes({ collector, trackingKey, clock }));
  const http = new Elysia({
    // Normalisation is off: it rebuilds bodies before validation, and turns other values into
    // objects.
    normalize: false,
    serve: {
      maxRequestBodySize: BUN_MAX_BODY_BYTES,
      idleTimeout: IDLE_TIMEOUT_SECONDS,
      reusePort: false,
    },
  })
    .use(root)
    .use(api)
    .use(openApiRoutes(api));
  const listener = createListener({
    http,
    hostname: config.host,
    port: config.port,
    clock,
    log,
  });
  learnRoutes(http.routes);
  bodies.registerRoutes(http.routes);

  const clockSteps = createClockSteps({
    db,
    writer,
    clock,
    log,
    dueTimes: [
      queue.shift,
      siteStore.shift,
      webhooks.shift,
      automation.runner.shift,
      domainChecks.shift,
    ],
    lifetimes: [idempotency.shift],
    wake() {
      dispatcher.wake();
      webhooks.wakeAll();
      automation.runner.wake();
      campaigns.runner.wake();
      domainChecks.wake();
    },
  });

  /** Recurring work. The pattern is that of croner, with seconds. */
  const recurring = [
    { name: "clock", pattern: "* * * * * *", run: clockSteps.check },
    { name: "key uses", pattern: "*/30 * * * * *", run: () => keys.flushUses(writer) },
    { name: "idempotency purge", pattern: "17 * * * * *", run: idempotency.purge },
    { name: "segment membership", pattern: "*/10 * * * * *", run: segments.recompute },
    { name: "campaigns", pattern: "*/5 * * * * *", run: campaigns.runner.tick },
    { name: "deleted workflows", pattern: "*/10 * * * * *", run: workflows.sweep },
    { name: "webhooks", pattern: "41 * * * * *", run: webhooks.keepUp },
    // A command in another process, such as `project enable`, cannot wake the queue.
    { name: "queue", pattern: "*/5 * * * * *", run: async () => dispatcher.wake() },
    { name: "retention", pattern: "* * * * * *", run: retention.step },
    // This finds damaged or moved files also while nothing is written.
    { name: "database files", pattern: "* * * * * *", run: async () => void writer.verifyFiles() },
  ];
  let timers: Cron[] = [];
  let metricsServer: ReturnType<typeof serveMetrics> | null = null;

  function readMetrics() {
    return metricsOf({
      holds: loopWatch.report(),
      outcomes: dispatcher.outcomes,
      responses,
      // After a storage fault no mail moves, and queries may fail.
      nextDueAt: writer.hasFault() ? null : dispatcher.nextDueAt(),
      stalledMs: writer.hasFault() ? 0 : dispatcher.stalledMs(),
      isStorageHealthy: writer.isHealthy(),
      bodyBytes: bodies.budget.takenBytes(),
      now: clock.now(),
    });
  }

  /** Set after a storage fault. It resolves when all stopped work has ended. */
  let halted: Promise<unknown> | null = null;

  db.fault.onRaised((fault) => {
    options.log.error(`nothing is stored or sent any more: ${describeFault(fault)}`, {
      file: fault.file,
      recovery: recoveryOf(fault),
    });
    halted = halt();
  });

  /** Ends all work except HTTP, which still answers health checks and requests that only read. */
  function halt(): Promise<unknown> {
    for (const timer of timers) timer.stop();
    // All are stopped at the same time. Their last writes are refused.
    return Promise.allSettled([
      dispatcher.stop(STOP_GRACE_MS),
      webhooks.stop(WEBHOOK_GRACE_MS),
      automation.runner.stop(),
      campaigns.runner.stop(),
      contactParts.stop(),
      domainChecks.stop(),
      segments.stop(),
      workflows.stop(),
    ]);
  }

  async function stopAfterFault(): Promise<void> {
    await halted;
    await transport.close();
    dns.close();
    await writer.drain();
  }

  async function readiness(): Promise<Readiness> {
    writer.verifyFiles();
    const fault = faultReason();
    if (fault !== null) return { isReady: false, reason: fault };
    if (!dispatcher.isRunning()) return { isReady: false, reason: "The queue does not run." };
    const free = folder === null ? Infinity : freeBytes(folder);
    if (free === null) return { isReady: false, reason: "The data folder cannot be examined." };
    if (free < MIN_FREE_BYTES) return { isReady: false, reason: "The storage is full." };
    const stalledMs = dispatcher.stalledMs();
    if (stalledMs >= MAX_STALLED_MS) {
      const seconds = Math.round(stalledMs / 1000);
      return { isReady: false, reason: `Mail that is due has not moved for ${seconds} s.` };
    }
    // A real write shows whether the database accepts writes now.
    return writer.write(clockSteps.note).then(
      () => ({ isReady: true as const }),
      () => ({
        isReady: false as const,
        reason: faultReason() ?? "The database does not take writes.",
      }),
    );
  }

  function faultReason(): string | null {
    const fault = db.fault.current();
    return fault === null ? null : FAULT_REASONS[fault.kind];
  }

  return {
    http,
    url,
    writer,
    projects,
    keys,
    domains,
    segments,
    workflows,
    campaigns: campaigns.runner,
    automation: automation.runner,
    clockSteps,
    bodyBudget: bodies.budget,
    transport,

    /** Answers a request like the server, for tests. */
    handle: (request: Request): Promise<Response> => http.handle(request),

    async start(): Promise<void> {
      loopWatch.start();
      await clockSteps.start();
      await campaigns.runner.start();
      await automation.runner.start();
      webhooks.start();
      domainChecks.start();
      contactParts.start();
      timers = recurring.map(
        ({ name, pattern, run }) =>
          new Cron(pattern, { name: `${name} ${crypto.randomUUID()}`, protect: true }, async () => {
            loopWatch.begin("job", name);
            await run().catch((error: unknown) =>
              log.error("recurring work failed", { name, error: describeError(error) }),
            );
          }),
      );
      await dispatcher.start();
    },

    /** Starts the servers, and resolves to the port. */
    listen(): Promise<number> {
      if (config.metrics !== null) metricsServer = serveMetrics(config.metrics, readMetrics);
      return listener.open();
    },

    /**
     * Stops in this order: timers, HTTP, leasing, the other workers, and attempts under way, which
     * have 10 s. Then it returns the leases.
     */
    async stop(): Promise<void> {
      for (const timer of timers) timer.stop();
      loopWatch.stop();
      await metricsServer?.stop();
      await listener.close();
      if (halted !== null) return stopAfterFault();
      const mailsEnded = dispatcher.stop(STOP_GRACE_MS);
      await contactParts.stop();
      await campaigns.runner.stop();
      await automation.runner.stop();
      await webhooks.stop(WEBHOOK_GRACE_MS);
      const checksEnded = domainChecks.stop();
      const allEnded = await mailsEnded;
      if (!allEnded) log.warn("some mails were still under way; they wait for their next time");
      await transport.close();
      dns.close();
      await checksEnded;
      await collector.flush();
      await segments.stop();
      await workflows.stop();
      await keys.flushUses(writer);
      await dispatcher.returnLeases();
      await writer.write(clockSteps.note);
      await writer.drain();
    },
  };
}
