/**
 * Passkeys (Web Authentication Level 3). In order:
 *
 * 1. The browser asks for a challenge, which works once, for five minutes, for one purpose and in one
 *    session or browser.
 * 2. The authenticator signs it with a key that works for the address of this server only, after it
 *    has verified its owner by PIN, fingerprint or face. So a passkey counts as two factors.
 * 3. The origin, the challenge, the flags and the signature are verified (protocols/webauthn/).
 *
 * Attestation, which tells the maker of the authenticator, is not asked for.
 */

import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { and, asc, eq, lt, or, sql } from "drizzle-orm";
import { randomBytes } from "node:crypto";
import { isIP } from "node:net";
import type { App } from "../../core/app.ts";
import { passkeys } from "../../db/schema/accounts.ts";
import type { SessionUser } from "../../http/session-access.ts";
import { AppError } from "../../lib/errors.ts";
import { ExpiringMap } from "../../lib/expiring-map.ts";
import { newId } from "../../lib/id.ts";
import { perApp } from "../../lib/per-app.ts";
import {
  type RelyingParty,
  verifyAssertion,
  verifyRegistration,
  WebAuthnError,
} from "../../protocols/webauthn/webauthn.ts";
import type { PasskeyAnswer, PasskeyInput } from "./factor-model.ts";

export type PasskeyRow = typeof passkeys.$inferSelect;

const CHALLENGE_BYTES = 32;
const CHALLENGE_MS = 5 * 60_000;
const MAX_CHALLENGES = 10_000;
const MAX_PASSKEYS = 20;
/** Ed25519, ECDSA with P-256, and RSA with SHA-256 (RFC 9053, RFC 8812). */
const ALGORITHMS = [-8, -7, -257];

const Transports = Type.Array(Type.String());

/** Where a challenge is valid, such as `register 12` for a session. */
type Place = string;

/** They are in memory only: after a restart the browser asks for another one. */
const challenges = perApp(
  ({ clock }: App) => new ExpiringMap<true>({ maxEntries: MAX_CHALLENGES, clock }),
);

function issueChallenge(app: App, place: Place): string {
  const challenge = randomBytes(CHALLENGE_BYTES).toString("base64url");
  challenges(app).set(`${place} ${challenge}`, true, CHALLENGE_MS);
  return challenge;
}

/** True once for a challenge of this place. */
function takeChallenge(app: App, place: Place, challenge: string): boolean {
  const key = `${place} ${challenge}`;
  const isKnown = challenges(app).get(key) === true;
  challenges(app).delete(key);
  return isKnown;
}

/** Browsers offer passkeys over https and on localhost, and for names only. */
export function canUsePasskeys({ url }: Pick<App, "url">): boolean {
  const { protocol, hostname } = new URL(url);
  if (hostname.startsWith("[") || isIP(hostname) !== 0) return false;
  return protocol === "https:" || hostname === "localhost" || hostname.endsWith(".localhost");
}

const rpIdOf = ({ url }: App): string => new URL(url).hostname;

const relyingParty = (app: App, place: Place): RelyingParty => ({
  id: rpIdOf(app),
  origin: new URL(app.url).origin,
  takeChallenge: (challenge) => takeChallenge(app, place, challenge),
});

/** The passkeys of a user in the order in which they were added. */
export function listPasskeys({ db }: Pick<App, "db">, userSeq: number): PasskeyRow[] {
  const rows = db.select().from(passkeys).where(eq(passkeys.userSeq, userSeq));
  return rows.orderBy(asc(passkeys.seq)).all();
}

/** Makes the options with which the browser creates a passkey for the user of a session. */
export function registrationOptions(app: App, user: SessionUser, sessionSeq: number) {
  requirePossible(app);
  return {
    rp: { id: rpIdOf(app), name: "Mailstead" },
    user: {
      id: userHandle(user),
      name: user.email,
      displayName: user.name === "" ? user.email : user.name,
    },
    challenge: issueChallenge(app, `register ${sessionSeq}`),
    pubKeyCredParams: ALGORITHMS.map((alg) => ({ type: "public-key" as const, alg })),
    timeout: CHALLENGE_MS,
    excludeCredentials: descriptorsOf(app, user.seq),
    authenticatorSelection: {
      residentKey: "required" as const,
      requireResidentKey: true,
      userVerification: "required" as const,
    },
    attestation: "none" as const,
  };
}

/**
 * Makes the options with which the browser signs with a passkey: one of the given user, or of any user
 * whom the authenticator knows.
 */
export function assertionOptions(app: App, place: Place, userSeq: number | null) {
  requirePossible(app);
  return {
    rpId: rpIdOf(app),
    challenge: issueChallenge(app, place),
    timeout: CHALLENGE_MS,
    userVerification: "required" as const,
    allowCredentials: userSeq === null ? [] : descriptorsOf(app, userSeq),
  };
}

