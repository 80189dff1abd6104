/**
 * The live connections of one kind that are open: event streams (event-streams.ts) or WebSockets.
 *
 * 1. A connection is refused (429) if too many are open, in total or for one owner.
 * 2. It ends within `CHECK_MS` after its key, session, user or role has ended, and is sent nothing after
 *    that.
 * 3. It ends after `LIFETIME_MS`, and the client connects again by itself.
 */

import type { Clock } from "../lib/clock.ts";
import { AppError } from "../lib/errors.ts";

const LIFETIME_MS = 10 * 60_000;
const CHECK_MS = 2_000;

/** `total`: connections of all owners; `ofOwner`: those of one user or project. */
export type ConnectionLimits = { total: number; ofOwner: number };

type Connection = {
  /** Whether the request of the connection would be admitted again. */
  isAdmitted: () => boolean;
  end: () => void;
};

export type LiveConnections = ReturnType<typeof createLiveConnections>;

export function createLiveConnections(deps: { clock: Clock; limits: ConnectionLimits }) {
  const { clock, limits } = deps;
  const ofOwners = new Map<string, number>();
  const open = new Set<Connection>();

  /** Ends the connections that would not be admitted any more. */
  let cancelCheck: (() => void) | null = null;
  function scheduleCheck(): void {
    cancelCheck ??= clock.after(CHECK_MS, () => {
      cancelCheck = null;
      for (const connection of open) if (!connection.isAdmitted()) connection.end();
      if (open.size > 0) scheduleCheck();
    });
  }

  function requireBelowLimit(owner: string): void {
    if ((ofOwners.get(owner) ?? 0) >= limits.ofOwner) throw tooManyOfOwner(limits.ofOwner);
    if (open.size >= limits.total) throw tooManyInTotal(limits.total);
  }

  return {
    /** Number of open connections. */
    size: (): number => open.size,

    /** Throws 429 if the owner cannot open another connection. */
    requireBelowLimit,

    /**
     * Counts a connection until the returned function is called. `end` ends it, and is called when it
     * is not admitted any more, after its lifetime, and when the server stops. Throws 429.
     */
    enter(owner: string, { end, isAdmitted }: Connection): () => void {
      requireBelowLimit(owner);
      const connection = { end, isAdmitted };
      open.add(connection);
      ofOwners.set(owner, (ofOwners.get(owner) ?? 0) + 1);
      const cancelEnd = clock.after(LIFETIME_MS, end);
      scheduleCheck();
      return () => {
        if (!open.delete(connection)) return;
        cancelEnd();
        if (open.size === 0) {
          cancelCheck?.();
          cancelCheck = null;
        }
        const left = (ofOwners.get(owner) ?? 1) - 1;
        if (left === 0) ofOwners.delete(owner);
        else ofOwners.set(owner, left);
      };
    },

    /** Ends all connections, because the server stops. */
    close(): void {
      for (const { end } of open) end();
    },
  };
}

/** Names the user of a session, or the project of a key. */
export function connectionOwnerOf(admitted: {
  user: { seq: number } | null;
  project: { seq: number };
}): string {
  const { user, project } = admitted;
  return user === null ? `project ${project.seq}` : `user ${user.seq}`;
}

function tooManyOfOwner(limit: number): AppError {
  return tooMany(
    `You have ${limit} live connections open, which is the limit for one user or project.`,
    "Close some of them, for example windows of the dashboard.",
  );
}

function tooManyInTotal(limit: number): AppError {
  return tooMany(
    `The server has ${limit} live connections open, which is its limit for all users.`,
    "Try again later, when others have closed theirs.",
  );
}

function tooMany(message: string, suggestion: string): AppError {
  const headers = { "Retry-After": "5" };
  return new AppError(429, "RATE_LIMIT_EXCEEDED", message, { headers, suggestion });
}
