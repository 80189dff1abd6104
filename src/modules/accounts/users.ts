/**
 * Users of the dashboard. A user is found by address, has a password or signs in by links, and can
 * be disabled but not deleted, because the audit log names users. At least one owner is enabled.
 *
 * A user whose account was made with a link that an admin was shown has not proven the address
 * (`unprovenProjectSeq`), and may open only the project of that admin (service.ts, `prove`).
 */

import { and, asc, eq, isNull, ne } from "drizzle-orm";
import { countRows } from "../../http/pagination.ts";
import type { Db } from "../../db/open.ts";
import { users } from "../../db/schema/accounts.ts";
import type { Change } from "../../db/writer.ts";
import type { Clock } from "../../lib/clock.ts";
import { AppError } from "../../lib/errors.ts";
import { newId } from "../../lib/id.ts";

export type UserRow = typeof users.$inferSelect;
type NewUser = Pick<UserRow, "email" | "name" | "passwordDigest" | "isOwner"> &
  Partial<Pick<UserRow, "unprovenProjectSeq">>;
type UserSettings = Partial<
  Pick<
    UserRow,
    "name" | "preferences" | "passwordDigest" | "isOwner" | "unprovenProjectSeq" | "lastSignInAt"
  >
>;

export function createUsers({ db, clock }: { db: Db; clock: Pick<Clock, "now"> }) {
  const findOwner = db.sqlite.prepare<{ seq: number }, []>(
    "SELECT seq FROM users WHERE is_owner = 1 LIMIT 1",
  );

  function findByEmail(email: string): UserRow | null {
    return db.select().from(users).where(eq(users.email, email)).limit(1).get() ?? null;
  }

  /** Throws 404 if there is no such user. */
  function get(id: string): UserRow {
    const user = db.select().from(users).where(eq(users.id, id)).limit(1).get();
    if (user === undefined) throw noSuchUser();
    return user;
  }

  function isLastOwner({ seq, isOwner, disabledAt }: UserRow): boolean {
    if (!isOwner || disabledAt !== null) return false;
    const others = and(eq(users.isOwner, true), isNull(users.disabledAt), ne(users.seq, seq));
    return countRows(db, users, others) === 0;
  }

  return {
    findByEmail,
    get,

    /** `email` must be in its stored form. Throws 404 if there is no such user. */
    getByEmail(email: string): UserRow {
      const user = findByEmail(email);
      if (user === null) throw noSuchUser();
      return user;
    },

    find: (seq: number): UserRow | null =>
      db.select().from(users).where(eq(users.seq, seq)).limit(1).get() ?? null,

    hasOwner: (): boolean => findOwner.get() !== null,

    /** Throws 409 if the user would be the last owner before, or has not proven the address. */
    setOwner(user: UserRow, isOwner: boolean): Change<UserRow> {
      return () => {
        if (!isOwner && isLastOwner(user)) throw lastOwner();
        if (isOwner && user.unprovenProjectSeq !== null) throw unprovenOwner();
        return db.update(users).set({ isOwner }).where(eq(users.seq, user.seq)).returning().get();
      };
    },

    list: (): UserRow[] => db.select().from(users).orderBy(asc(users.seq)).all(),

    /** `email` must be in its stored form. Throws 409 if another user has it. */
    create(user: NewUser): Change<UserRow> {
      return () => {
        if (findByEmail(user.email) !== null) throw addressTaken(user.email);
        const now = clock.now();
        return db
          .insert(users)
          .values({ ...user, id: newId(now), createdAt: now })
          .returning()
          .get();
      };
    },

    /** Changes the given settings; those that are undefined stay unchanged. */
    set(seq: number, settings: UserSettings): Change<UserRow> {
      return () => {
        const user = db.update(users).set(settings).where(eq(users.seq, seq)).returning().get();
        if (user === undefined) throw noSuchUser();
        return user;
      };
    },

    /** Throws 409 if the user is the last owner who can sign in. */
    setDisabled(user: UserRow, isDisabled: boolean): Change<UserRow> {
      return () => {
        if (isDisabled && isLastOwner(user)) throw lastOwner();
        const disabledAt = isDisabled ? (user.disabledAt ?? clock.now()) : null;
        return db
          .update(users)
          .set({ disabledAt })
          .where(eq(users.seq, user.seq))
          .returning()
          .get();
      };
    },
  };
}

function noSuchUser(): AppError {
  return new AppError(404, "USER_NOT_FOUND", "There is no such user.", {
    suggestion: "The users are listed by mailstead user list.",
  });
}

function addressTaken(email: string): AppError {
  return new AppError(409, "CONFLICT", `A user with the address ${email} already exists.`);
}

function lastOwner(): AppError {
  return new AppError(409, "CONFLICT", "The last owner cannot be disabled, and stays an owner.", {
    suggestion: "Make another user an owner first: mailstead user add EMAIL --owner.",
  });
}

function unprovenOwner(): AppError {
  const message = "The address of this user is not proven, so the user cannot be an owner.";
  return new AppError(409, "CONFLICT", message, {
    suggestion: "Give the user a sign-in link first.",
  });
}
