/**
 * Sessions of signed-in users. The cookie holds 43 characters of base 62 (256 bits of entropy), and
 * only their SHA-256 digest is stored. A session ends after 14 days without a request, after 90 days
 * in any case, when the user signs out, and when the user is disabled. A session whose user has not
 * given the second factor yet is not found as one: it is pending, and ends after 15 minutes.
 */

import { and, desc, eq, isNull } from "drizzle-orm";
import type { Db } from "../../db/open.ts";
import { type MemberRole, userSessions } from "../../db/schema/accounts.ts";
import type { Change, Writer } from "../../db/writer.ts";
import type { Clock } from "../../lib/clock.ts";
import type { SessionUser } from "../../http/session-access.ts";
import { randomBase62, sha256 } from "../../lib/crypto.ts";
import { newId } from "../../lib/id.ts";
import { cachePerIteration } from "../../lib/iteration-cache.ts";
import { createSessionRows, LONGEST_IDLE_MS, PENDING_MS } from "./session-rows.ts";

export type SessionRow = typeof userSessions.$inferSelect;

/** OWNER: the user owns the installation and may do everything in all projects. */
type AccountRole = "OWNER" | MemberRole;

/** A session that has not ended, with its user. */
export type KnownSession = {
  user: SessionUser;
  sessionSeq: number;
  signedInBy: SessionRow["signedInBy"];
  /** When the user last proved who they are, by the password, a passkey or a link. */
  confirmedAt: number;
  /** The role of the user in a project; null without a membership. */
  roleOf: (projectSeq: number) => AccountRole | null;
};

/** A session whose user has still to take a step before it works. */
export type PendingSession = Pick<KnownSession, "user" | "sessionSeq" | "signedInBy"> & {
  step: NonNullable<SessionRow["step"]>;
};

type FoundSession = {
  sessionSeq: number;
  createdAt: number;
  lastSeenAt: number;
  confirmedAt: number;
  signedInBy: SessionRow["signedInBy"];
  step: SessionRow["step"];
  seq: number;
  id: string;
  email: string;
  name: string;
  isOwner: number;
  unprovenProjectSeq: number | null;
  hasProof: number;
  disabledAt: number | null;
};

const DAY_MS = 24 * 60 * 60_000;
const LONGEST_LIFETIME_MS = 90 * DAY_MS;

/** Lifetime of the cookie. The server decides when a session ends. */
export const COOKIE_SECONDS = LONGEST_LIFETIME_MS / 1000;
/** Time for which the user of a session needs not confirm further actions. */
export const CONFIRMATION_MS = 15 * 60_000;

const RANDOM_CHARACTERS = 43;
const LONGEST_USER_AGENT = 300;

export type Client = {
  address: string;
  userAgent: string;
  /** The session that the browser had before; a new one replaces it. */
  earlierSession: number | null;
};
type NewSession = Pick<SessionRow, "userSeq" | "signedInBy"> &
  Partial<Pick<SessionRow, "step">> & { client: Client };

