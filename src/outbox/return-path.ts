/**
 * Where bounces go (docs/delivery.md#C5): `b+<token>@<bounce host>`. The token holds the email's id
 * and a keyed digest of it, in base32, since servers on the way may change the case of letters.
 */

import { hmac, isSameBytes } from "../lib/crypto.ts";
import { bytesOfId, idOfBytes } from "../lib/id.ts";

const PREFIX = "b+";
const ID_BYTES = 16;
const SIGNATURE_BYTES = 12;
const TOKEN = /^b\+([a-z2-7]{45})$/;
/** RFC 5321 §4.5.3.1.3: 256 octets with the angle brackets. */
const LONGEST_ADDRESS = 254;

/** The host that bounces of a sending domain go to, and the name that SPF is asked about. */
export function bounceHostOf(domain: string): string {
  return `bounce.${domain}`;
}

/** 47 octets before the @. Null where the host is too long for an address. */
export function makeReturnPath(key: Uint8Array, emailId: string, host: string): string | null {
  const id = bytesOfId(emailId);
  const token = encodeBase32(Buffer.concat([id, sign(key, id)]));
  const address = `${PREFIX}${token}@${host}`;
  return address.length <= LONGEST_ADDRESS ? address : null;
}

/** The id of the email that a bounce to this address is about; null if it is none of ours. */
export function openReturnPath(key: Uint8Array, address: string): string | null {
  const local = address.slice(0, Math.max(0, address.lastIndexOf("@")));
  const token = TOKEN.exec(local.toLowerCase())?.[1];
  if (token === undefined) return null;
  const bytes = decodeBase32(token);
  const id = bytes.subarray(0, ID_BYTES);
  // Bits that no octet uses must be zero: one address has one spelling.
  const isOurs =
    encodeBase32(bytes) === token && isSameBytes(bytes.subarray(ID_BYTES), sign(key, id));
  return isOurs ? idOfBytes(id) : null;
}

function sign(key: Uint8Array, id: Uint8Array): Uint8Array {
  return hmac(key, id).subarray(0, SIGNATURE_BYTES);
}

/** RFC 4648 §6, lower case, without padding. */
const ALPHABET = "abcdefghijklmnopqrstuvwxyz234567";

function encodeBase32(bytes: Uint8Array): string {
  let text = "";
  let bits = 0;
  let value = 0;
  for (const byte of bytes) {
    value = ((value << 8) | byte) & 0xfff;
    for (bits += 8; bits >= 5; bits -= 5) text += ALPHABET.charAt((value >> (bits - 5)) & 31);
  }
  return bits === 0 ? text : text + ALPHABET.charAt((value << (5 - bits)) & 31);
}

function decodeBase32(text: string): Buffer {
  const bytes: number[] = [];
  let bits = 0;
  let value = 0;
  for (const character of text) {
    value = ((value << 5) | ALPHABET.indexOf(character)) & 0xfff;
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push((value >> bits) & 0xff);
  }
  return Buffer.from(bytes);
}
