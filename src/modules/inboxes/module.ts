/** The module of inboxes: connects its parts (service.ts explains them). */

import type { App } from "../../core/app.ts";
import type { Config } from "../../config/settings.ts";
import type { Db } from "../../db/open.ts";
import type { Writer } from "../../db/writer.ts";
import type { Admission } from "../../http/admission.ts";
import type { Bodies } from "../../http/body.ts";
import { createLiveConnections } from "../../http/live-connections.ts";
import type { ListPage } from "../../http/pagination.ts";
import type { Clock } from "../../lib/clock.ts";
import { deriveKey } from "../../lib/crypto.ts";
import type { Log } from "../../lib/log.ts";
import type { Dns } from "../../protocols/dns/client.ts";
import type { FetchGuarded } from "../../protocols/fetch-guarded/fetch-guarded.ts";
import type { Transport } from "../../outbox/outcome.ts";
import type { Domains } from "../domains/service.ts";
import type { Module } from "../module.ts";
import { createInboxChanges } from "./changes.ts";
import { createIndexer } from "./indexing/indexer.ts";
import { messageImportRoutes } from "./messages/import-routes.ts";
import { createIntake } from "./messages/intake.ts";
import { createArrivalMemory } from "./messages/memory.ts";
import { createMessageStore } from "./messages/store.ts";
import { createParser } from "./parsing/parser.ts";
import { checkRoutes } from "./checks/routes.ts";
import { messagePreviewRoutes } from "./content/preview-routes.ts";
import { contentRoutes } from "./content/routes.ts";
import { createInboxInterface } from "./interface.ts";
import { extractRoutes } from "./extract/routes.ts";
import { liveRoutes } from "./live/routes.ts";
import { LIVE_LIMITS } from "./live/stream.ts";
import { messageRoutes } from "./messages/routes.ts";
import type { LocalAccess } from "./mailpit/access.ts";
import { createChaos } from "./mailpit/chaos.ts";
import { createMailpitCounters } from "./mailpit/counters.ts";
import { mailpitRoutes } from "./mailpit/module.ts";
import { createInboxRetention } from "./retention.ts";
import { inboxRoutes } from "./routes.ts";
import { releaseRoutes } from "./release/routes.ts";
import { createReleases } from "./release/service.ts";
import { ruleRoutes } from "./rules/routes.ts";
import { createSentMail } from "./sent-mail.ts";
import { createInboxes, type InboxRow } from "./service.ts";
import { sessionRoutes } from "./sessions/routes.ts";
import { waitRoutes } from "./wait/routes.ts";

export type InboxModule = ReturnType<typeof createInboxModule>;

export function createInboxModule(deps: {
  app: App;
  admission: Admission;
  bodies: Bodies;
  config: Config;
  clock: Clock;
  db: Db;
  dns: Dns;
  fetchGuarded: FetchGuarded;
  log: Log;
  listPage: ListPage;
  localAccess: LocalAccess | null;
  signerOf: Domains["signerOf"];
  isSenderVerified: (projectSeq: number, domain: string) => boolean;
  random: () => number;
  transport: Transport;
  removal: { onRemove(handler: (contactSeq: number) => void): void };
  secret: string;
  writer: Writer;
}) {
  const { config, writer } = deps;
  const changes = createInboxChanges();
  const inboxes = createInboxes({
    ...deps,
    passwordKey: deriveKey(deps.secret, "inbox passwords"),
  });
  const store = createMessageStore(deps);
  const parser = createParser(deps);
  const indexer = createIndexer({ ...deps, store, parser, changes });
  const counters = createMailpitCounters();
  const chaos = createChaos(deps.random);
  const memory = createArrivalMemory(deps);
  const intake = createIntake({
    ...deps,
    onReceived(stored) {
      const bytes = stored.record.size;
      counters.accepted(stored.inboxSeq, bytes);
      memory.noteArrival(bytes);
      indexer.add(stored);
    },
  });
  const retention = createInboxRetention({
    ...deps,
    store,
    changes,
    limits: {
      messages: config.captureMaxMessages,
      days: config.captureMaxDays,
      bytes: config.captureMaxBytes,
    },
  });

  const sentMail = createSentMail({ ...deps, inboxes, intake, store, changes });
  deps.removal.onRemove(sentMail.forgetContact);
  const releases = createReleases({
    ...deps,
    store,
    projectOf: inboxes.projectOf,
  });
  const own = createInboxInterface({ ...deps, inboxes, store, parser, indexer, changes });

  async function remove({ seq }: InboxRow): Promise<void> {
    await retention.empty(seq);
    await writer.write(() => inboxes.remove(seq));
  }

  async function removeExpired(): Promise<void> {
    for (const inbox of inboxes.expired(deps.clock.now())) await remove(inbox);
  }

  const parts = { ...deps, ...own, inboxes, store, changes, remove };

  const sockets = createLiveConnections({ clock: deps.clock, limits: LIVE_LIMITS });
  const mailpit = { chaos, counters, indexer, intake, release: releases.releaseToAll, sockets };

  function endRequests(): void {
    own.endRequests();
    sockets.close();
  }

  const module: Module = {
    name: "inboxes",
    routes: [
      inboxRoutes(parts),
      messageRoutes(parts),
      messageImportRoutes({ ...parts, intake }),
      contentRoutes(parts),
      messagePreviewRoutes(parts),
      extractRoutes(parts),
      waitRoutes(parts),
      liveRoutes(parts),
      checkRoutes(parts),
      releaseRoutes({ ...parts, releases }),
      ruleRoutes(parts),
      sessionRoutes(parts),
      ...(config.mailpitApi ? [mailpitRoutes({ ...parts, ...mailpit })] : []),
    ],
    endRequests,
    recurring: [
      { name: "inbox retention", pattern: "*/5 * * * * *", run: retention.run },
      { name: "inbox memory", pattern: "*/5 * * * * *", run: memory.endIfIdle },
      { name: "inbox expiry", pattern: "*/10 * * * * *", run: removeExpired },
    ],
    async start() {
      await intake.removeIncomplete();
      indexer.start();
    },
    async stop() {
      await indexer.stop();
      await parser.close();
    },
  };
  const services = { chaos, inboxes, store, intake, indexer, parser, changes };
  const { noteArrival } = memory;
  return { ...module, ...own, endRequests, ...services, sockets, retention, sentMail, noteArrival };
}
