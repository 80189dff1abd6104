/** The module of inbound routes: connects its parts (service.ts explains them). */

import type { App } from "../../core/app.ts";
import { eventLog } from "../../events/log.ts";
import { deriveKey } from "../../lib/crypto.ts";
import { perApp } from "../../lib/per-app.ts";
import { emailStore } from "../../outbox/enqueue.ts";
import { submittedStore } from "../../outbox/submitted.ts";
import { admissionOf } from "../admission.ts";
import { contactRemoval } from "../contacts/remove.ts";
import { contactService } from "../contacts/service.ts";
import { arrivalMemory } from "../inboxes/messages/memory.ts";
import { mailParser } from "../inboxes/parsing/parser.ts";
import type { Module } from "../module.ts";
import { createReceiving } from "./receive.ts";
import { receivedMailRoutes } from "./received-routes.ts";
import { createReceivingLimits } from "./receiving-limits.ts";
import { createReceivedRemoval } from "./removal.ts";
import { createReceivedRetention } from "./retention.ts";
import { inboundRouteRoutes } from "./routes.ts";
import { createReceivedRows } from "./rows.ts";
import { createSenderReader } from "./sender.ts";
import { createInboundRoutes } from "./service.ts";
import { createTargets } from "./targets.ts";

export const receivedRows = perApp(({ db }: App) => createReceivedRows(db));

const inboundRoutesOf = perApp((app: App) => createInboundRoutes({ ...app, app }));

/** Finds what receives the mail for an address: a route, or the bounces of forwarded mail. */
export const inboundTargets = perApp((app: App) =>
  createTargets({
    rows: receivedRows(app),
    routes: inboundRoutesOf(app),
    app,
    key: deriveKey(app.secret, "forwarded senders"),
    clock: app.clock,
  }),
);

/** Stores the messages that arrive for inbound routes. */
export const inboundReceiving = perApp((app: App) =>
  createReceiving({
    ...app,
    app,
    contacts: contactService(app),
    events: eventLog(app),
    store: emailStore(app),
    submitted: submittedStore(app),
    parser: mailParser(app),
    rows: receivedRows(app),
    readSender: createSenderReader({ ...app, hostname: app.config.hostname }),
    limits: createReceivingLimits(app),
    senderOf: inboundTargets(app).senderOf,
    noteArrival: arrivalMemory(app).noteArrival,
  }),
);

export const inboundRouteModule = perApp((app: App): Module => {
  const rows = receivedRows(app);
  const inboundRoutes = inboundRoutesOf(app);
  const remove = createReceivedRemoval({ rows, events: eventLog(app) });
  const retention = createReceivedRetention({ ...app, rows, remove });
  contactRemoval(app).onRemoveRows(rows.forget);
  const deps = { ...app, app, admission: admissionOf(app) };
  return {
    name: "inbound routes",
    routes: [
      inboundRouteRoutes({ ...deps, inboundRoutes }),
      receivedMailRoutes({ ...deps, rows, remove, parser: mailParser(app) }),
    ],
    recurring: [{ name: "received mails", pattern: "0 * * * * *", run: retention.run }],
    start: inboundReceiving(app).removeIncomplete,
  };
});
