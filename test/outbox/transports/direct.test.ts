import { afterEach, describe, expect, test } from "bun:test";
import type { Outcome } from "../../../src/outbox/outcome.ts";
import { sendOne } from "../../../src/outbox/outcome.ts";
import type { MailObject } from "../../../src/protocols/smtp/stream.ts";
import { busyOf } from "../../../src/outbox/record.ts";
import type { DirectOptions } from "../../../src/outbox/transports/direct.ts";
import { DEFAULT_TIMEOUTS } from "../../../src/protocols/smtp/timeouts.ts";
import { manualClock } from "../../support/clock.ts";
import { settleEventLoop, waitUntil } from "../../support/eventually.ts";
import { advanceWhenSilent } from "../../support/silence.ts";
import type { DnsFailure, TestRecords } from "../../support/dns-server.ts";
import { startMailNet, type MailNet } from "../../support/mail-net.ts";
import type { Script, ScriptOptions } from "../../support/smtp-script.ts";
import { makeCertificate } from "../../support/tls.ts";

const closers: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

type Records = Record<string, TestRecords>;

/** Measures queries and sessions that time out. */
const peerClock = manualClock();

async function mailNet(records: Records, failures: Record<string, DnsFailure> = {}) {
  const net = await startMailNet({ records, failures, queryClock: peerClock });
  closers.push(() => net.close());
  return net;
}

function mail(to = "b@d.test", text = "Subject: a\r\n\r\nb\r\n"): MailObject {
  return { envelope: { from: "a@sender.test", to }, message: Buffer.from(text) };
}

function hostsOf(outcome: Outcome): string[] {
  return outcome.conversations.map(({ host }) => host);
}

function addressesOf(outcome: Outcome): (string | null)[] {
  return outcome.conversations.map(({ address }) => address);
}

/** Records of two hosts, a and b, at 127.0.0.2 and 127.0.0.3. */
const TWO: Records = {
  "d.test": { MX: ["10 a.d.test", "20 b.d.test"] },
  "a.d.test": { A: ["127.0.0.2"] },
  "b.d.test": { A: ["127.0.0.3"] },
};

async function twoHosts(first: Script | ScriptOptions, second: Script = {}) {
  const net = await mailNet(TWO);
  const a = await net.script(2, isOptions(first) ? first : { script: first });
  const b = await net.script(3, { script: second });
  return { net, a, b };
}

function isOptions(value: Script | ScriptOptions): value is ScriptOptions {
  return "script" in value || "tls" in value || "extensions" in value;
}

async function outcomeOf(net: MailNet, options: Partial<DirectOptions> = {}): Promise<Outcome> {
  return sendOne(net.transport({ sessionClock: peerClock, ...options }), mail());
}

