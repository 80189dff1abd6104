/** What became of a mail, as the API tells it, after real conversations with a relay. */

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
import { makeCertificate } from "../support/tls.ts";

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const CERTIFICATE = makeCertificate(["127.0.0.1"]);

const closers: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

async function scripted(options: ScriptOptions) {
  const server = await startScript(options);
  closers.push(() => server.close());
  return server;
}

/** An application that sends through a relay on this machine. */
async function relaying(port: number, relay: Partial<Relay> = {}) {
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

    /** Sends one mail, waits for what becomes of it, and returns its record. */
    async sent(to = "ada@example.net"): Promise<unknown> {
      const mail = { to, from: "hello@acme.test", subject: "Hi", body: "<p>Hello</p>" };
      const id = await t.create("/v1/send", mail, "emails.0.email");
      await t.deliver();
      return (await t.call("GET", `/emails/${id}`)).at("data");
    },

    /** Moves on to the next attempt of a mail and returns its record after it. */
    async retried(email: unknown): Promise<unknown> {
      t.clock.advance(waitOf(t, email));
      await t.deliver();
      return (await t.call("GET", `/emails/${String(valueAt(email, "id"))}`)).at("data");
    },
  };
}

/** The relay answers as told; what became of the mail. */
async function sentThrough(script: Script): Promise<unknown> {
  const server = await scripted({ script });
  return (await relaying(server.port)).sent();
}

function waitOf(t: { clock: { now(): number } }, email: unknown): number {
  return Date.parse(String(valueAt(email, "nextAttemptAt"))) - t.clock.now();
}

/** `step code` of each step of a conversation of the record. */
function stepsOf(email: unknown, attempt = 0, conversation = 0): string[] {
  const steps = listAt(email, `attempts.${attempt}.conversations.${conversation}.steps`);
  return steps.map((step) => `${String(valueAt(step, "step"))} ${String(valueAt(step, "code"))}`);
}

describe("a relay that takes the mail", () => {
  test("leaves it SENT, with every step of the session", async () => {
    const sink = await startSink();
    closers.push(() => sink.close());
    const { sent } = await relaying(sink.port);
    const email = await sent();
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

    const second = await sent("grace@example.net");
    expect(valueAt(second, "attempts.0.conversations.0.reused")).toBe(true);
    expect(stepsOf(second)).toEqual(["mail 250", "rcpt 250", "data 354", "dot 250"]);
  });
});

