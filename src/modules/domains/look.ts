/** Looks up the records of a domain in the DNS. */

import { getDomain } from "tldts";
import type { DnsAnswer } from "../../lib/dns/answer.ts";
import type { Dns } from "../../lib/dns/client.ts";
import { type Finding, judge } from "./findings.ts";
import type { ExpectedRecord } from "./records.ts";

/** A finding for each record; null where nobody could say. */
export type Look = { record: ExpectedRecord; finding: Finding | null }[];

export type LookUp = (domain: string, records: readonly ExpectedRecord[]) => Promise<Look>;

/** Asks anew: somebody may be waiting for what was just put there. */
const FRESH = { fresh: true };

export function createLookUp(dns: Dns): LookUp {
  return (domain, records) =>
    Promise.all(
      records.map(async (record) => {
        const found = await search(domain, record);
        return { record, finding: found === null ? null : judge(record, found) };
      }),
    );

  function search(domain: string, record: ExpectedRecord): Promise<readonly string[] | null> {
    switch (record.expectation.kind) {
      case "dmarc":
        return findDmarc(domain, record.name);
      case "mx":
        return findBounceHost(record.name, record.expectation.host);
      default:
        return findTexts(record.name);
    }
  }

  async function findTexts(name: string): Promise<readonly string[] | null> {
    return recordsOf(await dns.resolve(name, "TXT", FRESH));
  }

  /** RFC 7489 §6.6.3: without a record of its own, that of the organisation counts. */
  async function findDmarc(domain: string, name: string): Promise<readonly string[] | null> {
    const own = await findTexts(name);
    const organisation = getDomain(domain) ?? domain;
    if (own === null || own.length > 0 || organisation === domain) return own;
    return findTexts(`_dmarc.${organisation}`);
  }

  /** MX records; without any, the host itself receives, and may be an alias of ours. */
  async function findBounceHost(name: string, ours: string): Promise<readonly string[] | null> {
    const answer = await dns.resolve(name, "MX", FRESH);
    if (answer.kind === "failed") return null;
    if (answer.kind === "records") return answer.records.map(({ exchange }) => exchange);
    if (answer.kind === "nxdomain") return [];
    const [theirs, own] = await Promise.all([addressesOf(name), addressesOf(ours)]);
    if (theirs === null || own === null) return null;
    return theirs.map((address) => (own.includes(address) ? ours : address));
  }

  async function addressesOf(host: string): Promise<string[] | null> {
    const answers = await Promise.all([
      dns.resolve(host, "A", FRESH),
      dns.resolve(host, "AAAA", FRESH),
    ]);
    const addresses = answers.map(recordsOf);
    return addresses.includes(null) ? null : addresses.flatMap((some) => some ?? []);
  }
}

function recordsOf(answer: DnsAnswer<string>): readonly string[] | null {
  if (answer.kind === "failed") return null;
  return answer.kind === "records" ? answer.records : [];
}
