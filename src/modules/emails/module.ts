/**
 * The module of mails: accepts them (accept.ts), lists them (list.ts), and shows single ones with
 * their attempts (records.ts) and their content (content/). The outbox sends them.
 */

import type { App } from "../../core/app.ts";
import type { Config } from "../../config/settings.ts";
import type { Db } from "../../db/open.ts";
import type { Writer } from "../../db/writer.ts";
import type { EventLog } from "../../events/log.ts";
import type { Admission } from "../../http/admission.ts";
import type { Bodies } from "../../http/body.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Composer } from "../../outbox/compose/composer.ts";
import { createMailCopies } from "../../outbox/copies.ts";
import { type EmailStore, mailQueued } from "../../outbox/enqueue.ts";
import type { Transport } from "../../outbox/outcome.ts";
import type { FetchGuarded } from "../../protocols/fetch-guarded/fetch-guarded.ts";
import type { Contacts } from "../contacts/service.ts";
import type { Domains } from "../domains/service.ts";
import type { Module } from "../module.ts";
import { createAccept } from "./accept.ts";
import { createEmailCheck } from "./content/check.ts";
import { createEmailContents, type MessageReader } from "./content/contents.ts";
import { emailContentRoutes } from "./content/routes.ts";
import { createEmailRecords } from "./records.ts";
import { createResend } from "./resend.ts";
import { emailRoutes } from "./routes.ts";

export function createEmailModule(deps: {
  app: App;
  admission: Admission;
  bodies: Bodies;
  clock: Clock;
  composer: Pick<Composer, "prepare">;
  config: Pick<Config, "requireVerifiedDomain">;
  contacts: Contacts;
  db: Db;
  domains: Domains;
  events: EventLog;
  fetchGuarded: FetchGuarded;
  linkKey: Uint8Array;
  messages: MessageReader;
  store: EmailStore;
  transport: Pick<Transport, "name" | "holdOf">;
  url: string;
  writer: Writer;
}): Module {
  const { requireVerifiedDomain } = deps.config;
  const { transport } = deps;
  const records = createEmailRecords({
    ...deps,
    holdOf: (waitList) => transport.holdOf?.(waitList) ?? null,
  });
  const contents = createEmailContents({ ...deps, copies: createMailCopies(deps) });
  return {
    name: "emails",
    routes: [
      emailRoutes({
        ...deps,
        accept: createAccept({
          ...deps,
          requireVerifiedDomain,
          isCapturing: transport.name === "capture",
        }),
        records,
        resend: createResend({ ...deps, contents, records, requireVerifiedDomain }),
        wake: mailQueued(deps.app).raise,
      }),
      emailContentRoutes({ ...deps, contents, check: createEmailCheck(deps) }),
    ],
  };
}
