/**
 * The second factor of users: an authenticator app, passkeys (passkeys.ts), and recovery codes for the
 * day on which both are lost. It is on once the user has one of the first two, and then every
 * sign-in asks for it, also one by a link or after a new password: a mail proves one factor only. A
 * passkey alone is enough, because it proves possession and the PIN or fingerprint of its owner.
 */

import { and, count, eq, isNotNull, isNull, lt } from "drizzle-orm";
import { randomBytes } from "node:crypto";
import type { Config } from "../../config/settings.ts";
import type { App } from "../../core/app.ts";
import { passkeys, recoveryCodes, totpSecrets } from "../../db/schema/accounts.ts";
import { deriveKey, seal, sha256, unseal } from "../../lib/crypto.ts";
import { AppError, fieldError } from "../../lib/errors.ts";
import { acceptedStep, base32, TOTP_STEP_MS } from "./totp.ts";

type Parts = Pick<App, "db" | "clock" | "secret">;

/** The users who must have a second factor (`--require-second-factor`). */
export type SecondFactorPolicy = Config["requireSecondFactor"];

/** RFC 4226 §4 recommends 160 bits. */
const SECRET_BYTES = 20;
const RECOVERY_CODES = 10;
/** 80 bits, which is 16 characters of base 32. */
const RECOVERY_BYTES = 10;

const sealKeyOf = ({ secret }: Parts) => deriveKey(secret, "second-factors");

export function isRequired(policy: SecondFactorPolicy, user: { isOwner: boolean }): boolean {
  return policy === "all" || (policy === "owners" && user.isOwner);
}

/** The second factors of a user. */
export function factorsOf({ db }: Pick<App, "db">, userSeq: number) {
  const totp = db
    .select({ confirmedAt: totpSecrets.confirmedAt })
    .from(totpSecrets)
    .where(and(eq(totpSecrets.userSeq, userSeq), isNotNull(totpSecrets.confirmedAt)))
    .get();
  const keys = db
    .select({ count: count() })
    .from(passkeys)
    .where(eq(passkeys.userSeq, userSeq))
    .get();
  const codes = db
    .select({ count: count() })
    .from(recoveryCodes)
    .where(and(eq(recoveryCodes.userSeq, userSeq), isNull(recoveryCodes.usedAt)))
    .get();
  const passkeyCount = keys?.count ?? 0;
  return {
    isOn: totp !== undefined || passkeyCount > 0,
    totpSince: totp?.confirmedAt ?? null,
    passkeyCount,
    recoveryCodesLeft: codes?.count ?? 0,
  };
}

/** Part of a change: begins the set-up of an app, in place of one that was not confirmed. */
export function beginTotp(parts: Parts, userSeq: number): Buffer {
  const { db, clock } = parts;
  const secret = randomBytes(SECRET_BYTES);
  db.delete(totpSecrets)
    .where(and(eq(totpSecrets.userSeq, userSeq), isNull(totpSecrets.confirmedAt)))
    .run();
  const row = {
    userSeq,
    secret: seal(sealKeyOf(parts), secret),
    createdAt: clock.now(),
  };
  const added = db.insert(totpSecrets).values(row).onConflictDoNothing().returning().all();
  if (added.length === 0) throw totpIsOn();
  return secret;
}

/** Part of a change: the app is on if the code is right. Throws 422 otherwise. */
export function confirmTotp(parts: Parts, userSeq: number, code: string): void {
  const { db, clock } = parts;
  const row = db.select().from(totpSecrets).where(eq(totpSecrets.userSeq, userSeq)).get();
  if (row === undefined) throw totpNotBegun();
  if (row.confirmedAt !== null) throw totpIsOn();
  if (!useTotp(parts, userSeq, code, { isConfirmed: false })) throw wrongCode();
  db.update(totpSecrets)
    .set({ confirmedAt: clock.now() })
    .where(and(eq(totpSecrets.seq, row.seq), isNull(totpSecrets.confirmedAt)))
    .run();
}

