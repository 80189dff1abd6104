/**
 * The Sender Rewriting Scheme, by which a forwarder uses an envelope sender of its own domain, so that
 * SPF passes, and sends bounces back to the original sender. Pure.
 *
 * - `SRS0=<hash>=<day>=<domain>=<local>@<host>` stands for `<local>@<domain>`.
 * - `SRS1=<hash>=<first host>=<rest>@<host>` stands for `SRS0<rest>@<first host>`, so that an address
 *   does not grow with each forwarder. The first host checks the day.
 *
 * The hash is a keyed digest, without which anybody could send mail through this server. It is
 * compared without regard to the case of letters, because servers on the way may change it.
 */

import { hmac, isSameBytes } from "../../lib/crypto.ts";
import { isHostname } from "../mime/address.ts";

/** RFC 5321 §4.5.3.1.3: 256 octets with the angle brackets. */
const LONGEST_ADDRESS = 254;
const DAY_MS = 24 * 60 * 60_000;
/** Days after which a bounce is not accepted any more. */
const MAX_AGE_DAYS = 30;
/** Two letters of base 32 hold the day. */
const DAYS = 1024;
const HASH_LENGTH = 8;

/** RFC 4648 §6, lower case. */
const ALPHABET = "abcdefghijklmnopqrstuvwxyz234567";

/** Characters of a local part that needs no quotes, in ASCII. */
const LOCAL = /^[a-z0-9!#$%&'*+/=?^_`{|}~.-]{1,254}$/i;
const SRS0 = /^srs0([=+-])([a-z2-7]{8})=([a-z2-7]{2})=([a-z0-9.-]{1,253})=(.{1,254})$/i;
const SRS1 = /^srs1[=+-]([a-z2-7]{8})=([a-z0-9.-]{1,253})=([=+-].{1,254})$/i;
/** The forms of other forwarders, whose hashes may have any length. */
const FOREIGN_SRS0 = /^srs0([=+-].{1,254})$/i;
const FOREIGN_SRS1 = /^srs1[=+-][^=]{1,64}=([a-z0-9.-]{1,253})=([=+-].{1,254})$/i;

type Reversed =
  | { ok: true; address: string }
  /** form: it is not such an address; signature: it is not ours; expired: it is too old. */
  | { ok: false; reason: "form" | "signature" | "expired" };

/**
 * The sender under which a forwarded message leaves from `host`. Null if the sender cannot be written
 * so: it has a quoted or non-ASCII local part, or the address would be too long.
 */
export function forwardedSender(
  key: Uint8Array,
  sender: string,
  { host, at }: { host: string; at: number },
): string | null {
  const { local, domain } = splitAddress(sender);
  if (!LOCAL.test(local) || !isHostname(domain)) return null;
  const rewritten = guarded(key, local, domain) ?? plain(key, { local, domain }, at);
  const address = `${rewritten}@${host}`;
  return address.length <= LONGEST_ADDRESS ? address : null;
}

/** The address that a bounce to an address of `forwardedSender` is sent to. */
export function reverseSender(key: Uint8Array, address: string, at: number): Reversed {
  const { local } = splitAddress(address);
  const first = SRS0.exec(local);
  if (first !== null) {
    const [, , hash = "", day = "", domain = "", rest = ""] = first;
    if (!LOCAL.test(rest) || !isHostname(domain)) return { ok: false, reason: "form" };
    if (!isSigned(key, hash, `${day}=${domain}=${rest}`)) return { ok: false, reason: "signature" };
    const age = (dayOf(at) - readDay(day) + DAYS) % DAYS;
    return age <= MAX_AGE_DAYS
      ? { ok: true, address: `${rest}@${domain}` }
      : { ok: false, reason: "expired" };
  }
  const [whole, hash = "", host = "", rest = ""] = SRS1.exec(local) ?? [];
  if (whole === undefined || !LOCAL.test(rest) || !isHostname(host)) {
    return { ok: false, reason: "form" };
  }
  return isSigned(key, hash, `${host}=${rest}`)
    ? { ok: true, address: `SRS0${rest}@${host}` }
    : { ok: false, reason: "signature" };
}

/** Whether the address has one of the two forms; its hash may be wrong. */
export function hasSrsForm(address: string): boolean {
  const { local } = splitAddress(address);
  return SRS0.test(local) || SRS1.test(local);
}

/** The local part for a sender that another forwarder rewrote; null for others. */
function guarded(key: Uint8Array, local: string, domain: string): string | null {
  const [, host, kept] = FOREIGN_SRS1.exec(local) ?? [];
  const [, rest] = FOREIGN_SRS0.exec(local) ?? [];
  const signed =
    host !== undefined && kept !== undefined
      ? `${host}=${kept}`
      : rest === undefined
        ? null
        : `${domain}=${rest}`;
  return signed === null ? null : `SRS1=${hashOf(key, signed)}=${signed}`;
}

function plain(key: Uint8Array, sender: { local: string; domain: string }, at: number): string {
  const signed = `${writeDay(dayOf(at))}=${sender.domain}=${sender.local}`;
  return `SRS0=${hashOf(key, signed)}=${signed}`;
}

function splitAddress(address: string): { local: string; domain: string } {
  const at = address.lastIndexOf("@");
  if (at === -1 || address.length > 2 * LONGEST_ADDRESS) return { local: "", domain: "" };
  return { local: address.slice(0, at), domain: address.slice(at + 1) };
}

function isSigned(key: Uint8Array, hash: string, signed: string): boolean {
  return isSameBytes(Buffer.from(hash.toLowerCase()), Buffer.from(hashOf(key, signed)));
}

/** Five bits of the digest for each letter. */
function hashOf(key: Uint8Array, text: string): string {
  const digest = hmac(key, Buffer.from(text.toLowerCase()));
  return Array.from({ length: HASH_LENGTH }, (_, i) => ALPHABET.charAt((digest[i] ?? 0) & 31)).join(
    "",
  );
}

function dayOf(at: number): number {
  return Math.floor(at / DAY_MS) % DAYS;
}

function writeDay(day: number): string {
  return ALPHABET.charAt(day >> 5) + ALPHABET.charAt(day & 31);
}

function readDay(text: string): number {
  const [high = "", low = ""] = text.toLowerCase();
  return (ALPHABET.indexOf(high) << 5) | ALPHABET.indexOf(low);
}
