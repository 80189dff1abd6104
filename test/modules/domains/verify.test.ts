import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { findDomain } from "../../../src/modules/domains/domains.ts";
import { createDns } from "../../../src/protocols/dns/client.ts";
import { type TestResponse, type TestApp, testApp } from "../../support/app.ts";
import { type ManualClock, manualClock } from "../../support/clock.ts";
import { startDnsServer, type TestDns, type TestRecords } from "../../support/dns-server.ts";
import { waitUntil } from "../../support/eventually.ts";
import { valueAt, listAt, stringAt } from "../../support/json.ts";
import { expectError } from "../../support/refusal.ts";
import { publish, statuses } from "../../support/zone.ts";

const HOUR = 3_600_000;

let dns: TestDns;
let t: TestApp;
/** Measures how long a question waits for its answer. */
let queryClock: ManualClock;
/** The domain as POST /domains returned it. */
let domain: unknown;

beforeEach(async () => {
  dns = await startDnsServer({ records: { "example.com": { TXT: ["site-verification=1"] } } });
  const clock = manualClock();
  queryClock = manualClock();
  t = await testApp({
    clock,
    dns: createDns({ servers: [dns.server], clock, queryClock, tries: 1 }),
    config: { hostname: "mail.example.org" },
  });
  domain = (await t.call("POST", "/domains", { domain: "example.com" })).at("data");
});
afterEach(async () => {
  await t.close();
  await dns.close();
});

function records(purpose: string): unknown[] {
  return listAt(domain, "records").filter((record) => valueAt(record, "purpose") === purpose);
}

function verify(): Promise<TestResponse> {
  return t.call("POST", `/domains/${stringAt(domain, "id")}/verify`);
}

/** Lets the time limits of the questions of a check end, and resolves to its result. */
async function afterTimeLimits<T>(check: Promise<T>): Promise<T> {
  let isDone = false;
  const result = check.finally(() => (isDone = true));
  await waitUntil(() => {
    queryClock.advance(1_000);
    return isDone;
  });
  return result;
}

async function send(): Promise<number> {
  const mail = { to: "a@example.net", from: "b@example.com", subject: "s", body: "<p>b</p>" };
  return (await t.call("POST", "/v1/send", mail)).status;
}

describe("a domain that two projects have added", () => {
  /** Publishes the keys of both, and checks the one of the other project first. */
  async function verifyBoth() {
    const other = await t.makeProject("other");
    const as = { key: other.secretKey };
    const theirs = (await t.call("POST", "/domains", { domain: "example.com" }, as)).at("data");
    publish(dns.records, [...listAt(domain, "records"), ...listAt(theirs, "records")]);
    const check = (of: unknown, key = other.secretKey) =>
      t.call("POST", `/domains/${stringAt(of, "id")}/verify`, undefined, { key });
    const first = await check(theirs);
    return { as, theirs, check, states: [first, await verify()].map((a) => a.at("data.status")) };
  }

  /** Whether the next check of the domain of the own project is due. */
  function isDue(): boolean {
    const row = findDomain(t.app.app, t.project.seq, "example.com");
    return row !== null && row.nextCheckAt <= t.clock.now();
  }

  test("is that of the first one whose key is found", async () => {
    const { states } = await verifyBoth();
    expect(states).toEqual(["VERIFIED", "PENDING"]);
    const { body } = await t.call("GET", `/domains/${stringAt(domain, "id")}`);
    expect(statuses(valueAt(body, "data"))).toContain("DKIM TXT OK");
    expect(valueAt(body, "data.records.0.note")).toContain("Another project");
    expect(await send()).toBe(403);
  });

  test("is that of the other one after the first one has removed it", async () => {
    const { as, theirs } = await verifyBoth();
    expect(isDue()).toBe(false);
    await t.call("DELETE", `/domains/${stringAt(theirs, "id")}`, undefined, as);
    expect(isDue()).toBe(true);
    expect((await verify()).at("data.status")).toBe("VERIFIED");
    expect(await send()).toBe(200);
    const again = await t.call("POST", "/domains", { domain: "example.com" }, as);
    expectError(again, { status: 409, code: "CONFLICT" });
  });

  test("is that of the other one after the first one has lost its key for 72 hours", async () => {
    const { theirs, check } = await verifyBoth();
    delete dns.records[stringAt(theirs, "records.0.name")];
    await check(theirs);
    expect((await verify()).at("data.status")).toBe("PENDING");
    t.clock.advance(73 * HOUR);
    await verify();
    expect(isDue()).toBe(false);
    expect((await check(theirs)).at("data.status")).toBe("FAILED");
    expect(isDue()).toBe(true);
    expect((await verify()).at("data.status")).toBe("VERIFIED");
    publish(dns.records, listAt(theirs, "records"));
    expect((await check(theirs)).at("data.status")).toBe("FAILED");
  });
});

