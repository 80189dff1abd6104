/**
 * Finds the policy of DMARC that the domain of From publishes. It needs only the fields From of a
 * message, and look-ups of its own, so nothing else in a message can prevent it.
 */

import { Readable } from "node:stream";
import { domainOf } from "../protocols/mime/address.ts";
import { hasUnclearAddress } from "../protocols/mime/from-field.ts";

/** Longest fields From that are read: the package takes about a second for a MiB of addresses. */
const MAX_FROM_BYTES = 64 * 1024;
/** Most domains in the fields From that are read: the policy of each costs look-ups. */
const MAX_FROM_DOMAINS = 10;

type Resolver = (name: string, type: string) => Promise<string[] | string[][]>;

/** `none` if the domain has no record, `unknown` if the look-up failed. */
export type DmarcPolicy = "none" | "quarantine" | "reject" | "unknown";
const FROM_MILD_TO_STRICT: readonly DmarcPolicy[] = ["none", "quarantine", "unknown", "reject"];

/** The header section of a message, without its empty line; all of the text if it has none. */
export function headerOf(head: Uint8Array): string {
  const text = Buffer.from(head).toString("latin1");
  if (/^\r?\n/.test(text)) return "";
  return text.slice(0, /\r?\n\r?\n/.exec(text)?.index);
}

function fromFieldsOf(header: string): string[] {
  return header.match(/^from[ \t]*:.*(?:\r?\n[ \t].*)*/gim) ?? [];
}

/** Whether the fields From are too long to be read, or name too many domains. */
export function hasLongAuthor(header: string): boolean {
  const fields = fromFieldsOf(header);
  if (fields.reduce((sum, { length }) => sum + length, 0) > MAX_FROM_BYTES) return true;
  return new Set(fields.flatMap(domainsAfterAt)).size > MAX_FROM_DOMAINS;
}

/** The domains behind each @ of a field, also those in names and comments. */
function domainsAfterAt(field: string): string[] {
  return (field.match(/@[^\s@<>()[\],;:"\\]+/g) ?? []).map((text) => text.slice(1).toLowerCase());
}

/**
 * The domains of the addresses in From, each once. If mail programs may find different addresses in
 * a field, all domains in it count. A valid message has one domain (RFC 5322 §3.6.2), but an attacker
 * can send any. The package gets each field in one line, because its time grows with the folded lines.
 */
export async function readAuthor(header: string): Promise<string[]> {
  if (hasLongAuthor(header)) return [];
  const { dkimVerify } = await import("mailauth/lib/dkim/verify");
  const lines = fromFieldsOf(header).map((field) => field.replace(/\r?\n(?=[ \t])/g, ""));
  const section = Buffer.from([...lines, "", ""].join("\r\n"), "latin1");
  const { headerFrom } = await dkimVerify(Readable.from([section]), {});
  const unclear = lines.filter((line) => hasUnclearAddress(line.slice(line.indexOf(":") + 1)));
  const found = [...headerFrom.map(domainOf), ...unclear.flatMap(domainsAfterAt)];
  return [...new Set(found.filter((domain) => domain !== ""))].slice(0, MAX_FROM_DOMAINS);
}

/** The result of DMARC for one domain; `policy` is `none` if SPF or a signature passed for it. */
export type DmarcResult = { result: string; domain: string; info: string; policy: DmarcPolicy };

/**
 * Evaluates DMARC for each of the domains and returns the result with the strictest policy, so that a
 * second address does not evade the policy of the first one; null without a domain. `spfDomain` is
 * the domain for which SPF passed, or null.
 */
export async function evaluateDmarc(
  domains: readonly string[],
  passed: { spfDomain: string | null; dkimDomains: readonly string[] },
  resolver: Resolver,
): Promise<DmarcResult | null> {
  const { dmarc } = await import("mailauth/lib/dmarc");
  const { spfDomain, dkimDomains } = passed;

  async function evaluate(domain: string): Promise<DmarcResult> {
    const found = await dmarc({
      headerFrom: [`author@${domain}`],
      fromFields: 1,
      spfDomains: spfDomain === null ? [] : [spfDomain],
      dkimDomains: dkimDomains.map((each) => ({ domain: each })),
      resolver,
    });
    if (found === false) return { result: "none", domain, info: "", policy: "none" };
    const { status, p } = found;
    const { result } = status;
    return { result, domain: found.domain, info: infoOfPolicy(p), policy: policyOf(found) };
  }

  const results = await Promise.all(domains.map(evaluate));
  const [strictest = null] = results.toSorted(
    (a, b) => FROM_MILD_TO_STRICT.indexOf(b.policy) - FROM_MILD_TO_STRICT.indexOf(a.policy),
  );
  return strictest;
}

function policyOf({
  status,
  policy,
}: {
  status: { result: string };
  policy?: string;
}): DmarcPolicy {
  if (status.result === "pass") return "none";
  if (policy === "reject" || policy === "quarantine") return policy;
  return status.result === "temperror" ? "unknown" : "none";
}

/** Without a record, the package leaves the policy out, against its types. */
function infoOfPolicy(published: unknown): string {
  return typeof published === "string" && published !== "" ? `p=${published}` : "";
}

/** Asks each question once: the policy and the result of DMARC need the same answers. */
export function remembering(resolver: Resolver): Resolver {
  const answers = new Map<string, ReturnType<Resolver>>();
  return (name, type) => {
    const key = `${type} ${name}`;
    const answer = answers.get(key) ?? resolver(name, type);
    answers.set(key, answer);
    return answer;
  };
}
