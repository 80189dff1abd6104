import { afterEach, describe, expect, test } from "bun:test";
import type { Conversation } from "../../../src/protocols/smtp/conversation.ts";
import type { Failure } from "../../../src/protocols/smtp/failure.ts";
import { Session, type SessionOptions } from "../../../src/protocols/smtp/session.ts";
import type { MailObject } from "../../../src/protocols/smtp/stream.ts";
import { manualClock } from "../../support/clock.ts";
import { settleEventLoop, waitUntil } from "../../support/eventually.ts";
import { advanceWhenSilent } from "../../support/silence.ts";
import { streamOf, transact } from "../../support/smtp-transact.ts";
import { startScript, type ScriptOptions } from "../../support/smtp-script.ts";
import { startSink, type SinkOptions } from "../../support/smtp-sink.ts";

/** Measures the sessions. */
const clock = manualClock();

const closers: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

async function scripted(options: ScriptOptions = {}) {
  const server = await startScript(options);
  closers.push(() => server.close());
  return server;
}

async function sink(options: SinkOptions = {}) {
  const server = await startSink(options);
  closers.push(() => server.close());
  return server;
}

function session(port: number, options: Partial<SessionOptions> = {}): Session {
  const created = new Session({
    host: "127.0.0.1",
    port,
    hostname: "client.test",
    tls: { mode: "none" },
    clock,
    ...options,
  });
  closers.push(() => created.close());
  return created;
}

async function opened(port: number, options: Partial<SessionOptions> = {}): Promise<Session> {
  const created = session(port, options);
  expect(await created.open()).toBeNull();
  return created;
}

function mail(message: string | Uint8Array = "Subject: a\r\n\r\nb\r\n"): MailObject {
  const bytes = typeof message === "string" ? Buffer.from(message) : message;
  return { envelope: { from: "a@example.com", to: "b@example.net" }, message: bytes };
}

function stepsOf({ steps }: Conversation): string[] {
  return steps.map(({ step, code }) => (code === null ? step : `${step} ${code}`));
}

function causeOf(failure: Failure | null): string {
  if (failure === null) return "none";
  const { step, cause } = failure;
  return cause.kind === "reply" ? `${step} ${cause.code}` : `${step} ${cause.kind}`;
}

