/** The facts that the dashboard needs to start. It is read without any work on passwords. */

import { isoTime } from "../../lib/clock.ts";
import { VERSION } from "../../lib/version.ts";
import type { Accounts } from "./service.ts";
import type { RelayText } from "../../protocols/smtp/known-relays.ts";
import { CONFIRMATION_MS, type KnownSession } from "./sessions.ts";

/** The properties of this server that the dashboard shows. */
export type ServerFacts = {
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

export function createState(deps: { accounts: Accounts; readFacts: () => ServerFacts }) {
  const { users, members } = deps.accounts;

  function factsFor(session: KnownSession | null): ServerFacts {
    const facts = deps.readFacts();
    // A visitor who is not signed in needs not know how mail leaves and arrives.
    return session === null ? { ...facts, relay: null, receivesAs: null } : facts;
  }

  return (session: KnownSession | null) => ({
    needsOwner: !users.hasOwner(),
    user: session === null ? null : presentUser(session),
    projects:
      session === null
        ? []
        : members
            .projectsOf(session.user)
            .map(({ id, name, role, isEnabled }) => ({ id, name, role, isEnabled })),
    version: VERSION,
    ...factsFor(session),
  });
}

function presentUser({ user, confirmedAt }: KnownSession) {
  const { id, email, name, isOwner } = user;
  return { id, email, name, isOwner, confirmedUntil: isoTime(confirmedAt + CONFIRMATION_MS) };
}
