import { afterEach, describe, expect, test } from "bun:test";
import type { Outcome } from "../../../src/outbox/outcome.ts";
import { sendOne } from "../../../src/outbox/outcome.ts";
import type { MailObject } from "../../../src/protocols/smtp/stream.ts";
import {
  relayTransport,
  type RelayTransportOptions,
} from "../../../src/outbox/transports/relay.ts";
import {
  formatRelayUrl,
  parseRelayUrl,
  type Relay,
} from "../../../src/protocols/smtp/relay-url.ts";
import { silentLog } from "../../../src/lib/log.ts";
import { manualClock } from "../../support/clock.ts";
import { advanceWhenSilent } from "../../support/silence.ts";
import { startScript, type Script, type ScriptOptions } from "../../support/smtp-script.ts";
import { startSink, type SinkOptions } from "../../support/smtp-sink.ts";
import { makeCertificate } from "../../support/tls.ts";

const CERTIFICATE = makeCertificate(["127.0.0.1"]);

const closers: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

async function scriptedServer(options: ScriptOptions = {}) {
  const server = await startScript(options);
  closers.push(() => server.close());
  return server;
}

async function sink(options: SinkOptions = {}) {
  const server = await startSink(options);
  closers.push(() => server.close());
  return server;
}

function transport(
  port: number,
  relay: Partial<Relay> = {},
  options: Partial<RelayTransportOptions> = {},
) {
  const created = relayTransport({
    relay: { host: "127.0.0.1", port, tls: "none", ...relay },
    hostname: "client.test",
    clock: manualClock(),
    log: silentLog,
    ...options,
  });
  closers.push(() => created.close());
  return created;
}

function mail(to = "b@example.net", text = "Subject: a\r\n\r\nb\r\n"): MailObject {
  return { envelope: { from: "a@example.com", to }, message: Buffer.from(text) };
}

/** The timeout of the steps at which a server may be silent. */
const TIMEOUT_MS = 150;

/** The outcome of a mail to a server with this script; if it hangs, the timeout passes. */
async function outcomeOf(
  script: Script,
  options: Partial<RelayTransportOptions> = {},
): Promise<Outcome> {
  const server = await scriptedServer({ script });
  const sessionClock = manualClock();
  const sending = sendOne(transport(server.port, {}, { sessionClock, ...options }), mail());
  if (Object.values(script).includes("hang")) {
    await advanceWhenSilent(sessionClock, server, { ms: TIMEOUT_MS });
  }
  return sending;
}

