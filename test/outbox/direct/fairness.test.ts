/**
 * Mails to a slow site must not delay mails to a fast one, and no site must be flooded. The
 * dispatcher here is the smallest that keeps to the rules: the mails of each domain form a line, it
 * asks for a place before it begins with a mail, and a line without a place rests.
 */

import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import type { DirectSlot } from "../../../src/outbox/direct/slot.ts";
import type { Outcome } from "../../../src/outbox/outcome.ts";
import { busyOf } from "../../../src/outbox/record.ts";
import type { DirectTransport } from "../../../src/outbox/transports/direct.ts";
import type { TestRecords } from "../../support/dns-server.ts";
import { startMailNet, type MailNet } from "../../support/mail-net.ts";

// Thousands of sessions, on a machine that may be busy.
setDefaultTimeout(30_000);

const closers: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

type Line = { domain: string; waiting: number; restsUntil: number; outcomes: Outcome[] };

class Dispatcher {
  readonly #clock: MailNet["clock"];
  readonly #transport: DirectTransport;
  readonly #lines = new Map<string, Line>();
  #underWay = 0;
  maxUnderWay = 0;
  questions = 0;

  constructor({ clock }: MailNet, transport: DirectTransport) {
    this.#clock = clock;
    this.#transport = transport;
  }

  add(domain: string, mails: number): void {
    this.#lines.set(domain, { domain, waiting: mails, restsUntil: 0, outcomes: [] });
  }

  outcomes(domain: string): Outcome[] {
    return this.#lines.get(domain)?.outcomes ?? [];
  }

  /** Until all mails to this domain were accepted; a millisecond passes with each turn. */
  async runUntilAccepted(domain: string, mails: number): Promise<void> {
    while (this.outcomes(domain).filter(({ kind }) => kind === "accepted").length < mails) {
      this.#refill();
      await new Promise((resolve) => setImmediate(resolve));
      this.#clock.advance(1);
    }
  }

  /** One mail of each line in turn. */
  #refill(): void {
    for (let hasStarted = true; hasStarted;) {
      hasStarted = false;
      for (const line of this.#lines.values()) {
        if (this.#underWay >= this.#transport.concurrency) return;
        if (line.waiting > 0 && line.restsUntil <= this.#clock.now()) {
          hasStarted = this.#offer(line) || hasStarted;
        }
      }
    }
  }

  #offer(line: Line): boolean {
    this.questions++;
    const admission = this.#transport.admit(`b@${line.domain}`);
    if (admission.kind === "busy") {
      line.restsUntil = this.#clock.now() + admission.retryAfterMs;
      return false;
    }
    line.waiting--;
    this.maxUnderWay = Math.max(this.maxUnderWay, ++this.#underWay);
    void this.#send(line, admission);
    return true;
  }

  async #send(line: Line, pass: DirectSlot): Promise<void> {
    const envelope = { from: "a@sender.test", to: `b@${line.domain}` };
    const message = Buffer.from("Subject: a\r\n\r\nb\r\n");
    const outcome = await this.#transport.send({ envelope, message }, pass);
    this.#underWay--;
    const busy = busyOf(outcome);
    if (busy === null) {
      line.outcomes.push(outcome);
      line.restsUntil = 0;
      return;
    }
    line.waiting++;
    line.restsUntil = this.#clock.now() + busy.retryAfterMs;
  }
}

async function dispatcher(records: Record<string, TestRecords>) {
  const net = await startMailNet({ records });
  closers.push(() => net.close());
  return { net, run: new Dispatcher(net, net.transport()) };
}

const SLOW_AND_FAST = { "slow.test": { A: ["127.0.0.2"] }, "fast.test": { A: ["127.0.0.3"] } };

test("1,000 mails to a host that never answers do not delay 1,000 to a fast one", async () => {
  const { net, run } = await dispatcher(SLOW_AND_FAST);
  const slow = await net.script(2, { script: { greeting: "hang" } });
  await net.sink(3);
  run.add("slow.test", 1_000);
  run.add("fast.test", 1_000);
  await run.runUntilAccepted("fast.test", 1_000);
  expect(run.outcomes("slow.test")).toEqual([]);
  expect(slow.transcripts.length).toBe(2);
  expect(run.maxUnderWay).toBeLessThanOrEqual(50);
});

test("1,000 mails to a site that asked for a pause do not even connect", async () => {
  const { net, run } = await dispatcher(SLOW_AND_FAST);
  const rate = { code: 451, text: "4.7.0 Rate limit exceeded" };
  const limited = await net.script(2, { script: { mail: rate } });
  await net.sink(3);
  run.add("slow.test", 1_000);
  run.add("fast.test", 1_000);
  await run.runUntilAccepted("fast.test", 1_000);
  // Two were inside when the first of them heard of it, each with a connection.
  expect(run.outcomes("slow.test").length).toBe(2);
  expect(limited.transcripts.length).toBe(2);
});

test("slow sites, however many, leave places to a fast one", async () => {
  const slow = Array.from({ length: 40 }, (_, i) => `slow${i}.test`);
  const { net, run } = await dispatcher({
    ...Object.fromEntries(slow.map((name) => [name, { A: ["127.0.0.2"] }])),
    "fast.test": { A: ["127.0.0.3"] },
  });
  const host = await net.script(2, { script: { greeting: "hang" } });
  await net.sink(3);
  run.add("fast.test", 10);
  await run.runUntilAccepted("fast.test", 10);
  for (const domain of slow) run.add(domain, 100);
  run.add("fast.test", 500);
  await run.runUntilAccepted("fast.test", 500);
  // Four fifths of the house at most.
  expect(host.transcripts.length).toBeLessThanOrEqual(40);
  expect(run.maxUnderWay).toBeLessThanOrEqual(50);
});

test("a dead name server of one domain does not delay the others", async () => {
  const { net, run } = await dispatcher(SLOW_AND_FAST);
  net.server.failures["slow.test"] = "timeout";
  await net.sink(3);
  run.add("slow.test", 1_000);
  run.add("fast.test", 500);
  await run.runUntilAccepted("fast.test", 500);
  expect(net.server.count("slow.test MX")).toBe(1);
});

test("a site takes more and more at once, never more than 20", async () => {
  const { net, run } = await dispatcher(SLOW_AND_FAST);
  const sink = await net.sink(3);
  run.add("fast.test", 2_000);
  await run.runUntilAccepted("fast.test", 2_000);
  expect(sink.counts).toMatchObject({ messages: 2_000 });
  const connections = new Set(run.outcomes("fast.test").filter(isFirstOfConnection));
  expect(connections.size).toBe(sink.counts.connections);
  // 20 at once, each for 100 mails.
  expect(sink.counts.connections).toBeLessThanOrEqual(40);
});

function isFirstOfConnection({ conversations }: Outcome): boolean {
  return conversations.some(({ reused }) => !reused);
}
