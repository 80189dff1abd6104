/**
 * Accounts: the people who use the dashboard. In order:
 *
 * 1. The first owner is created by a set-up link or by command; others are invited or added.
 * 2. A user signs in with a password or a one-time link (`sign-in.ts`), which creates a session.
 * 3. Each request with the cookie of a session finds its user and the role in the project.
 * 4. Changes are recorded in the audit log, in their own transaction.
 */

import type { Db } from "../../db/open.ts";
import type { Change } from "../../db/writer.ts";
import type { ListPage } from "../../http/pagination.ts";
import type { Clock } from "../../lib/clock.ts";
import { createAudit } from "./audit.ts";
import { createMemberships } from "./members.ts";
import { createUserSessions } from "./sessions.ts";
import { createTokens } from "./tokens.ts";
import { createUsers } from "./users.ts";

export type Accounts = ReturnType<typeof createAccounts>;

export function createAccounts(deps: { db: Db; clock: Clock; listPage: ListPage }) {
  const users = createUsers(deps);
  const sessions = createUserSessions(deps);
  const tokens = createTokens(deps);
  const members = createMemberships(deps);
  const audit = createAudit(deps);

  return {
    users,
    sessions,
    tokens,
    members,
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

    /** Finds a session that has not ended by the SHA-256 digest of its cookie. */
    findSession: sessions.findByDigest,
    /** Part of a change: adds an entry to the audit log. */
    record: audit.record,
  };
}
