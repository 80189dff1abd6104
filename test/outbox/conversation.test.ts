/**
 * The email record in the API after real conversations with a relay. The outcome of each reply is
 * tested in transports/relay.test.ts, and the record of each outcome in fault-matrix.test.ts.
 */

import { afterEach, describe, expect, test } from "bun:test";
import { relayTransport } from "../../src/outbox/transports/relay.ts";
import type { Relay } from "../../src/protocols/smtp/relay-url.ts";
import { silentLog } from "../../src/lib/log.ts";
import { testApp } from "../support/app.ts";
import { manualClock } from "../support/clock.ts";
import { withoutSignatures } from "../support/dkim.ts";
import { valueAt, listAt } from "../support/json.ts";
import { type Script, type ScriptOptions, startScript } from "../support/smtp-script.ts";
import { startSink } from "../support/smtp-sink.ts";

const MINUTE = 60_000;

const closers: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

async function scriptedServer(options: ScriptOptions) {
  const server = await startScript(options);
  closers.push(() => server.close());
  return server;
}

/** Starts an application that sends through a relay on this machine. */
async function startApp(port: number, relay: Partial<Relay> = {}) {
  const clock = manualClock();
  const transport = relayTransport({
    relay: { host: "127.0.0.1", port, tls: "none", ...relay },
    hostname: "sender.test",
    clock,
    log: silentLog,
  });
  const t = await testApp({ transport, clock });
  closers.push(() => t.close());

  return {
    t,

    /** Sends one mail, waits for the end of its attempt, and returns its record. */
    async send(to = "ada@example.net"): Promise<unknown> {
      const mail = { to, from: "hello@acme.test", subject: "Hi", body: "<p>Hello</p>" };
      const id = await t.create("/v1/send", mail, "emails.0.email");
      await t.deliver();
      return (await t.call("GET", `/emails/${id}`)).at("data");
    },

    /** Advances the clock to the next attempt of a mail and returns its record afterwards. */
    async retry(email: unknown): Promise<unknown> {
      t.clock.advance(waitOf(t, email));
      await t.deliver();
      return (await t.call("GET", `/emails/${String(valueAt(email, "id"))}`)).at("data");
    },
  };
}

function waitOf(t: { clock: { now(): number } }, email: unknown): number {
  return Date.parse(String(valueAt(email, "nextAttemptAt"))) - t.clock.now();
}

/** The steps of a conversation in the record, each as `step code`. */
function stepsOf(email: unknown, attempt = 0, conversation = 0): string[] {
  const steps = listAt(email, `attempts.${attempt}.conversations.${conversation}.steps`);
  return steps.map((step) => `${String(valueAt(step, "step"))} ${String(valueAt(step, "code"))}`);
}

describe("a relay that accepts the mail", () => {
  test("makes it SENT, with every step of the session recorded", async () => {
    const sink = await startSink();
    closers.push(() => sink.close());
    const { send } = await startApp(sink.port);
    const email = await send();
    expect(email).toMatchObject({
      status: "SENT",
      sentAt: expect.stringMatching(/Z$/),
      lastError: null,
      nextAttemptAt: null,
      attempts: [
        {
          number: 1,
          outcome: "accepted",
          class: "accepted",
          conversations: [{ host: "127.0.0.1", port: sink.port, tls: null, reused: false }],
        },
      ],
    });
    expect(stepsOf(email)).toEqual([
      "connect null",
      "greeting 220",
      "ehlo 250",
      "mail 250",
      "rcpt 250",
      "data 354",
      "dot 250",
    ]);
    expect(valueAt(email, "attempts.0.conversations.0.steps.4")).toEqual({
      step: "rcpt",
      command: "RCPT TO:<ada@example.net>",
      code: 250,
      enhanced: "2.1.5",
      text: expect.any(String),
      ms: expect.any(Number),
    });
    expect(sink.messages).toMatchObject([{ from: "hello@acme.test", to: ["ada@example.net"] }]);

    const second = await send("grace@example.net");
    expect(valueAt(second, "attempts.0.conversations.0.reused")).toBe(true);
    expect(stepsOf(second)).toEqual(["mail 250", "rcpt 250", "data 354", "dot 250"]);
  });
});

describe("a relay that cannot be used", () => {
  test("because it refuses our password defers the mail, and the password is stored nowhere", async () => {
    const server = await scriptedServer({
      script: { auth: { code: 535, text: "5.7.8 Wrong user or password" } },
    });
    const { t, send } = await startApp(server.port, { user: "user", password: "geheim" });
    const email = await send();
    expect(email).toMatchObject({
      status: "QUEUED",
      lastError: expect.stringContaining("535"),
      attempts: [{ outcome: "deferred", class: "infrastructure" }],
    });
    expect(stepsOf(email)).toContain("auth 535");
    const secrets = ["geheim", btoa("geheim"), btoa("\0user\0geheim")];
    const stored = JSON.stringify([email, t.contents()["attempts"], t.contents()["emails"]]);
    for (const secret of secrets) expect(stored).not.toContain(secret);
  });
});

describe("a relay that refuses", () => {
  test("an unknown recipient gets no more mail", async () => {
    const script: Script = { rcpt: [{ code: 550, text: "5.1.1 No such user" }] };
    const server = await scriptedServer({ script });
    const { t, send } = await startApp(server.port);
    expect(await send()).toMatchObject({ status: "BOUNCED" });
    expect(await send()).toMatchObject({ status: "SUPPRESSED", attempts: [] });
    expect(await send("grace@example.net")).toMatchObject({ status: "SENT" });
    expect(t.eventNames()).toEqual(["email.bounced", "email.suppressed", "email.sent"]);
    expect(server.transcripts.flat().filter((line) => line.startsWith("RCPT"))).toHaveLength(2);
  });

  test("by greylisting with a time gets the mail again after that time", async () => {
    const text = "4.7.1 Greylisted, please try again in 600 seconds";
    const server = await scriptedServer({ script: { rcpt: [{ code: 450, text }] } });
    const { t, send, retry } = await startApp(server.port);
    const email = await send();
    expect(email).toMatchObject({ status: "QUEUED", attempts: [{ class: "greylisted" }] });
    expect(waitOf(t, email)).toBeWithin(10 * MINUTE, 12 * MINUTE + 1);
    const again = await retry(email);
    expect(again).toMatchObject({
      status: "SENT",
      lastError: null,
      attempts: [{ outcome: "deferred" }, { number: 2, outcome: "accepted" }],
    });
    expect(stepsOf(again, 0)).toContain("rcpt 450");
    expect(stepsOf(again, 1)).toContain("dot 250");
  });
});

describe("a connection that is lost", () => {
  test("after the final dot leaves the outcome unknown, and the same message is sent again later", async () => {
    const server = await scriptedServer({ script: [{ dot: "close" }, {}] });
    const { t, send, retry } = await startApp(server.port);
    const email = await send();
    expect(email).toMatchObject({
      status: "QUEUED",
      lastError: expect.stringContaining("unknown"),
      attempts: [{ outcome: "deferred", class: "infrastructure" }],
    });
    expect(stepsOf(email).at(-1)).toBe("dot null");
    expect(server.transcripts).toHaveLength(1);
    expect(waitOf(t, email)).toBeWithin(4 * MINUTE, 6 * MINUTE + 1);
    expect(await retry(email)).toMatchObject({ status: "SENT" });
    expect(server.bodies).toHaveLength(2);
    const [first = "", second = ""] = server.bodies.map(withoutSignatures);
    expect(second).toBe(first);
    expect(first).toContain(`Message-ID: ${String(valueAt(email, "messageId"))}`);
  });
});
