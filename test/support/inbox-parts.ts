/** The parts of the inboxes of an application, for tests that look into them. */

import type { App } from "../../src/core/app.ts";
import { inboxChanges } from "../../src/modules/inboxes/changes.ts";
import { messageIndexer } from "../../src/modules/inboxes/indexing/indexer.ts";
import { inboxLive } from "../../src/modules/inboxes/live/stream.ts";
import { mailpitSockets } from "../../src/modules/inboxes/mailpit/mailpit.ts";
import { messageIntake } from "../../src/modules/inboxes/messages/intake.ts";
import { messageStore } from "../../src/modules/inboxes/messages/store.ts";
import { inboxRetention } from "../../src/modules/inboxes/retention.ts";
import { inboxService } from "../../src/modules/inboxes/service.ts";
import { smtpSessions } from "../../src/modules/inboxes/sessions/service.ts";
import { inboxWaiters } from "../../src/modules/inboxes/wait/waiters.ts";

export const inboxParts = (app: App) => ({
  changes: inboxChanges(app),
  inboxes: inboxService(app),
  indexer: messageIndexer(app),
  intake: messageIntake(app),
  keepNumber: inboxRetention(app).keepNumber,
  live: inboxLive(app),
  sessions: smtpSessions(app),
  sockets: mailpitSockets(app),
  store: messageStore(app),
  waiters: inboxWaiters(app),
});
