/**
 * Links that work without logging in (docs/interface.md#tracking). A token names the email record, which
 * names the contact, and is signed with a key of the installation: API keys have no part in it.
 *
 * Recipient links and tracking links are signed with different keys, so that what a redirect leaks
 * into logs and histories unsubscribes nobody.
 */

import { hmac, isSameBytes } from "../lib/crypto.ts";

export type RecipientLinks = { unsubscribeUrl: string; subscribeUrl: string; manageUrl: string };

const ID_BYTES = 16;
const SIGNATURE_BYTES = 12;
const NOTHING = new Uint8Array();

/** `base` has no slash at its end. */
export function recipientLinks(base: string, key: Uint8Array, emailId: string): RecipientLinks {
  const token = issueToken(key, emailId);
  return {
    unsubscribeUrl: `${base}/unsubscribe/${token}`,
    subscribeUrl: `${base}/subscribe/${token}`,
    manageUrl: `${base}/manage/${token}`,
  };
}

/** Address of the pixel that tells that a mail was opened. */
export function pixelUrl(base: string, key: Uint8Array, emailId: string): string {
  return `${base}/o/${issueToken(key, emailId)}.gif`;
}

/** What all redirects of tracked links begin with. */
export function redirectBase(base: string): string {
  return `${base}/c/`;
}

/** Address that counts a click and leads to `target`. The token covers both mail and target. */
export function redirectUrl(
  base: string,
  key: Uint8Array,
  link: { emailId: string; target: string },
): string {
  const target = Buffer.from(link.target);
  const token = issueToken(key, link.emailId, target);
  return `${redirectBase(base)}${token}/${target.toString("base64url")}`;
}

/** What a redirect of ours stands for, or null: nobody can make one that leads elsewhere. */
export function openRedirect(
  key: Uint8Array,
  token: string,
  encodedTarget: string,
): { emailId: string; target: string } | null {
  const target = exactBytes(encodedTarget);
  const emailId = target === null ? null : openToken(key, token, target);
  return target === null || emailId === null ? null : { emailId, target: target.toString() };
}

/** 38 characters of base64url: email id and signature. `covered` is signed with it. */
export function issueToken(
  key: Uint8Array,
  emailId: string,
  covered: Uint8Array = NOTHING,
): string {
  const id = Buffer.from(emailId.replaceAll("-", ""), "hex");
  return Buffer.concat([id, sign(key, id, covered)]).toString("base64url");
}

/** The email id in a token of ours, or null. */
export function openToken(
  key: Uint8Array,
  token: string,
  covered: Uint8Array = NOTHING,
): string | null {
  const bytes = exactBytes(token);
  if (bytes?.byteLength !== ID_BYTES + SIGNATURE_BYTES) return null;
  const id = bytes.subarray(0, ID_BYTES);
  if (!isSameBytes(bytes.subarray(ID_BYTES), sign(key, id, covered))) return null;
  const hex = id.toString("hex");
  return [8, 12, 16, 20, 32]
    .map((end, i, ends) => hex.slice(i === 0 ? 0 : ends[i - 1], end))
    .join("-");
}

/** The id has a fixed length, so what follows cannot be mistaken for part of it. */
function sign(key: Uint8Array, id: Uint8Array, covered: Uint8Array): Uint8Array {
  return hmac(key, Buffer.concat([id, covered])).subarray(0, SIGNATURE_BYTES);
}

/** The decoder overlooks characters that are none of its own: of each link there is one spelling. */
function exactBytes(encoded: string): Buffer | null {
  const bytes = Buffer.from(encoded, "base64url");
  return bytes.toString("base64url") === encoded ? bytes : null;
}
