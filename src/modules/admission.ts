/** Decides which requests are admitted: it knows the keys, the sessions and the limits of a server. */

import type { App } from "../core/app.ts";
import { createAdmission } from "../http/admission.ts";
import { bodiesOf } from "../http/body.ts";
import { idempotencyOf } from "../http/idempotency.ts";
import { localAccessOf } from "../http/local-access.ts";
import { routeRulesOf } from "../http/route-rules.ts";
import { createSessionAccess } from "../http/session-access.ts";
import { createSessionCookies } from "../http/session-cookie.ts";
import { unknownFieldsOf } from "../http/unknown-fields.ts";
import { perApp } from "../lib/per-app.ts";
import { accountService } from "./accounts/service.ts";
import { CONFIRMATION_MS } from "./accounts/sessions.ts";
import { countUse, findKey } from "./keys.ts";
import { firstProjectAsKey, projectOfSession } from "./projects.ts";
import { runWithinStorage } from "./quotas.ts";

export const sessionAccessOf = perApp((app: App) => {
  const { config, clock, url } = app;
  return createSessionAccess({
    findSession: accountService(app).findSession,
    isPending: (digest) => accountService(app).findPending(digest) !== null,
    readCookie: createSessionCookies({ url, trustedProxies: config.trustedProxies }).read,
    findProject: (id) => projectOfSession(app, id),
    url,
    now: clock.now,
    confirmationMs: CONFIRMATION_MS,
  });
});

export const admissionOf = perApp((app: App) => {
  const { config, clock, log, writer } = app;
  const { record, readAudited } = accountService(app);
  return createAdmission({
    sessions: sessionAccessOf(app),
    routeRules: routeRulesOf(app),
    record,
    readAudited,
    findKey: (digest) => findKey(app, digest),
    countUse: (keyId) => countUse(app, keyId),
    findOpenProject: (request, peer) =>
      localAccessOf(app)?.isOpen(request, peer) === true ? firstProjectAsKey(app) : null,
    idempotency: idempotencyOf(app),
    readJson: bodiesOf(app).readJson,
    unknownFields: unknownFieldsOf(app),
    writer,
    storing: (...args) => runWithinStorage(app, ...args),
    apiRate: config.apiRate,
    publicKeyRate: config.publicKeyRate,
    publicClientRate: config.publicClientRate,
    userRate: config.userRate,
    trustedProxies: config.trustedProxies,
    log,
    now: clock.elapsed,
  });
});