export function createUserSessions({ db, clock }: { db: Db; clock: Pick<Clock, "now"> }) {
  /** Time of the last request by session, until `flushUses` stores it. */
  let uses = new Map<number, number>();
  // Runs for every request; prepared, because the query builder takes ten times as long.
  const findByDigest = db.sqlite.prepare<FoundSession, [string]>(`
    SELECT s.seq AS sessionSeq, s.created_at AS createdAt, s.last_seen_at AS lastSeenAt,
           s.confirmed_at AS confirmedAt, s.signed_in_by AS signedInBy, s.step,
           u.seq, u.id, u.email, u.name, u.is_owner AS isOwner,
           u.unproven_project_seq AS unprovenProjectSeq,
           u.disabled_at AS disabledAt, u.password_digest IS NOT NULL OR EXISTS
             (SELECT 1 FROM passkeys p WHERE p.user_seq = u.seq) AS hasProof
    FROM user_sessions s JOIN users u ON u.seq = s.user_seq
    WHERE s.digest = +?`);
  const findRole = db.sqlite.prepare<{ role: MemberRole }, [number, number]>(
    "SELECT role FROM memberships WHERE user_seq = +? AND project_seq = +?",
  );
  const findLastSeen = db.sqlite.prepare<{ at: number | null }, [number]>(
    "SELECT max(last_seen_at) AS at FROM user_sessions WHERE user_seq = +? AND step IS NULL",
  );
  const findRow = cachePerIteration((digest) => findByDigest.get(digest));

  function isOver(session: { seq: number; createdAt: number; lastSeenAt: number }): boolean {
    const lastSeenAt = uses.get(session.seq) ?? session.lastSeenAt;
    const now = clock.now();
    return now - session.createdAt >= LONGEST_LIFETIME_MS || now - lastSeenAt >= LONGEST_IDLE_MS;
  }

  return {
    ...createSessionRows({ db, clock }),

    /**
     * Reads the session from the database, so that its end takes effect with the next request. `isUse` is
     * false for a look that is no request of the session.
     */
    findByDigest(digest: string, { isUse = true } = {}): KnownSession | null {
      const row = findRow(digest);
      if (row === null || row.disabledAt !== null || row.step !== null) return null;
      const { sessionSeq, signedInBy, seq, unprovenProjectSeq } = row;
      if (isOver({ ...row, seq: sessionSeq })) return null;
      if (isUse) uses.set(sessionSeq, clock.now());
      const user = userIn(row);
      const { isOwner } = user;
      return {
        user,
        sessionSeq,
        // A user without a password and passkeys has nothing to confirm with.
        confirmedAt: row.hasProof === 1 ? row.confirmedAt : clock.now(),
        signedInBy,
        roleOf(projectSeq) {
          if (isOwner) return "OWNER";
          // The admin who may know the password must not get into the projects of others.
          if (unprovenProjectSeq !== null && unprovenProjectSeq !== projectSeq) return null;
          return findRole.get(seq, projectSeq)?.role ?? null;
        },
      };
    },

    /** Finds a session that waits for a step of its user. */
    findPending(digest: string): PendingSession | null {
      const row = findRow(digest);
      if (row === null || row.disabledAt !== null || row.step === null) return null;
      if (clock.now() - row.createdAt >= PENDING_MS) return null;
      const { sessionSeq, signedInBy, step } = row;
      return { user: userIn(row), sessionSeq, signedInBy, step };
    },

    /** The time of the user's last request; null if there is no session. */
    lastSeenAt: (userSeq: number): number | null => findLastSeen.get(userSeq)?.at ?? null,

    /** Creates a session. The text for the cookie is only in the result and is not stored. */
    create({
      userSeq,
      signedInBy,
      step,
      client,
    }: NewSession): Change<{ row: SessionRow; text: string }> {
      return () => {
        const now = clock.now();
        const text = randomBase62(RANDOM_CHARACTERS);
        const row = db
          .insert(userSessions)
          .values({
            id: newId(now),
            digest: sha256(text),
            userSeq,
            signedInBy,
            step,
            createdAt: now,
            lastSeenAt: now,
            confirmedAt: now,
            address: client.address,
            userAgent: client.userAgent.slice(0, LONGEST_USER_AGENT).toWellFormed(),
          })
          .returning()
          .get();
        return { row, text };
      };
    },

    /** The sessions of a user that have not ended, newest first. */
    list(userSeq: number): SessionRow[] {
      return db
        .select()
        .from(userSessions)
        .where(and(eq(userSessions.userSeq, userSeq), isNull(userSessions.step)))
        .orderBy(desc(userSessions.seq))
        .all()
        .filter((row) => !isOver(row))
        .map((row) => ({ ...row, lastSeenAt: uses.get(row.seq) ?? row.lastSeenAt }));
    },

    /** Stores the times of the last requests since the previous call. */
    async flushUses(writer: Pick<Writer, "write">): Promise<void> {
      if (uses.size === 0) return;
      const flushed = uses;
      uses = new Map();
      await writer.write(() => {
        for (const [seq, lastSeenAt] of flushed) {
          db.update(userSessions).set({ lastSeenAt }).where(eq(userSessions.seq, seq)).run();
        }
      });
    },
  };
}

/** An owner whose address is not proven is none yet. */
function userIn({ seq, id, email, name, unprovenProjectSeq, ...row }: FoundSession): SessionUser {
  const isOwner = row.isOwner === 1 && unprovenProjectSeq === null;
  return { seq, id, email, name, isOwner, unprovenProjectSeq };
}
