import { describe, expect, test } from "bun:test";
import type { Slot } from "../../../src/delivery/outcome.ts";
import type { Failure } from "../../../src/delivery/smtp/failure.ts";
import { createRelayGate } from "../../../src/delivery/transports/relay-gate.ts";
import { createLog } from "../../../src/lib/log.ts";
import { manualClock } from "../../support/clock.ts";

const SECOND = 1000;
const REFUSED: Failure = { step: "connect", cause: { kind: "network", message: "refused" } };
const WRONG_PASSWORD: Failure = replied("auth", 535);

function replied(step: Failure["step"], code: number): Failure {
  return { step, cause: { kind: "reply", code, enhanced: null, lines: ["no"] } };
}

function gated() {
  const clock = manualClock();
  const lines: string[] = [];
  const log = createLog({ level: "info", format: "json", write: (line) => lines.push(line) });
  const gate = createRelayGate({ relay: "relay.test:587", clock, log });

  function pass(): Slot {
    const admission = gate.admit();
    if (admission.kind === "busy") throw new Error(`no pass: ${admission.reason}`);
    return admission;
  }

  return {
    clock,
    gate,
    pass,
    /** How long nobody gets in; 0 if the next one does. Asking takes no place. */
    waitMs(): number {
      const admission = gate.admit();
      if (admission.kind === "busy") return admission.retryAfterMs;
      admission.release();
      return 0;
    },
    /** Advances to the next probe and lets it fail; how long the next one has to wait. */
    failProbe(failure: Failure = REFUSED): number {
      clock.advance(this.waitMs());
      gate.noteFailure(pass(), failure);
      return this.waitMs();
    },
    logged: (level: string) => lines.filter((line) => line.includes(`"level":"${level}"`)),
  };
}

/** One whose only mail so far found the relay away. */
function away(failure: Failure = REFUSED) {
  const parts = gated();
  parts.gate.noteFailure(parts.pass(), failure);
  return parts;
}

describe("the wait for a probe", () => {
  test.each([
    ["back", -24 * 3600 * SECOND],
    ["forward", 24 * 3600 * SECOND],
  ])("is as long when the clock is set %s by a day", (_, stepMs) => {
    const { clock, waitMs } = away();
    const before = waitMs();
    clock.stepWall(stepMs);
    expect(waitMs()).toBe(before);
    clock.advance(before);
    expect(waitMs()).toBe(0);
  });
});

describe("while the relay is there", () => {
  test("every mail is admitted", () => {
    const { gate, logged } = gated();
    for (let i = 0; i < 100; i++) expect(gate.admit().kind).toBe("slot");
    gate.noteSession();
    expect([gate.isDown(), logged("info"), logged("warn")]).toEqual([false, [], []]);
  });
});