/** Verifies a new passkey, and returns its row. Throws 422 if it is not accepted. */
export function verifyNewPasskey(
  app: App,
  { name, transports = [], ...given }: PasskeyInput,
  { user, sessionSeq }: { user: SessionUser; sessionSeq: number },
) {
  const party = relyingParty(app, `register ${sessionSeq}`);
  const { publicKey, counter } = accepted(422, () => verifyRegistration(given, party));
  const now = app.clock.now();
  return {
    id: newId(now),
    userSeq: user.seq,
    credentialId: given.id,
    publicKey,
    counter,
    transports: JSON.stringify(transports),
    name,
    createdAt: now,
  };
}

/** Part of a change: adds a verified passkey. */
export function addPasskey({ db }: App, row: ReturnType<typeof verifyNewPasskey>): PasskeyRow {
  if (listPasskeys({ db }, row.userSeq).length >= MAX_PASSKEYS) throw tooManyPasskeys();
  const added = db.insert(passkeys).values(row).onConflictDoNothing().returning().get();
  if (added === undefined) throw passkeyKnown();
  return added;
}

/** A passkey whose signature was verified, with the number that its authenticator has counted. */
type Proven = { passkey: PasskeyRow; counter: number };

/**
 * Verifies the signature of a passkey. `userSeq` is null if any user may sign in. Throws 401 if it
 * is not accepted.
 */
export function proveWithPasskey(
  app: App,
  given: PasskeyAnswer,
  { place, user }: { place: Place; user: { seq: number } | null },
): Proven {
  const match = eq(passkeys.credentialId, given.id);
  const passkey = app.db.select().from(passkeys).where(match).get();
  return accepted(401, () => {
    if (passkey === undefined || (user !== null && passkey.userSeq !== user.seq)) {
      throw new WebAuthnError("the passkey is unknown");
    }
    const { counter } = verifyAssertion(given, relyingParty(app, place), passkey.publicKey);
    return { passkey, counter };
  });
}

/** Runs a verification. All refusals get the same answer; the cause is for the log. */
function accepted<T>(status: 401 | 422, check: () => T): T {
  try {
    return check();
  } catch (error) {
    throw error instanceof WebAuthnError ? passkeyRefused(status, error) : error;
  }
}

/**
 * Part of a change: stores the use of a passkey. Throws 401 if it was removed meanwhile, or if its
 * counter has not grown, as that of a copy.
 */
export function usePasskey({ db, clock }: App, { passkey, counter }: Proven): void {
  const isUncounted = sql`${passkeys.counter} = 0 AND ${counter} = 0`;
  const used = db
    .update(passkeys)
    .set({ counter, lastUsedAt: clock.now() })
    .where(and(eq(passkeys.seq, passkey.seq), or(isUncounted, lt(passkeys.counter, counter))))
    .returning()
    .all();
  if (used.length === 0) throw passkeyRefused(401, new WebAuthnError("the counter has not grown"));
}

/** Part of a change: renames a passkey of a user. Throws 404 if there is none. */
export function renamePasskey({ db }: App, userSeq: number, id: string, name: string): PasskeyRow {
  const match = and(eq(passkeys.userSeq, userSeq), eq(passkeys.id, id));
  const row = db.update(passkeys).set({ name }).where(match).returning().get();
  if (row === undefined) throw noSuchPasskey();
  return row;
}

/** Part of a change: removes a passkey of a user. Throws 404 if there is none. */
export function removePasskey({ db }: App, userSeq: number, id: string): void {
  const match = and(eq(passkeys.userSeq, userSeq), eq(passkeys.id, id));
  if (db.delete(passkeys).where(match).returning().all().length === 0) throw noSuchPasskey();
}

const userHandle = ({ id }: { id: string }): string => Buffer.from(id).toString("base64url");

const descriptorsOf = (app: App, userSeq: number) =>
  listPasskeys(app, userSeq).map(({ credentialId, transports }) => ({
    id: credentialId,
    type: "public-key" as const,
    transports: Value.Parse(Transports, JSON.parse(transports)),
  }));

function requirePossible(app: App): void {
  if (canUsePasskeys(app)) return;
  throw new AppError(409, "INVALID_STATE", `Browsers offer no passkeys for ${app.url}.`, {
    suggestion:
      "Start the server with --url and an https address with a name. An authenticator app works everywhere.",
  });
}

function passkeyRefused(status: 401 | 422, cause: unknown): AppError {
  const code = status === 401 ? "SIGN_IN_FAILED" : "PASSKEY_REFUSED";
  return new AppError(status, code, "The passkey was not accepted.", {
    cause,
    suggestion:
      "Try again. Each try works for five minutes, and at the address of this server only.",
  });
}

function tooManyPasskeys(): AppError {
  return new AppError(409, "CONFLICT", `A user has at most ${MAX_PASSKEYS} passkeys.`, {
    suggestion: "Remove one that is not used any more.",
  });
}

function passkeyKnown(): AppError {
  return new AppError(409, "CONFLICT", "This passkey was added before.");
}

function noSuchPasskey(): AppError {
  return new AppError(404, "PASSKEY_NOT_FOUND", "There is no such passkey.", {
    suggestion: "List the passkeys again.",
  });
}