describe("the relay transport", () => {
  test("hands a mail over; the acceptance is not final", async () => {
    const server = await sink();
    const relay = transport(server.port);
    expect(relay).toMatchObject({ name: "relay", concurrency: 20 });
    const outcome = await sendOne(relay, mail());
    expect(outcome).toMatchObject({
      kind: "accepted",
      class: "accepted",
      final: false,
      reason: `127.0.0.1:${server.port} accepted it: 250 2.0.0 Ok: taken`,
      conversations: [{ host: "127.0.0.1", port: server.port, reused: false, tls: null }],
    });
    expect(outcome.conversations[0]?.steps.map(({ step }) => step)).toEqual([
      "connect",
      "greeting",
      "ehlo",
      "mail",
      "rcpt",
      "data",
      "dot",
    ]);
    expect(server.messages).toMatchObject([{ from: "a@example.com", to: ["b@example.net"] }]);
  });

  test("reuses its connections, up to its concurrency limit", async () => {
    const server = await sink();
    const relay = transport(server.port, {}, { concurrency: 2 });
    const sent = await Promise.all(Array.from({ length: 30 }, () => sendOne(relay, mail())));
    expect(new Set(sent.map(({ kind }) => kind))).toEqual(new Set(["accepted"]));
    expect(server.counts).toEqual({ messages: 30, connections: 2 });
  });

  test.each(["starttls", "implicit"] as const)("logs in after %s", async (tls) => {
    const server = await scriptedServer({ tls: { ...CERTIFICATE, implicit: tls === "implicit" } });
    const relay = transport(
      server.port,
      { tls, user: "user", password: "pass" },
      { ca: CERTIFICATE.ca },
    );
    const outcome = await sendOne(relay, mail());
    expect(outcome.kind).toBe("accepted");
    expect(outcome.conversations[0]?.tls?.verified).toBe(true);
    const lines = server.transcripts[0] ?? [];
    const isTlsFirst = tls === "implicit" || lines.indexOf("STARTTLS") === 1;
    expect(isTlsFirst && lines.at(tls === "implicit" ? 1 : 3)?.startsWith("AUTH PLAIN ")).toBe(
      true,
    );
    expect(JSON.stringify(outcome)).not.toContain(Buffer.from("\0user\0pass").toString("base64"));
  });

  test("replaces a connection that the server closed silently", async () => {
    const server = await scriptedServer({ script: [{ mail: [null, "close"] }, {}] });
    const relay = transport(server.port);
    await sendOne(relay, mail());
    const outcome = await sendOne(relay, mail());
    expect(outcome.kind).toBe("accepted");
    expect(outcome.conversations.map(({ reused }) => reused)).toEqual([true, false]);
  });

  test("refuses a configuration that sends a password in clear over a network", () => {
    const options = { hostname: "client.test", clock: manualClock(), log: silentLog };
    const relay = { host: "mx.test", port: 25, user: "u", password: "p", tls: "none" } as const;
    expect(() => relayTransport({ ...options, relay })).toThrow("password without TLS");
    expect(() =>
      relayTransport({ ...options, relay: { ...relay, user: undefined } }),
    ).not.toThrow();
  });

  test("logs in without TLS on this machine", async () => {
    const server = await scriptedServer();
    for (const host of ["127.0.0.1", "localhost"]) {
      const relay = transport(server.port, { host, user: "user", password: "pass" });
      expect((await sendOne(relay, mail())).kind).toBe("accepted");
    }
    expect(server.transcripts.at(-1)?.[1]).toStartWith("AUTH PLAIN");
  });

  test("does not log in without TLS if localhost is another machine", async () => {
    const server = await scriptedServer();
    const resolve = () => Promise.resolve(["192.0.2.1"]);
    const relay = { host: "localhost", user: "user", password: "pass" };
    const outcome = await sendOne(transport(server.port, relay, { resolve }), mail());
    expect(outcome).toMatchObject({ kind: "deferred", class: "infrastructure" });
    expect(outcome.reason).toContain("no password in cleartext");
  });
});

type Expected = { kind: Outcome["kind"]; class: Outcome["class"] };

const LATER: Expected = { kind: "deferred", class: "infrastructure" };

const REPLIES: [name: string, script: Script, expected: Expected][] = [
  ["greeting 554", { greeting: { code: 554, text: "5.7.1 Go away" } }, LATER],
  ["EHLO 550", { ehlo: { code: 550, text: "5.1.1 who?" } }, LATER],
  [
    "unknown recipient",
    { rcpt: { code: 550, text: "5.1.1 No such user" } },
    {
      kind: "bounced",
      class: "no_such_recipient",
    },
  ],
  [
    "unknown recipient after the message",
    { dot: { code: 550, text: "5.1.1 No such user" } },
    {
      kind: "bounced",
      class: "no_such_recipient",
    },
  ],
  [
    "greylisting",
    { rcpt: { code: 451, text: "4.7.1 Greylisted, try again in 300 seconds" } },
    {
      kind: "deferred",
      class: "greylisted",
    },
  ],
  [
    "a full mailbox",
    { rcpt: { code: 452, text: "4.2.2 Mailbox full" } },
    {
      kind: "deferred",
      class: "mailbox_full",
    },
  ],
  [
    "421 at MAIL",
    { mail: { code: 421, text: "4.3.2 Shutting down" } },
    {
      kind: "deferred",
      class: "temporary",
    },
  ],
  [
    "4xx with a permanent enhanced code",
    { dot: { code: 450, text: "5.6.0 odd" } },
    {
      kind: "deferred",
      class: "content",
    },
  ],
];

