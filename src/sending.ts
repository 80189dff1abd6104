/**
 * Creates the modules that send mail: the queue of due mails with its transport, and the dispatcher,
 * which leases them, attempts them and stores their outcomes.
 */

import type { AppOptions, Core } from "./core.ts";
import { createGarbage } from "./lib/garbage.ts";
import { createSlicedRun, nextIteration } from "./lib/yield.ts";
import type { CampaignModule } from "./modules/campaigns/module.ts";
import type { InboxModule } from "./modules/inboxes/module.ts";
import type { Module } from "./modules/module.ts";
import { pageUrl } from "./modules/projects.ts";
import { createAttempt } from "./outbox/attempt.ts";
import type { Composer, createComposer } from "./outbox/compose/composer.ts";
import { databasePolicyStore, databaseSiteStore } from "./outbox/direct/stores.ts";
import { mailQueued } from "./outbox/enqueue.ts";
import { createDispatcher } from "./outbox/dispatcher.ts";
import { createLeaseQueue } from "./outbox/lease.ts";
import { createLoader } from "./outbox/lease-rows.ts";
import { createPace } from "./outbox/pace.ts";
import { createRecordOutcome } from "./outbox/record.ts";
import { makeReturnPath } from "./outbox/return-path.ts";
import { createTransport } from "./outbox/transports/create-transport.ts";
import { domainOf } from "./protocols/mime/address.ts";
import type { Services } from "./services.ts";

/** Time for the mails under way when the process stops. */
const STOP_GRACE_MS = 10_000;

type QueueModule = ReturnType<typeof createQueueModule>;

export function createQueueModule(core: Core, options: Pick<AppOptions, "transport">) {
  const { config, db, writer } = core;
  const siteStore = databaseSiteStore(core);
  const policyStore = databasePolicyStore(core);
  const transport =
    options.transport ?? createTransport(config, { ...core, policyStore, siteStore });
  const queue = createLeaseQueue(db, (...mail) => transport.admit?.(...mail) ?? null);
  return {
    name: "queue",
    transport,
    queue,
    dueTimes: [queue.shift, siteStore.shift],
    flush: () => writer.write(() => void queue.returnLeases()),
  } satisfies Module & Record<string, unknown>;
}

export function createSendingModule(
  parts: Core & Services & { campaigns: CampaignModule; inboxes: InboxModule; queues: QueueModule },
) {
  const { config, db, clock, log, writer, usage, events, campaigns } = parts;
  const { transport, queue } = parts.queues;
  const composer = composerOnDemand({
    ...parts,
    bounceHostOf: parts.domains.bounceHostOf,
    runInSlices: createSlicedRun(),
    beginWork: (emailId) => parts.loopWatch.begin("mail", emailId),
    noteTooSlow: campaigns.cost.noteTooSlow,
    isTooCostly: campaigns.cost.isStopped,
    garbage: createGarbage({ clock }),
  });
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
      ...parts,
      composer,
      transport,
      isCampaignSending: campaigns.lifecycle.isSending,
      returnPathOf: createReturnPaths(parts),
    }),
    settle: createRecordOutcome({
      db,
      usage,
      random: parts.random,
      recordEvent: events.record,
      suppressBounced: parts.suppressBounced,
      applyReports: parts.reports.applyStored,
      onSenderRefused: campaigns.noteFailure,
      onCaptured: parts.inboxes.sentMail.onCaptured,
    }),
    writer,
    clock,
    log,
    pageOf: ({ projectSeq, id }) => pageUrl(parts.app, projectSeq, `emails/${id}`),
    paceIntervalMs: config.sendRate === 0 ? 0 : 1000 / config.sendRate,
  });
  mailQueued(parts.app).onRaised(dispatcher.wake);
  /** Resolves to true if all mails under way ended in time. */
  let mailsEnded = Promise.resolve(true);

  return {
    name: "sending",
    dispatcher,
    composer,
    // A command in another process, such as `project enable`, cannot wake the dispatcher.
    recurring: [{ name: "queue", pattern: "*/5 * * * * *", run: async () => dispatcher.wake() }],
    wake: dispatcher.wake,

    async start(): Promise<void> {
      await writer.write(() => parts.reports.applyInterrupted(clock.now()));
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
      composer.close();
      await transport.close();
    },
  } satisfies Module & Record<string, unknown>;
}

type ComposerDeps = Parameters<typeof createComposer>[0];

/**
 * Loads the composer with the first mail, because that takes 15 to 25 ms. The converter to text, which
 * takes most of it, is loaded in an iteration of the event loop of its own.
 */
function composerOnDemand(deps: ComposerDeps): Composer {
  let composer: Composer | null = null;
  let loading: Promise<Composer> | null = null;

  async function load(): Promise<Composer> {
    await import("./render/text.ts");
    await nextIteration();
    const composing = await import("./outbox/compose/composer.ts");
    composer = composing.createComposer(deps);
    await nextIteration();
    return composer;
  }

  return {
    prepare(mail, answer) {
      if (composer !== null) return composer.prepare(mail, answer);
      loading ??= load();
      loading.then((loaded) => loaded.prepare(mail, answer)).catch(answer.reject);
    },
    release: (mail, message) => composer?.release(mail, message),
    close: () => void loading?.then(({ close }) => close()),
  };
}

/** Returns the address that receives the bounces of a mail (docs/delivery.md#C5). */
function createReturnPaths(deps: Pick<Core, "returnPathKey"> & Pick<Services, "domains">) {
  const { domains, returnPathKey: key } = deps;
  return (mail: { id: string; projectSeq: number; fromAddress: string }): string => {
    const host = domains.bounceHostOf(mail.projectSeq, domainOf(mail.fromAddress));
    const path = host === null ? null : makeReturnPath(key, mail.id, host);
    return path ?? mail.fromAddress;
  };
}