describe("direct delivery", () => {
  test("sends to the server of the recipient's domain, whose acceptance is final", async () => {
    const net = await mailNet(TWO);
    const sink = await net.sink(2);
    const transport = net.transport();
    expect(transport).toMatchObject({ name: "direct", concurrency: 50 });
    const outcome = await sendOne(transport, mail("B@D.test"));
    expect(outcome).toMatchObject({
      kind: "accepted",
      class: "accepted",
      final: true,
      reason: "a.d.test accepted it: 250 2.0.0 Ok: taken",
      conversations: [{ host: "a.d.test", address: "127.0.0.2", port: net.port, reused: false }],
    });
    expect(outcome.conversations[0]?.steps[2]).toMatchObject({ command: "EHLO sender.test" });
    expect(sink.messages).toMatchObject([{ from: "a@sender.test", to: ["B@D.test"] }]);
  });

  test("uses one connection for all domains of a host", async () => {
    const domains = Array.from({ length: 20 }, (_, i) => `d${i}.test`);
    const records = Object.fromEntries(domains.map((name) => [name, { MX: ["10 mx.test"] }]));
    const net = await mailNet({ ...records, "mx.test": { A: ["127.0.0.2"] } });
    const sink = await net.sink(2);
    const transport = net.transport();
    for (const domain of domains) {
      expect((await sendOne(transport, mail(`b@${domain}`))).kind).toBe("accepted");
    }
    expect(sink.counts).toEqual({ messages: 20, connections: 1 });
  });

  test("uses the source addresses in round robin", async () => {
    const net = await mailNet({ "d.test": { A: ["127.0.0.2"] } });
    const host = await net.script(2, { script: { greeting: { code: 421 } } });
    const transport = net.transport({ sourceAddresses: ["127.0.0.8", "127.0.0.9", "::1"] });
    for (let i = 0; i < 3; i++) await sendOne(transport, mail());
    expect(host.peers).toEqual(["127.0.0.8", "127.0.0.9", "127.0.0.8"]);
  });

  test("does not use a family without a source address", async () => {
    const records = { "d.test": { A: ["127.0.0.2"], AAAA: ["::1"] } };
    const net = await mailNet(records);
    const outcome = await outcomeOf(net, { sourceAddresses: ["::1"] });
    expect(addressesOf(outcome)).toEqual(["::1"]);
  });

  test("defers mail to a domain that only has addresses of an unused family", async () => {
    const net = await mailNet({ "d.test": { AAAA: ["::1"] } });
    const outcome = await outcomeOf(net, { sourceAddresses: ["127.0.0.8"] });
    expect(outcome).toMatchObject({ kind: "deferred", class: "infrastructure" });
    expect(outcome.reason).toContain("mail is sent by IPv4 only");
  });

  test("fails an invalid recipient address as an error of the content", async () => {
    const net = await mailNet(TWO);
    await net.sink(2);
    const transport = net.transport();
    for (const to of ["b@[127.0.0.2]", "b@localhost", "b", "b c@d.test", "b@d.test>\r\nDATA"]) {
      expect(await sendOne(transport, mail(to))).toMatchObject({
        kind: "failed",
        class: "content",
      });
    }
  });

  test("defers mail that is under way when it is closed", async () => {
    const net = await mailNet(TWO);
    const host = await net.script(2, { script: { greeting: "hang" } });
    const transport = net.transport({ sessionClock: peerClock });
    const sending = sendOne(transport, mail());
    await waitUntil(() => host.hanging === 1);
    const closed = transport.close();
    await settleEventLoop();
    peerClock.advance(2_000);
    await closed;
    expect(await sending).toMatchObject({ kind: "deferred", class: "infrastructure" });
    expect(await sendOne(transport, mail())).toMatchObject({ kind: "deferred" });
  });
});

const WITHOUT_HOST: [
  name: string,
  records: Records,
  failure: DnsFailure | null,
  expected: string,
][] = [
  ["null MX", { "d.test": { MX: ["0 ."] } }, null, "bounced no_such_recipient 5.1.10"],
  ["no such domain", {}, null, "bounced no_such_recipient 5.1.2"],
  ["neither MX nor address", { "d.test": { TXT: ["x"] } }, null, "bounced no_such_recipient 5.1.2"],
  ["SERVFAIL", TWO, "servfail", "deferred infrastructure 4.4.3"],
  ["REFUSED", TWO, "refused", "deferred infrastructure 4.4.3"],
  ["a silent name server", TWO, "timeout", "deferred infrastructure 4.4.3"],
  ["a malformed answer", TWO, "malformed", "deferred infrastructure 4.4.3"],
  ["our own host", { "d.test": { MX: ["10 sender.test"] } }, null, "bounced infrastructure 5.4.6"],
  ["a host that is missing", { "d.test": { MX: ["1 x.test"] } }, null, "deferred temporary 4.4.4"],
  [
    "an address for a host",
    { "d.test": { MX: ["1 127.0.0.2"] } },
    null,
    "deferred temporary 4.4.4",
  ],
];

describe("no server is found in the DNS for", () => {
  test.each(WITHOUT_HOST)("%s", async (_, records, failure, expected) => {
    const net = await mailNet(records, failure === null ? {} : { "d.test": failure });
    const sink = await net.sink(2);
    const sending = outcomeOf(net);
    if (failure === "timeout") {
      await waitUntil(() => net.server.count("d.test MX") === 1);
      peerClock.advance(1_000);
    }
    const outcome = await sending;
    const code = /\d\.\d+\.\d+/.exec(outcome.reason)?.[0];
    expect(`${outcome.kind} ${outcome.class} ${code}`).toBe(expected);
    expect(sink.counts.connections).toBe(0);
  });

  test("a host whose address lookup fails", async () => {
    const net = await mailNet(TWO, { "a.d.test": "servfail", "b.d.test": "servfail" });
    const outcome = await outcomeOf(net);
    expect(outcome).toMatchObject({ kind: "deferred", class: "infrastructure" });
    expect(outcome.reason).toContain("4.4.3");
    expect(outcome.conversations[0]).toMatchObject({ host: "a.d.test", address: null });
  });

  test("an MX host that is missing, without using the domain's address (docs/delivery.md#W3)", async () => {
    const net = await mailNet({ "d.test": { MX: ["10 gone.test"], A: ["127.0.0.2"] } });
    const sink = await net.sink(2);
    expect((await outcomeOf(net)).kind).toBe("deferred");
    expect(sink.counts.connections).toBe(0);
  });
});

