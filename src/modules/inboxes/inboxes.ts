/** The module of inboxes: connects its parts (service.ts explains them). */

import type { App } from "../../core/app.ts";
import { perApp } from "../../lib/per-app.ts";
import { contactRemoval } from "../contacts/remove.ts";
import type { Module } from "../module.ts";
import { checkRoutes } from "./checks/routes.ts";
import { messagePreviewRoutes } from "./content/preview-routes.ts";
import { contentRoutes } from "./content/routes.ts";
import { extractRoutes } from "./extract/routes.ts";
import { messageIndexer } from "./indexing/indexer.ts";
import { liveRoutes } from "./live/routes.ts";
import { inboxLive } from "./live/stream.ts";
import { mailpitRoutes, mailpitSockets } from "./mailpit/mailpit.ts";
import { messageImportRoutes } from "./messages/import-routes.ts";
import { messageIntake } from "./messages/intake.ts";
import { arrivalMemory } from "./messages/memory.ts";
import { messageRoutes } from "./messages/routes.ts";
import { mailParser } from "./parsing/parser.ts";
import { providerRoutes } from "./providers/providers.ts";
import { releaseRoutes } from "./release/routes.ts";
import { inboxRetention, removeInbox } from "./retention.ts";
import { inboxRoutes } from "./routes.ts";
import { ruleRoutes } from "./rules/routes.ts";
import { textIndexing } from "./search/text-indexing.ts";
import { sentMail } from "./sent-mail.ts";
import { inboxService } from "./service.ts";
import { sessionRoutes } from "./sessions/routes.ts";
import { waitRoutes } from "./wait/routes.ts";
import { inboxWaiters } from "./wait/waiters.ts";

export const inboxModule = perApp((app: App): Module => {
  contactRemoval(app).onRemove(sentMail(app).forgetContact);
  contactRemoval(app).onForgetMails(sentMail(app).forgetMails);
  const indexer = messageIndexer(app);

  async function removeExpired(): Promise<void> {
    const expired = inboxService(app).expired(app.clock.now());
    for (const inbox of expired) await removeInbox(app, inbox);
  }

  return {
    name: "inboxes",
    routes: [
      inboxRoutes(app),
      messageRoutes(app),
      messageImportRoutes(app),
      contentRoutes(app),
      messagePreviewRoutes(app),
      extractRoutes(app),
      waitRoutes(app),
      liveRoutes(app),
      checkRoutes(app),
      releaseRoutes(app),
      ruleRoutes(app),
      sessionRoutes(app),
      ...(app.config.mailpitApi ? [mailpitRoutes(app)] : []),
      ...(app.hasOpenInboxes ? [providerRoutes(app)] : []),
    ],
    endRequests() {
      inboxWaiters(app).close();
      inboxLive(app).close();
      mailpitSockets(app).close();
    },
    recurring: [
      { name: "inbox retention", pattern: "*/5 * * * * *", run: inboxRetention(app).run },
      { name: "index of inboxes", pattern: "* * * * * *", run: textIndexing(app).run },
      { name: "inbox memory", pattern: "*/5 * * * * *", run: arrivalMemory(app).endIfIdle },
      { name: "inbox expiry", pattern: "*/10 * * * * *", run: removeExpired },
    ],
    async start() {
      await messageIntake(app).removeIncomplete();
      indexer.start();
    },
    async stop() {
      await indexer.stop();
      await mailParser(app).close();
    },
  };
});