describe("a reply of the relay", () => {
  test.each(REPLIES)("%s", async (_, script, expected) => {
    expect(await outcomeOf(script)).toMatchObject(expected);
  });

  test("sets the retry time that it names", async () => {
    const rcpt = { code: 451, text: "4.7.1 Greylisted, try again in 300 seconds" };
    expect(await outcomeOf({ rcpt })).toMatchObject({ retryAfterMs: 300_000 });
    expect(await outcomeOf({ rcpt: { code: 451, text: "4.3.0 Later" } })).not.toHaveProperty(
      "retryAfterMs",
    );
  });

  test("that calls our own address unknown is about the sender", async () => {
    const { from, to } = mail().envelope;
    const answer = (address: string) =>
      outcomeOf({ rcpt: { code: 550, text: `5.1.1 <${address}>: User unknown` } });
    expect(await answer(from)).toMatchObject({ kind: "deferred", isSenderRefused: true });
    expect(await answer(to)).toMatchObject({ kind: "bounced", class: "no_such_recipient" });
  });

  test("of 5xx at mail, which is about the sender, keeps the mail in the queue", async () => {
    for (const code of [550, 554, 599]) {
      expect(await outcomeOf({ mail: { code } })).toMatchObject({
        kind: "deferred",
        isSenderRefused: true,
        reason: expect.stringContaining(`refused at mail: ${code}`),
      });
    }
  });

  test.each(["rcpt", "data", "dot"] as const)(
    "of 4xx at %s defers, of 5xx bounces",
    async (step) => {
      const reason = (code: number) => expect.stringContaining(`refused at ${step}: ${code}`);
      for (const code of [400, 421, 450, 499]) {
        const outcome = await outcomeOf({ [step]: { code } });
        expect(outcome).toMatchObject({ kind: "deferred", reason: reason(code) });
      }
      for (const code of [500, 550, 554, 599]) {
        const outcome = await outcomeOf({ [step]: { code } });
        expect(outcome).toMatchObject({ kind: "bounced", reason: reason(code) });
      }
    },
  );

  test.each(["mail", "data"] as const)(
    "of 5xx at %s never suppresses the recipient",
    async (step) => {
      for (const text of ["5.1.1 User unknown", "5.1.2 No such domain", "No such user here"]) {
        const outcome = await outcomeOf({ [step]: { code: 550, text } });
        expect(outcome.kind).toBe(step === "mail" ? "deferred" : "bounced");
        expect(outcome.class).not.toBe("no_such_recipient");
      }
    },
  );

  test("that the relay is busy counts as rate limited", async () => {
    const greeting = { code: 421, text: "4.7.0 Too many connections" };
    expect(await outcomeOf({ greeting })).toMatchObject({
      kind: "deferred",
      class: "rate_limited",
    });
  });

  test.each([454, 535, 554])("of %i to AUTH counts as an infrastructure problem", async (code) => {
    const server = await scriptedServer({ script: { auth: { code, text: "5.1.1 No such user" } } });
    const outcome = await sendOne(
      transport(server.port, { user: "user", password: "secret" }),
      mail(),
    );
    expect(outcome).toMatchObject(LATER);
    expect(outcome.reason).toContain(`auth was answered ${code}`);
    expect(JSON.stringify(outcome)).not.toContain("secret");
  });
});

const CONNECTION_FAULTS: [name: string, script: Script, reason: string][] = [
  ["a silent greeting", { greeting: "hang" }, "greeting: no answer within 0.15 s"],
  ["a silent EHLO", { ehlo: "hang" }, "ehlo: no answer"],
  ["a silent MAIL", { mail: "hang" }, "mail: no answer"],
  [
    "a connection closed at once",
    { connect: "close" },
    "greeting: the server closed the connection",
  ],
  ["a connection closed at RCPT", { rcpt: "close" }, "rcpt: the server closed the connection"],
  ["garbage", { greeting: "garbage" }, "not an SMTP reply"],
];

