/**
 * The module of mails: accepts them (accept.ts), lists them (list.ts), and shows single ones with
 * their attempts (records.ts) and their content (content/). The outbox sends them.
 */

import type { App } from "../../core/app.ts";
import { eventLog } from "../../events/log.ts";
import { bodiesOf } from "../../http/body.ts";
import { imitated } from "../../http/documented.ts";
import { PLUNK } from "../../http/route-path.ts";
import { perApp } from "../../lib/per-app.ts";
import { createMailCopies } from "../../outbox/copies.ts";
import { emailStore } from "../../outbox/enqueue.ts";
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
import { emailOperations } from "./operations.ts";
import { emailRoutes, sendRoute } from "./routes.ts";

/** Accepts mails, and reads their records and contents. */
export const emailService = perApp((app: App) => {
  const deps = {
    ...app,
    app,
    composer: mailComposer(app),
    contacts: contactService(app),
    events: eventLog(app),
    messages: mailParser(app),
    store: emailStore(app),
    requireVerifiedDomain: app.config.requireVerifiedDomain,
  };
  return {
    accept: createAccept({ ...deps, isCapturing: () => transportOf(app).name === "capture" }),
    records: createEmailRecords({
      ...deps,
      holdOf: (...of) => transportOf(app).holdOf?.(...of) ?? null,
    }),
    contents: createEmailContents({ ...deps, copies: createMailCopies(deps) }),
  };
});

export const emailModule = perApp((app: App): Module => {
  const { requireVerifiedDomain } = app.config;
  const { accept, records, contents } = emailService(app);
  const deps = {
    ...app,
    app,
    admission: admissionOf(app),
    bodies: bodiesOf(app),
    composer: mailComposer(app),
    messages: mailParser(app),
    store: emailStore(app),
    requireVerifiedDomain,
  };
  const sending = { ...deps, accept };
  return {
    name: "emails",
    routes: [
      sendRoute(app, sending, { path: "/v1/send", detail: emailOperations.sendEmail }),
      sendRoute(app, sending, {
        path: `${PLUNK}/v1/send`,
        detail: imitated("sendEmail", "EDITOR", { isAudited: false }),
      }),
      emailRoutes({
        ...sending,
        app,
        records,
        resend: createResend({ ...deps, contents, records }),
      }),
      emailContentRoutes({ ...deps, contents, check: createEmailCheck(deps) }),
    ],
  };
});
