import { describe, expect, test } from "bun:test";
import type { Slot } from "../../../src/outbox/outcome.ts";
import type { Failure } from "../../../src/protocols/smtp/failure.ts";
import { createRelayGate } from "../../../src/outbox/transports/relay-gate.ts";
import { createLog } from "../../../src/lib/log.ts";
import { manualClock } from "../../support/clock.ts";

const SECOND = 1000;
const REFUSED: Failure = { step: "connect", cause: { kind: "network", message: "refused" } };
const WRONG_PASSWORD: Failure = replied("auth", 535);

function replied(step: Failure["step"], code: number): Failure {
  return { step, cause: { kind: "reply", code, enhanced: null, lines: ["no"] } };
}

function startGate() {
  const clock = manualClock();
  const lines: string[] = [];
  const log = createLog({ level: "info", format: "json", write: (line) => lines.push(line) });
  const gate = createRelayGate({ relay: "relay.test:587", clock, log });

  function slot(): Slot {
    const admission = gate.admit();
    if (admission.kind === "busy") throw new Error(`no slot: ${admission.reason}`);
    return admission;
  }

  return {
    clock,
    gate,
    slot,
    /** Milliseconds until a mail is admitted; 0 if one is. The slot is released at once. */
    waitMs(): number {
      const admission = gate.admit();
      if (admission.kind === "busy") return admission.retryAfterMs;
      admission.release();
      return 0;
    },
    /** Advances to the next probe, lets it fail, and returns the wait for the one after it. */
    failProbe(failure: Failure = REFUSED): number {
      clock.advance(this.waitMs());
      gate.noteFailure(slot(), failure);
      return this.waitMs();
    },
    logged: (level: string) => lines.filter((line) => line.includes(`"level":"${level}"`)),
  };
}

/** A gate whose first mail could not reach the relay. */
function afterFailure(failure: Failure = REFUSED) {
  const setup = startGate();
  setup.gate.noteFailure(setup.slot(), failure);
  return setup;
}

describe("the wait for a probe", () => {
  test.each([
    ["back", -24 * 3600 * SECOND],
    ["forward", 24 * 3600 * SECOND],
  ])("does not change when the clock is set %s by a day", (_, stepMs) => {
    const { clock, waitMs } = afterFailure();
    const before = waitMs();
    clock.stepWall(stepMs);
    expect(waitMs()).toBe(before);
    clock.advance(before);
    expect(waitMs()).toBe(0);
  });
});

test("while the relay is down, all mail is held up until the next probe, with the reason", () => {
  const { gate } = afterFailure();
  expect(gate.hold()).toEqual({
    at: "relay",
    name: "relay.test:587",
    reason: expect.stringContaining("refused"),
    retryAfterMs: 2 * SECOND,
  });
});

describe("while the relay is up", () => {
  test("admits every mail", () => {
    const { gate, logged } = startGate();
    for (let i = 0; i < 100; i++) expect(gate.admit().kind).toBe("slot");
    gate.noteSession();
    expect([gate.isDown(), logged("info"), logged("warn")]).toEqual([false, [], []]);
    expect(gate.hold()).toBeNull();
  });
});

describe("once no session can be opened", () => {
  test("admits no mail and says why", () => {
    const { gate } = afterFailure();
    expect(gate.isDown()).toBe(true);
    expect(gate.admit()).toEqual({
      kind: "busy",
      why: "paused",
      waitList: null,
      retryAfterMs: 2 * SECOND,
      reason: "the relay cannot be reached: connect: refused",
    });
  });

  test("names the remaining time of the wait", () => {
    const { clock, waitMs } = afterFailure();
    clock.advance(1_500);
    expect(waitMs()).toBe(500);
    clock.advance(500);
    expect(waitMs()).toBe(0);
  });

  test("doubles the wait after each failed probe, up to a minute", () => {
    const setup = afterFailure();
    const waits = Array.from({ length: 7 }, () => setup.failProbe());
    expect(waits).toEqual([4, 8, 16, 32, 60, 60, 60].map((seconds) => seconds * SECOND));
  });

  const firstWaits: [name: string, failure: Failure, seconds: number][] = [
    ["a busy greeting", replied("greeting", 421), 2],
    ["a greeting that refuses", replied("greeting", 554), 2],
    ["a login that fails temporarily", replied("auth", 454), 2],
    ["a login that is refused", WRONG_PASSWORD, 60],
    ["a login without a common mechanism", { step: "auth", cause: REFUSED.cause }, 2],
  ];

  test.each(firstWaits)("waits for the next probe after %s", (_, failure, seconds) => {
    expect(afterFailure(failure).waitMs()).toBe(seconds * SECOND);
  });

  test("tries a refused password once a minute", () => {
    const setup = afterFailure();
    expect(setup.failProbe(WRONG_PASSWORD)).toBe(60 * SECOND);
    expect(setup.failProbe(WRONG_PASSWORD)).toBe(60 * SECOND);
  });

  test("does not prolong the outage for mails that were under way, and names their retry time", () => {
    const { clock, gate, slot } = startGate();
    const slots = [slot(), slot(), slot()];
    for (const each of slots) {
      expect(gate.noteFailure(each, REFUSED)).toMatchObject({
        waitList: expect.stringMatching(/./),
        retryAfterMs: 2 * SECOND,
      });
    }
    clock.advance(2 * SECOND);
    expect(gate.noteFailure(slot(), REFUSED).retryAfterMs).toBe(4 * SECOND);
  });

  test("warns in the log once, with the relay and the failure", () => {
    const setup = afterFailure();
    for (let i = 0; i < 5; i++) setup.failProbe();
    expect(setup.logged("warn")).toEqual([
      expect.stringMatching(/cannot be reached; no mail is sent.*relay\.test:587.*refused/),
    ]);
    expect(setup.logged("info")).toEqual([]);
  });
});

