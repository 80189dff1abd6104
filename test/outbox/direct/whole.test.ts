/**
 * Sites that are slow, full or paused, tested with the whole application: they delay no other mail.
 */

import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { createPace } from "../../../src/outbox/pace.ts";
import type { DirectTransport } from "../../../src/outbox/transports/direct.ts";
import { testApp } from "../../support/app.ts";
import type { TestRecords } from "../../support/dns-server.ts";
import { settleEventLoop } from "../../support/eventually.ts";
import { startMailNet } from "../../support/mail-net.ts";
import type { ScriptOptions } from "../../support/smtp-script.ts";

// Hundreds of sessions on a machine that may be busy.
setDefaultTimeout(30_000);

const closers: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

const RECORDS: Record<string, TestRecords> = {
  "slow.test": { A: ["127.0.0.2"] },
  "fast.test": { A: ["127.0.0.3"] },
};

/** Starts an application that sends to a scripted host and to a good one. */
async function startApp(slow: ScriptOptions, sendRate = 0) {
  const net = await startMailNet({ records: RECORDS, dnsTimeoutMs: 10_000 });
  closers.push(() => net.close());
  const host = await net.script(2, slow);
  const sink = await net.sink(3);
  const admissions = { count: 0 };
  const pace =
    sendRate === 0 ? undefined : createPace({ ratePerSecond: sendRate, clock: net.clock });
  const transport = countAdmissions(net.transport({ pace }), admissions);
  const t = await testApp({ transport, clock: net.clock, config: { sendRate } });
  closers.push(async () => {
    host.drop();
    await transport.close();
    await t.close();
  });
  await t.app.start();

  /** Runs until `isTrue` returns true; each iteration advances the clock by a millisecond. */
  async function until(isTrue: () => boolean): Promise<void> {
    const deadline = performance.now() + LIMIT_MS;
    while (!isTrue()) {
      if (performance.now() > deadline) throw new Error(`still false: ${String(isTrue)}`);
      await new Promise((resolve) => setImmediate(resolve));
      net.clock.advance(1);
    }
  }

  return {
    until,
    net,
    t,
    host,
    sink,
    admissions,
    async send(domain: string, count: number): Promise<void> {
      const to = Array.from({ length: count }, (_, i) => `person${i}@${domain}`);
      const mail = { from: "hello@acme.test", subject: "Hi", body: "<p>Hello</p>" };
      const { status } = await t.call("POST", "/v1/send", { ...mail, to });
      expect(status).toBe(200);
    },
    count: (where: string): number =>
      t.db.sqlite.query<{ n: number }, []>(`SELECT count(*) AS n FROM ${where}`).get()?.n ?? 0,
  };
}

function countAdmissions(
  transport: DirectTransport,
  admissions: { count: number },
): DirectTransport {
  return {
    ...transport,
    admit(to) {
      admissions.count++;
      return transport.admit(to);
    },
  };
}

const LIMIT_MS = 20_000;
const OF_SLOW = "emails WHERE to_address LIKE '%@slow.test'";

test("500 mails to a host that hangs do not delay 100 that were accepted after them", async () => {
  const { net, t, send, sink, host, admissions, count, until } = await startApp({
    script: { greeting: "hang" },
  });
  await send("slow.test", 500);
  await send("fast.test", 100);
  await until(() => sink.counts.messages === 100);
  await until(() => count("emails WHERE status = 'DELIVERED'") === 100);
  expect(host.transcripts.length).toBe(2);
  expect(t.countRows("attempts")).toBe(100);
  // Two mails are under way; the others made no attempt.
  expect(count(`${OF_SLOW} AND status = 'QUEUED' AND attempts = 0`)).toBe(498);
  // In the next second, few admissions are requested for all waiting mails together.
  const before = admissions.count;
  const end = net.clock.now() + 1_000;
  await until(() => net.clock.now() >= end);
  expect(admissions.count - before).toBeLessThanOrEqual(40);
});

test("mails to a paused site make no attempt and leave after the pause", async () => {
  const rate = { code: 451, text: "4.7.0 Rate limit exceeded" };
  const script = [{ mail: [rate] }, { mail: [rate] }, {}];
  const { net, t, send, host, count, until } = await startApp({ script });
  await send("slow.test", 100);
  await until(() => t.countRows("attempts") === 2);
  await settleEventLoop();
  expect(count(`${OF_SLOW} AND attempts = 0 AND last_error IS NULL`)).toBe(98);
  expect(t.eventNames()).not.toContain("email.bounced");
  net.clock.advance(58_000);
  await settleEventLoop();
  expect(host.transcripts.length).toBe(2);
  await until(() => count(`${OF_SLOW} AND status = 'DELIVERED'`) === 98);
  expect(count(`${OF_SLOW} AND status = 'DELIVERED' AND attempts = 1`)).toBe(98);
  // The two that were refused have their own retry times.
  expect(count(`${OF_SLOW} AND status = 'QUEUED' AND attempts = 1`)).toBe(2);
});

test("a mail that never got a slot bounces when it expires", async () => {
  const { t, send, count, until } = await startApp({ script: { greeting: "hang" } });
  await send("slow.test", 10);
  await until(() => count(`${OF_SLOW} AND line <> ''`) === 8);
  t.db.sqlite.run("UPDATE emails SET created_at = created_at - 4 * 86400000");
  await until(() => count("emails WHERE status = 'BOUNCED'") === 8);
  expect(count("emails WHERE status = 'BOUNCED' AND attempts = 0")).toBe(8);
  expect(count("emails WHERE last_error LIKE '4.4.7 %'")).toBe(8);
  expect(t.eventNames().filter((name) => name === "email.bounced")).toHaveLength(8);
  expect([t.countRows("attempts"), t.countRows("suppressions")]).toEqual([0, 0]);
});
