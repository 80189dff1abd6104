/** Reads the answer for one name and record type from a DNS response (RFC 1035, RFC 2308). */

import type { Answer, DecodedPacket } from "dns-packet";

/**
 * - records: at least one record; `ttlSeconds` is the remaining time for which they may be cached.
 * - none: the name exists, but it has no record of this type.
 * - nxdomain: the name does not exist.
 * - failed: no server gave an answer; `reason` is one line for people.
 */
export type DnsAnswer<Value> =
  | { kind: "records"; records: readonly Value[]; ttlSeconds: number }
  | { kind: "none" }
  | { kind: "nxdomain" }
  | { kind: "failed"; reason: string };

export type MxRecord = {
  preference: number;
  /** Lower case, without the final dot; "." is the null MX (RFC 7505). */
  exchange: string;
};

/** The authorities that may issue certificates (RFC 8659 §4.1). */
export type CaaRecord = {
  /** Whether an authority that does not know the tag must issue nothing. */
  isCritical: boolean;
  /** Lower case, such as `issue`. */
  tag: string;
  value: string;
};

/** A record type with the function that reads its records. */
export type RecordKind<Value> = {
  type: "A" | "AAAA" | "CAA" | "MX" | "NS" | "PTR" | "TXT";
  /** Returns null if the record has another type. */
  read(record: Answer): Value | null;
};

export const A: RecordKind<string> = {
  type: "A",
  read: (record) => (record.type === "A" ? record.data : null),
};

export const AAAA: RecordKind<string> = {
  type: "AAAA",
  read: (record) => (record.type === "AAAA" ? record.data : null),
};

export const CAA: RecordKind<CaaRecord> = {
  type: "CAA",
  read: (record) =>
    record.type === "CAA"
      ? {
          isCritical: record.data.issuerCritical === true,
          tag: record.data.tag.toLowerCase(),
          value: record.data.value,
        }
      : null,
};

export const MX: RecordKind<MxRecord> = {
  type: "MX",
  read: (record) =>
    record.type === "MX"
      ? {
          preference: record.data.preference ?? 0,
          exchange: canonicalName(record.data.exchange),
        }
      : null,
};

export const NS: RecordKind<string> = {
  type: "NS",
  read: (record) => (record.type === "NS" ? canonicalName(record.data) : null),
};

export const PTR: RecordKind<string> = {
  type: "PTR",
  read: (record) => (record.type === "PTR" ? canonicalName(record.data) : null),
};

/** The strings of one record are concatenated without a separator (RFC 7208 §3.3). */
export const TXT: RecordKind<string> = {
  type: "TXT",
  read: (record) => {
    if (record.type !== "TXT") return null;
    const strings = Array.isArray(record.data) ? record.data : [record.data];
    return Buffer.concat(strings.map((string) => Buffer.from(string))).toString("utf8");
  },
};

/** Converts a name to lower case without the final dot; the root stays ".". */
export function canonicalName(name: string): string {
  const lower = name.toLowerCase();
  return lower.length > 1 && lower.endsWith(".") ? lower.slice(0, -1) : lower;
}

const NOERROR = 0;
const NXDOMAIN = 3;
const RCODES: Readonly<Record<number, string>> = {
  1: "FORMERR",
  2: "SERVFAIL",
  4: "NOTIMP",
  5: "REFUSED",
};

/** Reads the response code (RFC 1035 §4.1.1) with its upper bits from EDNS (RFC 6891 §6.1.3). */
export function responseCode(packet: DecodedPacket): number {
  const lower = (packet.flags ?? 0) & 0xf;
  const opt = packet.additionals?.find((record) => record.type === "OPT");
  return opt?.type === "OPT" ? (opt.extendedRcode << 4) | lower : lower;
}

function nameResponseCode(code: number): string {
  return RCODES[code] ?? `response code ${code}`;
}

/**
 * Content of a response. `negativeSeconds` is the time for which a negative answer may be cached;
 * null if the response does not contain it.
 */
export type Reading<Value> =
  | { kind: "records"; records: readonly Value[]; ttlSeconds: number }
  | { kind: "none" | "nxdomain"; negativeSeconds: number | null }
  | { kind: "failed"; reason: string };

export function readAnswer<Value>(
  packet: DecodedPacket,
  name: string,
  kind: RecordKind<Value>,
): Reading<Value> {
  const code = responseCode(packet);
  if (code !== NOERROR && code !== NXDOMAIN) {
    return { kind: "failed", reason: nameResponseCode(code) };
  }
  const answers = packet.answers ?? [];
  const owner = followAliases(answers, name);
  if (owner === null) return { kind: "failed", reason: "a loop of CNAME records" };
  const records = collectRecords(answers, owner.name, kind);
  if (records.values.length > 0) {
    const ttlSeconds = Math.min(owner.ttlSeconds, records.ttlSeconds);
    return { kind: "records", records: records.values, ttlSeconds };
  }
  // The code applies to the last name of the chain (RFC 6604 §3).
  const negativeSeconds = readNegativeSeconds(packet);
  return { kind: code === NXDOMAIN ? "nxdomain" : "none", negativeSeconds };
}

type Owner = { name: string; ttlSeconds: number };

const LONGEST_ALIAS_CHAIN = 16;

/** Follows the CNAME records to the last name (RFC 1034 §3.6.2); null if they form a loop. */
function followAliases(answers: readonly Answer[], start: string): Owner | null {
  const aliases = new Map<string, Owner>();
  for (const record of answers) {
    if (record.type !== "CNAME") continue;
    const target = { name: canonicalName(record.data), ttlSeconds: record.ttl ?? 0 };
    aliases.set(canonicalName(record.name), target);
  }
  let owner: Owner = { name: start, ttlSeconds: Infinity };
  for (let steps = 0; steps <= LONGEST_ALIAS_CHAIN; steps++) {
    const next = aliases.get(owner.name);
    if (next === undefined) return owner;
    owner = { name: next.name, ttlSeconds: Math.min(owner.ttlSeconds, next.ttlSeconds) };
  }
  return null;
}

function collectRecords<Value>(
  answers: readonly Answer[],
  owner: string,
  kind: RecordKind<Value>,
): { values: Value[]; ttlSeconds: number } {
  const values: Value[] = [];
  let ttlSeconds = Infinity;
  for (const record of answers) {
    if (record.type === "OPT" || canonicalName(record.name) !== owner) continue;
    const value = kind.read(record);
    if (value === null) continue;
    values.push(value);
    ttlSeconds = Math.min(ttlSeconds, record.ttl ?? 0);
  }
  return { values, ttlSeconds };
}

/** Returns the smaller of the TTL of the SOA record and its field MINIMUM (RFC 2308 §5). */
function readNegativeSeconds(packet: DecodedPacket): number | null {
  const soa = packet.authorities?.find((record) => record.type === "SOA");
  if (soa?.type !== "SOA") return null;
  return Math.min(soa.ttl ?? 0, soa.data.minimum ?? 0);
}
