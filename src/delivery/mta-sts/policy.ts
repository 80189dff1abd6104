/** What a domain asks of those who send to it (RFC 8461 §3): its TXT record and its policy. Pure. */

export type Policy = {
  /**
   * - enforce: only to the hosts named here, only with a valid certificate.
   * - testing: as it likes; failures would only be reported.
   * - none: nothing is asked any more.
   */
  mode: "enforce" | "testing" | "none";
  /** Lower case; the first label may be `*`. Empty only in mode none. */
  mx: readonly string[];
  maxAgeSeconds: number;
};

export type ParsedPolicy = { ok: true; policy: Policy } | { ok: false; reason: string };

/** RFC 8461 §3.2; and nobody makes us fetch it for every mail. */
const LONGEST_AGE_SECONDS = 31_557_600;
const SHORTEST_AGE_SECONDS = 300;

const RECORD_START = /^v=STSv1[ \t]*;/;
const RECORD_ID = /^[ \t]*id[ \t]*=[ \t]*([a-z0-9]{1,32})[ \t]*$/i;

/**
 * The id in the one record of `_mta-sts.<domain>` (RFC 8461 §3.1); null if there is none, a second
 * one, or one without an id: then the domain has no policy.
 */
export function readRecordId(texts: readonly string[]): string | null {
  const [record, second] = texts.filter((text) => RECORD_START.test(text));
  if (record === undefined || second !== undefined) return null;
  const ids = record.split(";").flatMap((field) => RECORD_ID.exec(field)?.[1] ?? []);
  return ids[0] ?? null;
}

/** RFC 8461 §3.2: lines of `name: value`; of a name but mx the first counts, others are ignored. */
export function parsePolicy(text: string): ParsedPolicy {
  const fields = new Map<string, string[]>();
  for (const line of text.split(/\r?\n/)) {
    const [, name, value = ""] =
      /^([a-z0-9][a-z0-9_.-]*)[ \t]*:[ \t]*(.*?)[ \t]*$/i.exec(line) ?? [];
    if (name !== undefined) fields.set(name, [...(fields.get(name) ?? []), value]);
  }
  const first = (name: string) => fields.get(name)?.[0];
  if (first("version") !== "STSv1") return refuse("its version is not STSv1");
  const mode = first("mode");
  if (mode !== "enforce" && mode !== "testing" && mode !== "none") return refuse("no known mode");
  const age = first("max_age") ?? "";
  if (!/^\d{1,10}$/.test(age)) return refuse("no valid max_age");
  const maxAgeSeconds = Math.max(Math.min(Number(age), LONGEST_AGE_SECONDS), SHORTEST_AGE_SECONDS);
  const mx = (fields.get("mx") ?? []).map((pattern) => pattern.toLowerCase().replace(/\.$/, ""));
  if (!mx.every((pattern) => PATTERN.test(pattern))) return refuse("an mx that is no host name");
  if (mx.length === 0 && mode !== "none") return refuse("no mx");
  return { ok: true, policy: { mode, mx, maxAgeSeconds } };
}

const LABEL = "[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?";
const PATTERN = new RegExp(`^(?:\\*\\.)?${LABEL}(?:\\.${LABEL})*$`);

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
