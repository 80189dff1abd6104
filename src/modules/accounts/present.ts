/** Users and sessions as the dashboard gets them. */

import { isoTime } from "../../lib/clock.ts";
import { parsePreferences } from "./preferences.ts";
import type { SessionRow } from "./sessions.ts";
import type { UserRow } from "./users.ts";

export function presentAccount({ id, email, name, isOwner, ...row }: UserRow) {
  return {
    id,
    email,
    name,
    isOwner,
    hasPassword: row.passwordDigest !== null,
    preferences: parsePreferences(row.preferences),
    createdAt: isoTime(row.createdAt),
  };
}

/** `currentSeq` is the session of the request. */
export function presentSession(row: SessionRow, currentSeq: number) {
  const { seq, id, signedInBy, createdAt, lastSeenAt, address, userAgent } = row;
  return {
    id,
    isCurrent: seq === currentSeq,
    signedInBy,
    address,
    userAgent,
    createdAt: isoTime(createdAt),
    lastSeenAt: isoTime(lastSeenAt),
  };
}
