/** Users and sessions as the dashboard gets them. */

import { isoTime, isoTimeOrNull } from "../../lib/clock.ts";
import { parsePreferences } from "./preferences.ts";
import type { SessionRow } from "./sessions.ts";
import type { PasskeyRow } from "./passkeys.ts";
import type { SecondStep } from "./second-step.ts";
import type { SignedIn } from "./sign-in.ts";
import type { UserRow } from "./users.ts";

/** `step` is null if the user is signed in, otherwise what is missing. */
export const presentSignedIn = ({ user, step }: SignedIn) => ({ user: { id: user.id }, step });

export const presentPasskey = ({ id, name, createdAt, lastUsedAt }: PasskeyRow) => ({
  id,
  name,
  createdAt: isoTime(createdAt),
  lastUsedAt: isoTimeOrNull(lastUsedAt),
});

export const presentFactors = (shown: ReturnType<SecondStep["show"]>) => ({
  ...shown,
  totpSince: isoTimeOrNull(shown.totpSince),
  passkeys: shown.passkeys.map(presentPasskey),
});

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