describe("opening a session", () => {
  test("connects, reads the greeting and sends EHLO", async () => {
    const server = await scripted();
    const client = await opened(server.port);
    expect(stepsOf(client.conversation)).toEqual(["connect", "greeting 220", "ehlo 250"]);
    expect(client.conversation).toMatchObject({
      host: "127.0.0.1",
      address: "127.0.0.1",
      port: server.port,
      tls: null,
      reused: false,
    });
    expect(client.conversation.steps[2]).toMatchObject({
      command: "EHLO client.test",
      enhanced: null,
      text: expect.stringContaining("PIPELINING"),
    });
    expect(streamOf(client).stream.isPipelined).toBe(true);
  });

  test.each([500, 502, 504])("falls back to HELO after %i", async (code) => {
    const server = await scripted({ script: { ehlo: { code } } });
    const client = await opened(server.port);
    expect(server.transcripts[0]).toEqual(["EHLO client.test", "HELO client.test"]);
    expect(streamOf(client).stream.isPipelined).toBe(false);
    expect((await transact(client, mail())).delivery.kind).toBe("accepted");
  });

  test.each([421, 450, 501, 550, 554])("does not fall back to HELO after %i", async (code) => {
    const server = await scripted({ script: { ehlo: { code } } });
    expect(causeOf(await session(server.port).open())).toBe(`ehlo ${code}`);
    expect(server.transcripts[0]).toEqual(["EHLO client.test"]);
  });

  test("fails if HELO is refused too", async () => {
    const server = await scripted({ script: { ehlo: { code: 502 }, helo: { code: 550 } } });
    expect(causeOf(await session(server.port).open())).toBe("helo 550");
  });

  test("fails if no server listens", async () => {
    const server = await startScript();
    await server.close();
    const client = session(server.port);
    expect(causeOf(await client.open())).toBe("connect network");
    expect(client.conversation.steps).toMatchObject([
      { step: "connect", command: null, code: null, text: expect.stringContaining("refused") },
    ]);
  });

  test("fails if the name does not resolve", async () => {
    const resolve = () => Promise.reject(new Error("queryA SERVFAIL"));
    const client = session(25, { host: "mx.test", resolve });
    expect(await client.open()).toEqual({
      step: "connect",
      cause: { kind: "dns", message: "mx.test: queryA SERVFAIL" },
    });
    const empty = session(25, { host: "mx.test", resolve: () => Promise.resolve([]) });
    expect(causeOf(await empty.open())).toBe("connect dns");
  });

  test("fails after the timeout if the resolver does not answer", async () => {
    const resolve = () => new Promise<string[]>(() => {});
    const client = session(25, { host: "mx.test", resolve, timeouts: { connectMs: 20 } });
    const opening = client.open();
    await settleEventLoop();
    clock.advance(20);
    expect(causeOf(await opening)).toBe("connect dns");
  });

  test("tries every address, at most five, and records each", async () => {
    const server = await scripted();
    const refused = ["127.0.0.2", "127.0.0.3", "127.0.0.4", "127.0.0.5"];
    const resolve = () => Promise.resolve([...refused, "127.0.0.1"]);
    const client = await opened(server.port, { host: "mx.test", resolve });
    expect(stepsOf(client.conversation).slice(0, 6)).toEqual([
      ...Array(5).fill("connect"),
      "greeting 220",
    ]);
    expect(client.conversation).toMatchObject({ host: "mx.test", address: "127.0.0.1" });

    const tooMany = () => Promise.resolve([...refused, "127.0.0.6", "127.0.0.1"]);
    const other = session(server.port, { host: "mx.test", resolve: tooMany });
    expect(causeOf(await other.open())).toBe("connect network");
  });

  test("checks every address before it connects", async () => {
    const server = await scripted();
    const asked: string[] = [];
    const checkAddress = (address: string): string | null => {
      asked.push(address);
      return "a private address";
    };
    const resolve = () => Promise.resolve(["127.0.0.1", "::1"]);
    const client = session(server.port, { host: "mx.test", resolve, checkAddress });
    expect(await client.open()).toMatchObject({
      step: "connect",
      cause: { kind: "address", message: `[::1]:${server.port} a private address` },
    });
    expect(asked).toEqual(["127.0.0.1", "::1"]);
    expect(server.transcripts).toEqual([]);
  });

  test("connects to the given address, and records the host", async () => {
    const server = await scripted();
    const client = await opened(server.port, { host: "mx.test", address: "127.0.0.1" });
    expect(client.conversation).toMatchObject({ host: "mx.test", address: "127.0.0.1" });
  });

  test("can use a given local address", async () => {
    const server = await scripted();
    await opened(server.port, { localAddress: "127.0.0.9" });
    const elsewhere = session(server.port, { localAddress: "192.0.2.77" });
    expect(causeOf(await elsewhere.open())).toBe("connect unroutable");
  });

  test("records the time of every step", async () => {
    const client = await opened((await scripted({ script: { greeting: "trickle" } })).port);
    for (const { ms } of client.conversation.steps) expect(ms).toBeGreaterThanOrEqual(0);
  });

  test("can be closed while it waits", async () => {
    const server = await scripted({ script: { greeting: "hang" } });
    const client = session(server.port);
    const opening = client.open();
    queueMicrotask(() => client.close());
    expect(causeOf(await opening)).toMatch(/ closed$/);
  });

  test("uses the shorter timeout of the greeting as soon as it is hurried", async () => {
    const server = await scripted({ script: { greeting: "hang" } });
    const asked: number[] = [];
    const client = session(server.port, {
      timeouts: { greetingMs: 60_000, hurriedGreetingMs: 50 },
      isHurried: () => asked.push(asked.length) === 3,
    });
    const opening = client.open();
    await advanceWhenSilent(clock, server, { ms: 149 });
    expect(asked).toEqual([0, 1]);
    clock.advance(1);
    expect(await opening).toMatchObject({
      step: "greeting",
      cause: { kind: "timeout", message: "no answer within 0.05 s" },
    });
    expect(asked).toEqual([0, 1, 2]);
    expect(client.conversation.steps.at(-1)).toMatchObject({ step: "greeting", code: null });
  });

  test("is not hurried any more after the greeting", async () => {
    const server = await scripted({ script: { ehlo: "hang" } });
    const client = session(server.port, {
      timeouts: { commandMs: 200, hurriedGreetingMs: 50 },
      isHurried: () => true,
    });
    const opening = client.open();
    await advanceWhenSilent(clock, server, { ms: 200 });
    expect(await opening).toMatchObject({
      step: "ehlo",
      cause: { message: "no answer within 0.2 s" },
    });
  });

  test("shares the watchdog with the first mail", async () => {
    const server = await scripted({ script: { greeting: "trickle", mail: "hang" } });
    const client = await opened(server.port, { timeouts: { totalMs: 200 } });
    const sending = transact(client, mail());
    await advanceWhenSilent(clock, server, { ms: 200 });
    expect((await sending).delivery).toMatchObject({
      kind: "broken",
      failure: { step: "mail", cause: { message: "no answer within 0.2 s" } },
    });
  });

  test("is ended by the watchdog even if every step is within its timeout", async () => {
    const script = { ehlo: "hang" } as const;
    const server = await scripted({ script });
    const client = session(server.port, { timeouts: { totalMs: 150 } });
    const opening = client.open();
    await advanceWhenSilent(clock, server, { ms: 150 });
    expect(await opening).toMatchObject({
      step: "ehlo",
      cause: { kind: "timeout", message: "no answer within 0.15 s" },
    });
  });
});