const WITH_HOST: [name: string, records: Records, failure: DnsFailure | null][] = [
  ["MX records", TWO, null],
  ["a domain without MX, at its own address", { "d.test": { A: ["127.0.0.2"] } }, null],
  ["a truncated answer", TWO, "truncate"],
  ["a name server without EDNS", TWO, "no-edns"],
  [
    "an alias for the domain",
    { ...TWO, "d.test": { CNAME: "e.test" }, "e.test": { MX: ["10 a.d.test"] } },
    null,
  ],
  [
    "an alias for the host",
    {
      "d.test": { MX: ["1 c.test"] },
      "c.test": { CNAME: "e.test" },
      "e.test": { A: ["127.0.0.2"] },
    },
    null,
  ],
  [
    "our own host after others",
    { ...TWO, "d.test": { MX: ["10 a.d.test", "20 sender.test", "30 b.d.test"] } },
    null,
  ],
  [
    "40 MX",
    {
      "d.test": { MX: Array.from({ length: 40 }, (_, i) => `${i} mx${i}.test`) },
      "mx0.test": { A: ["127.0.0.2"] },
    },
    null,
  ],
  [
    "a failing lookup of one family",
    { "d.test": { MX: ["1 a.d.test"] }, "a.d.test": { A: ["127.0.0.2"] } },
    null,
  ],
];

describe("a server is found in the DNS for", () => {
  test.each(WITH_HOST)("%s", async (_, records, failure) => {
    const failures: Record<string, DnsFailure> = { "a.d.test AAAA": "servfail" };
    const net = await mailNet(records, { ...failures, ...(failure && { "d.test": failure }) });
    await net.sink(2);
    expect(await outcomeOf(net)).toMatchObject({ kind: "accepted", final: true });
  });

  test("hosts of equal preference, which share the mails", async () => {
    const net = await mailNet({
      "d.test": { MX: ["10 a.d.test", "10 b.d.test", "20 c.d.test"] },
      "a.d.test": { A: ["127.0.0.2"] },
      "b.d.test": { A: ["127.0.0.3"] },
      "c.d.test": { A: ["127.0.0.4"] },
    });
    const sinks = [await net.sink(2), await net.sink(3), await net.sink(4)];
    const transport = net.transport();
    for (let i = 0; i < 100; i++) await sendOne(transport, mail());
    const [a = 0, b = 0, c] = sinks.map(({ counts }) => counts.messages);
    // Five standard deviations.
    expect(Math.abs(a - b)).toBeLessThan(50);
    expect([a + b, c]).toEqual([100, 0]);
  });
});

