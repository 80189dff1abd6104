/**
 * The module of mails: accepts them (accept.ts), lists them (list.ts), and shows single ones with
 * their attempts (records.ts) and their content (content/). The outbox sends them.
 */

import type { App } from "../../core/app.ts";
import { eventLog } from "../../events/log.ts";
import { bodiesOf } from "../../http/body.ts";
import { perApp } from "../../lib/per-app.ts";
import { createMailCopies } from "../../outbox/copies.ts";
import { emailStore, mailQueued } from "../../outbox/enqueue.ts";
import { transportOf } from "../../outbox/transports/create-transport.ts";
import { admissionOf } from "../admission.ts";
import { mailComposer } from "../composer.ts";
import { contactService } from "../contacts/service.ts";
import { mailParser } from "../inboxes/parsing/parser.ts";
import type { Module } from "../module.ts";
import { createAccept } from "./accept.ts";
import { createEmailCheck } from "./content/check.ts";
import { createEmailContents } from "./content/contents.ts";
import { emailContentRoutes } from "./content/routes.ts";
import { createEmailRecords } from "./records.ts";
import { createResend } from "./resend.ts";
import { emailRoutes } from "./routes.ts";

export const emailModule = perApp((app: App): Module => {
  const { requireVerifiedDomain } = app.config;
  const transport = transportOf(app);
  const deps = {
    ...app,
    app,
    admission: admissionOf(app),
    bodies: bodiesOf(app),
    composer: mailComposer(app),
    contacts: contactService(app),
    events: eventLog(app),
    messages: mailParser(app),
    store: emailStore(app),
    transport,
    requireVerifiedDomain,
  };
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
        accept: createAccept({ ...deps, isCapturing: transport.name === "capture" }),
        records,
        resend: createResend({ ...deps, contents, records }),
        wake: mailQueued(app).raise,
      }),
      emailContentRoutes({ ...deps, contents, check: createEmailCheck(deps) }),
    ],
  };
});