describe("an SPF record with other terms than the advised ones", () => {
  const CORP = { TXT: ["v=spf1 ip4:203.0.113.7 -all"] };
  const MX = { MX: ["10 mail.example.org"] };
  test.each<[record: string, zone: TestRecords, status: string]>([
    ["v=spf1 ip4:203.0.113.7 -all", {}, "OK"],
    ["v=spf1 ip4:203.0.113.0/28 ?all", {}, "OK"],
    ["v=spf1 mx -all", MX, "OK"],
    ["v=spf1 include:_spf.corp.example -all", {}, "OK"],
    ["v=spf1 redirect=_spf.corp.example", {}, "OK"],
    ["v=spf1 mx -all", {}, "MISMATCH"],
    ["v=spf1 ip4:203.0.113.8 ~all", {}, "MISMATCH"],
    ["v=spf1 -ip4:203.0.113.7 a:mail.example.net -all", {}, "MISMATCH"],
    ["v=spf1 include:example.com -all", {}, "MISMATCH"],
  ])("%s, %j is %s", async (record, zone, status) => {
    dns.records["mail.example.org"] = { A: ["203.0.113.7"] };
    dns.records["_spf.corp.example"] = CORP;
    dns.records["example.com"] = { TXT: [record], ...zone };
    const answer = await verify();
    expect(statuses(answer.at("data"))).toContain(`SPF TXT ${status}`);
  });

  test("lets bounces come back, if our address is behind another one", async () => {
    publish(dns.records, listAt(domain, "records"));
    dns.records["mail.example.org"] = { A: ["203.0.113.7"] };
    dns.records["bounce.example.com"] = { ...MX, TXT: ["v=spf1 mx -all"] };
    const answer = await verify();
    expect(statuses(answer.at("data"))).toContain("RETURN_PATH TXT OK");
  });
});

