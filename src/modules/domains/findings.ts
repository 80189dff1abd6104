/** Compares the records in the DNS with the records expected of a domain. Pure. */

import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { withoutControls } from "../../lib/control-characters.ts";
import { isDkimRecord, publishesKey } from "../../protocols/dkim/keys.ts";
import { hasPolicy, isDmarcRecord } from "./dmarc.ts";
import { type Expectation, type ExpectedRecord, PURPOSES } from "./records.ts";
import { allows, isSpfRecord, mergeSpf, MAX_LOOK_UPS, needsTooMuch } from "./spf.ts";

export const RECORD_STATUSES = ["PENDING", "OK", "MISMATCH", "MISSING"] as const;

/** Result of the latest check of one record that the DNS answered. */
const Finding = Type.Object({
  purpose: Type.Union(PURPOSES.map((purpose) => Type.Literal(purpose))),
  type: Type.Union([Type.Literal("TXT"), Type.Literal("MX")]),
  name: Type.String(),
  status: Type.Union([Type.Literal("OK"), Type.Literal("MISMATCH"), Type.Literal("MISSING")]),
  found: Type.Array(Type.String()),
});
export type Finding = Static<typeof Finding>;
const Findings = Type.Array(Finding);

// Bounds on the stored records, because the content of the DNS is not under our control.
const MAX_FOUND = 10;
const LONGEST_FOUND = 1000;

/** `found` has texts of TXT records, or MX records as in a zone file: `10 mx.example.com`. */
export function evaluateRecord(record: ExpectedRecord, found: readonly string[]): Finding {
  const relevant = found.filter((text) => isRelevant(record.expectation, text));
  const { purpose, type, name } = record;
  const status = relevant.length === 0 ? "MISSING" : compare(record.expectation, relevant);
  const bounded = relevant.slice(0, MAX_FOUND).map(boundedText);
  return { purpose, type, name, status, found: bounded };
}

function boundedText(text: string): string {
  return withoutControls(text.slice(0, LONGEST_FOUND));
}

/** The name of a domain also has TXT records for other purposes, which are ignored. */
function isRelevant(expectation: Expectation, text: string): boolean {
  return expectation.kind === "spf" ? isSpfRecord(text) : true;
}

function compare(expectation: Expectation, found: readonly string[]): "OK" | "MISMATCH" {
  return isAsExpected(expectation, found) ? "OK" : "MISMATCH";
}

function isAsExpected(expectation: Expectation, found: readonly string[]): boolean {
  switch (expectation.kind) {
    case "key": {
      // If a name has several keys, a receiver may use any of them (RFC 6376 §3.6.2.2).
      const keys = found.filter(isDkimRecord);
      const { algorithm, publicKey } = expectation;
      return keys.length > 0 && keys.every((key) => publishesKey(key, algorithm, publicKey));
    }
    case "mx":
      return isPreferred(expectation.host, found);
    case "spf": {
      // Two SPF records are an error (RFC 7208 §4.5).
      const [record = "", second] = found;
      if (second !== undefined || needsTooMuch(record)) return false;
      return expectation.mechanisms.every((term) => allows(record, term));
    }
    case "dmarc": {
      const [record = "", second] = found.filter(isDmarcRecord);
      return second === undefined && hasPolicy(record);
    }
  }
}

/**
 * True if our host has the lowest preference and shares it with no other host: mail goes to any
 * host of the lowest preference first (RFC 5321 §5.1).
 */
function isPreferred(ours: string, found: readonly string[]): boolean {
  const hosts = found.map(readMx);
  const least = Math.min(...hosts.map(({ preference }) => preference));
  return hosts.every(({ host, preference }) => host === ours || preference > least);
}

/** A name without MX records yields plain addresses, which all have the same preference. */
function readMx(text: string): { host: string; preference: number } {
  const [, preference = "0", host = text] = /^(\d+) (.*)$/s.exec(text) ?? [];
  return { host, preference: Number(preference) };
}

type Advice = {
  /** The record to publish; empty if none can be advised, and then the note has the reason. */
  value: string;
  note: string;
};

/** The record to publish. An existing SPF record is extended and never replaced. */
export function adviceFor(record: ExpectedRecord, finding: Finding | undefined): Advice {
  const { expectation, value, note } = record;
  const found = finding?.found ?? [];
  if (expectation.kind !== "spf" || found.length === 0) return { value, note };
  const merged = mergeSpf(found, expectation.mechanisms);
  return needsTooMuch(merged)
    ? { value: "", note: tooManyLookups(expectation.mechanisms) }
    : { value: merged, note };
}

function tooManyLookups(mechanisms: readonly string[]): string {
  const ours = mechanisms.length > 0 ? ` with ${mechanisms.join(" ")}` : "";
  return (
    `The record${ours} would have more than ${MAX_LOOK_UPS} terms that need DNS look-ups, which ` +
    "receivers treat as an error. Replace some terms by ip4: or ip6:, or remove unused ones."
  );
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

/** Parses stored findings; those in another format are dropped, and the next check renews them. */
export function parseFindings(text: string): Finding[] {
  const stored: unknown = JSON.parse(text);
  return Value.Check(Findings, stored) ? stored : [];
}
