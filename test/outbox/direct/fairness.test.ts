/**
 * Mails to a slow site must not delay mails to a fast one, and no site must get too many
 * connections. The dispatcher in this test is minimal: it has one wait list per domain, acquires a
 * slot before it sends a mail, and pauses a wait list that gets no slot.
 */

import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import type { DirectSlot } from "../../../src/outbox/direct/gate.ts";
import type { Outcome } from "../../../src/outbox/outcome.ts";
import { busyOf } from "../../../src/outbox/record.ts";
import type { DirectTransport } from "../../../src/outbox/transports/direct.ts";
import type { TestRecords } from "../../support/dns-server.ts";
import { startMailNet, type MailNet } from "../../support/mail-net.ts";

// Hundreds of sessions on a machine that may be busy.
setDefaultTimeout(30_000);

const closers: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

type WaitList = { domain: string; waiting: number; pausedUntil: number; outcomes: Outcome[] };

class Dispatcher {
  readonly #clock: MailNet["clock"];
  readonly #transport: DirectTransport;
  readonly #waitLists = new Map<string, WaitList>();
  #underWay = 0;
  maxUnderWay = 0;

  constructor({ clock }: MailNet, transport: DirectTransport) {
    this.#clock = clock;
    this.#transport = transport;
  }

  add(domain: string, mails: number): void {
    this.#waitLists.set(domain, { domain, waiting: mails, pausedUntil: 0, outcomes: [] });
  }

  outcomes(domain: string): Outcome[] {
    return this.#waitLists.get(domain)?.outcomes ?? [];
  }

  /** Runs until `mails` to this domain were accepted; each iteration advances the clock by 1 ms. */
  async runUntilAccepted(domain: string, mails: number): Promise<void> {
    while (this.outcomes(domain).filter(({ kind }) => kind === "accepted").length < mails) {
      this.#refill();
      await new Promise((resolve) => setImmediate(resolve));
      this.#clock.advance(1);
    }
  }

  /** Starts one mail of each wait list in round robin, while there are slots. */
  #refill(): void {
    for (let hasStarted = true; hasStarted;) {
      hasStarted = false;
      for (const list of this.#waitLists.values()) {
        if (this.#underWay >= this.#transport.concurrency) return;
        if (list.waiting > 0 && list.pausedUntil <= this.#clock.now()) {
          hasStarted = this.#startOne(list) || hasStarted;
        }
      }
    }
  }

  #startOne(list: WaitList): boolean {
    const admission = this.#transport.admit(`b@${list.domain}`);
    if (admission.kind === "busy") {
      list.pausedUntil = this.#clock.now() + admission.retryAfterMs;
      return false;
    }
    list.waiting--;
    this.maxUnderWay = Math.max(this.maxUnderWay, ++this.#underWay);
    void this.#send(list, admission);
    return true;
  }

  async #send(list: WaitList, slot: DirectSlot): Promise<void> {
    const envelope = { from: "a@sender.test", to: `b@${list.domain}` };
    const message = Buffer.from("Subject: a\r\n\r\nb\r\n");
    const outcome = await new Promise<Outcome>((end, fail) =>
      this.#transport.start({ envelope, message, slot, end, fail }),
    );
    this.#underWay--;
    const busy = busyOf(outcome);
    if (busy === null) {
      list.outcomes.push(outcome);
      list.pausedUntil = 0;
      return;
    }
    list.waiting++;
    list.pausedUntil = this.#clock.now() + busy.retryAfterMs;
  }
}

async function startDispatcher(records: Record<string, TestRecords>) {
  const net = await startMailNet({ records });
  closers.push(() => net.close());
  return { net, dispatcher: new Dispatcher(net, net.transport()) };
}

const SLOW_AND_FAST = { "slow.test": { A: ["127.0.0.2"] }, "fast.test": { A: ["127.0.0.3"] } };

test("1,000 mails to a host that never answers do not delay 300 to a fast one", async () => {
  const { net, dispatcher } = await startDispatcher(SLOW_AND_FAST);
  const slow = await net.script(2, { script: { greeting: "hang" } });
  await net.sink(3);
  dispatcher.add("slow.test", 1_000);
  dispatcher.add("fast.test", 300);
  await dispatcher.runUntilAccepted("fast.test", 300);
  expect(dispatcher.outcomes("slow.test")).toEqual([]);
  expect(slow.transcripts.length).toBe(2);
  expect(dispatcher.maxUnderWay).toBeLessThanOrEqual(50);
});

test("1,000 mails to a paused site open no connection", async () => {
  const { net, dispatcher } = await startDispatcher(SLOW_AND_FAST);
  const rate = { code: 451, text: "4.7.0 Rate limit exceeded" };
  const limited = await net.script(2, { script: { mail: rate } });
  await net.sink(3);
  dispatcher.add("slow.test", 1_000);
  dispatcher.add("fast.test", 300);
  await dispatcher.runUntilAccepted("fast.test", 300);
  // Two mails, each with a connection, were under way when the site asked for the pause.
  expect(dispatcher.outcomes("slow.test").length).toBe(2);
  expect(limited.transcripts.length).toBe(2);
});

test("any number of slow sites leaves slots for a fast one", async () => {
  const slow = Array.from({ length: 40 }, (_, i) => `slow${i}.test`);
  const { net, dispatcher } = await startDispatcher({
    ...Object.fromEntries(slow.map((name) => [name, { A: ["127.0.0.2"] }])),
    "fast.test": { A: ["127.0.0.3"] },
  });
  const host = await net.script(2, { script: { greeting: "hang" } });
  await net.sink(3);
  dispatcher.add("fast.test", 10);
  await dispatcher.runUntilAccepted("fast.test", 10);
  for (const domain of slow) dispatcher.add(domain, 100);
  dispatcher.add("fast.test", 500);
  await dispatcher.runUntilAccepted("fast.test", 500);
  // At most four fifths of the capacity.
  expect(host.transcripts.length).toBeLessThanOrEqual(40);
  expect(dispatcher.maxUnderWay).toBeLessThanOrEqual(50);
});

test("a dead name server of one domain does not delay the others", async () => {
  const { net, dispatcher } = await startDispatcher(SLOW_AND_FAST);
  net.server.failures["slow.test"] = "timeout";
  await net.sink(3);
  dispatcher.add("slow.test", 1_000);
  dispatcher.add("fast.test", 500);
  await dispatcher.runUntilAccepted("fast.test", 500);
  expect(net.server.count("slow.test MX")).toBe(1);
});

test("the concurrency limit of a site grows to 20 and not further", async () => {
  const { net, dispatcher } = await startDispatcher(SLOW_AND_FAST);
  const sink = await net.sink(3);
  dispatcher.add("fast.test", 700);
  await dispatcher.runUntilAccepted("fast.test", 700);
  expect(sink.counts).toMatchObject({ messages: 700 });
  const connections = new Set(dispatcher.outcomes("fast.test").filter(isFirstOfConnection));
  expect(connections.size).toBe(sink.counts.connections);
  // None of the connections has had the 100 mails after which it is replaced.
  expect(sink.counts.connections).toBe(20);
});

function isFirstOfConnection({ conversations }: Outcome): boolean {
  return conversations.some(({ reused }) => !reused);
}