describe("the next address is tried", () => {
  test("if the first host is down, which is then tried last", async () => {
    const net = await mailNet(TWO);
    const sink = await net.sink(3);
    const transport = net.transport();
    const first = await sendOne(transport, mail());
    expect([first.kind, ...addressesOf(first)]).toEqual(["accepted", "127.0.0.2", "127.0.0.3"]);
    const second = await sendOne(transport, mail());
    expect([second.kind, ...addressesOf(second)]).toEqual(["accepted", "127.0.0.3"]);
    net.clock.advance(600_000);
    const third = await sendOne(transport, mail());
    expect(addressesOf(third)).toEqual(["127.0.0.2", "127.0.0.3"]);
    expect(sink.counts.messages).toBe(3);
  });

  test("alternating between both families, five at most", async () => {
    const net = await mailNet({
      "d.test": { MX: ["10 a.d.test"] },
      "a.d.test": {
        A: ["127.0.0.2", "127.0.0.3", "127.0.0.4", "127.0.0.5"],
        AAAA: ["::1", "::ffff:127.0.0.6", "::ffff:127.0.0.7"],
      },
    });
    const outcome = await outcomeOf(net, { random: () => 0.999 });
    expect(outcome).toMatchObject({ kind: "deferred", class: "infrastructure" });
    expect(addressesOf(outcome)).toEqual([
      "127.0.0.2",
      "::1",
      "127.0.0.3",
      expect.stringContaining("::ffff:"),
      "127.0.0.4",
    ]);
    expect(outcome.reason).toMatch(/a\.d\.test failed at connect: 127\.0\.0\.4:\d+ connection re/);
  });

  test("of the best of 40 MX hosts, five at most", async () => {
    const names = Array.from({ length: 40 }, (_, i) => `mx${i}.test`);
    const addresses = names.map((name, i) => [name, { A: [`127.0.0.${i + 2}`] }] as const);
    const net = await mailNet({
      ...Object.fromEntries(addresses),
      "d.test": { MX: names.map((name, i) => `${i} ${name}`) },
    });
    expect(hostsOf(await outcomeOf(net))).toEqual(names.slice(0, 5));
  });

  test("of one host three at most, so that the next host is tried as well", async () => {
    const many = ["127.0.0.2", "127.0.0.4", "127.0.0.5", "127.0.0.6", "127.0.0.7"];
    const net = await mailNet({ ...TWO, "a.d.test": { A: many } });
    await net.sink(3);
    const outcome = await outcomeOf(net);
    expect([outcome.kind, outcome.conversations.length]).toEqual(["accepted", 4]);
  });

  test("if the first is not reachable from this machine, which does not count", async () => {
    const net = await mailNet({ "d.test": { A: ["127.0.0.2"], AAAA: ["2001:db8::1"] } });
    // A loopback source address cannot reach another machine.
    const options = { sourceAddresses: ["::1", "127.0.0.1"], timeouts: { connectMs: 100 } };
    await net.sink(2);
    expect((await outcomeOf(net, options)).kind).toBe("accepted");
  });
});

describe("private addresses (docs/delivery.md#W6)", () => {
  const REFUSED = { kind: "deferred", class: "infrastructure" } as const;

  test.each([
    "127.0.0.2",
    "10.0.0.1",
    "169.254.169.254",
    "::1",
    "::ffff:127.0.0.2",
    "64:ff9b::7f00:2",
  ])("%s gets no connection, and the mail is deferred", async (address) => {
    const type = address.includes(":") ? "AAAA" : "A";
    const net = await mailNet({ "d.test": { [type]: [address] } });
    const sink = await net.sink(2);
    const outcome = await outcomeOf(net, { allowPrivateAddresses: false });
    expect(outcome).toMatchObject(REFUSED);
    expect(outcome.reason).toContain("not a public address");
    expect(outcome.conversations[0]?.steps).toMatchObject([{ step: "connect", code: null }]);
    expect(sink.counts.connections).toBe(0);
  });

  test("do not count among the addresses to try", async () => {
    const net = await mailNet({
      "d.test": { MX: ["10 a.d.test", "20 b.d.test"] },
      "a.d.test": { A: ["10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4", "10.0.0.5", "10.0.0.6"] },
      "b.d.test": { A: ["192.0.2.1"] },
    });
    const outcome = await outcomeOf(net, { allowPrivateAddresses: false });
    expect(hostsOf(outcome).filter((host) => host === "b.d.test").length).toBe(1);
  });
});

const LATER = { kind: "deferred", class: "infrastructure" } as const;

