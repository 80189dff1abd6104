import { afterEach, describe, expect, test } from "bun:test";
import type { DnsAnswer } from "../../../src/protocols/dns/answer.ts";
import {
  createDns,
  reverseName,
  type Dns,
  type DnsOptions,
} from "../../../src/protocols/dns/client.ts";
import type { DnsServer } from "../../../src/protocols/dns/servers.ts";
import { waitUntil } from "../../support/eventually.ts";
import { manualClock } from "../../support/clock.ts";
import { startDnsServer, type TestDnsOptions } from "../../support/dns-server.ts";

const closers: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

async function nameServer(options: TestDnsOptions = {}) {
  const server = await startDnsServer(options);
  closers.push(() => server.close());
  return server;
}

function client(servers: readonly DnsServer[], options: Partial<DnsOptions> = {}) {
  const clock = manualClock();
  const dns: Dns = createDns({ servers, clock, timeoutMs: 1_000, ...options });
  closers.push(() => dns.close());
  return { dns, clock };
}

async function both(options: TestDnsOptions, clientOptions: Partial<DnsOptions> = {}) {
  const server = await nameServer(options);
  return { server, ...client([server.server], clientOptions) };
}

/** Returns a port without a listener. */
async function deadServer(): Promise<DnsServer> {
  const server = await startDnsServer();
  await server.close();
  return server.server;
}

const LONG_KEY = `v=DKIM1; k=rsa; p=${"A".repeat(392)}`;

describe("records", () => {
  const records = {
    "example.com": {
      A: ["192.0.2.1", "192.0.2.2"],
      AAAA: ["2001:db8::1"],
      MX: ["20 Backup.Example.COM", "10 mx.example.com."],
      NS: ["NS1.Example.com"],
      TXT: ["v=spf1 -all", [LONG_KEY.slice(0, 255), LONG_KEY.slice(255)], "ümläut"],
    },
    "null.test": { MX: ["0 ."] },
    "1.2.0.192.in-addr.arpa": { PTR: ["Mail.Example.com"] },
  };

  test("of every type are read", async () => {
    const { dns } = await both({ records, ttlSeconds: 120 });
    const found = <T>(...values: T[]): DnsAnswer<T> => ({
      kind: "records",
      records: values,
      ttlSeconds: 120,
    });
    expect(await dns.resolve("example.com", "A")).toEqual(found("192.0.2.1", "192.0.2.2"));
    expect(await dns.resolve("example.com", "AAAA")).toEqual(found("2001:db8::1"));
    expect(await dns.resolve("example.com", "NS")).toEqual(found("ns1.example.com"));
    expect(await dns.resolve("example.com", "MX")).toEqual(
      found(
        { preference: 20, exchange: "backup.example.com" },
        { preference: 10, exchange: "mx.example.com" },
      ),
    );
    expect(await dns.resolve("null.test", "MX")).toEqual(found({ preference: 0, exchange: "." }));
    expect(await dns.reverse("192.0.2.1")).toEqual(found("mail.example.com"));
  });

  test("of several strings are concatenated", async () => {
    const { dns } = await both({ records });
    expect(await dns.resolve("example.com", "TXT")).toMatchObject({
      records: ["v=spf1 -all", LONG_KEY, "ümläut"],
    });
  });

  test("are found for names in any case and with a final dot", async () => {
    const { dns, server } = await both({ records });
    expect((await dns.resolve("EXAMPLE.com.", "A")).kind).toBe("records");
    expect((await dns.resolve("example.COM", "A")).kind).toBe("records");
    expect(server.queries).toEqual(["example.com A udp"]);
  });

  test("are found through aliases", async () => {
    const { dns } = await both({
      records: {
        "a.test": { CNAME: "B.test" },
        "b.test": { CNAME: "c.test" },
        "c.test": { A: ["192.0.2.3"] },
      },
    });
    expect(await dns.resolve("a.test", "A")).toMatchObject({ records: ["192.0.2.3"] });
  });
});

