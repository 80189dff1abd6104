/** A relay that goes down and comes back, tested with the whole application. */

import { afterEach, describe, expect, test } from "bun:test";
import { relayTransport } from "../../src/outbox/transports/relay.ts";
import type { Relay } from "../../src/protocols/smtp/relay-url.ts";
import { createLog } from "../../src/lib/log.ts";
import { testApp } from "../support/app.ts";
import { manualClock } from "../support/clock.ts";
import { waitUntil, settleEventLoop } from "../support/eventually.ts";
import { type Script, type ScriptOptions, startScript } from "../support/smtp-script.ts";
import { type Sink, startSink } from "../support/smtp-sink.ts";

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const DAY = 24 * 60 * MINUTE;
/** An address of this test only, so that the port is still free when the relay comes back. */
const ADDRESS = "127.0.9.1";

const closers: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

async function sinkAt(port = 0): Promise<Sink> {
  const sink = await startSink({ address: ADDRESS, port });
  closers.push(() => sink.close());
  return sink;
}

/** A port without a listener. */
async function deadPort(): Promise<number> {
  const sink = await sinkAt();
  await sink.close();
  return sink.port;
}

/** An application that sends its mail through this relay once it is started. */
async function setUp(relay: Partial<Relay> & { port: number }) {
  const clock = manualClock();
  const lines: string[] = [];
  const log = createLog({ level: "info", format: "json", write: (line) => lines.push(line) });
  const transport = relayTransport({
    relay: { host: ADDRESS, tls: "none", ...relay },
    hostname: "sender.test",
    clock,
    log,
  });
  const t = await testApp({ transport, clock, log });
  closers.push(() => t.close());
  const logged = (text: string) => lines.filter((line) => line.includes(text)).length;

  /** Advances the clock second by second until `isOver` returns true, for at most `maxMs`. */
  async function advance(maxMs: number, isOver: () => boolean = () => false): Promise<void> {
    const until = clock.now() + maxMs;
    while (!isOver() && clock.now() < until) {
      clock.advance(SECOND);
      await settleEventLoop();
    }
  }

  return {
    t,
    clock,
    logged,
    advance,
    isDown: () => logged("no mail is sent until it answers") > 0,

    /** Accepts `count` mails to different addresses, in requests of up to a hundred. */
    async send(count: number): Promise<string[]> {
      const to = Array.from({ length: count }, (_, i) => `${i}-${crypto.randomUUID()}@example.net`);
      const ids: string[] = [];
      for (let i = 0; i < count; i += 100) {
        const some = to.slice(i, i + 100);
        const mail = { from: "hello@acme.test", subject: "Hi", body: "<p>Hello</p>" };
        const answer = await t.call("POST", "/v1/send", { ...mail, to: some });
        expect(answer.status).toBe(200);
        ids.push(...some.map((_, j) => answer.text(`emails.${j}.email`)));
      }
      return ids;
    },

    /** Number of mails by status. */
    statuses: (): Record<string, number> =>
      Object.fromEntries(
        t.db.sqlite
          .query<{ status: string; n: number }, []>(
            "SELECT status, count(*) AS n FROM emails GROUP BY status",
          )
          .all()
          .map(({ status, n }) => [status, n]),
      ),
    /** Sum of the attempts that the rows of all mails count. */
    attemptsCounted: (): number =>
      t.db.sqlite.query<{ n: number }, []>("SELECT sum(attempts) AS n FROM emails").get()?.n ?? 0,
  };
}

describe("while the relay is down", () => {
  test("only one mail makes an attempt and only one log line warns", async () => {
    const { t, send, statuses, attemptsCounted, logged, isDown, advance } = await setUp({
      port: await deadPort(),
    });
    await send(200);
    await t.app.start();
    await waitUntil(isDown);
    await advance(3 * MINUTE);
    await waitUntil(() => statuses()["QUEUED"] === 200);
    expect([t.countRows("attempts"), attemptsCounted()]).toEqual([1, 1]);
    expect(logged("no mail is sent until it answers")).toBe(1);
    expect(logged("delivery needs attention")).toBe(1);
    expect(logged("the relay is back")).toBe(0);
  });

  test("the record of the mail that was attempted has the conversation", async () => {
    const { t, send, isDown } = await setUp({ port: await deadPort() });
    const [id = ""] = await send(1);
    await t.app.start();
    await waitUntil(() => isDown() && t.countRows("attempts") === 1);
    const { at } = await t.call("GET", `/emails/${id}`);
    expect(at("data")).toMatchObject({
      status: "QUEUED",
      lastError: expect.stringContaining("connection refused"),
      attempts: [{ number: 1, class: "infrastructure", conversations: [{ host: ADDRESS }] }],
    });
  });

  test("a mail that expires bounces even without an attempt and does not suppress its address", async () => {
    const { t, clock, send, statuses, isDown, advance } = await setUp({
      port: await deadPort(),
    });
    await send(3);
    await t.app.start();
    await waitUntil(isDown);
    clock.advance(4 * DAY);
    await settleEventLoop();
    await advance(3 * MINUTE, () => statuses()["BOUNCED"] === 3);
    await waitUntil(() => statuses()["BOUNCED"] === 3);
    expect(t.countRows("attempts")).toBe(1);
    expect(t.countRows("suppressions")).toBe(0);
    const { at } = await t.call("GET", "/events");
    expect(at("data.items.0.data.reason")).toMatch(/^4\.4\.7 .*the relay cannot be reached/);
  });

  test("a refused password is used once a minute by one mail", async () => {
    const script: Script = { auth: { code: 535, text: "5.7.8 Wrong user or password" } };
    const server = await startScript({ script });
    closers.push(() => server.close());
    const { t, clock, send, statuses, isDown, advance } = await setUp({
      host: "127.0.0.1",
      port: server.port,
      user: "user",
      password: "geheim",
    });
    await send(100);
    await t.app.start();
    await waitUntil(isDown);
    await waitUntil(() => statuses()["QUEUED"] === 100);
    const logins = () => server.transcripts.flat().filter((line) => line.startsWith("AUTH")).length;
    const before = logins();
    for (let minutes = 1; minutes <= 3; minutes++) {
      clock.advance(50 * SECOND);
      await settleEventLoop();
      expect(logins()).toBe(before + minutes - 1);
      await advance(10 * SECOND);
      await waitUntil(() => logins() === before + minutes && statuses()["QUEUED"] === 100);
    }
    expect(t.countRows("attempts")).toBe(1);
  });
});

