import { describe, expect, test } from "bun:test";
import {
  findRoute,
  orderAddresses,
  recipientDomain,
  shuffle,
  type HostAddresses,
  type IpFamily,
  type Route,
  type RouteInput,
} from "../../../src/outbox/direct/route.ts";
import type { DnsAnswer, MxRecord } from "../../../src/protocols/dns/answer.ts";

/** An answer of MX records, each given as `10 mx.test`. */
function mx(...texts: string[]): DnsAnswer<MxRecord> {
  const records = texts.map((text) => {
    const [preference, exchange = "."] = text.split(" ");
    return { preference: Number(preference), exchange };
  });
  return { kind: "records", records, ttlSeconds: 300 };
}

function route(answer: DnsAnswer<MxRecord>, options: Partial<RouteInput> = {}): Route {
  const ownNames = new Set(["own.test", "alias.own.test"]);
  return findRoute({ domain: "d.test", mx: answer, ownNames, random: () => 0, ...options });
}

function hostsOf(found: Route): readonly string[] {
  return found.kind === "hosts" ? found.hosts : [];
}

describe("the recipient's domain", () => {
  test.each([
    ["a@example.com", "example.com"],
    ["a@Example.COM", "example.com"],
    ["a@example.com.", "example.com"],
    ["a@bücher.example", "xn--bcher-kva.example"],
    ['"a@b"@example.com', "example.com"],
    ["a@[192.0.2.1]", null],
    ["a@[IPv6:2001:db8::1]", null],
    ["a@192.0.2.1", null],
    ["a@localhost", null],
    ["a@", null],
    ["a@example..com", null],
    ["a@-.com", null],
    [`a@${"x".repeat(64)}.com`, null],
    [`a@${"x.".repeat(130)}com`, null],
  ])("of %s is %p", (address, domain) => {
    expect(recipientDomain(address)).toBe(domain);
  });
});

const OBSTACLES: [name: string, answer: DnsAnswer<MxRecord>, kind: string, reason: RegExp][] = [
  ["null MX", mx("0 ."), "bounced no_such_recipient", /^5\.1\.10 .*accepts no mail/],
  ["null MX of another preference", mx("10 ."), "bounced no_such_recipient", /^5\.1\.10 /],
  ["no such domain", { kind: "nxdomain" }, "bounced no_such_recipient", /^5\.1\.2 .*not exist/],
  [
    "SERVFAIL",
    { kind: "failed", reason: "SERVFAIL" },
    "deferred infrastructure",
    /^4\.4\.3 .*SERV/,
  ],
  ["only our own host", mx("10 own.test"), "bounced infrastructure", /^5\.4\.6 .*this server/],
  ["our own host first", mx("10 own.test", "20 b.test"), "bounced infrastructure", /^5\.4\.6 /],
  [
    "our own host among equals",
    mx("5 b.test", "5 own.test"),
    "bounced infrastructure",
    /^5\.4\.6 /,
  ],
  ["only an address literal", mx("10 192.0.2.1"), "deferred temporary", /^4\.4\.4 /],
  ["an IPv6 literal", mx("10 2001:db8::1"), "deferred temporary", /^4\.4\.4 /],
  ["only invalid names", mx("10 .", "20 a!b"), "deferred temporary", /^4\.4\.4 /],
];

describe("no host is found for", () => {
  test.each(OBSTACLES)("%s", (_, answer, kind, reason) => {
    const found = route(answer);
    if (found.kind !== "obstacle") throw new Error("a host was found");
    expect(`${found.obstacle.kind} ${found.obstacle.class}`).toBe(kind);
    expect(found.obstacle.reason).toMatch(reason);
  });

  test("a domain that is this server and has no MX", () => {
    const found = route({ kind: "none" }, { domain: "own.test" });
    expect(found).toMatchObject({ obstacle: { reason: expect.stringContaining("5.4.6") } });
  });
});

const HOSTS: [name: string, answer: DnsAnswer<MxRecord>, hosts: string[]][] = [
  ["sorted by preference", mx("30 c", "10 a", "20 b"), ["a", "b", "c"]],
  ["without duplicates", mx("20 a.test", "10 a.test", "10 b.test"), ["a.test", "b.test"]],
  ["the domain itself without MX", { kind: "none" }, ["d.test"]],
  ["only those before our own host", mx("5 a", "10 own.test", "10 b", "20 c"), ["a"]],
  [
    "only those before another name of ours",
    mx("5 a", "7 b", "10 alias.own.test", "3 c"),
    ["c", "a", "b"],
  ],
  ["without address literals", mx("5 192.0.2.1", "10 a.test"), ["a.test"]],
  ["without the root if there are others", mx("0 .", "10 a.test"), ["a.test"]],
  ["with underscores", mx("10 mail_1.a.test"), ["mail_1.a.test"]],
];

