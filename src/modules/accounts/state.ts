/** The facts that the dashboard needs to start. It is read without any work on passwords. */

import type { Db } from "../../db/open.ts";
import { isoTime } from "../../lib/clock.ts";
import { VERSION } from "../../lib/version.ts";
import { projectsOfUser } from "../projects.ts";
import type { Accounts } from "./service.ts";
import { describeRelay, type RelayText } from "../../protocols/smtp/known-relays.ts";
import { CONFIRMATION_MS, type KnownSession, type PendingSession } from "./sessions.ts";
import type { App } from "../../core/app.ts";
import { perApp } from "../../lib/per-app.ts";

/** The properties of this server that the dashboard shows. */
type ServerFacts = {
  /** Whether mail is caught: there are inboxes to look at. */
  capture: boolean;
  /** Whether this is `mailstead dev`. */
  dev: boolean;
  transport: "capture" | "relay" | "direct";
  /** Whether the domain of a sender must be verified (`--require-verified-domain`). */
  requiresVerifiedDomain: boolean;
  url: string;
  /** The name to which MX records lead; null if the server receives no mail of other servers. */
  receivesAs: string | null;
  /** The relay that mail leaves through, in words; null without one. */
  relay: RelayText | null;
  /** The address of the listener that catches mail; null if there is none. */
  smtp: { host: string; port: number } | null;
};

export type ReadState = ReturnType<typeof createState>;

export function createState(deps: { db: Db; accounts: Accounts; readFacts: () => ServerFacts }) {
  const { users } = deps.accounts;

  function factsFor(session: KnownSession | null): ServerFacts {
    const facts = deps.readFacts();
    // A visitor who is not signed in needs not know how mail leaves and arrives.
    return session === null ? { ...facts, relay: null, receivesAs: null } : facts;
  }

  return (session: KnownSession | null, pending: PendingSession | null) => ({
    needsOwner: !users.hasOwner(),
    pending: pending === null ? null : presentPending(pending),
    user: session === null ? null : presentUser(session),
    projects:
      session === null
        ? []
        : projectsOfUser(deps, session.user).map(({ id, name, role, isEnabled }) => ({
            id,
            name,
            role,
            isEnabled,
          })),
    version: VERSION,
    ...factsFor(session),
  });
}

/** The step that a sign-in waits for, and what the user can take it with. */
function presentPending({ user, step }: PendingSession) {
  return { email: user.email, name: user.name, step };
}

function presentUser({ user, confirmedAt }: KnownSession) {
  const { id, email, name, isOwner } = user;
  return { id, email, name, isOwner, confirmedUntil: isoTime(confirmedAt + CONFIRMATION_MS) };
}

/** The port of the listener that catches mail; null until it listens. */
export const capturePort = perApp((): { value: number | null } => ({ value: null }));

export function serverFacts(app: App): ServerFacts {
  const { config, hasOpenInboxes, url } = app;
  const { transport, captureSmtp, host, relayUrl, inbound } = config;
  const port = capturePort(app).value;
  return {
    capture: transport === "capture" || captureSmtp !== null,
    dev: hasOpenInboxes,
    transport,
    requiresVerifiedDomain: config.requireVerifiedDomain,
    url,
    receivesAs: inbound === null ? null : config.hostname,
    relay: transport === "relay" && relayUrl !== null ? describeRelay(relayUrl) : null,
    smtp: port === null ? null : { host: captureSmtp?.host ?? host, port },
  };
}
