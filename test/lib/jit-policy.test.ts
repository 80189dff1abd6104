import { describe, expect, test } from "bun:test";
import { compileHotCode, createBusyDetector } from "../../src/lib/jit-policy.ts";

function detector() {
  let nowMs = 0;
  let calls = 0;
  const noteWork = createBusyDetector({ elapsed: () => nowMs, onBusy: () => calls++ });
  return {
    calls: () => calls,
    work(pieces: number) {
      for (let i = 0; i < pieces; i++) noteWork();
    },
    wait(ms: number) {
      nowMs += ms;
    },
  };
}

describe("the server is in use", () => {
  test("at the twentieth piece of work within a second, and is told once", () => {
    const { calls, work, wait } = detector();
    work(19);
    expect(calls()).toBe(0);
    wait(999);
    work(1);
    expect(calls()).toBe(1);
    work(100);
    expect(calls()).toBe(1);
  });

  test("not while it only answers health checks", () => {
    const { calls, work, wait } = detector();
    for (let i = 0; i < 1_000; i++) {
      work(2);
      wait(200);
    }
    expect(calls()).toBe(0);
  });
});

test("this version of Bun has the policy", () => {
  expect(compileHotCode()).toBeUndefined();
});
