import { describe, expect, test } from "bun:test";
import type { Outcome, Outgoing } from "../../../src/outbox/outcome.ts";
import { createPace } from "../../../src/outbox/pace.ts";
import { captureTransport } from "../../../src/outbox/transports/capture.ts";
import { manualClock } from "../../support/clock.ts";
import { settleEventLoop } from "../../support/eventually.ts";

const SECOND_MS = 1000;
const MAILS = 5;

/** Starts five mails through a transport that stores two mails a second. */
function setUp({ begin = () => true }: { begin?: () => boolean } = {}) {
  const clock = manualClock();
  const transport = captureTransport(createPace({ ratePerSecond: 2, clock }));
  const outcomes: Outcome[] = [];
  const start = (more: Partial<Outgoing> = {}) =>
    transport.start({
      envelope: { from: "hello@acme.test", to: "ada@example.net" },
      message: new TextEncoder().encode("Subject: Hi\r\n\r\nHello\r\n"),
      slot: null,
      begin,
      end: (outcome) => void outcomes.push(outcome),
      fail: (error) => {
        throw error;
      },
      ...more,
    });
  for (let i = 0; i < MAILS; i++) start();
  return { clock, transport, outcomes, start };
}

describe("the capture transport", () => {
  test("stores no more mails in a second than the rate allows", async () => {
    const { clock, outcomes } = setUp();
    const counts: number[] = [];
    for (let step = 0; step < 6; step++) {
      await settleEventLoop();
      counts.push(outcomes.length);
      clock.advance(SECOND_MS / 2);
    }
    expect(counts).toEqual([1, 2, 3, 4, 5, 5]);
    expect(outcomes.every(({ kind }) => kind === "accepted")).toBe(true);
  });

  test("withdraws the mails that wait, and stores none of them later", async () => {
    const { clock, transport, outcomes } = setUp();
    await settleEventLoop();
    transport.withdrawWaiting();
    clock.advance(5 * SECOND_MS);
    await settleEventLoop();
    expect(outcomes.map(({ kind }) => kind)).toEqual(["accepted", ...waiting("deferred")]);
  });

  test("does not store a mail that may not begin", async () => {
    const { clock, outcomes } = setUp({ begin: () => false });
    for (let step = 0; step < 6; step++) {
      await settleEventLoop();
      clock.advance(SECOND_MS);
    }
    expect(outcomes.map(({ kind }) => kind)).toEqual(["deferred", ...waiting("deferred")]);
  });
});

const waiting = (kind: Outcome["kind"]) => Array.from({ length: MAILS - 1 }, () => kind);