describe("the next host is tried", () => {
  test.each<[what: string, script: Script]>([
    ["greeting 421", { greeting: "closing" }],
    ["greeting 554", { greeting: { code: 554, text: "5.7.1 No" } }],
    ["no greeting", { greeting: "hang" }],
    ["a connection that closes", { connect: "close" }],
    ["EHLO 550", { ehlo: { code: 550 } }],
    ["EHLO 421", { ehlo: "closing" }],
    ["MAIL 451", { mail: { code: 451, text: "4.3.0 Trouble" } }],
    ["RCPT 421", { rcpt: "closing" }],
    ["RCPT 452 4.3.1", { rcpt: { code: 452, text: "4.3.1 Disk full" } }],
    ["a connection that breaks at RCPT", { rcpt: "close" }],
    ["garbage at DATA", { data: "garbage" }],
  ])("after %s", async (_, script) => {
    const { net, a, b } = await twoHosts(script);
    const sending = outcomeOf(net);
    if (script.greeting === "hang") {
      await advanceWhenSilent(peerClock, a, { ms: DEFAULT_TIMEOUTS.greetingMs });
    }
    const outcome = await sending;
    expect(outcome).toMatchObject({ kind: "accepted", final: true });
    expect(hostsOf(outcome)).toEqual(["a.d.test", "b.d.test"]);
    expect(b.bodies.length).toBe(1);
  });

  test.each<[what: string, script: Script, kind: string]>([
    ["no such recipient", { rcpt: { code: 550, text: "5.1.1 No" } }, "bounced no_such_recipient"],
    ["policy", { rcpt: { code: 554, text: "5.7.1 No" } }, "bounced policy"],
    ["a refused sender", { mail: { code: 554, text: "5.7.1 No" } }, "deferred policy"],
    ["greylisting", { rcpt: { code: 450, text: "4.2.0 Greylisted" } }, "deferred greylisted"],
    ["a full mailbox", { rcpt: { code: 452, text: "4.2.2 Full" } }, "deferred mailbox_full"],
    ["a rate limit", { mail: { code: 451, text: "4.7.0 Rate limit" } }, "deferred rate_limited"],
    ["4xx after the message", { dot: { code: 451, text: "4.3.0 No" } }, "deferred temporary"],
    ["silence after the message", { dot: "hang" }, "deferred infrastructure"],
    ["a lost connection after the message", { dot: "close" }, "deferred infrastructure"],
  ])("but not after %s, which decides the attempt", async (_, script, kind) => {
    const { net, a, b } = await twoHosts(script);
    const sending = outcomeOf(net);
    if (script.dot === "hang")
      await advanceWhenSilent(peerClock, a, { ms: DEFAULT_TIMEOUTS.dotMs });
    const outcome = await sending;
    expect(`${outcome.kind} ${outcome.class}`).toBe(kind);
    expect(hostsOf(outcome)).toEqual(["a.d.test"]);
    expect(b.transcripts).toEqual([]);
  });

  test("but no third one after two sessions in one attempt", async () => {
    const net = await mailNet({
      ...TWO,
      "d.test": { MX: ["1 a.d.test", "2 b.d.test", "3 c.d.test"] },
      "c.d.test": { A: ["127.0.0.4"] },
    });
    const hosts = [
      await net.script(2, { script: { mail: "close" } }),
      await net.script(3, { script: { mail: "close" } }),
      await net.script(4),
    ];
    const transport = net.transport({ sessionClock: peerClock });
    const outcome = await sendOne(transport, mail());
    expect(outcome).toMatchObject({ ...LATER, reason: expect.stringContaining("b.d.test failed") });
    expect(hosts.map(({ transcripts }) => transcripts.length)).toEqual([1, 1, 0]);
    // The next attempt begins with the host that was not tried.
    net.clock.advance(330_000);
    expect(hostsOf(await sendOne(transport, mail()))).toEqual(["c.d.test"]);
  });

  test("once it has a free connection, if the first one is down", async () => {
    const names = ["d", "e", "f"];
    const net = await mailNet(
      Object.fromEntries(
        names.flatMap((name) => [
          [`${name}.test`, { MX: [`10 a.${name}.test`, `20 b.${name}.test`] }],
          [`a.${name}.test`, { A: ["127.0.0.2"] }],
          [`b.${name}.test`, { A: ["127.0.0.3"] }],
        ]),
      ),
    );
    const second = await net.script(3, {
      script: [{ greeting: "hang" }, { greeting: "hang" }, {}],
    });
    const transport = net.transport({ sessionClock: peerClock });
    const first = names.slice(0, 2).map((name) => sendOne(transport, mail(`b@${name}.test`)));
    await waitUntil(() => second.hanging === 2);
    const waiting = await sendOne(transport, mail("b@f.test"));
    expect(busyOf(waiting)).toMatchObject({ why: "full", waitList: "@ 127.0.0.3" });
    await advanceWhenSilent(peerClock, second, { ms: DEFAULT_TIMEOUTS.greetingMs, count: 2 });
    await Promise.all(first);
    const outcome = await sendOne(transport, mail("b@f.test"));
    expect([outcome.kind, ...hostsOf(outcome)]).toEqual(["accepted", "b.f.test"]);
  });
});

