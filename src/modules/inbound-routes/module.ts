/** The module of inbound routes: connects its parts (service.ts explains them). */

import type { App } from "../../core/app.ts";
import type { Config } from "../../config/settings.ts";
import type { Db } from "../../db/open.ts";
import type { Writer } from "../../db/writer.ts";
import type { EventLog } from "../../events/log.ts";
import type { Admission } from "../../http/admission.ts";
import type { ListPage } from "../../http/pagination.ts";
import type { Clock } from "../../lib/clock.ts";
import { deriveKey } from "../../lib/crypto.ts";
import type { Log } from "../../lib/log.ts";
import type { EmailStore } from "../../outbox/enqueue.ts";
import type { LateReports } from "../../outbox/late-reports.ts";
import type { SubmittedStore } from "../../outbox/submitted.ts";
import type { Dns } from "../../protocols/dns/client.ts";
import type { Contacts } from "../contacts/service.ts";
import type { Domains } from "../domains/service.ts";
import type { Module } from "../module.ts";
import { createRouteCheck } from "./mx-check.ts";
import type { MailParser } from "./read-mail.ts";
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

export type InboundRouteModule = ReturnType<typeof createInboundRouteModule>;

export function createInboundRouteModule(deps: {
  app: App;
  admission: Admission;
  config: Config;
  clock: Clock;
  db: Db;
  log: Log;
  writer: Writer;
  listPage: ListPage;
  dns: Dns;
  domains: Domains;
  findMx: (domain: string) => Promise<{ status: string; found: readonly string[] }>;
  contacts: Contacts;
  events: EventLog;
  reports: LateReports;
  store: EmailStore;
  submitted: SubmittedStore;
  parser: MailParser;
  removal: { onRemove(handler: (contactSeq: number) => void): void };
  secret: string;
  url: string;
  noteArrival: (bytes: number) => void;
  wake: () => void;
}) {
  const rows = createReceivedRows(deps.db);
  const inboundRoutes = createInboundRoutes(deps);
  const key = deriveKey(deps.secret, "forwarded senders");
  const targets = createTargets({ ...deps, rows, routes: inboundRoutes, key });
  const remove = createReceivedRemoval({ ...deps, rows });
  const retention = createReceivedRetention({ ...deps, rows, remove });
  deps.removal.onRemove(rows.forget);

  const receiving = createReceiving({
    ...deps,
    rows,
    readSender: createSenderReader({ ...deps, hostname: deps.config.hostname }),
    limits: createReceivingLimits(deps),
    senderOf: targets.senderOf,
  });

  return {
    name: "inbound routes",
    routes: [
      inboundRouteRoutes({ ...deps, inboundRoutes, checkRoute: createRouteCheck(deps) }),
      receivedMailRoutes({ ...deps, rows, remove }),
    ],
    recurring: [{ name: "received mails", pattern: "0 * * * * *", run: retention.run }],
    receiving,
    targets,
    start: receiving.removeIncomplete,
  } satisfies Module & Record<string, unknown>;
}
