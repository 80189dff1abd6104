/** A fallback relay, which takes the mail while the first relay is away. The whole application runs. */

import { afterEach, describe, expect, test } from "bun:test";
import { readConfig } from "../../src/config/read.ts";
import { transportOf } from "../../src/outbox/transports/create-transport.ts";
import type { Relay } from "../../src/protocols/smtp/relay-url.ts";
import { testApp } from "../support/app.ts";
import { manualClock } from "../support/clock.ts";
import { settleEventLoop, waitUntil } from "../support/eventually.ts";
import { type Script, type ScriptOptions, startScript } from "../support/smtp-script.ts";
import { startSink } from "../support/smtp-sink.ts";

const SECOND = 1000;
/** Addresses of this test only, so that a port is still free when its relay comes back. */
const FIRST = "127.0.9.11";
const FALLBACK = "127.0.9.12";

const closers: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

async function sinkAt(address: string, port = 0) {
  const sink = await startSink({ address, port });
  closers.push(() => sink.close());
  return sink;
}

async function scriptAt(options: ScriptOptions) {
  const server = await startScript({ address: FIRST, ...options });
  closers.push(() => server.close());
  return server;
}

/** A port without a listener. */
async function deadPort(address: string): Promise<number> {
  const sink = await sinkAt(address);
  await sink.close();
  return sink.port;
}

/** An application whose mail leaves by the relays at these ports. */
async function setUp(ports: { first: number; fallback: number }, first: Partial<Relay> = {}) {
  const clock = manualClock();
  const relayUrl: Relay = { host: FIRST, port: ports.first, tls: "none", ...first };
  const fallbackRelayUrl: Relay = { host: FALLBACK, port: ports.fallback, tls: "none" };
  const config = { transport: "relay", relayUrl, fallbackRelayUrl } as const;
  const t = await testApp({ clock, config });
  closers.push(() => t.close());
  await t.app.start();

  async function send(count = 1): Promise<string[]> {
    const to = Array.from({ length: count }, () => `${crypto.randomUUID()}@example.net`);
    const mail = { from: "hello@acme.test", subject: "Hi", body: "<p>Hello</p>" };
    const answer = await t.call("POST", "/v1/send", { ...mail, to });
    expect(answer.status).toBe(200);
    return to.map((_, i) => answer.text(`emails.${i}.email`));
  }

  const countIn = (status: string): number =>
    t.db.sqlite
      .query<{ n: number }, [string]>("SELECT count(*) AS n FROM emails WHERE status = ?")
      .get(status)?.n ?? 0;

  return {
    t,
    clock,
    send,
    countIn,
    /** Waits until `isOver`, while the clock advances by up to `seconds`. */
    async within(seconds: number, isOver: () => boolean): Promise<void> {
      for (let i = 0; i < seconds && !isOver(); i++) {
        clock.advance(SECOND);
        await settleEventLoop();
      }
      await waitUntil(isOver);
    },
  };
}

test("takes all mail while the first relay is away, which gets the next mail once it is back", async () => {
  const before = await sinkAt(FIRST);
  const fallback = await sinkAt(FALLBACK);
  const { t, send, countIn, within } = await setUp({
    first: before.port,
    fallback: fallback.port,
  });
  await send(3);
  await waitUntil(() => countIn("SENT") === 3);
  expect([before.messages.length, fallback.messages.length]).toEqual([3, 0]);

  await before.close();
  const [id = ""] = await send(100);
  await within(5, () => countIn("SENT") === 103);
  expect(fallback.messages).toHaveLength(100);
  expect(new Set(fallback.messages.flatMap(({ to }) => to)).size).toBe(100);
  // The record of a mail shows by which relay it left.
  const { at } = await t.call("GET", `/emails/${id}`);
  const attempts = at("data.attempts");
  expect(Array.isArray(attempts) && attempts.at(-1)).toMatchObject({
    outcome: "accepted",
    conversations: [{ host: FALLBACK, port: fallback.port }],
  });

  expect(transportOf(t.app.app).replacedHold?.()?.name).toBe(`${FIRST}:${before.port}`);
  const after = await sinkAt(FIRST, before.port);
  let sent = 103;
  await within(120, () => {
    if (countIn("SENT") === sent) {
      void send(1);
      sent++;
    }
    return after.messages.length > 0;
  });
  const through = fallback.messages.length;
  await waitUntil(() => countIn("QUEUED") + countIn("SENDING") === 0);
  await send(20);
  await waitUntil(() => countIn("QUEUED") + countIn("SENDING") === 0);
  expect(transportOf(t.app.app).replacedHold?.()).toBeNull();
  expect(after.messages.length).toBeGreaterThanOrEqual(21);
  expect(fallback.messages.length).toBeLessThanOrEqual(through + 1);
});

const AWAY: [name: string, script: Script][] = [
  ["replies 421 to the connection", { greeting: { code: 421, text: "4.3.2 Closing" } }],
  ["replies 4xx to EHLO", { ehlo: { code: 451, text: "4.3.0 Later" } }],
  ["refuses the login temporarily", { auth: { code: 454, text: "4.7.0 Temporary failure" } }],
  ["closes the connection without a greeting", { greeting: "close" }],
];