describe("a greeting of 5xx (docs/delivery.md#S3)", () => {
  const NO = { greeting: { code: 554, text: "5.7.1 Blocked" } } as const;

  test("is final if every host sends one", async () => {
    const { net } = await twoHosts(NO, NO);
    expect(await outcomeOf(net)).toMatchObject({
      kind: "bounced",
      reason: "b.d.test refused at greeting: 554 5.7.1 Blocked",
    });
  });

  test("is final from the only host", async () => {
    const net = await mailNet({ "d.test": { A: ["127.0.0.2"] } });
    await net.script(2, { script: NO });
    expect((await outcomeOf(net)).kind).toBe("bounced");
  });

  test.each<[what: string, script: Script]>([
    ["is busy", { greeting: "closing" }],
    ["closes the connection", { greeting: "close" }],
  ])("is not final if another host %s", async (_, script) => {
    const { net } = await twoHosts(NO, script);
    expect((await outcomeOf(net)).kind).toBe("deferred");
    const other = await twoHosts(script, NO);
    const outcome = await outcomeOf(other.net);
    expect(outcome).toMatchObject({
      kind: "deferred",
      reason: expect.stringContaining("554 5.7.1 Blocked; not every host"),
    });
  });

  test("is not final if another host is down", async () => {
    const net = await mailNet(TWO);
    await net.script(2, { script: NO });
    const outcome = await outcomeOf(net);
    expect(outcome.kind).toBe("deferred");
    expect(outcome.reason).toStartWith("a.d.test refused at greeting: 554");
    expect(hostsOf(outcome)).toEqual(["a.d.test", "b.d.test"]);
  });
});

describe("TLS (docs/delivery.md#T1)", () => {
  const valid = makeCertificate(["a.d.test"]);
  const wrong = makeCertificate(["other.test"]);

  test("is used if it is offered, and its version is recorded", async () => {
    const { net, a } = await twoHosts({ tls: valid });
    const outcome = await outcomeOf(net, { ca: valid.ca });
    expect(outcome.conversations[0]?.tls).toMatchObject({ version: "TLSv1.3", verified: true });
    expect(a.transcripts[0]?.slice(0, 3)).toEqual([
      "EHLO sender.test",
      "STARTTLS",
      "EHLO sender.test",
    ]);
    expect(a.serverNames).toEqual(["a.d.test"]);
  });

  test("does not need a valid certificate", async () => {
    const { net } = await twoHosts({ tls: wrong });
    const outcome = await outcomeOf(net);
    expect(outcome.kind).toBe("accepted");
    expect(outcome.conversations[0]?.tls?.verified).toBe(false);
  });

  test.each<[what: string, hasTls: boolean, script: Script]>([
    ["STARTTLS is refused", true, { starttls: { code: 454 } }],
    ["the connection is closed", true, { starttls: "close" }],
    ["the handshake fails", false, { starttls: { raw: "220 Go\r\n\r\nno TLS at all\r\n" } }],
    ["the server stays silent", true, { starttls: "hang" }],
  ])("is disabled for an hour if %s", async (_, hasTls, script) => {
    const extensions = ["PIPELINING", "STARTTLS"];
    const { net, a } = await twoHosts({ extensions, script, ...(hasTls ? { tls: valid } : {}) });
    const transport = net.transport({ sessionClock: peerClock });
    /** Sends a mail; if the server stays silent, the timeout passes. */
    async function send(): Promise<Outcome> {
      const count = a.hanging + 1;
      const sending = sendOne(transport, mail());
      if (script.starttls === "hang") {
        await advanceWhenSilent(peerClock, a, { ms: DEFAULT_TIMEOUTS.commandMs, count });
      }
      return sending;
    }
    const first = await send();
    expect(first).toMatchObject({ kind: "accepted", conversations: [{}, { tls: null }] });
    expect(addressesOf(first)).toEqual(["127.0.0.2", "127.0.0.2"]);
    const lines = (connection: number) => a.transcripts[connection] ?? [];
    expect([lines(0)[1], lines(1)[1]?.slice(0, 9)]).toEqual(["STARTTLS", "MAIL FROM"]);
    // The connection that was opened in clear serves the next mail.
    expect((await sendOne(transport, mail())).conversations.length).toBe(1);
    net.clock.advance(3_600_000);
    expect((await send()).conversations.length).toBe(2);
  });
});