describe("a relay that cannot be used", () => {
  test.each(CONNECTION_FAULTS)("because of %s", async (_, script, reason) => {
    const outcome = await outcomeOf(script, {
      timeouts: { greetingMs: TIMEOUT_MS, commandMs: TIMEOUT_MS },
    });
    expect(outcome).toMatchObject(LATER);
    expect(outcome.reason).toContain(reason);
    expect(outcome.reason).not.toContain("unknown");
    expect(outcome.conversations.at(-1)?.steps.at(-1)?.code).toBeNull();
  });

  test("because it is down", async () => {
    const server = await startScript();
    await server.close();
    const outcome = await sendOne(transport(server.port), mail());
    expect(outcome).toMatchObject({
      ...LATER,
      reason: expect.stringContaining("connection refused"),
    });
  });

  test("because its name does not resolve", async () => {
    const outcome = await sendOne(transport(25, { host: "relay.invalid" }), mail());
    expect(outcome).toMatchObject({ ...LATER, reason: expect.stringContaining("relay.invalid") });
  });

  test("because its certificate is wrong", async () => {
    for (const tls of ["starttls", "implicit"] as const) {
      const served = makeCertificate(["other.test"]);
      const server = await scriptedServer({ tls: { ...served, implicit: tls === "implicit" } });
      const outcome = await sendOne(transport(server.port, { tls }, { ca: served.ca }), mail());
      expect(outcome).toMatchObject({
        ...LATER,
        reason: expect.stringContaining("does not verify"),
      });
    }
  });

  test("because it offers no STARTTLS", async () => {
    const server = await scriptedServer();
    const outcome = await sendOne(transport(server.port, { tls: "starttls" }), mail());
    expect(outcome).toMatchObject({ ...LATER, reason: expect.stringContaining("STARTTLS") });
  });

  test.each(["close", "reset", "hang", "garbage"] as const)(
    "because of %s after the final dot leaves the outcome unknown",
    async (dot) => {
      const outcome = await outcomeOf({ dot }, { timeouts: { dotMs: TIMEOUT_MS } });
      expect(outcome).toMatchObject({ ...LATER, reason: expect.stringContaining("is unknown") });
    },
  );

  test("because it is closed", async () => {
    const server = await scriptedServer();
    const relay = transport(server.port);
    await relay.close();
    expect(await sendOne(relay, mail())).toMatchObject(LATER);
  });
});

describe("a mail that the relay can never accept", () => {
  test("is too large", async () => {
    const server = await sink({ maxSizeBytes: 5 });
    const outcome = await sendOne(transport(server.port), mail());
    expect(outcome).toMatchObject({
      kind: "bounced",
      class: "content",
      reason: expect.stringContaining("the server accepts 5"),
    });
    expect(server.counts.messages).toBe(0);
  });

  test("needs SMTPUTF8", async () => {
    const server = await scriptedServer();
    const outcome = await sendOne(transport(server.port), mail("jürgen@example.net"));
    expect(outcome).toMatchObject({ kind: "bounced", class: "content" });
    expect(server.transcripts[0]).toEqual(["EHLO client.test"]);
  });

  test("has a line break in its address", async () => {
    const server = await scriptedServer();
    const outcome = await sendOne(transport(server.port), mail("b@example.net>\r\nDATA"));
    expect(outcome).toMatchObject({ kind: "failed", class: "content" });
    expect(server.transcripts[0]).toEqual(["EHLO client.test"]);
  });
});

