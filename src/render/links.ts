/**
 * Links that work without a login (docs/interface.md#tracking). A token contains the id of the
 * email record, which refers to the contact. It is signed with a key of the installation, not with
 * an API key.
 *
 * Recipient links and tracking links are signed with different keys. A token of a redirect, which
 * may leak into logs and browser histories, can therefore not unsubscribe a contact.
 */

import { hmac, hmacInto, isSameBytes } from "../lib/crypto.ts";

export type RecipientLinks = { unsubscribeUrl: string; subscribeUrl: string; manageUrl: string };

const ID_BYTES = 16;
const SIGNATURE_BYTES = 12;
const NO_BYTES = new Uint8Array();

/** The links of one email record. `base` has no trailing slash. */
export function recipientLinks(base: string, key: Uint8Array, emailId: string): RecipientLinks {
  const token = issueToken(key, emailId);
  return {
    unsubscribeUrl: `${base}/unsubscribe/${token}`,
    subscribeUrl: `${base}/subscribe/${token}`,
    manageUrl: `${base}/manage/${token}`,
  };
}

/** Prefix of the public pages of campaigns, on the server that has the pages of recipients. */
export function archiveBase({ unsubscribeUrl }: RecipientLinks): string {
  return `${unsubscribeUrl.slice(0, unsubscribeUrl.lastIndexOf("/unsubscribe/"))}/archive/`;
}

/** URL of the pixel whose request counts as an open. */
export function pixelUrl(base: string, key: Uint8Array, emailId: string): string {
  return `${base}/o/${issueToken(key, emailId)}.gif`;
}

/** A base URL without a slash at the end, with another host: the same scheme and port. */
export function baseAtHost(base: string, host: string): string {
  const { protocol, port, pathname } = new URL(base);
  const path = pathname === "/" ? "" : pathname;
  return `${protocol}//${host}${port === "" ? "" : `:${port}`}${path}`;
}

/** Prefix of the URLs of all tracked links. */
export function redirectBase(base: string): string {
  return `${base}/c/`;
}

/**
 * URL that counts a click and redirects to `target`. The token signs both the email id and the
 * target.
 */
export function redirectUrl(
  base: string,
  key: Uint8Array,
  link: { emailId: string; target: string },
): string {
  const target = Buffer.from(link.target);
  const token = issueToken(key, link.emailId, target);
  return `${redirectBase(base)}${token}/${target.toString("base64url")}`;
}

/**
 * The email id and target of a tracked link; null if its signature is wrong, so no target can be
 * forged.
 */
export function openRedirect(
  key: Uint8Array,
  token: string,
  encodedTarget: string,
): { emailId: string; target: string } | null {
  const target = exactBytes(encodedTarget);
  const emailId = target === null ? null : openToken(key, token, target);
  return target === null || emailId === null ? null : { emailId, target: target.toString() };
}

/**
 * A token of 38 base64url characters: email id and signature. The signature also covers `covered`.
 */
export function issueToken(
  key: Uint8Array,
  emailId: string,
  covered: Uint8Array = NO_BYTES,
): string {
  if (emailId !== latestId) {
    const written = ID.write(emailId.replaceAll("-", ""), "hex");
    // A shorter id would be signed together with the rest of the one before.
    if (written !== ID_BYTES) throw new Error(`${emailId} is not the id of an email`);
    latestId = emailId;
  }
  hmacInto(DIGEST, key, [ID, covered]);
  return TOKEN.toString("base64url");
}

/**
 * Memory for one token while it is encoded: the id and then the digest, of which the first octets
 * are the signature. The tokens of one mail are issued one after the other, so its id stays there.
 */
const MEMORY = Buffer.alloc(ID_BYTES + 64);
const ID = MEMORY.subarray(0, ID_BYTES);
const DIGEST = MEMORY.subarray(ID_BYTES);
const TOKEN = MEMORY.subarray(0, ID_BYTES + SIGNATURE_BYTES);
let latestId = "";

/** The email id in a token; null if the token is malformed or its signature is wrong. */
export function openToken(
  key: Uint8Array,
  token: string,
  covered: Uint8Array = NO_BYTES,
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

/** The id has a fixed length, so the boundary between it and `covered` is unambiguous. */
function sign(key: Uint8Array, id: Uint8Array, covered: Uint8Array): Uint8Array {
  return hmac(key, id, covered).subarray(0, SIGNATURE_BYTES);
}

/**
 * The decoder ignores invalid characters; this accepts only the one canonical encoding, else null.
 */
function exactBytes(encoded: string): Buffer | null {
  const bytes = Buffer.from(encoded, "base64url");
  return bytes.toString("base64url") === encoded ? bytes : null;
}
