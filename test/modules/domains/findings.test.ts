import { describe, expect, test } from "bun:test";
import {
  adviceFor,
  type Finding,
  evaluateRecord,
  parseFindings,
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

/** Ten terms that need look-ups, the largest permitted number. */
const TEN =
  "a -mx/24 a:x.test ptr ?exists:y.test " +
  [1, 2, 3, 4, 5].map((n) => `include:i${n}.test`).join(" ");

describe("the status of a record", () => {
  const cases: [why: string, record: ExpectedRecord, found: string[], status: Finding["status"]][] =
    [
      ["no key", RSA, [], "MISSING"],
      ["the key", RSA, ["v=DKIM1; k=rsa; p=KEY+/="], "OK"],
      ["the key without version and type", RSA, ["p=KEY+/="], "OK"],
      ["the key with spaces and a note", RSA, ["v=DKIM1;k=rsa ; n=a note;  p=KE Y+\t/=;"], "OK"],
      ["the key in another case", RSA, ["v=DKIM1; k=rsa; p=key+/="], "MISMATCH"],
      ["another key", RSA, ["v=DKIM1; k=rsa; p=OTHER"], "MISMATCH"],
      ["the key cut short", RSA, ["v=DKIM1; k=rsa; p=KEY"], "MISMATCH"],
      ["a revoked key", RSA, ["v=DKIM1; k=rsa; p="], "MISMATCH"],
      ["the key in quotes", RSA, ['"v=DKIM1; k=rsa; p=KEY+/="'], "MISMATCH"],
      ["the key and another key", RSA, ["p=KEY+/=", "p=OTHER"], "MISMATCH"],
      ["the key and another text", RSA, ["p=KEY+/=", "hello"], "OK"],
      ["another text only", RSA, ["hello"], "MISMATCH"],
      ["a key of another type", ED, ["v=DKIM1; p=KEY"], "MISMATCH"],
      ["an Ed25519 key", ED, ["v=DKIM1; k=ed25519; p=KEY"], "OK"],
      ["no MX", MX, [], "MISSING"],
      ["our MX", MX, ["10 mail.test"], "OK"],
      ["our MX before another", MX, ["20 other.test", "10 mail.test"], "OK"],
      ["our MX, twice", MX, ["10 mail.test", "20 mail.test"], "OK"],
      ["our MX after another", MX, ["5 other.test", "10 mail.test"], "MISMATCH"],
      ["our MX and another of equal preference", MX, ["10 mail.test", "10 other.test"], "MISMATCH"],
      ["our MX after one with fewer digits", MX, ["9 other.test", "10 mail.test"], "MISMATCH"],
      ["another MX", MX, ["10 other.test"], "MISMATCH"],
      ["our address without any MX", MX, ["mail.test"], "OK"],
      ["our address and another without any MX", MX, ["mail.test", "192.0.2.1"], "MISMATCH"],
      ["only texts that are not SPF", SPF, ["google-site-verification=x"], "MISSING"],
      ["an SPF record that allows us", SPF, ["x", "v=spf1 mx a:mail.test -all"], "OK"],
      ["an SPF record that does not allow us", SPF, ["v=spf1 mx -all"], "MISMATCH"],
      ["two SPF records", SPF, ["v=spf1 a:mail.test -all", "v=spf1 -all"], "MISMATCH"],
      ["any SPF record", ANY_SPF, ["v=spf1 include:who.knows ~all"], "OK"],
      ["no SPF record at all", ANY_SPF, ["x"], "MISSING"],
      ["a DMARC record", DMARC, ["v=DMARC1; p=reject; rua=mailto:x@x.test"], "OK"],
      ["two DMARC records", DMARC, ["v=DMARC1; p=none", "v=DMARC1; p=reject"], "MISMATCH"],
      ["a DMARC record after another text", DMARC, ["hello", "v=DMARC1;p=None"], "OK"],
      ["a DMARC record without policy", DMARC, ["v=DMARC1"], "MISMATCH"],
      ["a DMARC record with an unknown policy", DMARC, ["v=DMARC1; p=foo"], "MISMATCH"],
      ["a DMARC record with two policies", DMARC, ["v=DMARC1; p=none reject"], "MISMATCH"],
      ["a DMARC record for subdomains only", DMARC, ["v=DMARC1; sp=reject"], "MISMATCH"],
      ["an invalid policy for subdomains", DMARC, ["v=DMARC1; p=reject; sp=foo"], "MISMATCH"],
      ["no policy but a report address", DMARC, ["v=DMARC1; rua=mailto:x@x.test"], "OK"],
      [
        "an unknown policy but a report address",
        DMARC,
        ["v=DMARC1; p=foo; rua=mailto:x@x.test"],
        "OK",
      ],
      ["no policy and an invalid report address", DMARC, ["v=DMARC1; rua=nowhere"], "MISMATCH"],
      ["a text that is not a DMARC record", DMARC, ["hello"], "MISMATCH"],
    ];
  test.each(cases)("%s", (_, expected, found, status) => {
    expect(evaluateRecord(expected, found).status).toBe(status);
  });

  test("has at most ten found records of bounded length", () => {
    const { found } = evaluateRecord(
      RSA,
      Array.from({ length: 50 }, () => "x".repeat(5000)),
    );
    expect(found).toHaveLength(10);
    expect(found[0]).toHaveLength(1000);
  });

  test.each([
    ["a text", RSA, "v=DKIM1;\t\u001b[2Jp=OTHER\u009b1m", "v=DKIM1;  [2Jp=OTHER 1m"],
    ["a host", MX, "10 \u0007other.test\n", "10  other.test "],
  ])("has found records without control characters: %s", (_, expected, found, cleaned) => {
    expect(evaluateRecord(expected, [found]).found).toEqual([cleaned]);
  });

  test("has only the relevant texts of a name", () => {
    expect(evaluateRecord(SPF, ["a=b", "v=spf1 mx -all", "c=d"]).found).toEqual(["v=spf1 mx -all"]);
  });
});

describe("the value to publish", () => {
  test("extends an existing SPF record", () => {
    const finding = evaluateRecord(SPF, ["v=spf1 mx -all"]);
    expect(adviceFor(SPF, finding).value).toBe("v=spf1 a:mail.test mx -all");
  });

  test("is a new record if none exists or none was looked up", () => {
    expect(adviceFor(SPF, undefined).value).toBe("fresh");
    expect(adviceFor(SPF, evaluateRecord(SPF, [])).value).toBe("fresh");
  });

  test("replaces a wrong key", () => {
    expect(adviceFor(RSA, evaluateRecord(RSA, ["p=OTHER"])).value).toBe("fresh");
  });

  test.each([
    ["the added term would exceed the limit", SPF, `v=spf1 ${TEN} -all`],
    ["the record already exceeds the limit", SPF, `v=spf1 a:mail.test ${TEN} -all`],
    ["the record exceeds the limit and no term is to be added", ANY_SPF, `v=spf1 mx ${TEN} -all`],
  ])("is empty and explained in the note if %s", (_, expected, found) => {
    const finding = evaluateRecord(expected, [found]);
    expect(finding.status).toBe("MISMATCH");
    expect(adviceFor(expected, finding)).toEqual({
      value: "",
      note: expect.stringContaining("more than 10 terms that need DNS look-ups"),
    });
  });

  test("has an address, which needs no look-up, where a name would exceed the limit", () => {
    const addressed = record({ kind: "spf", mechanisms: ["ip4:8.8.8.8"] });
    const finding = evaluateRecord(addressed, [`v=spf1 ${TEN} -all`]);
    expect(adviceFor(addressed, finding).value).toBe(`v=spf1 ip4:8.8.8.8 ${TEN} -all`);
  });
});

test("parses stored findings and drops those in another format", () => {
  const findings = [evaluateRecord(RSA, ["p=OTHER"]), evaluateRecord(SPF, [])];
  expect(parseFindings(JSON.stringify(findings))).toEqual(findings);
  expect(parseFindings('[{"purpose":"NEW"}]')).toEqual([]);
  expect(parseFindings("{}")).toEqual([]);
});