describe("POST /domains/{id}/verify", () => {
  test("verifies a domain with all records, whose keys are split into several strings", async () => {
    publish(dns.records, listAt(domain, "records"));
    expect(await send()).toBe(403);
    const answer = await verify();
    expect(answer.status).toBe(200);
    expect(answer.at("data")).toMatchObject({
      status: "VERIFIED",
      verified: true,
      verifiedAt: "2026-03-02T10:00:00.000Z",
      lastCheckedAt: "2026-03-02T10:00:00.000Z",
    });
    expect(statuses(answer.at("data"))).toEqual([
      "DKIM TXT OK",
      "DKIM TXT OK",
      "SPF TXT OK",
      "DMARC TXT OK",
      "RETURN_PATH MX OK",
      "RETURN_PATH TXT OK",
    ]);
    expect(answer.at("data.records.0.found")).toEqual([answer.at("data.records.0.value")]);
    expect(await send()).toBe(200);
  });

  test("requires only the RSA key", async () => {
    publish(dns.records, records("DKIM").slice(0, 1));
    const answer = await verify();
    expect(answer.at("data.status")).toBe("VERIFIED");
    expect(statuses(answer.at("data"))).toEqual([
      "DKIM TXT OK",
      "DKIM TXT MISSING",
      "SPF TXT MISSING",
      "DMARC TXT MISSING",
      "RETURN_PATH MX MISSING",
      "RETURN_PATH TXT MISSING",
    ]);
  });

  test("does not accept the Ed25519 key alone", async () => {
    publish(dns.records, records("DKIM").slice(1));
    expect((await verify()).at("data.status")).toBe("PENDING");
  });

  test("shows the records found instead of the expected ones", async () => {
    const name = stringAt(domain, "records.0.name");
    dns.records[name] = { TXT: ["v=DKIM1; k=rsa; p=AAAA"] };
    dns.records["example.com"] = { TXT: ["v=spf1 mx -all"] };
    const answer = await verify();
    expect(answer.at("data.status")).toBe("PENDING");
    expect(answer.at("data.records.0")).toMatchObject({
      status: "MISMATCH",
      found: ["v=DKIM1; k=rsa; p=AAAA"],
    });
    expect(answer.at("data.records.2")).toMatchObject({
      status: "MISMATCH",
      found: ["v=spf1 mx -all"],
      value: "v=spf1 a:mail.example.org mx -all",
    });
  });

  test("does not use cached answers", async () => {
    await verify();
    publish(dns.records, records("DKIM"));
    expect((await verify()).at("data.status")).toBe("VERIFIED");
  });

  test("follows an alias to the key", async () => {
    const name = stringAt(domain, "records.0.name");
    publish(dns.records, [{ ...Object(records("DKIM")[0]), name: "key.provider.test" }]);
    dns.records[name] = { CNAME: "key.provider.test" };
    expect((await verify()).at("data.status")).toBe("VERIFIED");
  });

  test("accepts an alias of this server as the bounce host", async () => {
    dns.records["mail.example.org"] = {
      A: ["198.51.100.7"],
      TXT: ["v=spf1 a:mail.example.org ~all"],
    };
    dns.records["bounce.example.com"] = { CNAME: "mail.example.org" };
    expect(statuses((await verify()).at("data")).slice(4)).toEqual([
      "RETURN_PATH MX OK",
      "RETURN_PATH TXT OK",
    ]);
  });

  test("refuses the address of another host as the bounce host", async () => {
    dns.records["mail.example.org"] = { A: ["198.51.100.7"] };
    dns.records["bounce.example.com"] = { A: ["198.51.100.8"] };
    expect((await verify()).at("data.records.4")).toMatchObject({
      status: "MISMATCH",
      found: ["198.51.100.8"],
    });
  });

  test("accepts the DMARC record of the organisational domain for a subdomain", async () => {
    dns.records["_dmarc.example.com"] = { TXT: ["v=DMARC1; p=reject"] };
    const id = await t.create("/domains", { domain: "news.example.com" }, "data.id");
    const answer = await t.call("POST", `/domains/${id}/verify`);
    expect(answer.at("data.records.3")).toMatchObject({
      purpose: "DMARC",
      status: "OK",
      found: ["v=DMARC1; p=reject"],
    });
  });

  test.each(["timeout", "servfail", "malformed"] as const)(
    "keeps the previous findings after %s",
    async (failure) => {
      publish(dns.records, listAt(domain, "records"));
      await verify();
      dns.failures["*"] = failure;
      t.clock.advance(HOUR);
      const answer = await afterTimeLimits(verify());
      expect(answer.at("data.status")).toBe("VERIFIED");
      expect(answer.at("data.failingSince")).toBeNull();
      expect(statuses(answer.at("data"))).toContain("RETURN_PATH TXT OK");
      expect(answer.at("data.lastCheckedAt")).toBe("2026-03-02T10:00:00.000Z");
    },
  );

  test("counts as a check if one record was answered", async () => {
    await verify();
    dns.failures[`${stringAt(domain, "records.0.name")} TXT`] = "servfail";
    t.clock.advance(HOUR);
    expect((await verify()).at("data.lastCheckedAt")).toBe("2026-03-02T11:00:00.000Z");
  });

  test("fails a domain 72 hours after its key was lost and verifies it once the key is back", async () => {
    publish(dns.records, listAt(domain, "records"));
    await verify();
    const name = stringAt(domain, "records.0.name");
    const key = dns.records[name];
    delete dns.records[name];
    const lost = await verify();
    expect(lost.at("data")).toMatchObject({
      status: "VERIFIED",
      failingSince: "2026-03-02T10:00:00.000Z",
    });
    t.clock.advance(72 * HOUR - 1);
    expect((await verify()).at("data.status")).toBe("VERIFIED");
    expect(await send()).toBe(200);
    t.clock.advance(1);
    expect((await verify()).at("data")).toMatchObject({ status: "FAILED", verified: false });
    expect(await send()).toBe(403);
    dns.records[name] = key ?? {};
    expect((await verify()).at("data")).toMatchObject({ status: "VERIFIED", failingSince: null });
    expect(await send()).toBe(200);
  });

  test("sends one set of DNS queries for two concurrent requests", async () => {
    await Promise.all([verify(), verify()]);
    expect(dns.count("_dmarc.example.com TXT")).toBe(1);
  });
});

test("a domain declared verified by the operator stays verified and shows missing records", async () => {
  const list = await t.call("GET", "/domains?status=VERIFIED");
  const id = list.text("data.items.0.id");
  t.clock.advance(100 * HOUR);
  const answer = await t.call("POST", `/domains/${id}/verify`);
  expect(answer.at("data")).toMatchObject({ domain: "acme.test", status: "VERIFIED" });
  expect(statuses(answer.at("data"))).toContain("SPF TXT MISSING");
});
