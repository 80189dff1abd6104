/** Changes of users by themselves and by owners, each with its entry in the audit log. */

import type { Db } from "../../db/open.ts";
import type { Change } from "../../db/writer.ts";
import { isoTime, isoTimeOrNull } from "../../lib/clock.ts";
import { AppError } from "../../lib/errors.ts";
import { membershipsOf } from "../projects.ts";
import type { AccountInput } from "./model.ts";
import { formatPreferences } from "./preferences.ts";
import type { Accounts } from "./service.ts";
import type { Client, KnownSession } from "./sessions.ts";
import { actorOf } from "./sign-in.ts";
import type { UserRow } from "./users.ts";

export type AccountChanges = ReturnType<typeof createAccountChanges>;

export function createAccountChanges({ db, accounts }: { db: Db; accounts: Accounts }) {
  const { users, sessions, record } = accounts;

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
      return () => {
        const { user } = session;
        if (name !== undefined) {
          record({
            actor: actorOf(user),
            projectSeq: null,
            action: "user.update",
            objectType: "user",
            objectId: user.id,
            fields: ["name"],
            address: client.address,
          });
        }
        return Object.keys(settings).length === 0
          ? users.get(user.id)
          : users.set(user.seq, settings)();
      };
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

    /** All users with their projects, in the order in which they were created. */
    listUsers: () =>
      users.list().map((user) => ({
        id: user.id,
        email: user.email,
        name: user.name,
        isOwner: user.isOwner,
        isDisabled: user.disabledAt !== null,
        hasPassword: user.passwordDigest !== null,
        createdAt: isoTime(user.createdAt),
        lastSeenAt: isoTimeOrNull(sessions.lastSeenAt(user.seq)),
        projects: membershipsOf({ db }, user.seq).map(({ id, name, role }) => ({ id, name, role })),
      })),

    /** Disables a user, which ends the sessions and links, or enables the user again. */
    setDisabled(
      owner: KnownSession,
      { id, isDisabled }: { id: string; isDisabled: boolean },
      client: Client,
    ): Change<void> {
      return () => {
        const user = users.get(id);
        accounts.setDisabled(user, isDisabled);
        record({
          actor: actorOf(owner.user),
          projectSeq: null,
          action: isDisabled ? "user.disable" : "user.enable",
          objectType: "user",
          objectId: user.id,
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
