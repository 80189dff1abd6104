/** Creates what the routes of all modules share: bodies, idempotency and admission. */

import type { Core } from "./core.ts";
import { createAdmission } from "./http/admission.ts";
import { createBodies } from "./http/body.ts";
import { createLocalAccess } from "./http/local-access.ts";
import { createIdempotency } from "./http/idempotency.ts";
import { createRouteRules } from "./http/route-rules.ts";
import { createSessionAccess } from "./http/session-access.ts";
import { createSessionCookies } from "./http/session-cookie.ts";
import { createUnknownFields } from "./http/unknown-fields.ts";
import { deriveKey } from "./lib/crypto.ts";
import { findKey } from "./modules/keys.ts";
import { firstProjectAsKey, projectOfSession } from "./modules/projects.ts";
import { CONFIRMATION_MS } from "./modules/accounts/sessions.ts";
import type { Module } from "./modules/module.ts";
import { runWithinStorage } from "./modules/quotas.ts";
import type { Services } from "./services.ts";

export type HttpEdge = ReturnType<typeof createHttpEdge>;

export function createHttpEdge(core: Core, { accounts }: Services) {
  const { config, clock, log, writer, loopWatch, secret, db, url } = core;
  // With users of its own, Mailpit's interface asks for them, and inboxes are open to nobody else.
  const isKeyless = core.hasOpenInboxes && config.uiAuth.length === 0;
  const localAccess = isKeyless ? createLocalAccess(config) : null;
  const beginWork = (route: string) => loopWatch.begin("route", route);
  const bodies = createBodies({ clock, beginWork });
  const routeRules = createRouteRules();
  const unknownFields = createUnknownFields();
  const idempotency = createIdempotency({
    db,
    writer,
    clock,
    sealKey: deriveKey(secret, "idempotency"),
  });
  const sessions = createSessionAccess({
    findSession: accounts.findSession,
    readCookie: createSessionCookies({ url, trustedProxies: config.trustedProxies }).read,
    findProject: (id) => projectOfSession(core.app, id),
    url,
    now: clock.now,
    confirmationMs: CONFIRMATION_MS,
  });
  const admission = createAdmission({
    sessions,
    routeRules,
    record: accounts.record,
    readAudited: accounts.readAudited,
    findKey: (digest, look) => findKey(core.app, digest, look),
    findOpenProject: (request, peer) =>
      localAccess?.isOpen(request, peer) === true ? firstProjectAsKey(core.app) : null,
    idempotency,
    readJson: bodies.readJson,
    unknownFields,
    writer,
    storing: (...args) => runWithinStorage(core.app, ...args),
    apiRate: config.apiRate,
    publicKeyRate: config.publicKeyRate,
    publicClientRate: config.publicClientRate,
    userRate: config.userRate,
    trustedProxies: config.trustedProxies,
    log,
    now: clock.elapsed,
  });
  return {
    isSignedIn: sessions.isSignedIn,
    bodies,
    beginWork,
    routeRules,
    unknownFields,
    idempotency,
    admission,
    localAccess,
  };
}

/** The module that purges stored answers. */
export function createIdempotencyModule({ idempotency }: Pick<HttpEdge, "idempotency">): Module {
  return {
    name: "idempotency",
    recurring: [{ name: "idempotency purge", pattern: "17 * * * * *", run: idempotency.purge }],
    lifetimes: [idempotency.shift],
  };
}
