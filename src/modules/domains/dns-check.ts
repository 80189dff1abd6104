/** Looks up the records of a domain in the DNS and compares them with the expected ones. */

import type { DnsAnswer, MxRecord } from "../../protocols/dns/answer.ts";
import type { Dns } from "../../protocols/dns/client.ts";
import { isAllowedBySpf } from "../../checks/authentication.ts";
import { type Finding, evaluateRecord } from "./findings.ts";
import type { ExpectedRecord } from "./records.ts";

/** A record whose look-up failed, with the reason. */
export type Unanswered = { record: ExpectedRecord; finding: null; reason: string };
type Answered = { record: ExpectedRecord; finding: Finding };

/** The result of a DNS check: one entry for each expected record. */
export type DnsCheck = (Answered | Unanswered)[];

/** Bypasses the cache, because the user may have published the record a moment ago. */
const FRESH = { fresh: true };

const freshly = (dns: Dns): Pick<Dns, "resolve"> => ({
  resolve: (name, type) => dns.resolve(name, type, FRESH),
});

export function checkDns(
  dns: Dns,
  domain: string,
  records: readonly ExpectedRecord[],
): Promise<DnsCheck> {
  return Promise.all(
    records.map(async (record) => {
      const found = await lookUp(dns, domain, record);
      if (found.kind === "failed") return { record, finding: null, reason: found.reason };
      const finding = evaluateRecord(record, found.texts);
      return { record, finding: (await isAllowed(dns, record, finding)) ? ok(finding) : finding };
    }),
  );
}

/**
 * Whether an SPF record that has other terms than the advised ones allows every address of ours, by
 * `mx`, `include:` or another network.
 */
async function isAllowed(dns: Dns, record: ExpectedRecord, finding: Finding): Promise<boolean> {
  const { expectation, name } = record;
  const isOther = finding.status === "MISMATCH" && finding.found.length === 1;
  if (expectation.kind !== "spf" || !isOther) return false;
  const addresses = await Promise.all(
    expectation.mechanisms.map((mechanism) => addressesIn(dns, mechanism)),
  );
  const verdicts = await Promise.all(
    addresses
      .flat()
      .map((ip) => isAllowedBySpf({ domain: name, ip, hostname: name }, freshly(dns))),
  );
  return addresses.every(({ length }) => length > 0) && verdicts.every(Boolean);
}

/** The addresses of a mechanism; none for `include:`, because only its owner knows them. */
async function addressesIn(dns: Dns, mechanism: string): Promise<readonly string[]> {
  const [, kind, value = ""] = /^(ip4|ip6|a):(.*)$/.exec(mechanism) ?? [];
  if (kind !== "a") return kind === undefined ? [] : [value];
  const found = await addressesOf(dns, value);
  return found.kind === "failed" ? [] : found.texts;
}

function lookUp(dns: Dns, domain: string, record: ExpectedRecord): Promise<Found> {
  switch (record.expectation.kind) {
    case "dmarc":
      return findDmarc(dns, domain, record.name);
    case "mx":
      return findBounceHost(dns, record.name, record.expectation.host);
    default:
      return findTexts(dns, record.name);
  }
}

async function findTexts(dns: Dns, name: string): Promise<Found> {
  return foundIn(await dns.resolve(name, "TXT", FRESH));
}

/**
 * Without a record of its own, the record of the organisational domain counts (RFC 7489 §6.6.3).
 */
async function findDmarc(dns: Dns, domain: string, name: string): Promise<Found> {
  const own = await findTexts(dns, name);
  // Loaded at the first check: the list of public suffixes takes 4 ms and 6 MiB.
  const { getDomain } = await import("tldts");
  const organisation = getDomain(domain) ?? domain;
  const isLast = own.kind === "failed" || own.texts.length > 0 || organisation === domain;
  return isLast ? own : findTexts(dns, `_dmarc.${organisation}`);
}

/**
 * Finds the MX records. A name without MX records receives mail at its own addresses; those that
 * are also addresses of our host are replaced by our host.
 */
async function findBounceHost(dns: Dns, name: string, ourHost: string): Promise<Found> {
  const answer = await dns.resolve(name, "MX", FRESH);
  if (answer.kind === "failed") return answer;
  if (answer.kind === "records") return textsOf(answer.records.map(mxText));
  if (answer.kind === "nxdomain") return textsOf([]);
  const [found, ours] = await Promise.all([addressesOf(dns, name), addressesOf(dns, ourHost)]);
  if (found.kind === "failed") return found;
  if (ours.kind === "failed") return ours;
  return textsOf(found.texts.map((text) => (ours.texts.includes(text) ? ourHost : text)));
}

async function addressesOf(dns: Dns, host: string): Promise<Found> {
  const [v4, v6] = await Promise.all([
    dns.resolve(host, "A", FRESH).then(foundIn),
    dns.resolve(host, "AAAA", FRESH).then(foundIn),
  ]);
  if (v4.kind === "failed") return v4;
  return v6.kind === "failed" ? v6 : textsOf([...v4.texts, ...v6.texts]);
}

const ok = (finding: Finding): Finding => ({ ...finding, status: "OK" });

type Found = { kind: "texts"; texts: readonly string[] } | { kind: "failed"; reason: string };

function foundIn(answer: DnsAnswer<string>): Found {
  if (answer.kind === "failed") return answer;
  return textsOf(answer.kind === "records" ? answer.records : []);
}

function textsOf(texts: readonly string[]): Found {
  return { kind: "texts", texts };
}

/** An MX record in the form of a zone file. */
function mxText({ preference, exchange }: MxRecord): string {
  return `${preference} ${exchange}`;
}

export function unansweredOf(check: DnsCheck): Unanswered[] {
  return check.flatMap((result) => (result.finding === null ? [result] : []));
}