describe("no records", () => {
  const records = { "example.com": { A: ["192.0.2.1"] }, "a.b.test": { A: ["192.0.2.1"] } };

  test("is distinguished from no such name", async () => {
    const { dns } = await both({ records });
    expect(await dns.resolve("example.com", "MX")).toEqual({ kind: "none" });
    expect(await dns.resolve("b.test", "A")).toEqual({ kind: "none" });
    expect(await dns.resolve("nobody.test", "MX")).toEqual({ kind: "nxdomain" });
  });

  test("through an alias is the answer for the last name", async () => {
    const aliases = { "x.test": { CNAME: "example.com" }, "y.test": { CNAME: "nobody.test" } };
    const { dns } = await both({ records: { ...records, ...aliases } });
    expect(await dns.resolve("x.test", "MX")).toEqual({ kind: "none" });
    expect(await dns.resolve("y.test", "MX")).toEqual({ kind: "nxdomain" });
  });
});

describe("failure", () => {
  const records = { "example.com": { A: ["192.0.2.1"], CNAME: "example.com" } };

  test.each([
    ["servfail", /A of example\.com: 127\.0\.0\.1:\d+: SERVFAIL/],
    ["refused", /REFUSED/],
    ["malformed", /malformed/],
    ["timeout", /no answer within 0\.03 s/],
    ["wrong-id", /no answer/],
    ["wrong-question", /no answer/],
    ["wrong-port", /no answer/],
    ["no-tcp", /closed|reset/i],
  ] as const)("%s is a failed answer with a reason", async (failure, reason) => {
    // The refused connection ends at once; on a busy machine that takes longer than 30 ms.
    const timeoutMs = failure === "no-tcp" ? 5_000 : 30;
    const { dns } = await both({ failures: { "*": failure } }, { timeoutMs });
    expect(await dns.resolve("example.com", "A")).toEqual({
      kind: "failed",
      reason: expect.stringMatching(reason),
    });
  });

  test("is the answer to a loop of aliases", async () => {
    const { dns } = await both({ records });
    expect(await dns.resolve("example.com", "A")).toMatchObject({
      kind: "failed",
      reason: expect.stringContaining("loop"),
    });
  });

  test("is the answer if no server listens", async () => {
    const { dns } = client([await deadServer()]);
    expect(await dns.resolve("example.com", "A")).toMatchObject({ kind: "failed" });
  });

  // The system refuses to connect a socket to the broadcast address, as to one without a route.
  test("is the answer if the system has no way to the server", async () => {
    const { dns } = client([{ address: "255.255.255.255", port: 53 }]);
    const answer = await dns.resolve("example.com", "A");
    expect(answer).toMatchObject({
      kind: "failed",
      reason: expect.stringContaining("255.255.255.255:53: Failed to connect socket"),
    });
  });

  test("is the answer if there is no server", async () => {
    const { dns } = client([]);
    expect(await dns.resolve("example.com", "A")).toMatchObject({ kind: "failed" });
  });

  test.each([
    "",
    ".",
    "a..b",
    "exa mple.com",
    "bücher.de",
    `${"x".repeat(64)}.com`,
    "x.".repeat(128),
  ])("%p is not a name and is not looked up", async (name) => {
    const { dns, server } = await both({});
    expect(await dns.resolve(name, "A")).toEqual({ kind: "failed", reason: "not a DNS name" });
    expect(server.queries).toEqual([]);
  });

  test("is the answer to a reverse look-up of text that is not an address", async () => {
    const { dns } = await both({});
    expect((await dns.reverse("example.com")).kind).toBe("failed");
  });
});

