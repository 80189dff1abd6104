/**
 * Accounts: the people who use the dashboard. In order:
 *
 * 1. The first owner is created by a set-up link or by command; others are invited or added.
 * 2. A user signs in with a password or a one-time link (`sign-in.ts`), which creates a session.
 * 3. Each request with the cookie of a session finds its user and the role in the project.
 * 4. Changes are recorded in the audit log, in their own transaction.
 */

import type { App } from "../../core/app.ts";
import type { Db } from "../../db/open.ts";
import type { Change } from "../../db/writer.ts";
import type { Clock } from "../../lib/clock.ts";
import { deriveKey } from "../../lib/crypto.ts";
import { perApp } from "../../lib/per-app.ts";
import { type AuditEntry, createAudit } from "./audit.ts";
import { createAccountMails, type FindSender } from "./account-mails.ts";
import { createInvitations } from "./invitations.ts";
import { findSenderOf } from "./mail-sender-address.ts";
import { createMemberships } from "./members.ts";
import {
  factorsOf,
  isRequired,
  resetSecondFactor,
  type SecondFactorPolicy,
} from "./second-factors.ts";
import { createUserSessions, type SessionRow } from "./sessions.ts";
import { createTokens } from "./tokens.ts";
import { createUsers, type UserRow } from "./users.ts";

export type Accounts = ReturnType<typeof createAccounts>;

export const accountService = perApp((app: App) =>
  createAccounts({
    ...app,
    findSender: findSenderOf(app),
    secondFactorPolicy: app.config.requireSecondFactor,
  }),
);

export function createAccounts(deps: {
  db: Db;
  clock: Clock;
  /** The secret of the installation. */
  secret: string;
  /** The public base of links. */
  url: string;
  findSender: FindSender;
  secondFactorPolicy: SecondFactorPolicy;
}) {
  const users = createUsers(deps);
  const sessions = createUserSessions(deps);
  const tokens = createTokens(deps);
  const members = createMemberships(deps);
  const audit = createAudit(deps);
  const mails = createAccountMails({ ...deps, sealKey: deriveKey(deps.secret, "account-mails") });
  const invitations = createInvitations({ ...deps, users, tokens, members, mails });

  return {
    users,
    sessions,
    tokens,
    members,
    invitations,
    mails,
    audit,

    /**
     * Creates the token with which the first owner is created, in place of earlier ones. Null if
     * there is an owner.
     */
    createSetUpToken(): Change<string | null> {
      return () => {
        if (users.hasOwner()) return null;
        tokens.withdrawSetup();
        return tokens.issue({ kind: "SETUP" })().text;
      };
    },

    /** Part of a change: creates the token of a link that signs a user in once. */
    createLink: (userSeq: number): string => tokens.issue({ kind: "LINK", userSeq })().text,

    /**
     * Part of a change: the owner of the address, or the operator, takes an account over whose
     * address was not proven. Its password, second factor, sessions and links end, because an admin
     * may have them. Other accounts stay unchanged.
     */
    prove(user: UserRow): UserRow {
      if (user.unprovenProjectSeq === null) return user;
      sessions.endOthers(user.seq, null);
      tokens.withdrawOfUser(user.seq);
      resetSecondFactor(deps, user.seq);
      const taken = { passwordDigest: null, preferences: "{}", unprovenProjectSeq: null };
      return users.set(user.seq, taken)();
    },

    /**
     * Part of a change: disables a user, which ends the sessions and links, or enables the user.
     * Throws 409 if the user is the last owner who can sign in.
     */
    setDisabled(user: UserRow, isDisabled: boolean): UserRow {
      if (isDisabled) {
        sessions.endOthers(user.seq, null);
        tokens.withdrawOfUser(user.seq);
      }
      return users.setDisabled(user, isDisabled)();
    },

    /**
     * Part of a change: the user has no second factor any more, such as after the loss of a phone,
     * which may have a session. False if there was none.
     */
    resetFactors(user: UserRow): boolean {
      const { isOn } = factorsOf(deps, user.seq);
      resetSecondFactor(deps, user.seq);
      sessions.endOthers(user.seq, null);
      return isOn;
    },

    /** The step that a user must take after the password or a link; null if none. */
    stepFor(user: UserRow): SessionRow["step"] {
      if (factorsOf(deps, user.seq).isOn) return "SECOND_FACTOR";
      return isRequired(deps.secondFactorPolicy, user) ? "ENROLMENT" : null;
    },

    /** Finds a session that has not ended by the SHA-256 digest of its cookie. */
    findSession: sessions.findByDigest,
    /** Finds a session whose user has still to give the second factor. */
    findPending: sessions.findPending,
    secondFactorPolicy: deps.secondFactorPolicy,
    /** Part of a change: adds an entry to the audit log. */
    record: audit.record,
    /** Part of a change: runs it, and adds its entry with the old and new values. */
    recordChange<T>(entry: Omit<AuditEntry, "before">, run: () => T): T {
      const before = audit.read(entry);
      const result = run();
      audit.record({ ...entry, before });
      return result;
    },
    /** Part of a change, before it: the object that it changes, for `before` of its entry. */
    readAudited: audit.read,
  };
}
