/** Sends mail: the queue of due mails, and the lane, which leases, sends and settles them. */

import type { Config } from "../config/settings.ts";
import type { App } from "../core/app.ts";
import { eventLog } from "../events/log.ts";
import { perApp } from "../lib/per-app.ts";
import { mailInserted, mailQueued } from "../outbox/enqueue.ts";
import { createLane } from "../outbox/lane/lane.ts";
import { createLeaseQueue, type LeaseQueue } from "../outbox/lane/queue.ts";
import { createLoader } from "../outbox/lane/rows.ts";
import { COMMON_ROUTE } from "../outbox/outcome.ts";
import { queueHold } from "../outbox/queue-hold.ts";
import { createIdFields, type IdFields } from "../outbox/id-field.ts";
import { createRecordOutcome } from "../outbox/record.ts";
import { makeReturnPath } from "../outbox/return-path.ts";
import {
  closeTransports,
  replaceTransport,
  siteStoreOf,
  transportFor,
  transportOf,
} from "../outbox/transports/create-transport.ts";
import { storedRelays } from "../outbox/transports/stored-relays.ts";
import { domainOf } from "../protocols/mime/address.ts";
import { campaignHandlers } from "./campaigns/event-handlers.ts";
import { campaignLifecycle } from "./campaigns/lifecycle.ts";
import { mailComposer } from "./composer.ts";
import { relayChanged } from "./delivery/project-relays.ts";
import { isSenderVerified, returnPathHost } from "./domains/domains.ts";
import { sentMail } from "./inboxes/sent-mail.ts";
import type { Module } from "./module.ts";
import { pageUrl } from "./projects.ts";
import { lateReports, suppressBounced } from "./bounces/bounces.ts";

/** Time for the mails under way when the process stops. */
const STOP_GRACE_MS = 10_000;

/** Whether the transport is being replaced. */
const replacement = perApp((): { isUnderWay: boolean } => ({ isUnderWay: false }));

/** While the queue is held or the transport is replaced, it leases no mail and none is due. */
const leaseQueue = perApp((app: App): LeaseQueue => {
  const queue = createLeaseQueue(
    app.db,
    (...mail) => transportOf(app).admit?.(...mail) ?? null,
    (projectSeq) => transportOf(app).routeOf?.(projectSeq) ?? COMMON_ROUTE,
  );
  const isHeld = () => queueHold(app).isHeld() || replacement(app).isUnderWay;
  return {
    ...queue,
    lease: (...of) => (isHeld() ? { leases: [], mayHaveMore: false } : queue.lease(...of)),
    nextDueAt: (isUrgent) => (isHeld() ? null : queue.nextDueAt(isUrgent)),
  };
});

export const mailLane = perApp((app: App) => {
  const { db, clock, log, writer, usage, random } = app;
  const fields = idFields(app);
  const lane = createLane({
    queue: leaseQueue(app),
    load: createLoader(db),
    composer: mailComposer(app),
    transport: () => transportOf(app),
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
    // Captured mail does not leave, so its sender need not be verified.
    isSenderVerified: (projectSeq, domain) =>
      transportOf(app).name === "capture" || isSenderVerified(app, projectSeq, domain),
    isCampaignSending: campaignLifecycle(app).isSending,
    returnPathOf: (mail) => returnPathOf(app, mail),
    get idFields() {
      return fields.current;
    },
    pageOf: ({ projectSeq, id }) => pageUrl(app, projectSeq, `emails/${id}`),
    get ratePerSecond() {
      return app.config.sendRate;
    },
    get maxUnderWay() {
      const { concurrency, maxUnderWay = concurrency } = transportOf(app);
      return maxUnderWay;
    },
    get mostUsual() {
      const { name, concurrency } = transportOf(app);
      // Each mail of direct delivery has a slot of its own; through a relay, mails share the sessions.
      return name === "direct" ? concurrency : Math.ceil(concurrency / 2);
    },
    writer,
    clock,
    log,
  });
  mailInserted(app).onRaised(lane.join);
  mailQueued(app).onRaised(lane.wake);
  queueHold(app).onReleased(lane.wake);
  relayChanged(app).onRaised(() => {
    leaseQueue(app).wakeAll();
    lane.wake();
  });
  return lane;
});

const idFields = perApp(({ config }: App) => ({ current: idFieldsFor(config) }));

const idFieldsFor = ({ transport, relayUrl }: Config): IdFields =>
  createIdFields(transport === "relay" ? relayUrl : null);

/**
 * Sends the mail that is leased from now on as these settings say. Mails under way end at the old
 * transport, and those that wait there go back to the queue. One replacement at a time.
 */
export async function replaceSending(app: App, config: Config): Promise<void> {
  const lane = mailLane(app);
  replacement(app).isUnderWay = true;
  try {
    // A mail is composed and sent by the same settings.
    await lane.allGiven();
    replaceTransport(app, transportFor(app, config));
    app.config = config;
    idFields(app).current = idFieldsFor(config);
  } finally {
    replacement(app).isUnderWay = false;
    leaseQueue(app).wakeAll();
    lane.wake();
  }
}

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
  const lane = mailLane(app);
  /** Resolves to true if all mails under way ended in time. */
  let mailsEnded = Promise.resolve(true);

  return {
    name: "sending",
    // A command in another process, such as `project enable`, cannot wake the lane.
    recurring: [
      {
        name: "queue",
        pattern: "*/5 * * * * *",
        run: async () => {
          if (storedRelays(app).refresh()) relayChanged(app).raise();
          else lane.wake();
        },
      },
      { name: "queue hold", pattern: "* * * * * *", run: () => queueHold(app).refresh() },
    ],
    wake: lane.wake,

    async start(): Promise<void> {
      await writer.write(() => lateReports(app).applyInterrupted(clock.now()));
      await lane.start();
    },

    /** Stops leasing at once. The mails under way end while the other modules stop. */
    async stop(): Promise<void> {
      mailsEnded = lane.stop(STOP_GRACE_MS);
    },

    async close(): Promise<void> {
      const allEnded = await mailsEnded;
      if (!allEnded)
        log.warn("some mails were still being sent; they are tried again when they are due");
      mailComposer(app).close();
      await closeTransports(app);
      // Before their leases are returned: a mail that was accepted must not be sent again.
      await mailLane(app).settleEnded();
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