describe("a mail that the server does not support (docs/delivery.md#S4)", () => {
  test("bounces without DATA if it is too large", async () => {
    const { net, a } = await twoHosts({ extensions: ["SIZE 5"] });
    const outcome = await outcomeOf(net);
    expect(outcome).toMatchObject({ kind: "bounced", class: "content" });
    expect(outcome.reason).toContain("5.3.4");
    expect(a.transcripts[0]).toEqual(["EHLO sender.test"]);
  });

  test("bounces if it needs SMTPUTF8", async () => {
    const { net } = await twoHosts({});
    const outcome = await sendOne(net.transport(), mail("jürgen@d.test"));
    expect(outcome).toMatchObject({ kind: "bounced", class: "content" });
    expect(outcome.reason).toContain("5.6.7");
  });
});

describe("a site", () => {
  const RATE = { code: 451, text: "4.7.0 Rate limit exceeded" } as const;

  test("that asked for a pause is paused, and other mails are not attempted", async () => {
    const net = await mailNet({
      ...TWO,
      "e.test": { MX: ["5 a.d.test"] },
      "f.test": { A: ["127.0.0.3"] },
    });
    const a = await net.script(2, { script: { mail: [RATE] } });
    await net.sink(3);
    const transport = net.transport();
    const attempted = await sendOne(transport, mail());
    expect([attempted.class, busyOf(attempted)]).toEqual(["rate_limited", null]);
    for (const to of ["b@d.test", "b@e.test"]) {
      const outcome = await sendOne(transport, mail(to));
      expect(busyOf(outcome)?.why).toBe("paused");
      expect(outcome).toMatchObject({ retryAfterMs: 60_000, conversations: [] });
      expect(transport.admit(to)).toMatchObject({ kind: "busy", retryAfterMs: 60_000 });
    }
    expect((await sendOne(transport, mail("b@f.test"))).kind).toBe("accepted");
    net.clock.advance(60_000);
    expect((await sendOne(transport, mail("b@e.test"))).kind).toBe("accepted");
    expect(a.transcripts.flat().filter((line) => line.startsWith("MAIL")).length).toBe(2);
  });

  test("is paused for as long as it asked", async () => {
    const text = "4.7.0 Rate limit exceeded, try again in 600 seconds";
    const { net } = await twoHosts({ mail: { code: 451, text } });
    const transport = net.transport();
    await sendOne(transport, mail());
    expect(transport.admit("b@d.test")).toMatchObject({ retryAfterMs: 600_000 });
  });

  describe("that refuses this server keeps the mail in the queue, and is paused", () => {
    test.each<[step: "greeting" | "mail" | "rcpt" | "dot", reply: string, found: string]>([
      ["greeting", "5.7.1 Client host [203.0.113.9] blocked using Spamhaus", "reputation"],
      ["mail", "5.7.1 Your IP has a poor reputation", "reputation"],
      [
        "rcpt",
        "5.7.1 Service unavailable; client host blocked using zen.spamhaus.org",
        "reputation",
      ],
      ["rcpt", "5.7.1 Mail from [203.0.113.9] is refused here", "reputation"],
      ["rcpt", "5.7.1 [2001:db8::9] rejected", "reputation"],
      ["rcpt", "5.7.606 Access denied, banned sending IP [203.0.113.9]", "reputation"],
      ["rcpt", "Host network not allowed - https://mx.example/docs#554", "reputation"],
      ["rcpt", "5.7.1 <sender.test>: Client host rejected: #216 LPN000_630", "reputation"],
      ["rcpt", "5.1.0 sender rejected. AUP#CDRBL", "reputation"],
      ["rcpt", "5.7.25 The address has no PTR record", "infrastructure"],
      ["dot", "5.7.1 Message refused: your IP 203.0.113.9 is on a blocklist", "reputation"],
    ])("at %s: 550 %s", async (step, text, found) => {
      const net = await mailNet(TWO);
      for (const host of [2, 3])
        await net.script(host, { script: { [step]: { code: 550, text } } });
      const transport = net.transport();
      const outcome = await sendOne(transport, mail());
      expect(outcome).toMatchObject({ kind: "deferred", class: found });
      expect(outcome.reason).toContain(text);
      expect(transport.admit("b@d.test")).toMatchObject({ kind: "busy", why: "paused" });
      expect(transport.holdOf?.("a.d.test")).toMatchObject({
        reason: expect.stringContaining(text),
      });
    });

    test("and says why, without the address of another mail", async () => {
      const { net } = await twoHosts({
        rcpt: { code: 550, text: "5.7.1 <b@d.test>: your IP is blocked using a blocklist" },
      });
      const transport = net.transport();
      await sendOne(transport, mail());
      expect(transport.holdOf?.("a.d.test")?.reason).toBe(
        "its servers answered: 550 5.7.1 (an address): your IP is blocked using a blocklist",
      );
    });
  });

  test.each<[step: "mail" | "rcpt" | "dot", reply: string, found: string]>([
    ["mail", "5.7.1 Go away", "policy"],
    ["mail", "No", "policy"],
    ["mail", "5.7.1 Access denied", "policy"],
    ["mail", "User unknown", "policy"],
    ["mail", "5.1.8 Sender domain does not exist", "infrastructure"],
    ["rcpt", "5.7.1 Sender address is not allowed", "infrastructure"],
    ["rcpt", "5.7.1 Sender rejected", "policy"],
    ["dot", "5.7.26 Unauthenticated mail from sender.test", "authentication"],
    ["dot", "5.7.1 Message contains a link on a blocklist", "reputation"],
  ])("that refuses the sender at %s takes other mail: 550 %s", async (step, text, found) => {
    const { net } = await twoHosts({ [step]: [{ code: 550, text }] });
    const transport = net.transport();
    expect(await sendOne(transport, mail())).toMatchObject({
      kind: "deferred",
      class: found,
      isSenderRefused: true,
    });
    expect((await sendOne(transport, mail())).kind).toBe("accepted");
  });

  test.each<[step: "mail" | "rcpt" | "dot", reply: string, found: string]>([
    ["mail", "5.3.4 Message size exceeds fixed limit", "content"],
    ["rcpt", "5.1.1 User unknown", "no_such_recipient"],
    ["rcpt", "5.7.1 Relay access denied", "policy"],
    ["rcpt", "5.7.1 Rejected by policy", "policy"],
    ["rcpt", "5.7.1 Sender blocked by the recipient", "policy"],
    ["dot", "5.7.1 [203.0.113.9] This message is likely unsolicited mail", "content"],
    ["dot", "5.7.1 Message rejected by policy", "policy"],
  ])(
    "that refuses the mail or the recipient at %s bounces it: 550 %s",
    async (step, text, found) => {
      const { net } = await twoHosts({ [step]: { code: 550, text } });
      expect(await outcomeOf(net)).toMatchObject({ kind: "bounced", class: found });
    },
  );

  test("that refuses for a quota of ours is paused, and the mail waits, whatever the code is", async () => {
    const { net } = await twoHosts({
      dot: { code: 550, text: "5.4.5 Daily sending quota exceeded" },
    });
    const transport = net.transport();
    expect(await sendOne(transport, mail())).toMatchObject({
      kind: "deferred",
      class: "rate_limited",
    });
    expect(transport.admit("b@d.test")).toMatchObject({ kind: "busy", retryAfterMs: 60_000 });
  });

  test.each<[what: string, script: Script]>([
    ["greylisting", { rcpt: { code: 451, text: "4.7.1 Greylisted" } }],
    ["no such recipient", { rcpt: { code: 550, text: "5.1.1 No" } }],
    ["a full mailbox", { rcpt: { code: 452, text: "4.2.2 Full" } }],
    [
      "a mailbox that gets too much",
      { rcpt: { code: 450, text: "4.2.1 Rate limit for this user" } },
    ],
  ])("is not paused by %s", async (_, script) => {
    const { net } = await twoHosts(script);
    const transport = net.transport();
    await sendOne(transport, mail());
    expect(transport.admit("b@d.test").kind).toBe("slot");
  });

  test("that could not be reached three times in a row is suspended for a minute", async () => {
    const net = await mailNet({ "d.test": { A: ["127.0.0.2"] } });
    const transport = net.transport();
    for (let i = 0; i < 3; i++) {
      expect((await sendOne(transport, mail())).conversations.length).toBe(1);
    }
    const suspended = await sendOne(transport, mail());
    expect(suspended).toMatchObject({ ...LATER, conversations: [] });
    expect(suspended.reason).toContain("connection refused");
    expect(busyOf(suspended)).toBeNull();
    await net.sink(2);
    net.clock.advance(60_000);
    expect((await sendOne(transport, mail())).kind).toBe("accepted");
  });
});
