/**
 * Every fault at every step, through the whole application: POST /v1/send accepts a mail, which is
 * sent to a faulty server. The test checks its status, the time of its next attempt, its events and
 * whether its address is suppressed (docs/delivery.md#R1, docs/delivery.md#S3).
 */

import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { testApp } from "../support/app.ts";
import { type Expected, FAULT_CELLS, type FaultCell } from "../support/fault-matrix.ts";
import { type MailNet, startMailNet } from "../support/mail-net.ts";

// A test may send a large message twice, on a machine that may be busy.
setDefaultTimeout(30_000);

const TO = "b@fault.test";
const MINUTE = 60_000;
/** The first two retry delays, with up to a fifth of jitter (docs/delivery.md#R3). */
const FIRST_DELAY = [4 * MINUTE, 6 * MINUTE] as const;
const SECOND_DELAY = [12 * MINUTE, 18 * MINUTE] as const;
const RECORDS = {
  "fault.test": { MX: ["10 mx.fault.test"] },
  "mx.fault.test": { A: ["127.0.0.2"] },
};
/** Larger than the buffers of a connection, so that the server can interrupt the message. */
const LARGE = Buffer.alloc(9_000_000, "All work and no play makes Jack a dull boy. ").toString(
  "base64",
);

async function start(net: MailNet, cell: FaultCell) {
  const transport = net.transport({ timeouts: cell.timeouts });
  const t = await testApp({ transport, clock: net.clock, dns: net.dns });
  const isLarge = cell.step === "body";
  const id = await t.create(
    "/v1/send",
    {
      to: TO,
      from: "hello@acme.test",
      subject: "Hi",
      body: "<p>Hello</p>",
      ...(isLarge ? { attachments: [{ filename: "a.txt", content: LARGE }] } : {}),
    },
    "emails.0.email",
  );
  const acceptedEvents = t.eventNames();
  return {
    t,
    transport,
    /** Reads everything that the API shows about the mail. */
    async read() {
      const { at } = await t.call("GET", `/emails/${id}`);
      const events = await t.call("GET", "/events");
      const suppressed = await t.call("GET", "/suppressions");
      return {
        status: at("data.status"),
        attempts: at("data.attempts"),
        at,
        newEvents: t.eventNames().slice(acceptedEvents.length),
        eventClass: events.at("data.items.0.data.class"),
        suppressed: suppressed.at("data.items"),
      };
    },
    waitMs: (): number | null => {
      const row = t.db.sqlite.query<{ at: number | null }, []>("SELECT next_at AS at FROM emails");
      const at = row.get()?.at ?? null;
      return at === null ? null : at - net.clock.now();
    },
  };
}

const STATUS = { accepted: "DELIVERED", deferred: "QUEUED", bounced: "BOUNCED", failed: "FAILED" };
const EVENTS = {
  accepted: ["email.sent", "email.delivered"],
  deferred: [],
  bounced: ["email.bounced"],
  failed: ["email.failed"],
};

type Observed = Awaited<ReturnType<Awaited<ReturnType<typeof start>>["read"]>>;

function expectOutcome(observed: Observed, expected: Expected): void {
  const { kind, class: found, isUnknown = false } = expected;
  expect(observed.status).toBe(STATUS[kind]);
  expect(observed.newEvents).toEqual(EVENTS[kind]);
  expect(observed.attempts).toMatchObject([{ outcome: kind, class: found }]);
  const reason = observed.at("data.lastError");
  expect(reason === null).toBe(kind === "accepted");
  expect(typeof reason === "string" && reason.includes("is unknown")).toBe(isUnknown);
  if (kind === "bounced") expect(observed.eventClass).toBe(found);
  const isGone = found === "no_such_recipient";
  expect(observed.suppressed).toMatchObject(isGone ? [{ email: TO, reason: "HARD_BOUNCE" }] : []);
  for (const [field, isSet] of [
    ["sentAt", kind === "accepted"],
    ["deliveredAt", kind === "accepted"],
    ["bouncedAt", kind === "bounced"],
  ] as const) {
    expect([field, observed.at(`data.${field}`) !== null]).toEqual([field, isSet]);
  }
}

async function run(cell: FaultCell): Promise<void> {
  const net = await startMailNet({ records: RECORDS, dnsTimeoutMs: 10_000 });
  const host = await net.script(2, cell.server);
  /** Number of connections and lines that the server received. */
  const received = () => host.transcripts.length + host.transcripts.flat().length;
  const { t, transport, read, waitMs } = await start(net, cell);
  await t.deliver();
  expectOutcome(await read(), cell.expected);
  const wait = waitMs();
  if (cell.expected.kind !== "deferred" || wait === null) {
    expect([cell.expected.kind === "deferred", wait]).toEqual([false, null]);
  } else {
    expect(wait).toBeWithin(FIRST_DELAY[0], FIRST_DELAY[1] + 1);
    // The next attempt starts exactly at its time and fails again.
    const before = received();
    net.clock.advance(wait - 1);
    await t.deliver();
    expect(received()).toBe(before);
    net.clock.advance(1);
    await t.deliver();
    expect(received()).toBeGreaterThan(before);
    expect(waitMs()).toBeWithin(SECOND_DELAY[0], SECOND_DELAY[1] + 1);
    expect((await read()).attempts).toHaveLength(2);
  }
  host.drop();
  await transport.close();
  await t.close();
  await net.close();
}

describe("every fault at every step, from the request to the record", () => {
  test("is in the table", () => {
    expect(FAULT_CELLS.length).toBeGreaterThanOrEqual(90);
  });

  for (const cell of FAULT_CELLS) test(cell.name, () => run(cell));
});
