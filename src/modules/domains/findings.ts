/** Compares what the DNS says with the records expected of a domain. Pure. */

import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { isDkimRecord, publishesKey } from "../../mail/dkim-keys.ts";
import { type Expectation, type ExpectedRecord, PURPOSES } from "./records.ts";
import { allows, isSpfRecord, mergeSpf } from "./spf.ts";

export const RECORD_STATUSES = ["PENDING", "OK", "MISMATCH", "MISSING"] as const;
export type RecordStatus = (typeof RECORD_STATUSES)[number];

/** What the latest look that was answered found of one record. */
const Finding = Type.Object({
  purpose: Type.Union(PURPOSES.map((purpose) => Type.Literal(purpose))),
  type: Type.Union([Type.Literal("TXT"), Type.Literal("MX")]),
  name: Type.String(),
  status: Type.Union([Type.Literal("OK"), Type.Literal("MISMATCH"), Type.Literal("MISSING")]),
  found: Type.Array(Type.String()),
});
export type Finding = Static<typeof Finding>;
const Findings = Type.Array(Finding);

/** Whoever runs the domain's name servers decides what is in there: keep it within bounds. */
const MOST_FOUND = 10;
const LONGEST_FOUND = 1000;

/** `found` are texts of TXT records, or hosts of MX records. */
export function judge(record: ExpectedRecord, found: readonly string[]): Finding {
  const relevant = found.filter((text) => isRelevant(record.expectation, text));
  const { purpose, type, name } = record;
  const status = relevant.length === 0 ? "MISSING" : compare(record.expectation, relevant);
  const kept = relevant.slice(0, MOST_FOUND).map((text) => text.slice(0, LONGEST_FOUND));
  return { purpose, type, name, status, found: kept };
}

/** At a domain's own name there are TXT records for all sorts of things. */
function isRelevant(expectation: Expectation, text: string): boolean {
  return expectation.kind === "spf" ? isSpfRecord(text) : true;
}

function compare(expectation: Expectation, found: readonly string[]): "OK" | "MISMATCH" {
  return isAsExpected(expectation, found) ? "OK" : "MISMATCH";
}

function isAsExpected(expectation: Expectation, found: readonly string[]): boolean {
  switch (expectation.kind) {
    case "key": {
      // RFC 6376 §3.6.2.2: of several keys under one name, receivers may take any.
      const keys = found.filter(isDkimRecord);
      const { algorithm, publicKey } = expectation;
      return keys.length > 0 && keys.every((key) => publishesKey(key, algorithm, publicKey));
    }
    case "mx":
      return found.includes(expectation.host);
    case "spf": {
      // RFC 7208 §4.5: two records are an error.
      const [record = "", second] = found;
      return second === undefined && expectation.mechanisms.every((term) => allows(record, term));
    }
    case "dmarc":
      return found.filter((text) => /^v=DMARC1\b/.test(text)).length === 1;
  }
}

/** The record as it should be: an SPF record that is there is added to, never replaced. */
export function valueFor(record: ExpectedRecord, finding: Finding | undefined): string {
  const { expectation, value } = record;
  if (expectation.kind !== "spf" || finding === undefined) return value;
  return finding.found.length === 0 ? value : mergeSpf(finding.found, expectation.mechanisms);
}

export function findingFor(
  record: ExpectedRecord,
  findings: readonly Finding[],
): Finding | undefined {
  return findings.find(
    ({ purpose, type, name }) =>
      purpose === record.purpose && type === record.type && name === record.name,
  );
}

/** Findings as they are stored; what an older version wrote differently is looked up again. */
export function parseFindings(text: string): Finding[] {
  const stored: unknown = JSON.parse(text);
  return Value.Check(Findings, stored) ? stored : [];
}
