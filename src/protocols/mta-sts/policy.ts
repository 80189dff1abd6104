/**
 * Parses the TXT record and the policy with which a domain requires TLS from its senders (RFC 8461
 * §3). Both are untrusted, so all limits are checked before parsing. Pure functions.
 */

import { trimBlanks, trimEndBlanks } from "../../lib/trim.ts";

export type Policy = {
  /**
   * - enforce: mail is sent only to these hosts, and only with a valid certificate.
   * - testing: mail is sent in any case; failures would only be reported.
   * - none: the domain has withdrawn its policy.
   */
  mode: "enforce" | "testing" | "none";
  /** Host patterns in lower case; the first label may be `*`. Empty only in mode none. */
  mx: readonly string[];
  maxAgeSeconds: number;
};

type ParsedPolicy = { ok: true; policy: Policy } | { ok: false; reason: string };

/**
 * Limits of max_age: the longest of RFC 8461 §3.2, and a shortest so that not every mail fetches.
 */
const LONGEST_AGE_SECONDS = 31_557_600;
const SHORTEST_AGE_SECONDS = 300;

/** RFC 8461 §3.3 suggests 64 KiB for a policy; the other limits are far above real policies. */
const MAX_CHARACTERS = 65_536;
const MAX_LINES = 1_000;
const LONGEST_LINE = 1_000;
const MAX_MX = 100;
const LONGEST_HOST = 253;

const RECORD_VERSION = "v=STSv1";
const RECORD_ID = /^[a-z0-9]{1,32}$/i;

/**
 * The id in the single record of `_mta-sts.<domain>` (RFC 8461 §3.1). If there is no record, more
 * than one, or one without an id, the domain has no policy and the result is null.
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
 * Parses a policy of lines `name: value` in linear time (RFC 8461 §3.2). For every name except mx
 * the first line counts; unknown names are ignored.
 */
export function parsePolicy(text: string): ParsedPolicy {
  if (text.length > MAX_CHARACTERS) return refuse(`more than ${MAX_CHARACTERS} characters`);
  const lines = text.split("\n", MAX_LINES + 2);
  if (lines.at(-1) === "") lines.pop();
  if (lines.length > MAX_LINES) return refuse(`more than ${MAX_LINES} lines`);
  if (lines.some((line) => line.length > LONGEST_LINE)) {
    return refuse(`a line of more than ${LONGEST_LINE} characters`);
  }
  return readFields(lines.flatMap((line) => readLine(line) ?? []));
}

type Field = { name: string; value: string };

const FIELD_NAME = /^[a-z0-9][a-z0-9_.-]{0,31}$/i;

/** Returns null for a line without a valid name. Spaces and tabs around the value are removed. */
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
  if (mx.length > MAX_MX) return refuse(`more than ${MAX_MX} mx lines`);
  if (!mx.every(isHostPattern)) return refuse("an mx that is not a host name");
  if (mx.length === 0 && mode !== "none") return refuse("no mx");
  return { ok: true, policy: { mode, mx, maxAgeSeconds } };
}

const LABEL = "[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?";
const PATTERN = new RegExp(`^(?:\\*\\.)?${LABEL}(?:\\.${LABEL})*$`);

/** Converts to lower case and removes the final dot. */
function hostPattern(text: string): string {
  const lower = text.toLowerCase();
  return lower.endsWith(".") ? lower.slice(0, -1) : lower;
}

function isHostPattern(pattern: string): boolean {
  return pattern.length <= LONGEST_HOST && PATTERN.test(pattern);
}

/** A `*` in a pattern matches exactly one label, the first (RFC 8461 §4.1). */
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