describe("sending a mail", () => {
  test.each([true, false])("ends in acceptance, pipelining %p", async (pipelining) => {
    const server = await sink({ pipelining });
    const client = await opened(server.port);
    const { delivery, conversation } = await transact(client, mail("a\r\n"));
    expect(delivery).toMatchObject({ kind: "accepted", reply: { code: 250, enhanced: "2.0.0" } });
    expect(stepsOf(conversation).slice(3)).toEqual(["mail 250", "rcpt 250", "data 354", "dot 250"]);
    expect(conversation.steps.slice(3).map(({ command }) => command)).toEqual([
      "MAIL FROM:<a@example.com> SIZE=3",
      "RCPT TO:<b@example.net>",
      "DATA",
      ".",
    ]);
    expect(server.messages).toMatchObject([{ from: "a@example.com", to: ["b@example.net"] }]);
    expect(Buffer.from(server.messages[0]?.data ?? []).toString()).toBe("a\r\n");
  });

  test("sends the three commands together only if PIPELINING is offered", async () => {
    for (const [extensions, seen] of [
      [["PIPELINING"], 3],
      [[], 1],
    ] as const) {
      const server = await scripted({ extensions, script: { mail: "hang" } });
      const client = await opened(server.port, { timeouts: { commandMs: 150 } });
      const sending = transact(client, mail());
      await advanceWhenSilent(clock, server, { ms: 150 });
      await sending;
      // The server stops reading lines at MAIL, so the size of the write shows the commands in it.
      expect(server.transcripts[0]?.length).toBe(2);
      expect(server.pendingLines()).toBe(seen - 1);
    }
  });

  test("reuses the session for further mails", async () => {
    const server = await sink();
    const client = await opened(server.port);
    await transact(client, mail("1\r\n"));
    const { conversation } = await transact(client, mail("2\r\n"));
    expect(conversation.reused).toBe(true);
    expect(stepsOf(conversation)).toEqual(["mail 250", "rcpt 250", "data 354", "dot 250"]);
    expect(server.counts).toEqual({ messages: 2, connections: 1 });
    expect(streamOf(client).stream.messages).toBe(2);
  });

  test.each(["\r\n.\r\n.\r\n..\r\nend", ".", ".\r\n", "a\r\n.", "", "a\n.\r\nb\r\n", "x\r\n.\r\n"])(
    "delivers %j completely",
    async (text) => {
      const server = await sink();
      const client = await opened(server.port);
      expect((await transact(client, mail(text))).delivery.kind).toBe("accepted");
      const expected = text === "" || text.endsWith("\r\n") ? text : `${text}\r\n`;
      // A dot after a bare LF is doubled for safety; composed messages have no bare LF.
      const doubled = expected.replace("a\n.", "a\n..");
      expect(Buffer.from(server.messages[0]?.data ?? []).toString()).toBe(doubled);
      // The session is still synchronised.
      expect((await transact(client, mail("next\r\n"))).delivery.kind).toBe("accepted");
    },
  );

  test("delivers 1 MB without a change", async () => {
    const server = await sink();
    const client = await opened(server.port);
    const lines = Array.from(
      { length: 14_000 },
      (_, i) => `${".".repeat(i % 4)}${i} ${"x".repeat(70)}`,
    );
    const message = Buffer.from(`${lines.join("\r\n")}\r\n`);
    expect(message.length).toBeGreaterThan(1_000_000);
    expect((await transact(client, mail(message))).delivery.kind).toBe("accepted");
    expect(Buffer.compare(Buffer.from(server.messages[0]?.data ?? []), message)).toBe(0);
  });

  test("never sends DATA for a message larger than announced", async () => {
    const server = await scripted({ extensions: ["SIZE 10", "PIPELINING"] });
    const client = await opened(server.port);
    const { delivery } = await transact(client, mail("more than ten octets"));
    expect(delivery).toMatchObject({ kind: "unsendable", enhanced: "5.3.4" });
    expect(server.transcripts[0]).toEqual(["EHLO client.test"]);
    expect((await transact(client, mail("short\r\n"))).delivery.kind).toBe("accepted");
  });

  test("uses SMTPUTF8 only if it is needed", async () => {
    const server = await sink();
    const client = await opened(server.port);
    const envelope = { from: "a@example.com", to: "jürgen@example.net" };
    const { conversation } = await transact(client, { ...mail("a\r\n"), envelope });
    expect(conversation.steps[3]?.command).toBe("MAIL FROM:<a@example.com> SIZE=3 SMTPUTF8");
    expect(server.messages[0]?.to).toEqual(["jürgen@example.net"]);
  });

  test("limits the recorded text to 1,024 characters", async () => {
    const server = await scripted({ script: { dot: { code: 250, text: "x".repeat(3_000) } } });
    const { conversation } = await transact(await opened(server.port), mail());
    expect(conversation.steps.at(-1)?.text.length).toBe(1_024);
  });
});