/** Part of a change: accepts a code of the app once. False for another one. */
export function useTotp(
  parts: Parts,
  userSeq: number,
  code: string,
  { isConfirmed } = { isConfirmed: true },
): boolean {
  const { db, clock } = parts;
  const state = isConfirmed ? isNotNull(totpSecrets.confirmedAt) : isNull(totpSecrets.confirmedAt);
  const match = and(eq(totpSecrets.userSeq, userSeq), state);
  const row = db.select().from(totpSecrets).where(match).get();
  if (row === undefined) return false;
  const secret = unseal(sealKeyOf(parts), row.secret);
  if (secret === null) throw unreadableSecret();
  const step = acceptedStep(secret, code, { now: clock.now(), lastStep: row.lastStep });
  if (step === null) return false;
  return (
    db
      .update(totpSecrets)
      .set({ lastStep: step })
      .where(and(eq(totpSecrets.seq, row.seq), lt(totpSecrets.lastStep, step)))
      .returning()
      .all().length > 0
  );
}

/** Part of a change: turns the app off. False if it is not on. */
export function removeTotp({ db }: Parts, userSeq: number): boolean {
  const removed = db.delete(totpSecrets).where(eq(totpSecrets.userSeq, userSeq)).returning().all();
  return removed.length > 0;
}

/** Part of a change: ten new recovery codes in place of the earlier ones. They are shown once. */
export function issueRecoveryCodes({ db }: Pick<App, "db">, userSeq: number): string[] {
  db.delete(recoveryCodes).where(eq(recoveryCodes.userSeq, userSeq)).run();
  const codes = Array.from({ length: RECOVERY_CODES }, () =>
    base32(randomBytes(RECOVERY_BYTES)).toLowerCase(),
  );
  db.insert(recoveryCodes)
    .values(codes.map((code) => ({ userSeq, digest: sha256(code) })))
    .run();
  return codes.map((code) => code.replace(/(.{4})(?=.)/g, "$1-"));
}

/** Part of a change: uses a recovery code up. False if there is no such unused code. */
export function useRecoveryCode({ db, clock }: Parts, userSeq: number, given: string): boolean {
  // The alphabet of the codes has neither 0 nor 1.
  const code = given.toLowerCase().replace(/[\s-]/g, "").replaceAll("0", "o").replaceAll("1", "l");
  const match = and(
    eq(recoveryCodes.userSeq, userSeq),
    eq(recoveryCodes.digest, sha256(code)),
    isNull(recoveryCodes.usedAt),
  );
  const used = db.update(recoveryCodes).set({ usedAt: clock.now() }).where(match).returning().all();
  return used.length > 0;
}

/** Part of a change: without a factor, the recovery codes would sign in alone, so they end as well. */
export function removeIdleCodes({ db }: Pick<App, "db">, userSeq: number): void {
  if (factorsOf({ db }, userSeq).isOn) return;
  db.delete(recoveryCodes).where(eq(recoveryCodes.userSeq, userSeq)).run();
}

/** Part of a change: the user has no second factor any more. */
export function resetSecondFactor({ db }: Pick<App, "db">, userSeq: number): void {
  for (const table of [totpSecrets, passkeys, recoveryCodes]) {
    db.delete(table).where(eq(table.userSeq, userSeq)).run();
  }
}

/**
 * Part of a change: moves the steps of the last codes, because the clock was set. If it was set back,
 * the codes of the present time would be refused otherwise.
 */
export function shiftTotpSteps({ db }: Pick<App, "db">, byMs: number): void {
  db.sqlite
    .query("UPDATE totp_secrets SET last_step = max(0, last_step + +?)")
    .run(Math.floor(byMs / TOTP_STEP_MS));
}

function totpIsOn(): AppError {
  return new AppError(409, "CONFLICT", "An authenticator app is on already.", {
    suggestion: "Turn it off first to set up another one.",
  });
}

function totpNotBegun(): AppError {
  return new AppError(409, "INVALID_STATE", "The set-up of the authenticator app has not begun.", {
    suggestion: "Begin it again to get a new QR code.",
  });
}

export function wrongCode(): AppError {
  return fieldError("code", "invalid_value", "is wrong, was used before, or is too old");
}

function unreadableSecret(): AppError {
  return new AppError(
    409,
    "INVALID_STATE",
    "The stored secret of the authenticator app cannot be read, because the installation has another secret.",
    { suggestion: "Restore the installation secret, or sign in with a recovery code." },
  );
}