describe("the wire", () => {
  test("a truncated answer is fetched over TCP", async () => {
    const records = { "example.com": { A: ["192.0.2.1"] } };
    const { dns, server } = await both({ records, failures: { "*": "truncate" } });
    expect(await dns.resolve("example.com", "A")).toMatchObject({ records: ["192.0.2.1"] });
    expect(server.queries).toEqual(["example.com A udp", "example.com A tcp"]);
  });

  test("only an answer of more than 1,232 octets is fetched over TCP", async () => {
    const texts = (count: number) => Array.from({ length: count }, (_, i) => `${i}`.padEnd(180));
    const records = { "small.test": { TXT: texts(5) }, "large.test": { TXT: texts(50) } };
    const { dns, server } = await both({ records });
    expect(await dns.resolve("small.test", "TXT")).toMatchObject({ records: texts(5) });
    expect(await dns.resolve("large.test", "TXT")).toMatchObject({ records: texts(50) });
    expect(server.queries).toEqual([
      "small.test TXT udp",
      "large.test TXT udp",
      "large.test TXT tcp",
    ]);
  });

  test("a server without EDNS is asked again without it", async () => {
    const records = { "example.com": { A: ["192.0.2.1"] } };
    const { dns } = await both({ records, failures: { "*": "no-edns" } });
    expect((await dns.resolve("example.com", "A")).kind).toBe("records");
  });

  test("forged answers are ignored, and the right one is used", async () => {
    const records = { "example.com": { A: ["192.0.2.1"] } };
    const { dns } = await both({ records, failures: { "*": "forged" } });
    expect(await dns.resolve("example.com", "A")).toMatchObject({ records: ["192.0.2.1"] });
  });

  test("ids and source ports differ from question to question", async () => {
    const { dns, server } = await both({});
    for (let i = 0; i < 16; i++) await dns.resolve(`n${i}.test`, "A");
    expect(new Set(server.sources.map(({ id }) => id)).size).toBeGreaterThan(12);
    expect(new Set(server.sources.map(({ port }) => port)).size).toBeGreaterThan(12);
  });
});

describe("several servers", () => {
  const records = { "example.com": { A: ["192.0.2.1"] } };

  test("after a timeout the next one is asked, which is asked first from then on", async () => {
    const [silent, good] = [
      await nameServer({ failures: { "*": "timeout" } }),
      await nameServer({ records }),
    ];
    const queryClock = manualClock();
    const { dns } = client([silent.server, good.server], { timeoutMs: 1_500, queryClock });
    const resolving = dns.resolve("example.com", "A");
    await waitUntil(() => silent.queries.length === 1);
    queryClock.advance(1_499);
    expect(good.queries).toEqual([]);
    queryClock.advance(1);
    expect((await resolving).kind).toBe("records");
    expect((await dns.resolve("example.com", "MX")).kind).toBe("none");
    expect(silent.queries).toEqual(["example.com A udp"]);
    expect(good.queries.length).toBe(2);
  });

  test("after SERVFAIL the next one is asked, and the order stays", async () => {
    const [lame, good] = [
      await nameServer({ failures: { "example.com": "servfail" }, records }),
      await nameServer({ records }),
    ];
    const { dns } = client([lame.server, good.server]);
    expect((await dns.resolve("example.com", "A")).kind).toBe("records");
    await dns.resolve("other.test", "A");
    expect(lame.count("example.com")).toBe(1);
    expect(lame.count("other.test")).toBe(1);
    expect(good.count("other.test")).toBe(0);
  });

  test("one that is down causes no delay", async () => {
    const good = await nameServer({ records });
    const { dns } = client([await deadServer(), good.server], { timeoutMs: 10_000 });
    expect((await dns.resolve("example.com", "A")).kind).toBe("records");
  });

  test("a silent server is asked three times in total, one with SERVFAIL once", async () => {
    const silent = await nameServer({ failures: { "*": "timeout" } });
    const queryClock = manualClock();
    const resolving = client([silent.server], { queryClock }).dns.resolve("example.com", "A");
    for (let sent = 1; sent <= 3; sent++) {
      await waitUntil(() => silent.queries.length === sent);
      queryClock.advance(1_000);
    }
    expect((await resolving).kind).toBe("failed");
    expect(silent.queries.length).toBe(3);
    const lame = await nameServer({ failures: { "*": "servfail" } });
    await client([lame.server]).dns.resolve("example.com", "A");
    expect(lame.queries.length).toBe(1);
  });
});