describe("a refused mail", () => {
  const steps = ["mail", "rcpt", "data", "dot"] as const;
  const modes = [["PIPELINING"], []];
  const cases = steps.flatMap((step) =>
    [450, 550].flatMap((code) => modes.map((extensions) => ({ step, code, extensions }))),
  );

  test.each(cases)("at $step with $code $extensions leaves the session usable", async (row) => {
    const { step, code, extensions } = row;
    const server = await scripted({
      extensions,
      script: { [step]: [{ code, text: "4.2.0 as told" }] },
    });
    const client = await opened(server.port);
    const { delivery, conversation } = await transact(client, mail());
    expect(delivery).toMatchObject({ kind: "refused", step, reply: { code } });
    expect(stepsOf(conversation).at(-1)).toBe("rset 250");
    expect(conversation.steps.find((entry) => entry.step === step)?.code).toBe(code);
    expect((await transact(client, mail())).delivery.kind).toBe("accepted");
  });

  test("is ended with a single dot if DATA was accepted nevertheless (RFC 2920)", async () => {
    const script = { rcpt: [{ code: 550 }], data: [{ code: 354 }] };
    const server = await scripted({ script });
    const client = await opened(server.port);
    const { delivery, conversation } = await transact(client, mail("secret\r\n"));
    expect(delivery).toMatchObject({ kind: "refused", step: "rcpt", reply: { code: 550 } });
    expect(stepsOf(conversation).slice(3)).toEqual([
      "mail 250",
      "rcpt 550",
      "data 354",
      "dot 554",
      "rset 250",
    ]);
    expect(server.bodies).toEqual([".\r\n"]);
    expect((await transact(client, mail())).delivery.kind).toBe("accepted");
  });

  test("stays refused if the single dot is not answered", async () => {
    const script = { mail: [{ code: 550 }], data: [{ code: 354 }], dot: "close" } as const;
    const server = await scripted({
      script: { ...script, mail: [...script.mail], data: [...script.data] },
    });
    const client = await opened(server.port);
    const { delivery } = await transact(client, mail());
    expect(delivery).toMatchObject({ kind: "refused", step: "mail" });
    expect(client.isUsable).toBe(false);
  });

  test.each(steps)("with 421 at %s ends the session", async (step) => {
    const server = await scripted({ script: { [step]: "closing" } });
    const client = await opened(server.port);
    const { delivery } = await transact(client, mail());
    expect(delivery).toMatchObject({
      kind: "refused",
      step,
      reply: { code: 421, enhanced: "4.3.2" },
    });
    expect(client.isUsable).toBe(false);
  });

  test("can be refused in the middle of the message", async () => {
    const body = { code: 552, text: "5.3.4 Too much" };
    const server = await scripted({ script: { body } });
    const client = await opened(server.port);
    const { delivery } = await transact(client, mail(Buffer.alloc(8_000_000, "x")));
    expect(delivery).toMatchObject({ kind: "refused", step: "dot", reply: { enhanced: "5.3.4" } });
    expect(client.isUsable).toBe(false);
  });
});

