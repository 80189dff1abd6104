import { describe, expect, test } from "bun:test";
import {
  type Finding,
  judge,
  parseFindings,
  valueFor,
} from "../../../src/modules/domains/findings.ts";
import type { Expectation, ExpectedRecord } from "../../../src/modules/domains/records.ts";

function record(expectation: Expectation): ExpectedRecord {
  const common = { name: "x.test", value: "fresh", required: false, note: "" };
  return { ...common, purpose: "SPF", type: "TXT", expectation };
}

const RSA = record({ kind: "key", algorithm: "rsa-sha256", publicKey: "KEY+/=" });
const ED = record({ kind: "key", algorithm: "ed25519-sha256", publicKey: "KEY" });
const MX = record({ kind: "mx", host: "mail.test" });
const SPF = record({ kind: "spf", mechanisms: ["a:mail.test"] });
const ANY_SPF = record({ kind: "spf", mechanisms: [] });
const DMARC = record({ kind: "dmarc" });

describe("what was found", () => {
  const cases: [why: string, record: ExpectedRecord, found: string[], status: Finding["status"]][] =
    [
      ["no key", RSA, [], "MISSING"],
      ["the key", RSA, ["v=DKIM1; k=rsa; p=KEY+/="], "OK"],
      ["the key without version and type", RSA, ["p=KEY+/="], "OK"],
      ["the key with blanks and a note", RSA, ["v=DKIM1;k=rsa ; n=a note;  p=KE Y+\t/=;"], "OK"],
      ["the key in another case", RSA, ["v=DKIM1; k=rsa; p=key+/="], "MISMATCH"],
      ["another key", RSA, ["v=DKIM1; k=rsa; p=OTHER"], "MISMATCH"],
      ["the key cut short", RSA, ["v=DKIM1; k=rsa; p=KEY"], "MISMATCH"],
      ["a revoked key", RSA, ["v=DKIM1; k=rsa; p="], "MISMATCH"],
      ["the key in quotes", RSA, ['"v=DKIM1; k=rsa; p=KEY+/="'], "MISMATCH"],
      ["the key, and another", RSA, ["p=KEY+/=", "p=OTHER"], "MISMATCH"],
      ["the key, and something else", RSA, ["p=KEY+/=", "hello"], "OK"],
      ["something else", RSA, ["hello"], "MISMATCH"],
      ["a key of another type", ED, ["v=DKIM1; p=KEY"], "MISMATCH"],
      ["an Ed25519 key", ED, ["v=DKIM1; k=ed25519; p=KEY"], "OK"],
      ["no MX", MX, [], "MISSING"],
      ["our MX", MX, ["mail.test"], "OK"],
      ["our MX and another", MX, ["other.test", "mail.test"], "OK"],
      ["another MX", MX, ["other.test"], "MISMATCH"],
      ["no SPF, but other texts", SPF, ["google-site-verification=x"], "MISSING"],
      ["an SPF that allows us", SPF, ["x", "v=spf1 mx a:mail.test -all"], "OK"],
      ["an SPF that does not", SPF, ["v=spf1 mx -all"], "MISMATCH"],
      ["two SPF records", SPF, ["v=spf1 a:mail.test -all", "v=spf1 -all"], "MISMATCH"],
      ["any SPF", ANY_SPF, ["v=spf1 include:who.knows ~all"], "OK"],
      ["no SPF at all", ANY_SPF, ["x"], "MISSING"],
      ["a DMARC record", DMARC, ["v=DMARC1; p=reject; rua=mailto:x@x.test"], "OK"],
      ["two DMARC records", DMARC, ["v=DMARC1; p=none", "v=DMARC1; p=reject"], "MISMATCH"],
      ["no DMARC record but something", DMARC, ["hello"], "MISMATCH"],
    ];
  test.each(cases)("%s", (_, expected, found, status) => {
    expect(judge(expected, found).status).toBe(status);
  });

  test("is kept within bounds", () => {
    const { found } = judge(
      RSA,
      Array.from({ length: 50 }, () => "x".repeat(5000)),
    );
    expect(found).toHaveLength(10);
    expect(found[0]).toHaveLength(1000);
  });

  test("of a name with many texts is what matters", () => {
    expect(judge(SPF, ["a=b", "v=spf1 mx -all", "c=d"]).found).toEqual(["v=spf1 mx -all"]);
  });
});

describe("the value to paste", () => {
  test("adds to an SPF record that is there", () => {
    const finding = judge(SPF, ["v=spf1 mx -all"]);
    expect(valueFor(SPF, finding)).toBe("v=spf1 a:mail.test mx -all");
  });

  test("is that of a new record where there is none, or nobody looked", () => {
    expect(valueFor(SPF, undefined)).toBe("fresh");
    expect(valueFor(SPF, judge(SPF, []))).toBe("fresh");
  });

  test("replaces a wrong key", () => {
    expect(valueFor(RSA, judge(RSA, ["p=OTHER"]))).toBe("fresh");
  });
});

test("stored findings come back, and those of another shape are forgotten", () => {
  const findings = [judge(RSA, ["p=OTHER"]), judge(SPF, [])];
  expect(parseFindings(JSON.stringify(findings))).toEqual(findings);
  expect(parseFindings('[{"purpose":"NEW"}]')).toEqual([]);
  expect(parseFindings("{}")).toEqual([]);
});
