/**
 * Sends mail: the queue of due mails, and the dispatcher, which leases them, attempts them and stores
 * their outcomes.
 */

import type { App } from "../core/app.ts";
import { eventLog } from "../events/log.ts";
import { perApp } from "../lib/per-app.ts";
import { createAttempt } from "../outbox/attempt.ts";
import { createDispatcher } from "../outbox/dispatcher.ts";
import { mailQueued } from "../outbox/enqueue.ts";
import { createLeaseQueue } from "../outbox/lease.ts";
import { createLoader } from "../outbox/lease-rows.ts";
import { createPace } from "../outbox/pace.ts";
import { createRecordOutcome } from "../outbox/record.ts";
import { makeReturnPath } from "../outbox/return-path.ts";
import { siteStoreOf, transportOf } from "../outbox/transports/create-transport.ts";
import { domainOf } from "../protocols/mime/address.ts";
import { campaignHandlers } from "./campaigns/event-handlers.ts";
import { campaignLifecycle } from "./campaigns/lifecycle.ts";
import { mailComposer } from "./composer.ts";
import { isSenderVerified, returnPathHost } from "./domains/domains.ts";
import { sentMail } from "./inboxes/sent-mail.ts";
import type { Module } from "./module.ts";
import { pageUrl } from "./projects.ts";
import { lateReports, suppressBounced } from "./bounces/bounces.ts";

/** Time for the mails under way when the process stops. */
const STOP_GRACE_MS = 10_000;

const leaseQueue = perApp((app: App) =>
  createLeaseQueue(app.db, (...mail) => transportOf(app).admit?.(...mail) ?? null),
);

export const mailDispatcher = perApp((app: App) => {
  const { config, db, clock, log, writer, usage, random } = app;
  const [transport, queue] = [transportOf(app), leaseQueue(app)];
  const dispatcher = createDispatcher({
    queue,
    pace: createPace({
      ratePerSecond: config.sendRate,
      concurrency: transport.maxUnderWay ?? transport.concurrency,
      clock,
      maxPrefetch: transport.maxPrefetch,
    }),
    maxFastPrefetch: transport.maxFastPrefetch ?? 0,
    load: createLoader(db),
    attempt: createAttempt({
      ...app,
      composer: mailComposer(app),
      transport,
      isSenderVerified: (projectSeq, domain) => isSenderVerified(app, projectSeq, domain),
      isCampaignSending: campaignLifecycle(app).isSending,
      returnPathOf: (mail) => returnPathOf(app, mail),
    }),
    settle: createRecordOutcome({
      db,
      usage,
      random,
      recordEvent: eventLog(app).record,
      suppressBounced: suppressBounced(app),
      applyReports: lateReports(app).applyStored,
      onSenderRefused: campaignHandlers(app).noteFailure,
      onCaptured: sentMail(app).onCaptured,
    }),
    writer,
    clock,
    log,
    pageOf: ({ projectSeq, id }) => pageUrl(app, projectSeq, `emails/${id}`),
    paceIntervalMs: config.sendRate === 0 ? 0 : 1000 / config.sendRate,
  });
  mailQueued(app).onRaised(dispatcher.wake);
  return dispatcher;
});

/** The queue: it starts first, and returns its leases when everything else has stopped. */
export const queueModule = perApp((app: App): Module => {
  const queue = leaseQueue(app);
  return {
    name: "queue",
    dueTimes: [queue.shift, siteStoreOf(app).shift],
    flush: () => app.writer.write(() => void queue.returnLeases()),
  };
});

export const sendingModule = perApp((app: App): Module => {
  const { clock, log, writer } = app;
  const dispatcher = mailDispatcher(app);
  /** Resolves to true if all mails under way ended in time. */
  let mailsEnded = Promise.resolve(true);

  return {
    name: "sending",
    // A command in another process, such as `project enable`, cannot wake the dispatcher.
    recurring: [{ name: "queue", pattern: "*/5 * * * * *", run: async () => dispatcher.wake() }],
    wake: dispatcher.wake,

    async start(): Promise<void> {
      await writer.write(() => lateReports(app).applyInterrupted(clock.now()));
      await dispatcher.start();
    },

    /** Stops leasing at once. The mails under way end while the other modules stop. */
    async stop(): Promise<void> {
      mailsEnded = dispatcher.stop(STOP_GRACE_MS);
    },

    async close(): Promise<void> {
      const allEnded = await mailsEnded;
      if (!allEnded)
        log.warn("some mails were still being sent; they are tried again when they are due");
      mailComposer(app).close();
      await transportOf(app).close();
    },
  };
});

/** The address that receives the bounces of a mail (docs/delivery.md#C5). */
function returnPathOf(
  app: App,
  mail: { id: string; projectSeq: number; fromAddress: string },
): string {
  const host = returnPathHost(app, mail.projectSeq, domainOf(mail.fromAddress));
  const path = host === null ? null : makeReturnPath(app.returnPathKey, mail.id, host);
  return path ?? mail.fromAddress;
}