describe("a session that breaks", () => {
  test("after the final dot records that its reply is missing", async () => {
    const server = await scripted({ script: { dot: "close" } });
    const client = await opened(server.port);
    const { delivery, conversation } = await transact(client, mail());
    expect(delivery).toMatchObject({ kind: "broken", isUnknown: true, failure: { step: "dot" } });
    expect(conversation.steps.at(-1)).toMatchObject({ step: "dot", command: ".", code: null });
  });

  test("after the reply to MAIL fails at RCPT, if the server offers no PIPELINING", async () => {
    const mailReply = { raw: "250 2.1.0 Ok\r\ngarbage\r\n" };
    const server = await scripted({ script: { mail: mailReply }, extensions: [] });
    const client = await opened(server.port);
    const { delivery } = await transact(client, mail());
    expect(delivery).toMatchObject({ kind: "broken", isUnknown: false, failure: { step: "rcpt" } });
  });

  test("does not accept an early reply as an acceptance", async () => {
    const data = { raw: "354 Go ahead\r\n250 2.0.0 Taken\r\n" };
    const server = await scripted({ script: { data } });
    const client = await opened(server.port);
    const { delivery } = await transact(client, mail());
    expect(delivery).toMatchObject({ kind: "broken", isUnknown: false, failure: { step: "dot" } });
    expect(server.bodies).toEqual([]);
  });

  test.each([
    ["a small message, 2xx", { data: { raw: "354 Go ahead\r\n25" } }, 8, "0 Taken\r\n", "broken"],
    ["a small message, 5xx", { data: { raw: "354 Go ahead\r\n55" } }, 8, "2 No\r\n", "refused"],
    ["a large message, 2xx", { body: { raw: "25" } }, 8_000_000, "0 Taken\r\n", "broken"],
    ["a large message, 5xx", { body: { raw: "55" } }, 8_000_000, "2 No\r\n", "refused"],
  ] as const)("ends with a reply that has begun before the end of %s", async (...row) => {
    const [, script, size, rest, kind] = row;
    const server = await scripted({ script });
    const client = await opened(server.port);
    const sending = transact(client, mail(Buffer.alloc(size, "x")));
    await waitUntil(() => server.transcripts[0]?.at(-1) === "DATA");
    await settleEventLoop();
    server.say(rest);
    const { delivery } = await sending;
    expect(delivery.kind).toBe(kind);
    expect(delivery).not.toMatchObject({ isUnknown: true });
    expect(server.bodies).toEqual([]);
    expect(client.isUsable).toBe(false);
  });

  test("waits for the rest of such a reply as long as for one to a command", async () => {
    const server = await scripted({ script: { data: { raw: "354 Go ahead\r\n25" } } });
    const client = await opened(server.port, { timeouts: { commandMs: 70 } });
    const sending = transact(client, mail());
    await waitUntil(() => server.transcripts[0]?.at(-1) === "DATA");
    await settleEventLoop();
    clock.advance(70);
    expect((await sending).delivery).toMatchObject({
      kind: "broken",
      isUnknown: false,
      failure: { step: "dot", cause: { kind: "timeout", message: "no answer within 0.07 s" } },
    });
    expect(server.bodies).toEqual([]);
  });

  test("because of invalid data after the reply to DATA sends no message", async () => {
    const server = await scripted({ script: { data: { raw: "354 Go ahead\r\nwhat?\r\n" } } });
    const client = await opened(server.port);
    const { delivery } = await transact(client, mail());
    expect(delivery).toMatchObject({
      kind: "broken",
      isUnknown: false,
      failure: { step: "dot", cause: { kind: "protocol" } },
    });
    expect(server.bodies).toEqual([]);
  });

  test.each([
    ["mail", 354],
    ["rcpt", 354],
    ["data", 250],
    ["dot", 354],
  ] as const)("at %s with %i is not synchronised", async (step, code) => {
    const server = await scripted({ script: { [step]: { code } }, extensions: [] });
    const client = await opened(server.port);
    const { delivery } = await transact(client, mail());
    expect(delivery).toMatchObject({
      kind: "broken",
      isUnknown: step === "dot",
      failure: { step },
    });
    expect(client.isUsable).toBe(false);
  });

  test.each(["drop", "say"] as const)(
    "is detected if the server closes between two mails by %s",
    async (how) => {
      const server = await scripted();
      const client = await opened(server.port);
      await transact(client, mail());
      server[how]("421 4.4.2 Idle too long\r\n");
      await streamOf(client).lost;
      expect(client.isUsable).toBe(false);
    },
  );

  test("is not used again after an unexpected reply", async () => {
    const dot = { raw: "250 2.0.0 Taken\r\n250 2.0.0 Taken\r\n" };
    const client = await opened((await scripted({ script: { dot } })).port);
    expect((await transact(client, mail())).delivery.kind).toBe("accepted");
    expect(client.isUsable).toBe(false);
  });
});

describe("quitting", () => {
  test("sends QUIT and closes", async () => {
    const server = await scripted();
    const client = await opened(server.port);
    const { conversation } = await transact(client, mail());
    const before = conversation.steps.length;
    await client.quit();
    expect(server.transcripts[0]?.at(-1)).toBe("QUIT");
    expect(client.isUsable).toBe(false);
    expect(conversation.steps.length).toBe(before);
  });
});
