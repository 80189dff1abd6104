/** Checks before a certificate is ordered: addresses, CAA records (RFC 8659), port 80. */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { CaaRecord } from "../../src/protocols/dns/answer.ts";
import { createDns } from "../../src/protocols/dns/client.ts";
import type { FetchGuarded } from "../../src/protocols/fetch-guarded/fetch-guarded.ts";
import { FetchRefused } from "../../src/protocols/fetch-guarded/refusal.ts";
import { mayIssue, reasonAgainstOrder, whatAnswersElsewhere } from "../../src/tls/order-check.ts";
import { manualClock } from "../support/clock.ts";
import { startDnsServer, type TestDns, type TestRecords } from "../support/dns-server.ts";

const issue = (value: string, rest: Partial<CaaRecord> = {}): CaaRecord => ({
  isCritical: false,
  tag: "issue",
  value,
  ...rest,
});

test.each<[name: string, records: CaaRecord[], isAllowed: boolean]>([
  ["that name the CA", [issue("ca.test")], true],
  ["that name it in capital letters, among others", [issue("x.test"), issue(" CA.test ")], true],
  ["that name others", [issue("x.test"), issue("y.test; account=1")], false],
  ["that name none", [issue(";")], false],
  ["that are only about wildcards and reports", [issue("x", { tag: "issuewild" })], true],
  [
    "with a critical tag that is not known",
    [issue("ca.test"), { ...issue("x"), tag: "tbs", isCritical: true }],
    false,
  ],
  [
    "with an unknown tag that is not critical",
    [issue("ca.test"), issue("x", { tag: "tbs" })],
    true,
  ],
  ["that allow our way of proof", [issue("ca.test; validationmethods=dns-01,http-01")], true],
  ["that allow only other ways of proof", [issue("ca.test; validationmethods=dns-01")], false],
  ["with other parameters", [issue("ca.test; accounturi=https://ca.test/1")], true],
])("CAA records %s", (_, records, isAllowed) => {
  expect(mayIssue(records, "ca.test")).toBe(isAllowed);
});

describe("an order", () => {
  let server: TestDns;
  beforeAll(async () => {
    server = await startDnsServer();
  });
  beforeEach(() => {
    server.failures = {};
  });
  afterAll(() => server.close());

  test.each<[name: string, records: Record<string, TestRecords>, reason: RegExp | null]>([
    ["is made for a name with an address", { "mail.shop.test": { A: ["192.0.2.1"] } }, null],
    ["is made for a name with IPv6 only", { "mail.shop.test": { AAAA: ["2001:db8::1"] } }, null],
    ["is not made without an address", { "shop.test": {} }, /^mail\.shop\.test has no address/],
    [
      "is not made if a record above the name names another CA",
      {
        "mail.shop.test": { A: ["192.0.2.1"] },
        "shop.test": { CAA: ["0 issue other.test"] },
        test: { CAA: ["0 issue ca.test"] },
      },
      /^the CAA records of shop\.test do not allow.*issue "other\.test".*“0 issue "ca\.test"”$/,
    ],
    [
      "is made if the nearest record names the CA",
      {
        "mail.shop.test": { A: ["192.0.2.1"], CAA: ["0 issue ca.test"] },
        "shop.test": { CAA: ["0 issue other.test"] },
      },
      null,
    ],
  ])("%s", async (_, records, reason) => {
    server.records = records;
    expect(await reasonFor(server)).toEqual(reason === null ? null : expect.stringMatching(reason));
  });

  test("is made if the look-ups fail, because those of the CA may not", async () => {
    server.failures = { "*": "servfail" };
    expect(await reasonFor(server)).toBeNull();
  });
});

async function reasonFor({ server, ...state }: TestDns): Promise<string | null> {
  const dns = createDns({ servers: [server], clock: manualClock() });
  const names = ["mail.shop.test"];
  try {
    return await reasonAgainstOrder({ dns }, { names, caaIdentities: ["ca.test"] });
  } finally {
    dns.close();
    expect(state.queries.length).toBeGreaterThan(0);
  }
}

test("port 80 of a name is asked for a token, which then is gone", async () => {
  const published = new Map<string, string>();
  const publish = (token: string, answer: string) => {
    published.set(token, answer);
    return () => void published.delete(token);
  };
  const answerOf = (fetchGuarded: FetchGuarded) =>
    whatAnswersElsewhere({ fetchGuarded }, ["mail.test"], publish);
  const answer = (status: number, text: string) => ({
    status,
    headers: new Headers(),
    body: Buffer.from(text),
    isTruncated: false,
  });
  const ours: FetchGuarded = async (url) => {
    expect(url).toStartWith("http://mail.test/.well-known/acme-challenge/");
    return answer(200, published.get(url.slice(url.lastIndexOf("/") + 1)) ?? "");
  };
  expect([await answerOf(ours), published.size]).toEqual([null, 0]);
  expect(await answerOf(async () => answer(404, "not found"))).toBe(
    "from here, another server answers port 80 of mail.test (status 404)",
  );
  const refused: FetchGuarded = () =>
    Promise.reject(new FetchRefused("unresolvable", "mail.test has no address"));
  expect(await answerOf(refused)).toContain("port 80 of mail.test cannot be reached");
  expect(published.size).toBe(0);
});