describe("takes the mail if the first relay", () => {
  test.each(AWAY)("%s", async (_, script) => {
    const fallback = await sinkAt(FALLBACK);
    const server = await scriptAt({ script, address: "127.0.0.1" });
    const { send, countIn, within } = await setUp(
      { first: server.port, fallback: fallback.port },
      { host: "127.0.0.1", user: "user", password: "secret" },
    );
    await send(5);
    await within(400, () => countIn("SENT") === 5);
    expect(fallback.messages).toHaveLength(5);
    expect(server.bodies).toEqual([]);
  });

  test("offers no TLS, which it must", async () => {
    const fallback = await sinkAt(FALLBACK);
    const server = await scriptAt({});
    const { send, countIn, within } = await setUp(
      { first: server.port, fallback: fallback.port },
      { tls: "starttls" },
    );
    await send(5);
    await within(5, () => countIn("SENT") === 5);
    expect(fallback.messages).toHaveLength(5);
  });
});

describe("does not take the mail if the first relay", () => {
  test("refuses the login", async () => {
    const fallback = await sinkAt(FALLBACK);
    const script: Script = { auth: { code: 535, text: "5.7.8 Wrong password" } };
    const server = await scriptAt({ script, address: "127.0.0.1" });
    const { t, send, within } = await setUp(
      { first: server.port, fallback: fallback.port },
      { host: "127.0.0.1", user: "user", password: "secret" },
    );
    await send(5);
    await within(30, () => t.countRows("attempts") === 1);
    expect(fallback.messages).toEqual([]);
  });

  const answers: [name: string, script: Script, status: string][] = [
    ["defers it", { rcpt: { code: 451, text: "4.2.0 Later" } }, "QUEUED"],
    ["refuses it", { rcpt: { code: 550, text: "5.1.1 No such user" } }, "BOUNCED"],
  ];

  test.each(answers)("%s", async (_, script, status) => {
    const fallback = await sinkAt(FALLBACK);
    const server = await scriptAt({ script });
    const { t, send, countIn } = await setUp({ first: server.port, fallback: fallback.port });
    await send(1);
    await waitUntil(() => t.countRows("attempts") === 1 && countIn(status) === 1);
    expect(fallback.messages).toEqual([]);
  });
});

test.each<[string, Script]>([
  ["may have accepted", { dot: "close" }],
  ["has deferred", { rcpt: { code: 451, text: "4.2.0 Later" } }],
])(
  "a mail that the first relay %s is repeated there only, while others leave by the fallback",
  async (_, script) => {
    const fallback = await sinkAt(FALLBACK);
    const first = await scriptAt({ script: [script, {}] });
    const { port } = first;
    const { t, clock, send, countIn, within } = await setUp({
      first: port,
      fallback: fallback.port,
    });
    const [kept = ""] = await send(1);
    await waitUntil(() => t.countRows("attempts") === 1 && countIn("QUEUED") === 1);
    await first.close();
    await send(5);
    await within(5, () => countIn("SENT") === 5);

    // It is due long since, and others pass it.
    clock.advance(1_800 * SECOND);
    await send(1);
    await within(5, () => countIn("SENT") === 6);
    expect(fallback.messages).toHaveLength(6);
    const { at } = await t.call("GET", `/emails/${kept}`);
    expect(at("data")).toMatchObject({ status: "QUEUED", wait: { cause: "RELAY_DOWN" } });

    const back = await sinkAt(FIRST, port);
    await within(180, () => back.messages.length === 1);
    await waitUntil(() => countIn("SENT") === 7);
    expect(fallback.messages).toHaveLength(6);
  },
);

test("while both are away, mail waits, and leaves by the one that comes back first", async () => {
  const ports = { first: await deadPort(FIRST), fallback: await deadPort(FALLBACK) };
  const { t, send, countIn, within } = await setUp(ports);
  const [id = ""] = await send(50);
  await within(10, () => countIn("QUEUED") === 50 && t.countRows("attempts") >= 2);
  const { at } = await t.call("GET", `/emails/${id}`);
  expect(at("data.wait.cause")).toBe("RELAY_DOWN");
  const fallback = await sinkAt(FALLBACK, ports.fallback);
  await within(180, () => countIn("SENT") === 50);
  expect(fallback.messages).toHaveLength(50);
});

test("probes a silent first relay by sessions without a mail", async () => {
  const fallback = await sinkAt(FALLBACK);
  const first = await scriptAt({ script: [{ greeting: { code: 421 } }, { greeting: "hang" }] });
  const { send, countIn, within } = await setUp({ first: first.port, fallback: fallback.port });
  await send(1);
  await within(400, () => countIn("SENT") === 1);
  for (let sent = 2; sent < 6; sent++) {
    await send(1);
    await within(5, () => countIn("SENT") === sent);
  }
  expect(first.transcripts).toHaveLength(2);
  first.drop();
});

describe("the settings", () => {
  const relay: Relay = { host: "relay.test", port: 587, tls: "starttls" };

  test.each([
    ["without a first relay", { transport: "direct", fallbackRelayUrl: relay }],
    ["equal to the first relay", { transport: "relay", relayUrl: relay, fallbackRelayUrl: relay }],
  ] as const)("refuse a fallback relay %s", (_, defaults) => {
    expect(() => readConfig({}, {}, defaults)).toThrow("--fallback-relay-url");
  });
});

test("the return of the first relay is known without mail, by a probe", async () => {
  const before = await sinkAt(FIRST);
  const fallback = await sinkAt(FALLBACK);
  const { t, send, countIn, within } = await setUp({
    first: before.port,
    fallback: fallback.port,
  });
  const transport = transportOf(t.app.app);
  await before.close();
  await send(1);
  await within(5, () => countIn("SENT") === 1);
  expect(transport.replacedHold?.()).not.toBeNull();
  await sinkAt(FIRST, before.port);
  await within(120, () => {
    transport.probeRelays?.();
    return transport.replacedHold?.() === null;
  });
  expect(fallback.messages).toHaveLength(1);
});