const URLS: [url: string, relay: Relay][] = [
  ["smtp://mail.example.com", { host: "mail.example.com", port: 587, tls: "starttls" }],
  ["smtps://mail.example.com", { host: "mail.example.com", port: 465, tls: "implicit" }],
  ["SMTP://Mail.Example.COM/", { host: "mail.example.com", port: 587, tls: "starttls" }],
  ["smtp://localhost:1025?tls=none", { host: "localhost", port: 1_025, tls: "none" }],
  ["smtp://mx.test?tls=none", { host: "mx.test", port: 587, tls: "none" }],
  ["smtp://mx.test?tls=implicit", { host: "mx.test", port: 465, tls: "implicit" }],
  ["smtp://mx.test:2525?tls=starttls", { host: "mx.test", port: 2_525, tls: "starttls" }],
  ["smtps://mx.test?tls=implicit", { host: "mx.test", port: 465, tls: "implicit" }],
  [
    "smtp://me%40example.com:p%40ss%3A%2F%25@mx.test",
    { host: "mx.test", port: 587, user: "me@example.com", password: "p@ss:/%", tls: "starttls" },
  ],
  [
    "smtp://apikey:@mx.test",
    { host: "mx.test", port: 587, user: "apikey", password: "", tls: "starttls" },
  ],
  [
    "smtp://apikey@mx.test",
    { host: "mx.test", port: 587, user: "apikey", password: "", tls: "starttls" },
  ],
  ["smtp://mx.test?sign=false", { host: "mx.test", port: 587, tls: "starttls", sign: false }],
  ["smtp://mx.test?sign=true", { host: "mx.test", port: 587, tls: "starttls", sign: true }],
  [
    "smtp://mx.test:25?tls=none&sign=false",
    { host: "mx.test", port: 25, tls: "none", sign: false },
  ],
  ["smtp://[::1]:25", { host: "::1", port: 25, tls: "starttls" }],
  ["smtps://[2001:db8::25]", { host: "2001:db8::25", port: 465, tls: "implicit" }],
  ["smtp://u:p@[::1]?tls=none", { host: "::1", port: 587, user: "u", password: "p", tls: "none" }],
  [
    "smtp://u:p@127.0.0.1?tls=none",
    { host: "127.0.0.1", port: 587, user: "u", password: "p", tls: "none" },
  ],
];

const WRONG_URLS: [url: string, message: RegExp][] = [
  ["", /not a URL/],
  ["mail.example.com:587", /smtp:\/\//],
  ["http://mail.example.com", /smtp:\/\//],
  ["smtp:mail.example.com", /path|host|end after/],
  ["smtp://", /host|not a URL/],
  ["smtp://:587", /host|not a URL/],
  ["smtp://mx.test:0", /port 0/],
  ["smtp://mx.test:99999", /not a URL/],
  ["smtp://mx.test:smtp", /not a URL/],
  ["smtp://mx test", /not a URL|host/],
  ["smtp://mx..test", /host/],
  ["smtp://mü.test", /host/],
  ["smtp://mx.test/path", /end after/],
  ["smtp://user:hunter2#hash@mx.test", /end after|not a URL|host/],
  ["smtp://user:hunter2/slash@mx.test", /end after|not a URL|host/],
  ["smtp://mx.test?pool=true", /unknown parameter pool/],
  ["smtp://mx.test?tls=maybe", /none, starttls or implicit/],
  ["smtp://mx.test?tls=none&tls=starttls", /twice/],
  ["smtp://mx.test?sign=no", /sign must be true or false/],
  ["smtp://mx.test?sign", /sign must be true or false/],
  ["smtp://mx.test?sign=false&sign=true", /names sign twice/],
  ["smtp://mx.test?tls=none&sign=false&x=1", /unknown parameter x/],
  ["smtps://mx.test?tls=none", /implicit/],
  ["smtps://mx.test?tls=starttls", /implicit/],
  ["smtp://:hunter2@mx.test", /no user/],
  ["smtp://user:hunter2%@mx.test", /%25/],
  ["smtp://user:hunter2@mx.test?tls=none", /without TLS/],
  ["smtp://user:hunter2@10.0.0.1?tls=none", /without TLS/],
  ["smtp://user:hunter2@[2001:db8::1]?tls=none", /without TLS/],
];

describe("parseRelayUrl", () => {
  test.each(URLS)("reads %s", (url, relay) => {
    expect(parseRelayUrl(url)).toEqual({ ok: true, relay });
    expect(parseRelayUrl(formatRelayUrl(relay))).toEqual({ ok: true, relay });
  });

  test.each(WRONG_URLS)("refuses %s", (url, message) => {
    const parsed = parseRelayUrl(url);
    const result = parsed.ok ? "accepted" : parsed.message;
    expect(result).toMatch(message);
    expect(result).not.toContain("hunter2");
  });
});
