/** The ends of sessions, and the times from which their lifetimes count. */

import { and, eq, isNotNull, lt, ne } from "drizzle-orm";
import type { Db } from "../../db/open.ts";
import { userSessions } from "../../db/schema/accounts.ts";
import type { Clock } from "../../lib/clock.ts";

const DAY_MS = 24 * 60 * 60_000;
export const LONGEST_IDLE_MS = 14 * DAY_MS;
/** Time in which a user must give the second factor, or set one up, after the password. */
export const PENDING_MS = 15 * 60_000;

export function createSessionRows({ db, clock }: { db: Db; clock: Pick<Clock, "now"> }) {
  return {
    /** Part of a change: the user has entered the password again. */
    confirm(seq: number): void {
      db.update(userSessions)
        .set({ confirmedAt: clock.now() })
        .where(eq(userSessions.seq, seq))
        .run();
    },

    /** Part of a change: ends one session of a user by its id. False if there is none. */
    end(userSeq: number, id: string): boolean {
      const match = and(eq(userSessions.userSeq, userSeq), eq(userSessions.id, id));
      return db.delete(userSessions).where(match).returning().all().length > 0;
    },

    /** Part of a change: ends one session. */
    endOne(seq: number): void {
      db.delete(userSessions).where(eq(userSessions.seq, seq)).run();
    },

    /** Part of a change: ends all sessions of a user, except the one with the number `keptSeq`. */
    endOthers(userSeq: number, keptSeq: number | null): void {
      const other = keptSeq === null ? undefined : ne(userSessions.seq, keptSeq);
      db.delete(userSessions)
        .where(and(eq(userSessions.userSeq, userSeq), other))
        .run();
    },

    /** Part of a change: ends a session that waits for a step. False if it has ended already. */
    endPending(seq: number): boolean {
      const match = and(eq(userSessions.seq, seq), isNotNull(userSessions.step));
      return db.delete(userSessions).where(match).returning().all().length > 0;
    },

    /** Part of a change: ends the sessions that wait until their user sets up a second factor. */
    endEnrolments(userSeq: number): void {
      db.delete(userSessions)
        .where(and(eq(userSessions.userSeq, userSeq), eq(userSessions.step, "ENROLMENT")))
        .run();
    },

    /** Part of a change: removes sessions that have ended because they were not used for too long. */
    purge(): void {
      db.delete(userSessions)
        .where(
          and(isNotNull(userSessions.step), lt(userSessions.lastSeenAt, clock.now() - PENDING_MS)),
        )
        .run();
      db.sqlite
        .query("DELETE FROM user_sessions WHERE last_seen_at < +?")
        .run(clock.now() - LONGEST_IDLE_MS);
    },

    /** Part of a change: moves the lifetimes of sessions, because the clock was set. */
    shift(byMs: number): void {
      db.sqlite
        .query(
          `UPDATE user_sessions SET created_at = created_at + +?1,
             last_seen_at = last_seen_at + +?1, confirmed_at = confirmed_at + +?1`,
        )
        .run(byMs);
    },
  };
}