describe("the cache", () => {
  test("stores records for their TTL, which counts down", async () => {
    const records = { "example.com": { A: ["192.0.2.1"] } };
    const { dns, server, clock } = await both({ records, ttlSeconds: 100 });
    await dns.resolve("example.com", "A");
    clock.advance(60_500);
    expect(await dns.resolve("example.com", "A")).toMatchObject({ ttlSeconds: 40 });
    expect(server.queries.length).toBe(1);
    clock.advance(39_500);
    await dns.resolve("example.com", "A");
    expect(server.queries.length).toBe(2);
  });

  test.each([
    ["back", -86_400_000],
    ["forward", 86_400_000],
  ])("stores records for the same time when the clock is set %s by a day", async (_, stepMs) => {
    const records = { "example.com": { A: ["192.0.2.1"] } };
    const { dns, server, clock } = await both({ records, ttlSeconds: 100 });
    await dns.resolve("example.com", "A");
    clock.stepWall(stepMs);
    clock.advance(60_000);
    expect(await dns.resolve("example.com", "A")).toMatchObject({ ttlSeconds: 40 });
    clock.advance(40_000);
    await dns.resolve("example.com", "A");
    expect(server.queries.length).toBe(2);
  });

  test.each([
    ["records for at least 5 s", { ttlSeconds: 0 }, "example.com", 5],
    ["records for at most an hour", { ttlSeconds: 1_000_000 }, "example.com", 3_600],
    ["no such name for the time of the SOA record", { negativeSeconds: 60 }, "nobody.test", 60],
    ["no such name for at most 5 min", { negativeSeconds: 86_400 }, "nobody.test", 300],
    ["no such name without SOA for 5 s", { negativeSeconds: null }, "nobody.test", 5],
    ["a failure for 30 s", { failures: { "bad.test": "servfail" as const } }, "bad.test", 30],
  ])("stores %s", async (_, options, name, seconds) => {
    const records = { "example.com": { A: ["192.0.2.1"] } };
    const { dns, server, clock } = await both({ records, ...options });
    const first = await dns.resolve(name, "A");
    clock.advance(seconds * 1_000 - 1);
    const second = await dns.resolve(name, "A");
    expect(second.kind).toBe(first.kind);
    expect(server.queries.length).toBe(1);
    clock.advance(1);
    await dns.resolve(name, "A");
    expect(server.queries.length).toBe(2);
  });

  test("is not used for a fresh look-up, whose answer is stored", async () => {
    const { dns, server } = await both({ negativeSeconds: 300 });
    expect((await dns.resolve("new.test", "TXT")).kind).toBe("nxdomain");
    server.records["new.test"] = { TXT: ["here"] };
    expect((await dns.resolve("new.test", "TXT")).kind).toBe("nxdomain");
    expect((await dns.resolve("new.test", "TXT", { fresh: true })).kind).toBe("records");
    expect((await dns.resolve("new.test", "TXT")).kind).toBe("records");
    expect(server.queries.length).toBe(2);
  });

  test("has a limited size and removes the least recently used name", async () => {
    const { dns, server } = await both({}, { maxEntries: 2 });
    for (const name of ["a.test", "b.test", "a.test", "c.test", "a.test", "b.test"]) {
      await dns.resolve(name, "A");
    }
    expect(server.queries.map((query) => query.slice(0, 1)).join("")).toBe("abcb");
  });

  test("does not include answers of more than 4 KiB", async () => {
    const TXT = Array.from({ length: 30 }, (_, i) => `${i}`.padEnd(200));
    const { dns, server } = await both({ records: { "large.test": { TXT } } });
    await dns.resolve("large.test", "TXT");
    await dns.resolve("large.test", "TXT");
    expect(server.count("large.test TXT tcp")).toBe(2);
  });
});

test("simultaneous look-ups of one name share one question", async () => {
  const { dns, server } = await both({ records: { "example.com": { A: ["192.0.2.1"] } } });
  const answers = await Promise.all(
    Array.from({ length: 50 }, () => dns.resolve("Example.com", "A")),
  );
  expect(new Set(answers.map(({ kind }) => kind))).toEqual(new Set(["records"]));
  expect(server.queries.length).toBe(1);
});

test("closing ends look-ups under way and later ones", async () => {
  const { dns } = await both({ failures: { "*": "timeout" } }, { timeoutMs: 60_000 });
  const asking = dns.resolve("example.com", "A");
  dns.close();
  const closing = { kind: "failed", reason: "A of example.com: we are closing" } as const;
  expect(await asking).toEqual(closing);
  expect(await dns.resolve("example.com", "A")).toEqual(closing);
});

test.each([
  ["192.0.2.1", "1.2.0.192.in-addr.arpa"],
  ["::ffff:192.0.2.1", "1.2.0.192.in-addr.arpa"],
  ["2001:db8::25", `5.2.${"0.".repeat(22)}8.b.d.0.1.0.0.2.ip6.arpa`],
])("the reverse name of %s is %s", (address, name) => {
  expect(reverseName(address)).toBe(name);
});