describe("the probe", () => {
  /** A gate at the time of the next probe. */
  function due() {
    const setup = afterFailure();
    setup.clock.advance(2 * SECOND);
    return setup;
  }

  test("is a single mail; the others wait briefly", () => {
    const { gate, slot, clock } = due();
    slot();
    expect(gate.admit()).toMatchObject({ kind: "busy", waitList: null, retryAfterMs: SECOND });
    clock.advance(60 * SECOND);
    expect(gate.admit()).toMatchObject({ kind: "busy", waitList: null, retryAfterMs: SECOND });
  });

  test("is the next mail if the first one was never sent", () => {
    const { gate, slot } = due();
    const first = slot();
    first.release();
    const second = slot();
    first.release();
    expect(gate.admit().kind).toBe("busy");
    second.release();
    expect(gate.admit().kind).toBe("slot");
  });

  test("admits all others when it has a session, with one line in the log", () => {
    const { gate, slot, logged } = due();
    slot();
    gate.noteSession();
    gate.noteSession();
    expect([gate.isDown(), gate.admit().kind, gate.admit().kind]).toEqual([false, "slot", "slot"]);
    expect(logged("info")).toEqual([expect.stringMatching(/back.*"awayMs":2000/)]);
  });

  test("admits all others if an older session answers it; answers to other mails do not", () => {
    const { clock, gate, slot } = startGate();
    const before = slot();
    gate.noteFailure(slot(), REFUSED);
    clock.advance(2 * SECOND);
    const probe = slot();
    gate.noteAnswer(before);
    expect(gate.isDown()).toBe(true);
    gate.noteAnswer(probe);
    expect(gate.isDown()).toBe(false);
  });

  test("is not affected by the result of a mail from before the outage", () => {
    const { clock, gate, slot } = startGate();
    const before = slot();
    gate.noteFailure(slot(), REFUSED);
    clock.advance(2 * SECOND);
    const probe = slot();
    expect(gate.noteFailure(before, REFUSED).retryAfterMs).toBe(SECOND);
    expect(gate.noteFailure(probe, REFUSED).retryAfterMs).toBe(4 * SECOND);
  });

  test("starts with the shortest wait again in a later outage", () => {
    const setup = afterFailure();
    setup.failProbe();
    setup.gate.noteSession();
    setup.gate.noteFailure(setup.slot(), REFUSED);
    expect(setup.waitMs()).toBe(2 * SECOND);
    expect(setup.logged("warn")).toHaveLength(2);
  });
});

describe("a refusal of the account", () => {
  const quota = { reason: "550 5.4.5 Daily limit" };

  test("holds up all mail for a minute, then twice as long, at most an hour", () => {
    const { clock, gate, slot, waitMs } = startGate();
    gate.noteRefusal(slot(), quota);
    expect(gate.hold()).toMatchObject({ at: "account", reason: "550 5.4.5 Daily limit" });
    const waits = [waitMs()];
    for (let i = 0; i < 7; i++) {
      clock.advance(waitMs());
      gate.noteRefusal(slot(), quota);
      waits.push(waitMs());
    }
    expect(waits.map((ms) => ms / (60 * SECOND))).toEqual([1, 2, 4, 8, 16, 32, 60, 60]);
  });

  test("waits as long as the relay says", () => {
    const { gate, slot, waitMs } = startGate();
    gate.noteRefusal(slot(), { ...quota, retryAfterMs: 600 * SECOND });
    expect(waitMs()).toBe(600 * SECOND);
  });

  test("is not ended by a session, but by another answer to the probe", () => {
    const { clock, gate, slot, waitMs, logged } = startGate();
    const before = slot();
    gate.noteRefusal(slot(), quota);
    gate.noteSession();
    gate.noteAnswer(before);
    expect(waitMs()).toBe(60 * SECOND);
    clock.advance(60 * SECOND);
    const probe = slot();
    expect([gate.isProbe(before), gate.isProbe(probe)]).toEqual([false, true]);
    gate.noteAnswer(probe);
    expect(gate.hold()).toBeNull();
    expect(logged("info")).toEqual([expect.stringContaining("takes mail of this account again")]);
  });

  test("follows a failure to reach the relay, and the other way round", () => {
    const { clock, gate, slot, waitMs } = afterFailure();
    clock.advance(2 * SECOND);
    gate.noteRefusal(slot(), quota);
    expect([gate.hold()?.at, waitMs()]).toEqual(["account", 60 * SECOND]);
    clock.advance(60 * SECOND);
    gate.noteFailure(slot(), REFUSED);
    expect([gate.hold()?.at, waitMs()]).toEqual(["relay", 2 * SECOND]);
  });
});
