/**
 * The Sender Rewriting Scheme, by which a forwarder uses an envelope sender of its own domain, so that
 * SPF passes, and sends bounces back to the original sender. Pure.
 *
 * - `SRS0=<hash><number>=<day>=<domain>=<local>@<host>` stands for `<local>@<domain>`.
 * - `SRS1=<hash><number>=<first host>=<rest>@<host>` stands for `SRS0<rest>@<first host>`, so that an
 *   address does not grow with each forwarder. The first host checks the day.
 *
 * The number is that of the forwarded mail. The hash is a keyed digest, without which a stranger could
 * send mail through this server; it covers the project and the host as well, so an address leads
 * nowhere at the host of another project. It is compared without regard to the case of letters, because
 * servers on the way may change it.
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
/** Letters of base 32 that hold the largest exact integer. */
const MAX_NUMBER_LENGTH = 11;

/** RFC 4648 §6, lower case. */
const ALPHABET = "abcdefghijklmnopqrstuvwxyz234567";

/** Characters of a local part that needs no quotes, in ASCII. */
const LOCAL = /^[a-z0-9!#$%&'*+/=?^_`{|}~.-]{1,254}$/i;
const SRS0 =
  /^srs0[=+-]([a-z2-7]{8})([a-z2-7]{1,11})=([a-z2-7]{2})=([a-z0-9.-]{1,253})=(.{1,254})$/i;
const SRS1 = /^srs1[=+-]([a-z2-7]{8})([a-z2-7]{1,11})=([a-z0-9.-]{1,253})=([=+-].{1,254})$/i;
/** The forms of other forwarders, whose hashes may have any length. */
const FOREIGN_SRS0 = /^srs0([=+-].{1,254})$/i;
const FOREIGN_SRS1 = /^srs1[=+-][^=]{1,64}=([a-z0-9.-]{1,253})=([=+-].{1,254})$/i;

/** `number`: the number of the forwarded mail, which a bounce to the address is about. */
type Reversed =
  | { ok: true; address: string; number: number }
  /** form: it is not such an address; signature: it is not ours; expired: it is too old. */
  | { ok: false; reason: "form" | "signature" | "expired" };

/** The values that the hash covers in addition to the sender. */
type Binding = { project: number; host: string; number: string };

/**
 * The sender under which a forwarded message leaves from `host`. Null if the sender cannot be written
 * so: it has a quoted or non-ASCII local part, or the address would be too long.
 */
export function forwardedSender(
  key: Uint8Array,
  sender: string,
  forwarded: { project: number; host: string; number: number; at: number },
): string | null {
  const { local, domain } = splitAddress(sender);
  if (!LOCAL.test(local) || !isHostname(domain)) return null;
  const binding = { ...forwarded, number: writeNumber(forwarded.number) };
  const rewritten =
    guarded(key, { local, domain }, binding) ??
    plain(key, { local, domain }, binding, forwarded.at);
  const address = `${rewritten}@${forwarded.host}`;
  return address.length <= LONGEST_ADDRESS ? address : null;
}

/** The address that a bounce to an address of `forwardedSender` of the project is sent to. */
export function reverseSender(
  key: Uint8Array,
  address: string,
  { project, at }: { project: number; at: number },
): Reversed {
  const { local, domain: host } = splitAddress(address);
  const first = SRS0.exec(local);
  if (first !== null) {
    const [, hash = "", number = "", day = "", domain = "", rest = ""] = first;
    if (!LOCAL.test(rest) || !isHostname(domain)) return { ok: false, reason: "form" };
    const binding = { project, host, number };
    if (!isSigned(key, hash, binding, `${day}=${domain}=${rest}`)) {
      return { ok: false, reason: "signature" };
    }
    const age = (dayOf(at) - readDay(day) + DAYS) % DAYS;
    return age <= MAX_AGE_DAYS
      ? { ok: true, address: `${rest}@${domain}`, number: readNumber(number) }
      : { ok: false, reason: "expired" };
  }
  const [whole, hash = "", number = "", next = "", rest = ""] = SRS1.exec(local) ?? [];
  if (whole === undefined || !LOCAL.test(rest) || !isHostname(next)) {
    return { ok: false, reason: "form" };
  }
  return isSigned(key, hash, { project, host, number }, `${next}=${rest}`)
    ? { ok: true, address: `SRS0${rest}@${next}`, number: readNumber(number) }
    : { ok: false, reason: "signature" };
}

/** True if the address has one of the two forms; its hash may be wrong. */
export function hasSrsForm(address: string): boolean {
  const { local } = splitAddress(address);
  return SRS0.test(local) || SRS1.test(local);
}

/** The local part for a sender that another forwarder rewrote; null for others. */
function guarded(
  key: Uint8Array,
  { local, domain }: { local: string; domain: string },
  binding: Binding,
): string | null {
  const [, host, kept] = FOREIGN_SRS1.exec(local) ?? [];
  const [, rest] = FOREIGN_SRS0.exec(local) ?? [];
  const signed =
    host !== undefined && kept !== undefined
      ? `${host}=${kept}`
      : rest === undefined
        ? null
        : `${domain}=${rest}`;
  return signed === null ? null : `SRS1=${hashOf(key, binding, signed)}${binding.number}=${signed}`;
}

function plain(
  key: Uint8Array,
  sender: { local: string; domain: string },
  binding: Binding,
  at: number,
): string {
  const signed = `${writeDay(dayOf(at))}=${sender.domain}=${sender.local}`;
  return `SRS0=${hashOf(key, binding, signed)}${binding.number}=${signed}`;
}

function splitAddress(address: string): { local: string; domain: string } {
  const at = address.lastIndexOf("@");
  if (at === -1 || address.length > 2 * LONGEST_ADDRESS) return { local: "", domain: "" };
  return { local: address.slice(0, at), domain: address.slice(at + 1) };
}

function isSigned(key: Uint8Array, hash: string, binding: Binding, signed: string): boolean {
  return isSameBytes(Buffer.from(hash.toLowerCase()), Buffer.from(hashOf(key, binding, signed)));
}

/** Five bits of the digest for each letter. */
function hashOf(key: Uint8Array, { project, host, number }: Binding, signed: string): string {
  // None of the first three contains a blank, so two different bindings never give the same text.
  const text = `${project} ${number} ${host} ${signed}`;
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

function writeNumber(value: number): string {
  let text = "";
  for (let rest = value; text === "" || rest > 0; rest = Math.floor(rest / 32)) {
    text = ALPHABET.charAt(rest % 32) + text;
  }
  return text.slice(-MAX_NUMBER_LENGTH);
}

function readNumber(text: string): number {
  return Array.from(text.toLowerCase()).reduce(
    (sum, letter) => sum * 32 + ALPHABET.indexOf(letter),
    0,
  );
}
