/**
 * Memberships: the roles of users in projects. Owners need none, and may do everything. The last
 * admin of a project who can sign in keeps the role, unless an owner takes it away: otherwise a team
 * without access to an owner could lock itself out of its keys, domains and settings.
 */

import { and, asc, eq, isNull, ne } from "drizzle-orm";
import type { Db } from "../../db/open.ts";
import { type MemberRole, memberships, users } from "../../db/schema/accounts.ts";
import type { Change } from "../../db/writer.ts";
import type { Clock } from "../../lib/clock.ts";
import { AppError } from "../../lib/errors.ts";
import type { UserRow } from "./users.ts";

/** A member of a project. */
type Member = {
  /** The user. */
  seq: number;
  id: string;
  email: string;
  name: string;
  disabledAt: number | null;
  isOwner: boolean;
  role: MemberRole;
  /** The time at which the user became a member. */
  createdAt: number;
};

/** A change of a member, with the user who makes it. */
type MemberChange = { projectSeq: number; userId: string; by: Pick<UserRow, "isOwner"> };

const MEMBER = {
  seq: users.seq,
  id: users.id,
  email: users.email,
  name: users.name,
  disabledAt: users.disabledAt,
  isOwner: users.isOwner,
  role: memberships.role,
  createdAt: memberships.createdAt,
};

/** Part of a change: forgets a user who may no longer open a project. */
type ForgetMember = (projectSeq: number, userSeq: number) => void;

export function createMemberships({ db, clock }: { db: Db; clock: Pick<Clock, "now"> }) {
  const forget: ForgetMember[] = [];

  function find(projectSeq: number, userId: string): Member | null {
    const match = and(eq(memberships.projectSeq, projectSeq), eq(users.id, userId));
    const row = db
      .select(MEMBER)
      .from(users)
      .innerJoin(memberships, eq(memberships.userSeq, users.seq))
      .where(match)
      .limit(1)
      .get();
    return row ?? null;
  }

  /** Throws 404 if the user is not a member. */
  function get(projectSeq: number, userId: string): Member {
    const found = find(projectSeq, userId);
    if (found === null) throw noSuchMember();
    return found;
  }

  return {
    find,
    get,

    /** The members of a project in the order in which they joined. */
    list: (projectSeq: number): Member[] =>
      db
        .select(MEMBER)
        .from(memberships)
        .innerJoin(users, eq(users.seq, memberships.userSeq))
        .where(eq(memberships.projectSeq, projectSeq))
        .orderBy(asc(memberships.seq))
        .all(),

    /** Part of a change: gives a user a role, in place of an earlier one. */
    put(projectSeq: number, userSeq: number, role: MemberRole): void {
      db.insert(memberships)
        .values({ projectSeq, userSeq, role, createdAt: clock.now() })
        .onConflictDoUpdate({
          target: [memberships.userSeq, memberships.projectSeq],
          set: { role },
        })
        .run();
    },

    /**
     * Changes the role of a member. Throws 404 if the user is not a member, and 409 LAST_ADMIN if
     * a user who is no owner takes the role from the last admin.
     */
    setRole({ projectSeq, userId, by }: MemberChange, role: MemberRole): Change<Member> {
      return () => {
        const found = get(projectSeq, userId);
        if (!by.isOwner && role !== "ADMIN") requireOtherAdmin(db, projectSeq, found);
        const { seq } = found;
        db.update(memberships)
          .set({ role })
          .where(and(eq(memberships.userSeq, seq), eq(memberships.projectSeq, projectSeq)))
          .run();
        return get(projectSeq, userId);
      };
    },

    /**
     * Takes the role away. The user stays, and may be a member of other projects. Throws like
     * `setRole`.
     */
    remove({ projectSeq, userId, by }: MemberChange): Change<Member> {
      return () => {
        const found = get(projectSeq, userId);
        if (!by.isOwner) requireOtherAdmin(db, projectSeq, found);
        db.delete(memberships)
          .where(and(eq(memberships.userSeq, found.seq), eq(memberships.projectSeq, projectSeq)))
          .run();
        // An owner may open the project without a membership.
        if (!found.isOwner) for (const handler of forget) handler(projectSeq, found.seq);
        return found;
      };
    },

    /** Adds a function that runs in the change that removes a member. */
    onRemove(handler: ForgetMember): void {
      forget.push(handler);
    },
  };
}

/** Throws 409 LAST_ADMIN if the project would have no admin who can sign in. */
function requireOtherAdmin(db: Db, projectSeq: number, member: Member): void {
  const { seq, role, disabledAt } = member;
  if (role !== "ADMIN" || disabledAt !== null) return;
  const other = db
    .select({ seq: memberships.seq })
    .from(memberships)
    .innerJoin(users, eq(users.seq, memberships.userSeq))
    .where(
      and(
        eq(memberships.projectSeq, projectSeq),
        eq(memberships.role, "ADMIN"),
        isNull(users.disabledAt),
        ne(users.seq, seq),
      ),
    )
    .limit(1)
    .get();
  if (other === undefined) throw lastAdmin();
}

function noSuchMember(): AppError {
  return new AppError(404, "MEMBER_NOT_FOUND", "This user is not a member of the project.", {
    suggestion: "GET /team lists the members.",
  });
}

function lastAdmin(): AppError {
  return new AppError(409, "LAST_ADMIN", "The project would have no admin.", {
    suggestion: "Make another member an admin first, or ask an owner of the installation.",
  });
}
