/** Creates the secrets of webhooks and signs messages (Standard Webhooks specification). */

import { randomBytes } from "node:crypto";
import { deriveKey, hmac, seal, unseal } from "../../lib/crypto.ts";
import { perApp } from "../../lib/per-app.ts";
import type { App } from "../../core/app.ts";

/** `svix` has the same signature under its older names, which Resend uses. */
export type HeaderPrefix = "webhook" | "svix";

const SECRET_PREFIX = "whsec_";
const SECRET_BYTES = 24;

/** The time for which the old secret also signs after a rotation. */
export const OVERLAP_MS = 24 * 60 * 60 * 1000;

/** The columns of a webhook with its sealed secrets. */
export type StoredSecrets = {
  secret: Uint8Array;
  previousSecret: Uint8Array | null;
  /** Milliseconds since the epoch. */
  previousUntil: number | null;
};

const sealKey = perApp(({ secret }: App) => deriveKey(secret, "webhook-secrets"));

function open(app: App, sealed: Uint8Array): Buffer {
  const key = unseal(sealKey(app), sealed);
  if (key === null) throw new UnreadableSecretError();
  return key;
}

/** Creates a secret: `text` is shown to the caller once, `sealed` is stored. */
export function makeSecret(app: App): { text: string; sealed: Buffer } {
  const key = randomBytes(SECRET_BYTES);
  return { text: `${SECRET_PREFIX}${key.toString("base64")}`, sealed: seal(sealKey(app), key) };
}

/** The keys that sign at `now`, newest first. Throws UnreadableSecretError. */
export function signingKeysOf(
  app: App,
  { secret, previousSecret, previousUntil }: StoredSecrets,
  now: number,
): Buffer[] {
  const isOverlap = previousSecret !== null && previousUntil !== null && now < previousUntil;
  return isOverlap ? [open(app, secret), open(app, previousSecret)] : [open(app, secret)];
}

/** The names of the headers begin with `prefix`. */
type Message = { id: string; body: string; prefix?: HeaderPrefix };

/** The headers of one try. All tries have the same id; the timestamp is that of this try. */
export function signedHeaders(
  { id, body, prefix = "webhook" }: Message,
  keys: readonly Uint8Array[],
  now: number,
): Record<string, string> {
  const timestamp = Math.floor(now / 1000);
  const signatures = keys.map(
    (key) => `v1,${hmac(key, `${id}.${timestamp}.${body}`).toString("base64")}`,
  );
  return {
    [`${prefix}-id`]: id,
    [`${prefix}-timestamp`]: String(timestamp),
    [`${prefix}-signature`]: signatures.join(" "),
  };
}

export class UnreadableSecretError extends Error {
  constructor() {
    super(
      "a stored webhook secret cannot be decrypted: it was sealed with another installation secret " +
        "(--secret, or the file “secret” in the data folder)",
    );
  }
}
