/**
 * Addresses that hold a signed id: `<prefix><token>@<host>`. The token holds the id and a keyed digest
 * of it, in base32, since servers on the way may change the case of letters.
 */

import { hmac, isSameBytes } from "./crypto.ts";
import { bytesOfId, idOfBytes } from "./id.ts";

const ID_BYTES = 16;
const SIGNATURE_BYTES = 12;
const TOKEN = /^[a-z2-7]{45}$/;
/** RFC 5321 §4.5.3.1.3: 256 octets with the angle brackets. */
const LONGEST_ADDRESS = 254;

/** 45 octets between the prefix and the @. Null where the host is too long for an address. */
export function makeSignedAddress(
  prefix: string,
  key: Uint8Array,
  { id, host }: { id: string; host: string },
): string | null {
  const bytes = bytesOfId(id);
  const token = encodeBase32(Buffer.concat([bytes, sign(key, bytes)]));
  const address = `${prefix}${token}@${host}`;
  return address.length <= LONGEST_ADDRESS ? address : null;
}

/** The id in an address; null if it has another prefix or form, or its signature is wrong. */
export function openSignedAddress(prefix: string, key: Uint8Array, address: string): string | null {
  const token = tokenIn(prefix, address);
  if (token === null) return null;
  const bytes = decodeBase32(token);
  const id = bytes.subarray(0, ID_BYTES);
  // Bits that no octet uses must be zero: one address has one spelling.
  const isOurs =
    encodeBase32(bytes) === token && isSameBytes(bytes.subarray(ID_BYTES), sign(key, id));
  return isOurs ? idOfBytes(id) : null;
}

/** Whether an address has the form of a signed address with this prefix. */
export function hasSignedForm(prefix: string, address: string): boolean {
  return tokenIn(prefix, address) !== null;
}

function tokenIn(prefix: string, address: string): string | null {
  const local = address.slice(0, Math.max(0, address.lastIndexOf("@"))).toLowerCase();
  const token = local.slice(prefix.length);
  return local.startsWith(prefix) && TOKEN.test(token) ? token : null;
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
