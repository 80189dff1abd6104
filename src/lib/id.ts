/**
 * Identifiers: UUIDv7 strings (RFC 9562 §5.7), sortable by creation (docs/interface.md#requests).
 */

import { BASE62, randomBase62 } from "./crypto.ts";

const SHORT_TIME_CHARACTERS = 8;
const SHORT_RANDOM_CHARACTERS = 14;
/** Random characters of this many short ids are made at once, which takes a tenth of the time. */
const SHORT_IDS_AT_ONCE = 128;
let random = { text: "", used: 0 };

export function newId(epochMs: number): string {
  return Bun.randomUUIDv7("hex", epochMs);
}

/**
 * 22 characters of base 62, sortable by creation like the others, with 83 random bits. Ids that were
 * created one after the other are neighbours in an index, so a transaction writes few of its pages.
 */
export function newShortId(epochMs: number): string {
  let time = "";
  for (let rest = epochMs; time.length < SHORT_TIME_CHARACTERS; rest = Math.floor(rest / 62)) {
    time = BASE62.charAt(rest % 62) + time;
  }
  if (random.used === random.text.length) {
    random = { text: randomBase62(SHORT_IDS_AT_ONCE * SHORT_RANDOM_CHARACTERS), used: 0 };
  }
  const from = random.used;
  random.used += SHORT_RANDOM_CHARACTERS;
  return time + random.text.slice(from, random.used);
}

const UUID_V7 = /^([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** The time in milliseconds with which `newId` made the id; null for another text. */
export function timeOfId(id: string): number | null {
  const [, high, low] = UUID_V7.exec(id) ?? [];
  return high === undefined || low === undefined ? null : Number.parseInt(high + low, 16);
}

/** Converts an id to its 16 bytes. */
export function bytesOfId(id: string): Buffer {
  return Buffer.from(id.replaceAll("-", ""), "hex");
}

/** Converts 16 bytes to an id. */
export function idOfBytes(bytes: Uint8Array): string {
  const hex = Buffer.from(bytes).toString("hex");
  const groups = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20)];
  return [...groups, hex.slice(20)].join("-");
}