describe("a relay that cannot be used", () => {
  test("because it is down: the mail waits", async () => {
    const sink = await startSink();
    await sink.close();
    const { t, sent } = await relaying(sink.port);
    const email = await sent();
    expect(email).toMatchObject({
      status: "QUEUED",
      lastError: expect.stringContaining("connect"),
      attempts: [{ outcome: "deferred", class: "infrastructure" }],
    });
    expect(stepsOf(email)).toEqual(["connect null"]);
    // Until the relay is asked again, and a fifth of jitter.
    expect(waitOf(t, email)).toBeWithin(2 * SECOND, 2.4 * SECOND + 1);
  });

  test("because its certificate is not trusted: no mail and no password reach it", async () => {
    const server = await scripted({ tls: CERTIFICATE });
    const { sent } = await relaying(server.port, {
      tls: "starttls",
      user: "u",
      password: "geheim",
    });
    const email = await sent();
    expect(email).toMatchObject({
      status: "QUEUED",
      attempts: [{ outcome: "deferred", class: "infrastructure" }],
    });
    expect(String(valueAt(email, "lastError"))).toMatch(/certificate/i);
    expect(stepsOf(email).at(-1)).toBe("tls null");
    expect(server.transcripts.flat()).toEqual(["EHLO sender.test", "STARTTLS"]);
  });

  test("because it offers no STARTTLS: neither", async () => {
    const server = await scripted({});
    const { sent } = await relaying(server.port, {
      tls: "starttls",
      user: "u",
      password: "geheim",
    });
    expect(await sent()).toMatchObject({
      status: "QUEUED",
      attempts: [{ class: "infrastructure" }],
    });
    expect(server.transcripts.flat().join()).not.toMatch(/AUTH|MAIL/);
  });

  test("because it refuses our password: the mail waits, and nothing shows the password", async () => {
    const server = await scripted({
      script: { auth: { code: 535, text: "5.7.8 Wrong user or password" } },
    });
    const { t, sent } = await relaying(server.port, { user: "user", password: "geheim" });
    const email = await sent();
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
  const later = [
    { name: "the session, being busy", step: "greeting", code: 421, text: "4.3.2 Busy" },
    { name: "the session for good", step: "greeting", code: 554, text: "5.7.1 Go away" },
    { name: "the sender, for now", step: "mail", code: 451, text: "4.3.0 Later" },
    { name: "the recipient, for now", step: "rcpt", code: 450, text: "4.2.0 Later" },
    { name: "the data, for now", step: "data", code: 451, text: "4.3.0 Later" },
    { name: "the message, for now", step: "dot", code: 452, text: "4.3.1 Disk full" },
  ] as const;

  test.each(later)("$name: the mail waits", async ({ step, code, text }) => {
    const email = await sentThrough({ [step]: { code, text } });
    expect(email).toMatchObject({
      status: "QUEUED",
      bouncedAt: null,
      lastError: expect.stringContaining(`${code} ${text}`),
      attempts: [{ number: 1, outcome: "deferred" }],
    });
    expect(stepsOf(email)).toContain(`${step} ${code}`);
  });

  const never = [
    { name: "the sender", step: "mail", code: 553, text: "5.1.8 Not you" },
    { name: "the recipient", step: "rcpt", code: 550, text: "5.1.1 No such user" },
    { name: "the recipient by policy", step: "rcpt", code: 554, text: "5.7.1 No" },
    { name: "the data", step: "data", code: 554, text: "5.5.1 No" },
    { name: "the message", step: "dot", code: 552, text: "5.3.4 Too big" },
  ] as const;

  test.each(never)("$name for good: the mail bounces", async ({ step, code, text }) => {
    expect(await sentThrough({ [step]: { code, text } })).toMatchObject({
      status: "BOUNCED",
      bouncedAt: expect.stringMatching(/Z$/),
      nextAttemptAt: null,
      lastError: expect.stringContaining(`${code} ${text}`),
      attempts: [{ number: 1, outcome: "bounced" }],
    });
  });

  test("an unknown recipient: the address is not written to again", async () => {
    const script: Script = { rcpt: [{ code: 550, text: "5.1.1 No such user" }] };
    const server = await scripted({ script });
    const { t, sent } = await relaying(server.port);
    expect(await sent()).toMatchObject({ status: "BOUNCED" });
    expect(await sent()).toMatchObject({ status: "SUPPRESSED", attempts: [] });
    expect(await sent("grace@example.net")).toMatchObject({ status: "SENT" });
    expect(t.eventNames()).toEqual(["email.bounced", "email.suppressed", "email.sent"]);
    expect(server.transcripts.flat().filter((line) => line.startsWith("RCPT"))).toHaveLength(2);
  });

  test("by greylisting, naming a time: the mail waits that long", async () => {
    const text = "4.7.1 Greylisted, please try again in 600 seconds";
    const server = await scripted({ script: { rcpt: [{ code: 450, text }] } });
    const { t, sent, retried } = await relaying(server.port);
    const email = await sent();
    expect(email).toMatchObject({ status: "QUEUED", attempts: [{ class: "greylisted" }] });
    expect(waitOf(t, email)).toBeWithin(10 * MINUTE, 12 * MINUTE + 1);
    const again = await retried(email);
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
  test("in the middle of the message: the mail has not arrived, and waits", async () => {
    const server = await scripted({ script: [{ body: "reset" }, {}] });
    const { t, sent, retried } = await relaying(server.port);
    const email = await sent();
    expect(email).toMatchObject({
      status: "QUEUED",
      attempts: [{ outcome: "deferred", class: "infrastructure" }],
    });
    expect(waitOf(t, email)).toBeWithin(4 * MINUTE, 6 * MINUTE + 1);
    expect(server.bodies).toHaveLength(0);
    expect(await retried(email)).toMatchObject({ status: "SENT" });
    expect(server.bodies).toHaveLength(1);
  });

  test("after the final dot: whether it arrived is unknown; the same message goes again, later", async () => {
    const server = await scripted({ script: [{ dot: "close" }, {}] });
    const { t, sent, retried } = await relaying(server.port);
    const email = await sent();
    expect(email).toMatchObject({
      status: "QUEUED",
      lastError: expect.stringContaining("unknown"),
      attempts: [{ outcome: "deferred", class: "infrastructure" }],
    });
    expect(stepsOf(email).at(-1)).toBe("dot null");
    expect(server.transcripts).toHaveLength(1);
    expect(waitOf(t, email)).toBeWithin(4 * MINUTE, 6 * MINUTE + 1);
    expect(await retried(email)).toMatchObject({ status: "SENT" });
    expect(server.bodies).toHaveLength(2);
    const [first = "", second = ""] = server.bodies.map(withoutSignatures);
    expect(second).toBe(first);
    expect(first).toContain(`Message-ID: ${String(valueAt(email, "messageId"))}`);
  });
});
