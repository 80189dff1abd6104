/**
 * Codes of authenticator apps: TOTP (RFC 6238) with SHA-1, 6 digits and steps of 30 seconds, the
 * values that all apps support.
 */

import { createHmac } from "node:crypto";
import { isSameBytes } from "../../lib/crypto.ts";

export const TOTP_STEP_MS = 30_000;
/** Steps before and after the present one whose codes are accepted, for clocks that differ. */
const SKEW_STEPS = 1;
const DIGITS = 6;
const BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/** The code of a time step (RFC 4226 §5.3). */
export function totpCode(secret: Uint8Array, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const digest = createHmac("sha1", secret).update(counter).digest();
  const offset = digest.readUInt8(digest.byteLength - 1) & 0xf;
  const number = digest.readUInt32BE(offset) & 0x7fffffff;
  return String(number % 10 ** DIGITS).padStart(DIGITS, "0");
}

/**
 * The time step to which a code belongs; null for a wrong code, and for one of `lastStep` or before,
 * because each code is accepted once (RFC 6238 §5.2).
 */
export function acceptedStep(
  secret: Uint8Array,
  code: string,
  { now, lastStep }: { now: number; lastStep: number },
): number | null {
  const present = Math.floor(now / TOTP_STEP_MS);
  const given = Buffer.from(code);
  for (let step = present - SKEW_STEPS; step <= present + SKEW_STEPS; step++) {
    const isRight = step >= 0 && isSameBytes(Buffer.from(totpCode(secret, step)), given);
    if (isRight && step > lastStep) return step;
  }
  return null;
}

/** Base 32 without padding (RFC 4648 §6). */
export function base32(bytes: Uint8Array): string {
  let text = "";
  let bits = 0;
  let value = 0;
  for (const byte of bytes) {
    value = ((value << 8) | byte) & 0xfff;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += BASE32.charAt((value >>> bits) & 31);
    }
  }
  return bits > 0 ? text + BASE32.charAt((value << (5 - bits)) & 31) : text;
}

/** The link that the QR code holds, as authenticator apps read it. */
export function totpUri({ secret, email, host }: { secret: string; email: string; host: string }) {
  const issuer = `Mailstead (${host})`;
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(email)}`;
  return `otpauth://totp/${label}?secret=${secret}&issuer=${encodeURIComponent(issuer)}`;
}
