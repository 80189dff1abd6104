/** The module of inbound routes: connects its parts (service.ts explains them). */

import {
  type Authentication,
  authenticateMessage,
  type AuthVerdict,
} from "../../checks/authentication.ts";
import type { Config } from "../../config/settings.ts";
import type { Db } from "../../db/open.ts";
import type { Writer } from "../../db/writer.ts";
import type { EventLog } from "../../events/log.ts";
import type { Admission } from "../../http/admission.ts";
import type { ListPage } from "../../http/pagination.ts";
import type { Clock } from "../../lib/clock.ts";
import { deriveKey } from "../../lib/crypto.ts";
import { describeError, type Log } from "../../lib/log.ts";
import type { EmailStore } from "../../outbox/enqueue.ts";
import type { LateReports } from "../../outbox/late-reports.ts";
import type { SubmittedStore } from "../../outbox/submitted.ts";
import type { Dns } from "../../protocols/dns/client.ts";
import type { Contacts } from "../contacts/service.ts";
import type { Domains } from "../domains/service.ts";
import type { Module } from "../module.ts";
import type { Quotas } from "../quotas/service.ts";
import { createRouteCheck } from "./mx-check.ts";
import type { MailParser } from "./read-mail.ts";
import { createReceiving } from "./receive.ts";
import { receivedMailRoutes } from "./received-routes.ts";
import { createReceivedRetention } from "./retention.ts";
import { inboundRouteRoutes } from "./routes.ts";
import { createReceivedRows } from "./rows.ts";
import { createInboundRoutes } from "./service.ts";
import type { ReceivedEnvelope } from "./storing.ts";
import { createTargets } from "./targets.ts";

/** Longest time in which the sender of a message is verified. */
const AUTHENTICATION_MS = 20_000;

export type InboundRouteModule = ReturnType<typeof createInboundRouteModule>;

export function createInboundRouteModule(deps: {
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
  quotas: Quotas;
  parser: MailParser;
  removal: { onRemove(handler: (contactSeq: number) => void): void };
  secret: string;
  url: string;
  noteArrival: (bytes: number) => void;
  wake: () => void;
}) {
  const { clock, dns, config, log } = deps;
  const rows = createReceivedRows(deps.db);
  const inboundRoutes = createInboundRoutes(deps);
  const key = deriveKey(deps.secret, "forwarded senders");
  const targets = createTargets({ ...deps, routes: inboundRoutes, key });
  const retention = createReceivedRetention({ ...deps, rows });
  deps.removal.onRemove(rows.forget);

  /** Look-ups that take too long are like those that fail. */
  async function authenticate(
    raw: Uint8Array,
    { sender, peer: ip, helo }: ReceivedEnvelope,
  ): Promise<Authentication> {
    const limit = Promise.withResolvers<Authentication>();
    const cancel = clock.after(AUTHENTICATION_MS, () => limit.resolve(TOO_SLOW));
    const work = authenticateMessage({ raw, sender, ip, helo }, dns, config.hostname);
    try {
      return await Promise.race([work, limit.promise]);
    } catch (error) {
      // The package fails for some messages that are not well formed; their mail is accepted.
      log.warn("the sender of a message could not be verified", { error: describeError(error) });
      return BROKEN;
    } finally {
      cancel();
    }
  }

  const receiving = createReceiving({
    ...deps,
    rows,
    authenticate,
    senderOf: targets.senderOf,
  });

  return {
    name: "inbound routes",
    routes: [
      inboundRouteRoutes({ ...deps, inboundRoutes, checkRoute: createRouteCheck(deps) }),
      receivedMailRoutes({ ...deps, rows }),
    ],
    recurring: [{ name: "received mails", pattern: "0 * * * * *", run: retention.run }],
    receiving,
    targets,
    start: receiving.removeIncomplete,
  } satisfies Module & Record<string, unknown>;
}

const all = (verdict: AuthVerdict): Authentication => ({
  spf: verdict,
  dkim: [verdict],
  dmarc: verdict,
  arc: verdict,
  policy: "none",
});
const TOO_SLOW = all({ result: "temperror", domain: null, info: "the look-ups took too long" });
const BROKEN = all({ result: "permerror", domain: null, info: "the message cannot be verified" });