describe("once no session can be opened", () => {
  test("nobody is admitted, whatever the line, and it says why", () => {
    const { gate } = away();
    expect(gate.isDown()).toBe(true);
    expect(gate.admit()).toEqual({
      kind: "busy",
      why: "paused",
      waitList: null,
      retryAfterMs: 2 * SECOND,
      reason: "the relay cannot be reached: connect: refused",
    });
  });

  test("the wait is what is left of it", () => {
    const { clock, waitMs } = away();
    clock.advance(1_500);
    expect(waitMs()).toBe(500);
    clock.advance(500);
    expect(waitMs()).toBe(0);
  });

  test("each probe that fails doubles the wait, up to a minute", () => {
    const parts = away();
    const waits = Array.from({ length: 7 }, () => parts.failProbe());
    expect(waits).toEqual([4, 8, 16, 32, 60, 60, 60].map((seconds) => seconds * SECOND));
  });

  const firstWaits: [name: string, failure: Failure, seconds: number][] = [
    ["a busy greeting", replied("greeting", 421), 2],
    ["a greeting that refuses", replied("greeting", 554), 2],
    ["a login that fails for now", replied("auth", 454), 2],
    ["a login that is refused", WRONG_PASSWORD, 60],
    ["a login for which there is no way", { step: "auth", cause: REFUSED.cause }, 2],
  ];

  test.each(firstWaits)("after %s it is asked again in time", (_, failure, seconds) => {
    expect(away(failure).waitMs()).toBe(seconds * SECOND);
  });

  test("a password that is refused is tried once a minute", () => {
    const parts = away();
    expect(parts.failProbe(WRONG_PASSWORD)).toBe(60 * SECOND);
    expect(parts.failProbe(WRONG_PASSWORD)).toBe(60 * SECOND);
  });

  test("mails that were on their way change nothing, and are told when to come again", () => {
    const { clock, gate, pass } = gated();
    const passes = [pass(), pass(), pass()];
    for (const each of passes) {
      expect(gate.noteFailure(each, REFUSED)).toMatchObject({
        waitList: expect.stringMatching(/./),
        retryAfterMs: 2 * SECOND,
      });
    }
    clock.advance(2 * SECOND);
    expect(gate.noteFailure(pass(), REFUSED).retryAfterMs).toBe(4 * SECOND);
  });

  test("the log warns once, with the relay and what is wrong", () => {
    const parts = away();
    for (let i = 0; i < 5; i++) parts.failProbe();
    expect(parts.logged("warn")).toEqual([
      expect.stringMatching(/cannot be reached; no mail is sent.*relay\.test:587.*refused/),
    ]);
    expect(parts.logged("info")).toEqual([]);
  });
});

describe("the probe", () => {
  /** It is time for it. */
  function due() {
    const parts = away();
    parts.clock.advance(2 * SECOND);
    return parts;
  }

  test("is a single mail; the others wait for a moment", () => {
    const { gate, pass, clock } = due();
    pass();
    expect(gate.admit()).toMatchObject({ kind: "busy", waitList: null, retryAfterMs: SECOND });
    clock.advance(60 * SECOND);
    expect(gate.admit()).toMatchObject({ kind: "busy", waitList: null, retryAfterMs: SECOND });
  });

  test("that never tried gives its place to the next mail", () => {
    const { gate, pass } = due();
    const first = pass();
    first.release();
    const second = pass();
    first.release();
    expect(gate.admit().kind).toBe("busy");
    second.release();
    expect(gate.admit().kind).toBe("slot");
  });

  test("that has a session lets all the others in at once, and the log says so once", () => {
    const { gate, pass, logged } = due();
    pass();
    gate.noteSession();
    gate.noteSession();
    expect([gate.isDown(), gate.admit().kind, gate.admit().kind]).toEqual([false, "slot", "slot"]);
    expect(logged("info")).toEqual([expect.stringMatching(/back.*"awayMs":2000/)]);
  });

  test("that was answered over a session from before does so too, and no other mail", () => {
    const { clock, gate, pass } = gated();
    const before = pass();
    gate.noteFailure(pass(), REFUSED);
    clock.advance(2 * SECOND);
    const probe = pass();
    gate.noteAnswer(before);
    expect(gate.isDown()).toBe(true);
    gate.noteAnswer(probe);
    expect(gate.isDown()).toBe(false);
  });

  test("is not what a mail from before says", () => {
    const { clock, gate, pass } = gated();
    const before = pass();
    gate.noteFailure(pass(), REFUSED);
    clock.advance(2 * SECOND);
    const probe = pass();
    expect(gate.noteFailure(before, REFUSED).retryAfterMs).toBe(SECOND);
    expect(gate.noteFailure(probe, REFUSED).retryAfterMs).toBe(4 * SECOND);
  });

  test("of a later outage begins with the shortest wait again", () => {
    const parts = away();
    parts.failProbe();
    parts.gate.noteSession();
    parts.gate.noteFailure(parts.pass(), REFUSED);
    expect(parts.waitMs()).toBe(2 * SECOND);
    expect(parts.logged("warn")).toHaveLength(2);
  });
});
