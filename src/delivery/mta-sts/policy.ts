/**
 * Reads the TXT record and the policy by which a domain requires TLS from its senders (RFC 8461 §3).
 * Both are written by strangers: every bound is checked before the text is taken apart. Pure.
 */

import { trimBlanks, trimEndBlanks } from "../../lib/trim.ts";

export type Policy = {
  /**
   * - enforce: mail goes only to the hosts named here, only with a valid certificate.
   * - testing: mail goes anyway; failures would only be reported.
   * - none: the domain has withdrawn its policy.
   */
  mode: "enforce" | "testing" | "none";
  /** Lower case; the first label may be `*`. Empty only in mode none. */
  mx: readonly string[];
  maxAgeSeconds: number;
};

export type ParsedPolicy = { ok: true; policy: Policy } | { ok: false; reason: string };

/** Bounds of max_age: RFC 8461 §3.2, and a least age so that not every mail fetches the policy. */
const LONGEST_AGE_SECONDS = 31_557_600;
const SHORTEST_AGE_SECONDS = 300;

/** RFC 8461 §3.3 suggests 64 KiB for a whole policy; the other bounds are far above real policies. */
const MOST_CHARACTERS = 65_536;
const MOST_LINES = 1_000;
const LONGEST_LINE = 1_000;
const MOST_MX = 100;
const LONGEST_HOST = 253;

const RECORD_VERSION = "v=STSv1";
const RECORD_ID = /^[a-z0-9]{1,32}$/i;

/**
 * The id in the one record of `_mta-sts.<domain>` (RFC 8461 §3.1); null if there is no record, more
 * than one, or one without an id: then the domain has no policy.
 */
export function readRecordId(texts: readonly string[]): string | null {
  const [record, second] = texts.filter(isStsRecord);
  if (record === undefined || second !== undefined) return null;
  for (const field of record.split(";")) {
    const equals = field.indexOf("=");
    if (equals === -1 || trimBlanks(field.slice(0, equals)).toLowerCase() !== "id") continue;
    const id = trimBlanks(field.slice(equals + 1));
    if (RECORD_ID.test(id)) return id;
  }
  return null;
}

function isStsRecord(text: string): boolean {
  const end = text.indexOf(";");
  return (
    end !== -1 &&
    text.startsWith(RECORD_VERSION) &&
    trimBlanks(text.slice(0, end)) === RECORD_VERSION
  );
}

/**
 * Reads a policy in time linear in its length (RFC 8461 §3.2): lines of `name: value`. Of every name
 * but mx the first line counts; unknown names are ignored.
 */
export function parsePolicy(text: string): ParsedPolicy {
  if (text.length > MOST_CHARACTERS) return refuse(`more than ${MOST_CHARACTERS} characters`);
  const lines = text.split("\n", MOST_LINES + 2);
  if (lines.at(-1) === "") lines.pop();
  if (lines.length > MOST_LINES) return refuse(`more than ${MOST_LINES} lines`);
  if (lines.some((line) => line.length > LONGEST_LINE)) {
    return refuse(`a line of more than ${LONGEST_LINE} characters`);
  }
  return readFields(lines.flatMap((line) => readLine(line) ?? []));
}

type Field = { name: string; value: string };

const FIELD_NAME = /^[a-z0-9][a-z0-9_.-]{0,31}$/i;

/** Null for a line that has no valid name. The value is without the spaces and tabs around it. */
function readLine(line: string): Field | null {
  const text = line.endsWith("\r") ? line.slice(0, -1) : line;
  const colon = text.indexOf(":");
  const name = trimEndBlanks(text.slice(0, Math.max(colon, 0)));
  return FIELD_NAME.test(name) ? { name, value: trimBlanks(text.slice(colon + 1)) } : null;
}

function readFields(fields: readonly Field[]): ParsedPolicy {
  const first = (wanted: string) => fields.find(({ name }) => name === wanted)?.value;
  if (first("version") !== "STSv1") return refuse("its version is not STSv1");
  const mode = first("mode");
  if (mode !== "enforce" && mode !== "testing" && mode !== "none") return refuse("no known mode");
  const age = first("max_age") ?? "";
  if (!/^\d{1,10}$/.test(age)) return refuse("no valid max_age");
  const maxAgeSeconds = Math.max(Math.min(Number(age), LONGEST_AGE_SECONDS), SHORTEST_AGE_SECONDS);
  const mx = fields.filter(({ name }) => name === "mx").map(({ value }) => hostPattern(value));
  if (mx.length > MOST_MX) return refuse(`more than ${MOST_MX} mx lines`);
  if (!mx.every(isHostPattern)) return refuse("an mx that is no host name");
  if (mx.length === 0 && mode !== "none") return refuse("no mx");
  return { ok: true, policy: { mode, mx, maxAgeSeconds } };
}

const LABEL = "[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?";
const PATTERN = new RegExp(`^(?:\\*\\.)?${LABEL}(?:\\.${LABEL})*$`);

/** Lower case, without the final dot. */
function hostPattern(text: string): string {
  const lower = text.toLowerCase();
  return lower.endsWith(".") ? lower.slice(0, -1) : lower;
}

function isHostPattern(pattern: string): boolean {
  return pattern.length <= LONGEST_HOST && PATTERN.test(pattern);
}

/** RFC 8461 §4.1: equal, or equal but for the first label where the pattern has `*`. */
export function allowsHost(policy: Policy, host: string): boolean {
  const name = host.toLowerCase();
  const parent = name.slice(name.indexOf(".") + 1);
  return policy.mx.some((pattern) =>
    pattern.startsWith("*.") ? parent !== name && pattern.slice(2) === parent : pattern === name,
  );
}

function refuse(reason: string): ParsedPolicy {
  return { ok: false, reason };
}
