/**
 * The module of accounts: the routes of the dashboard for signing in and for users, and recurring
 * work that sends invitations, stores the times of last requests and removes old rows.
 */

import type { App } from "../../core/app.ts";
import { clientAddressReader } from "../../http/client-address.ts";
import { createSessionCookies } from "../../http/session-cookie.ts";
import type { Signer } from "../../protocols/dkim/sign.ts";
import { signerOf } from "../domains/keys.ts";
import type { Module } from "../module.ts";
import { listProjects } from "../projects.ts";
import { createAcceptance } from "./acceptance.ts";
import { createResetRequests } from "./reset-requests.ts";
import { createMailSender } from "./mail-sender.ts";
import { createAccountChanges } from "./account-changes.ts";
import { accountRoutes } from "./account-routes.ts";
import { createAttemptLimits } from "./attempt-limits.ts";
import { createNewPasswords } from "./new-passwords.ts";
import { createPasswords } from "./passwords.ts";
import { createAccountRequests } from "./requests.ts";
import { signInRoutes } from "./routes.ts";
import { factorRoutes, secondStepRoutes } from "./factor-routes.ts";
import { shiftTotpSteps } from "./second-factors.ts";
import { createSecondStep } from "./second-step.ts";
import { userRoutes } from "./user-routes.ts";
import { createSignIn } from "./sign-in.ts";
import { auditRoutes } from "./audit-routes.ts";
import { teamRoutes } from "./team-routes.ts";
import { createState } from "./state.ts";
import { perApp } from "../../lib/per-app.ts";
import { admissionOf } from "../admission.ts";
import { announcements } from "../../events/announcements.ts";
import { localAccessOf } from "../../http/local-access.ts";
import { transportOf } from "../../outbox/transports/create-transport.ts";
import { bodiesOf } from "../../http/body.ts";
import { accountService } from "./service.ts";
import { serverFacts } from "./state.ts";

export const accountModule = perApp(createAccountModule);

function createAccountModule(app: App): Module {
  const { writer, url } = app;
  const accounts = accountService(app);
  const deps = {
    ...app,
    app,
    accounts,
    admission: admissionOf(app),
    announcements: announcements(app),
    localAccess: localAccessOf(app),
    transport: () => transportOf(app),
    readFacts: () => serverFacts(app),
  };
  const { trustedProxies } = deps.config;
  const { sessions, tokens, audit, mails } = accounts;
  const limits = createAttemptLimits(deps.clock);
  const passwords = createPasswords(deps.passwordCost);
  const signIn = createSignIn({ accounts, passwords, limits, writer });
  const newPasswords = createNewPasswords({ ...deps, passwords, signIn });
  const requests = createAccountRequests({
    accounts,
    cookies: createSessionCookies({ url, trustedProxies }),
    challengeCookies: createSessionCookies({ url, trustedProxies, name: "mailstead-challenge" }),
    readClientAddress: clientAddressReader({ trusted: trustedProxies, log: deps.log }),
    readJson: bodiesOf(app).readJson,
    localAccess: deps.localAccess,
    url,
  });
  const changes = createAccountChanges(deps);
  const secondStep = createSecondStep({ app, accounts, limits, signIn, writer });
  const shared = { ...deps, requests, signIn, newPasswords, changes, secondStep };
  const sender = createMailSender({ ...deps, mails, signerOf: signerOfDomain });
  const flush = () => sessions.flushUses(writer);

  /** The keys of the project that has verified the domain. */
  function signerOfDomain(domain: string): Signer | null {
    for (const { seq } of listProjects(app)) {
      const signer = signerOf(app, seq, domain);
      if (signer !== null) return signer;
    }
    return null;
  }

  async function purge(): Promise<void> {
    await writer.write(() => {
      sessions.purge();
      tokens.purge();
    });
    while (await writer.write(audit.purge));
  }

  return {
    name: "accounts",
    routes: [
      signInRoutes({
        ...shared,
        readState: createState(deps),
        requestReset: createResetRequests({ ...deps, limits }),
        accept: createAcceptance({ ...deps, passwords }),
        listProjectSeqs: () => listProjects(app).map(({ seq }) => seq),
      }),
      ...secondStepRoutes(shared),
      ...factorRoutes(shared),
      accountRoutes(shared),
      userRoutes(shared),
      teamRoutes(deps),
      ...auditRoutes(app),
    ],
    recurring: [
      { name: "session uses", pattern: "*/30 * * * * *", run: flush },
      { name: "account mails", pattern: "*/5 * * * * *", run: sender.step },
      { name: "accounts purge", pattern: "23 7 * * * *", run: purge },
    ],
    dueTimes: [mails.shift],
    lifetimes: [sessions.shift, tokens.shift, (byMs) => shiftTotpSteps(app, byMs)],
    stop: sender.stop,
    flush,
  };
}