describe("the hosts of a route are", () => {
  test.each(HOSTS)("%s", (_, answer, hosts) => {
    expect([...hostsOf(route(answer))].sort()).toEqual([...hosts].sort());
    expect(hostsOf(route(answer, { random: () => 0.999 }))[0]).toBe(hosts[0]);
  });

  test("all of 40 MX hosts", () => {
    const texts = Array.from({ length: 40 }, (_, i) => `${40 - i} mx${40 - i}.test`);
    expect(hostsOf(route(mx(...texts)))).toEqual(texts.map((_, i) => `mx${i + 1}.test`));
  });

  test("implicit only without MX, and those of the best preference identify the site", () => {
    expect(route({ kind: "none" })).toMatchObject({ isImplicit: true, best: ["d.test"] });
    const found = route(mx("20 c.test", "10 b.test", "10 a.test", "10 b.test"));
    expect(found).toMatchObject({ isImplicit: false, best: ["a.test", "b.test"] });
  });

  test("in random order for equal preferences, each order equally often", () => {
    const counts = new Map<string, number>();
    const answer = mx("10 a", "10 b", "10 c", "10 d", "20 z");
    for (let i = 0; i < 24_000; i++) {
      const order = hostsOf(route(answer, { random: Math.random })).join("");
      counts.set(order, (counts.get(order) ?? 0) + 1);
    }
    expect(counts.size).toBe(24);
    expect([...counts.keys()].every((order) => order.endsWith("z"))).toBe(true);
    // 1,000 each; 200 are more than six standard deviations.
    for (const count of counts.values()) expect(Math.abs(count - 1_000)).toBeLessThan(200);
  });

  test("shuffled without loss and without changing the input", () => {
    const items = [1, 2, 3, 4, 5];
    for (let i = 0; i < 100; i++) {
      expect(new Set(shuffle(items, Math.random))).toEqual(new Set(items));
    }
    expect(items).toEqual([1, 2, 3, 4, 5]);
    expect(shuffle([], Math.random)).toEqual([]);
  });
});

const found = (...records: string[]): DnsAnswer<string> => ({
  kind: "records",
  records,
  ttlSeconds: 300,
});
const FAILED: DnsAnswer<string> = { kind: "failed", reason: "SERVFAIL" };
const NONE: DnsAnswer<string> = { kind: "none" };
const MISSING: DnsAnswer<string> = { kind: "nxdomain" };

const BOTH: ReadonlySet<IpFamily> = new Set([4, 6]);

describe("the addresses of a host", () => {
  const order = (a: DnsAnswer<string>, aaaa: DnsAnswer<string>) =>
    orderAddresses({ host: "mx.test", a, aaaa, families: BOTH, random: () => 0.999 });

  test("alternate between both families, IPv4 first", () => {
    expect(order(found("192.0.2.1", "192.0.2.2", "192.0.2.3"), found("2001:db8::1"))).toEqual({
      kind: "addresses",
      addresses: ["192.0.2.1", "2001:db8::1", "192.0.2.2", "192.0.2.3"],
    });
  });

  test.each<[string, DnsAnswer<string>, DnsAnswer<string>, HostAddresses["kind"]]>([
    ["are found if only one family exists", NONE, found("2001:db8::1"), "addresses"],
    ["are found if the lookup of IPv4 failed", FAILED, found("2001:db8::1"), "addresses"],
    ["are found if the lookup of IPv6 failed", found("192.0.2.1"), FAILED, "addresses"],
    ["are missing if there are none", NONE, NONE, "missing"],
    ["are missing if the host does not exist", MISSING, MISSING, "missing"],
    ["are unknown without IPv4 if IPv6 failed", NONE, FAILED, "failed"],
    ["are unknown without IPv6 if IPv4 failed", FAILED, NONE, "failed"],
  ])("%s", (_, a, aaaa, kind) => {
    expect(order(a, aaaa).kind).toBe(kind);
  });

  test("of a family without a source address are skipped, and do not count as missing", () => {
    const families: ReadonlySet<IpFamily> = new Set([4]);
    const input = { host: "mx.test", aaaa: found("2001:db8::1"), families, random: () => 0 };
    expect(orderAddresses({ ...input, a: found("192.0.2.1") })).toEqual({
      kind: "addresses",
      addresses: ["192.0.2.1"],
    });
    expect(orderAddresses({ ...input, a: NONE })).toEqual({
      kind: "failed",
      reason: "4.4.4 mail is sent by IPv4 only, and mx.test has no such address",
    });
  });

  test("of one family are in random order", () => {
    const first = new Set<string>();
    const a = found("192.0.2.1", "192.0.2.2");
    for (let i = 0; i < 100; i++) {
      const input = { host: "mx.test", a, aaaa: NONE, families: BOTH, random: Math.random };
      const ordered = orderAddresses(input);
      if (ordered.kind === "addresses") first.add(ordered.addresses[0] ?? "");
    }
    expect(first.size).toBe(2);
  });
});
