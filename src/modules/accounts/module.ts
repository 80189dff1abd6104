/**
 * The module of accounts: the routes of the dashboard for signing in and for users, and recurring
 * work that sends invitations, stores the times of last requests and removes old rows.
 */

import type { Config } from "../../config/settings.ts";
import type { App } from "../../core/app.ts";
import type { Writer } from "../../db/writer.ts";
import type { Admission } from "../../http/admission.ts";
import type { Bodies } from "../../http/body.ts";
import { clientAddressReader } from "../../http/client-address.ts";
import type { createLocalAccess } from "../../http/local-access.ts";
import { createSessionCookies } from "../../http/session-cookie.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Log } from "../../lib/log.ts";
import type { Transport } from "../../outbox/outcome.ts";
import type { Signer } from "../../protocols/dkim/sign.ts";
import type { Module } from "../module.ts";
import { listProjects } from "../projects.ts";
import { createAcceptance } from "./acceptance.ts";
import { createResetRequests } from "./reset-requests.ts";
import { createMailSender } from "./mail-sender.ts";
import { createAccountChanges } from "./account-changes.ts";
import { accountRoutes, userRoutes } from "./account-routes.ts";
import { createAttemptLimits } from "./attempt-limits.ts";
import { createNewPasswords } from "./new-passwords.ts";
import { createPasswords, type PasswordCost } from "./passwords.ts";
import { createAccountRequests } from "./requests.ts";
import { signInRoutes } from "./routes.ts";
import type { Announcements } from "../../events/announcements.ts";
import type { Accounts } from "./service.ts";
import { createSignIn } from "./sign-in.ts";
import { auditRoutes, teamRoutes } from "./team-routes.ts";
import { createState, type ServerFacts } from "./state.ts";

export function createAccountModule(deps: {
  app: App;
  accounts: Accounts;
  admission: Admission;
  announcements: Pick<Announcements, "announce">;
  bodies: Pick<Bodies, "readJson">;
  clock: Clock;
  config: Pick<Config, "trustedProxies">;
  localAccess: ReturnType<typeof createLocalAccess> | null;
  log: Log;
  passwordCost: PasswordCost | undefined;
  random: () => number;
  signerOf: (projectSeq: number, domain: string) => Signer | null;
  transport: Pick<Transport, "name" | "send">;
  readFacts: () => ServerFacts;
  url: string;
  writer: Writer;
}): Module {
  const { app, accounts, writer, url } = deps;
  const { trustedProxies } = deps.config;
  const { sessions, tokens, audit, mails } = accounts;
  const limits = createAttemptLimits(deps.clock);
  const passwords = createPasswords(deps.passwordCost);
  const signIn = createSignIn({ accounts, passwords, limits, writer });
  const newPasswords = createNewPasswords({ ...deps, passwords, signIn });
  const requests = createAccountRequests({
    accounts,
    cookies: createSessionCookies({ url, trustedProxies }),
    readClientAddress: clientAddressReader({ trusted: trustedProxies, log: deps.log }),
    readJson: deps.bodies.readJson,
    localAccess: deps.localAccess,
    url,
  });
  const changes = createAccountChanges(deps);
  const shared = { ...deps, requests, signIn, newPasswords, changes };
  const sender = createMailSender({ ...deps, mails, signerOf: signerOfDomain });
  const flush = () => sessions.flushUses(writer);

  /** The keys of the project that has verified the domain. */
  function signerOfDomain(domain: string): Signer | null {
    for (const { seq } of listProjects(app)) {
      const signer = deps.signerOf(seq, domain);
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
      accountRoutes(shared),
      userRoutes(shared),
      teamRoutes(deps),
      auditRoutes(deps),
    ],
    recurring: [
      { name: "session uses", pattern: "*/30 * * * * *", run: flush },
      { name: "account mails", pattern: "*/5 * * * * *", run: sender.step },
      { name: "accounts purge", pattern: "23 7 * * * *", run: purge },
    ],
    dueTimes: [mails.shift],
    lifetimes: [sessions.shift, tokens.shift],
    stop: sender.stop,
    flush,
  };
}
