/** Changes of users by themselves, each with its entry in the audit log. */

import type { Change } from "../../db/writer.ts";
import { AppError } from "../../lib/errors.ts";
import type { AccountInput } from "./model.ts";
import { formatPreferences } from "./preferences.ts";
import type { Accounts } from "./service.ts";
import type { Client, KnownSession } from "./sessions.ts";
import { actorOf } from "./sign-in.ts";
import type { UserRow } from "./users.ts";

export type AccountChanges = ReturnType<typeof createAccountChanges>;

export function createAccountChanges({ accounts }: { accounts: Accounts }) {
  const { users, sessions, record, recordChange } = accounts;

  return {
    /** Changes the name or the preferences of the user of a session. */
    setAccount(
      session: KnownSession,
      { name, preferences }: AccountInput,
      client: Client,
    ): Change<UserRow> {
      const settings = {
        ...(name === undefined ? {} : { name }),
        ...(preferences === undefined ? {} : { preferences: formatPreferences(preferences) }),
      };
      const { user } = session;
      const change = () =>
        Object.keys(settings).length === 0 ? users.get(user.id) : users.set(user.seq, settings)();
      // The preferences are those of the dashboard alone.
      if (name === undefined) return change;
      const entry = {
        actor: actorOf(user),
        projectSeq: null,
        action: "user.update",
        objectType: "user",
        objectId: user.id,
        fields: ["name"],
        address: client.address,
      };
      return () => recordChange(entry, change);
    },

    /** Ends another session of the user, or this one. */
    endSession({ user }: KnownSession, id: string, client: Client): Change<void> {
      return () => {
        if (!sessions.end(user.seq, id)) throw noSuchSession();
        record({
          actor: actorOf(user),
          projectSeq: null,
          action: "session.delete",
          objectType: "session",
          objectId: id,
          address: client.address,
        });
      };
    },
  };
}

function noSuchSession(): AppError {
  return new AppError(404, "SESSION_NOT_FOUND", "This session has ended.", {
    suggestion: "List the sessions again.",
  });
}
