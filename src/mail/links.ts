/**
 * Links that let a recipient act without logging in (interface decision L). A token names the
 * email record, which names the contact, and is signed with a key of the installation.
 */

import { hmac, isSameBytes } from "../lib/crypto.ts";

export type RecipientLinks = { unsubscribeUrl: string; subscribeUrl: string; manageUrl: string };

const ID_BYTES = 16;
const SIGNATURE_BYTES = 12;

/** `base` has no slash at its end. */
export function recipientLinks(base: string, key: Uint8Array, emailId: string): RecipientLinks {
  const token = issueToken(key, emailId);
  return {
    unsubscribeUrl: `${base}/unsubscribe/${token}`,
    subscribeUrl: `${base}/subscribe/${token}`,
    manageUrl: `${base}/manage/${token}`,
  };
}

/** 38 characters of base64url: email id and signature. */
export function issueToken(key: Uint8Array, emailId: string): string {
  const id = Buffer.from(emailId.replaceAll("-", ""), "hex");
  return Buffer.concat([id, sign(key, id)]).toString("base64url");
}

/** The email id in a token of ours, or null. */
export function openToken(key: Uint8Array, token: string): string | null {
  const bytes = Buffer.from(token, "base64url");
  if (bytes.byteLength !== ID_BYTES + SIGNATURE_BYTES) return null;
  const id = bytes.subarray(0, ID_BYTES);
  if (!isSameBytes(bytes.subarray(ID_BYTES), sign(key, id))) return null;
  const hex = id.toString("hex");
  return [8, 12, 16, 20, 32]
    .map((end, i, ends) => hex.slice(i === 0 ? 0 : ends[i - 1], end))
    .join("-");
}

function sign(key: Uint8Array, id: Uint8Array): Uint8Array {
  return hmac(key, id).subarray(0, SIGNATURE_BYTES);
}
