import { describe, expect, test } from "bun:test";
import {
  adviceFor,
  type Finding,
  judge,
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

/** As many look-ups as a record may need. */
const TEN =
  "a -mx/24 a:x.test ptr ?exists:y.test " +
  [1, 2, 3, 4, 5].map((n) => `include:i${n}.test`).join(" ");

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
      ["our MX", MX, ["10 mail.test"], "OK"],
      ["our MX, and one behind it", MX, ["20 other.test", "10 mail.test"], "OK"],
      ["our MX, twice", MX, ["10 mail.test", "20 mail.test"], "OK"],
      ["our MX behind another", MX, ["5 other.test", "10 mail.test"], "MISMATCH"],
      ["our MX beside another", MX, ["10 mail.test", "10 other.test"], "MISMATCH"],
      ["our MX, of fewer digits, behind another", MX, ["9 other.test", "10 mail.test"], "MISMATCH"],
      ["another MX", MX, ["10 other.test"], "MISMATCH"],
      ["our address alone, without MX", MX, ["mail.test"], "OK"],
      ["our address beside another, without MX", MX, ["mail.test", "192.0.2.1"], "MISMATCH"],
      ["no SPF, but other texts", SPF, ["google-site-verification=x"], "MISSING"],
      ["an SPF that allows us", SPF, ["x", "v=spf1 mx a:mail.test -all"], "OK"],
      ["an SPF that does not", SPF, ["v=spf1 mx -all"], "MISMATCH"],
      ["two SPF records", SPF, ["v=spf1 a:mail.test -all", "v=spf1 -all"], "MISMATCH"],
      ["any SPF", ANY_SPF, ["v=spf1 include:who.knows ~all"], "OK"],
      ["no SPF at all", ANY_SPF, ["x"], "MISSING"],
      ["a DMARC record", DMARC, ["v=DMARC1; p=reject; rua=mailto:x@x.test"], "OK"],
      ["two DMARC records", DMARC, ["v=DMARC1; p=none", "v=DMARC1; p=reject"], "MISMATCH"],
      ["a DMARC record after something else", DMARC, ["hello", "v=DMARC1;p=None"], "OK"],
      ["a DMARC record without policy", DMARC, ["v=DMARC1"], "MISMATCH"],
      ["a DMARC record of an unknown policy", DMARC, ["v=DMARC1; p=foo"], "MISMATCH"],
      ["a DMARC record of two policies", DMARC, ["v=DMARC1; p=none reject"], "MISMATCH"],
      ["a DMARC record for sub-domains only", DMARC, ["v=DMARC1; sp=reject"], "MISMATCH"],
      ["a wrong policy for sub-domains", DMARC, ["v=DMARC1; p=reject; sp=foo"], "MISMATCH"],
      ["no policy, but reports", DMARC, ["v=DMARC1; rua=mailto:x@x.test"], "OK"],
      ["an unknown policy, but reports", DMARC, ["v=DMARC1; p=foo; rua=mailto:x@x.test"], "OK"],
      ["no policy, and reports to nowhere", DMARC, ["v=DMARC1; rua=nobody"], "MISMATCH"],
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

  test.each([
    ["a text", RSA, "v=DKIM1;\t\u001b[2Jp=OTHER\u009b1m", "v=DKIM1;  [2Jp=OTHER 1m"],
    ["a host", MX, "10 \u0007other.test\n", "10  other.test "],
  ])("is kept without control characters: %s", (_, expected, found, kept) => {
    expect(judge(expected, [found]).found).toEqual([kept]);
  });

  test("of a name with many texts is what matters", () => {
    expect(judge(SPF, ["a=b", "v=spf1 mx -all", "c=d"]).found).toEqual(["v=spf1 mx -all"]);
  });
});

describe("the value to paste", () => {
  test("adds to an SPF record that is there", () => {
    const finding = judge(SPF, ["v=spf1 mx -all"]);
    expect(adviceFor(SPF, finding).value).toBe("v=spf1 a:mail.test mx -all");
  });

  test("is that of a new record where there is none, or nobody looked", () => {
    expect(adviceFor(SPF, undefined).value).toBe("fresh");
    expect(adviceFor(SPF, judge(SPF, [])).value).toBe("fresh");
  });

  test("replaces a wrong key", () => {
    expect(adviceFor(RSA, judge(RSA, ["p=OTHER"])).value).toBe("fresh");
  });

  test.each([
    ["the addition would be one too many", SPF, `v=spf1 ${TEN} -all`],
    ["there are too many already", SPF, `v=spf1 a:mail.test ${TEN} -all`],
    ["there are too many, and we know of none to add", ANY_SPF, `v=spf1 mx ${TEN} -all`],
  ])("is none, and the note says why, where %s", (_, expected, found) => {
    const finding = judge(expected, [found]);
    expect(finding.status).toBe("MISMATCH");
    expect(adviceFor(expected, finding)).toEqual({
      value: "",
      note: expect.stringContaining("more than 10 terms that need DNS look-ups"),
    });
  });

  test("names an address where a name would be one too many", () => {
    const addressed = record({ kind: "spf", mechanisms: ["ip4:8.8.8.8"] });
    const finding = judge(addressed, [`v=spf1 ${TEN} -all`]);
    expect(adviceFor(addressed, finding).value).toBe(`v=spf1 ip4:8.8.8.8 ${TEN} -all`);
  });
});

test("stored findings come back, and those of another shape are forgotten", () => {
  const findings = [judge(RSA, ["p=OTHER"]), judge(SPF, [])];
  expect(parseFindings(JSON.stringify(findings))).toEqual(findings);
  expect(parseFindings('[{"purpose":"NEW"}]')).toEqual([]);
  expect(parseFindings("{}")).toEqual([]);
});
