/**
 * The signatures of Resend (Svix, that is Standard Webhooks), SendGrid and Mailgun. The octets of the
 * body are signed, so they are checked before the JSON is parsed; Mailgun signs a token in the JSON.
 */

import { createPublicKey, type KeyObject, verify } from "node:crypto";
import { hmac, isSameBytes } from "../../lib/crypto.ts";
import { textAt } from "./report.ts";

/** The greatest difference of the sender's clock to ours (Standard Webhooks: five minutes). */
const TOLERANCE_MS = 5 * 60_000;
/** Mailgun repeats a report for eight hours, and the signature may be of the first time. */
export const MAILGUN_AGE_MS = 12 * 60 * 60_000;

const SVIX_PREFIX = "whsec_";

/** The octets of a secret such as `whsec_…`; null if it is none. */
export function readSvixSecret(text: string): Buffer | null {
  const encoded = text.startsWith(SVIX_PREFIX) ? text.slice(SVIX_PREFIX.length) : "";
  if (!/^[A-Za-z0-9+/]{22,200}={0,2}$/.test(encoded)) return null;
  return Buffer.from(encoded, "base64");
}

/** Resend names the headers `svix-…`, and the standard `webhook-…`. */
export function isSignedBySvix(
  secret: Uint8Array,
  { headers, body, now }: { headers: Headers; body: Uint8Array; now: number },
): boolean {
  const read = (name: string) => headers.get(`svix-${name}`) ?? headers.get(`webhook-${name}`);
  const [id, timestamp, signatures] = [read("id"), read("timestamp"), read("signature")];
  if (id === null || timestamp === null || signatures === null) return false;
  if (!/^\d{1,12}$/.test(timestamp)) return false;
  if (Math.abs(now - Number(timestamp) * 1_000) > TOLERANCE_MS) return false;
  const expected = hmac(secret, `${id}.${timestamp}.`, body);
  return signatures
    .split(" ")
    .slice(0, 10)
    .some(
      (each) =>
        each.startsWith("v1,") && isSameBytes(Buffer.from(each.slice(3), "base64"), expected),
    );
}

/** The key that SendGrid shows; null if the text is no key for ECDSA. */
export function readSendGridKey(text: string): KeyObject | null {
  try {
    const der = Buffer.from(text, "base64");
    const key = createPublicKey({ key: der, format: "der", type: "spki" });
    return key.asymmetricKeyType === "ec" ? key : null;
  } catch {
    return null; // The operator gets an error for this text, which is no key.
  }
}

const SENDGRID_PREFIX = "x-twilio-email-event-webhook-";

/** ECDSA with SHA-256 of the time and the body. */
export function isSignedBySendGrid(
  key: KeyObject,
  { headers, body }: { headers: Headers; body: Uint8Array },
): boolean {
  const signature = headers.get(`${SENDGRID_PREFIX}signature`);
  const timestamp = headers.get(`${SENDGRID_PREFIX}timestamp`);
  if (signature === null || timestamp === null) return false;
  const signed = Buffer.concat([Buffer.from(timestamp), body]);
  return verify("sha256", signed, key, Buffer.from(signature, "base64"));
}

/** The token that Mailgun signed; null if the signature is wrong or too old. */
export function openMailgunToken(
  key: Uint8Array,
  { body, now }: { body: unknown; now: number },
): string | null {
  const timestamp = textAt(body, "signature", "timestamp");
  const token = textAt(body, "signature", "token");
  const signature = textAt(body, "signature", "signature");
  if (timestamp === null || token === null || signature === null) return null;
  if (!/^\d{1,12}$/.test(timestamp) || !/^[\w-]{1,100}$/.test(token)) return null;
  const age = now - Number(timestamp) * 1_000;
  if (age > MAILGUN_AGE_MS || age < -TOLERANCE_MS) return null;
  const isRight = isSameBytes(Buffer.from(signature, "hex"), hmac(key, timestamp, token));
  return isRight ? token : null;
}