describe("when the relay is back", () => {
  test("all waiting mail leaves once, after the next probe", async () => {
    const before = await sinkAt();
    const setup = await setUp({ port: before.port });
    const { t, clock, send, statuses, attemptsCounted, logged, isDown, advance } = setup;
    await send(1);
    await t.app.start();
    await waitUntil(() => statuses()["SENT"] === 1);
    await before.close();
    await send(200);
    await waitUntil(isDown);
    // Two probes fail, after 2 and 4 seconds; the next one is due in 8.
    await advance(7 * SECOND);
    await waitUntil(() => statuses()["QUEUED"] === 200);
    const after = await sinkAt(before.port);
    const backAt = clock.now();
    await advance(20 * SECOND, () => statuses()["SENT"] === 201);
    await waitUntil(() => statuses()["SENT"] === 201);
    expect(clock.now() - backAt).toBeLessThan(12 * SECOND);
    expect(after.messages).toHaveLength(200);
    expect(new Set(after.messages.flatMap(({ to }) => to)).size).toBe(200);
    // One attempt for each mail, and one more for the first mail during the outage.
    expect([t.countRows("attempts"), attemptsCounted()]).toEqual([202, 202]);
    expect(logged("no mail is sent until it answers")).toBe(1);
    expect(logged("the relay is back")).toBe(1);
  });

  test("mails that were not attempted leave before those that were queued after them", async () => {
    const port = await deadPort();
    const { t, send, statuses, isDown, advance } = await setUp({ port });
    await send(10);
    await t.app.start();
    await waitUntil(() => isDown() && statuses()["QUEUED"] === 10);
    await send(190);
    const after = await sinkAt(port);
    await advance(20 * SECOND, () => statuses()["SENT"] === 200);
    await waitUntil(() => statuses()["SENT"] === 200);
    const first = t.db.sqlite
      .query<{ to: string }, []>("SELECT to_address AS 'to' FROM emails ORDER BY seq LIMIT 10")
      .all();
    const early = new Set(after.messages.slice(0, 100).flatMap(({ to }) => to));
    // The mail that was attempted during the outage waits for its own retry time.
    expect(first.filter(({ to }) => early.has(to))).toHaveLength(9);
  });
});

describe("a reply about a mail", () => {
  const replies = [
    { step: "mail", code: 451 },
    { step: "rcpt", code: 450 },
    { step: "data", code: 451 },
    { step: "dot", code: 452 },
    { step: "mail", code: 421 },
    { step: "rcpt", code: 550 },
    { step: "dot", code: 554 },
  ] as const;

  test("does not delay the others", async () => {
    const options: ScriptOptions = {};
    const server = await startScript(options);
    closers.push(() => server.close());
    const { t, send, isDown } = await setUp({ host: "127.0.0.1", port: server.port });
    await t.app.start();
    for (const [i, { step, code }] of replies.entries()) {
      server.drop();
      await waitUntil(() => server.ended === server.transcripts.length);
      options.script = { [step]: { code } };
      await send(5);
      await waitUntil(() => t.countRows("attempts") === 5 * (i + 1));
      expect([step, code, isDown()]).toEqual([step, code, false]);
    }
  });
});

test("a relay that refuses only further sessions is busy, not down", async () => {
  // The first session accepts a mail and hangs, and so occupies its slot.
  const busy: Script = { greeting: { code: 421, text: "4.7.0 Too many connections" } };
  const server = await startScript({ script: [{ dot: "hang" }, busy] });
  closers.push(() => server.close());
  const { t, send, statuses, isDown } = await setUp({ host: "127.0.0.1", port: server.port });
  await t.app.start();
  await send(1);
  await waitUntil(() => server.bodies.length === 1);
  await send(1);
  await waitUntil(() => t.countRows("attempts") === 1);
  expect([isDown(), statuses()]).toEqual([false, { QUEUED: 1, SENDING: 1 }]);
  server.drop();
});
