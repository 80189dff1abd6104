import { describe, expect, test } from "bun:test";
import { createLoopWatch } from "../../src/lib/loop-watch.ts";
import { createLog } from "../../src/lib/log.ts";
import { threadCpuMs } from "../../src/lib/thread-cpu.ts";
import { captureApp } from "../support/capture.ts";
import { waitUntil } from "../support/eventually.ts";

/** A watchdog whose time and ticks the test controls. */
function watched() {
  let now = 1_000;
  let cpu = 0;
  let tick = () => {};
  let tickMs = 0;
  const lines: unknown[] = [];
  const watch = createLoopWatch({
    log: createLog({
      level: "debug",
      format: "json",
      write: (line) => void lines.push(JSON.parse(line)),
      now: () => 0,
    }),
    elapsed: () => now,
    cpuMs: () => cpu,
    every: (ms, run) => {
      tick = run;
      tickMs = ms;
      return () => {
        tick = () => {};
        tickMs = 0;
      };
    },
  });
  watch.start();
  return {
    watch,
    lines,
    /** Advances the time; the processor is busy for all of it, unless `cpuMs` is given. */
    pass(ms: number, cpuMs: number = ms) {
      now += ms;
      cpu += cpuMs;
    },
    tick: () => tick(),
    /** Interval of the timer. */
    tickMs: () => tickMs,
  };
}

test("a timer that fires in time logs nothing and counts nothing", () => {
  const { watch, lines, pass, tick } = watched();
  for (let i = 0; i < 100; i++) {
    watch.begin("route", "GET /contacts");
    pass(20 + (i % 50));
    tick();
  }
  expect(lines).toEqual([]);
  expect(watch.report()).toMatchObject({ count: 0, sumMs: 0, recentMaxMs: 0 });
});

test("a hold names the piece of work that took most of it", () => {
  const { watch, lines, pass, tick } = watched();
  watch.begin("job", "retention");
  pass(10);
  watch.begin("route", "POST /v1/send");
  pass(300);
  watch.begin("mail", "some-id");
  pass(20);
  tick();
  expect(lines).toEqual([
    {
      time: "1970-01-01T00:00:00.000Z",
      level: "warn",
      message: "event loop held",
      ms: 310,
      cpuMs: 330,
      route: "POST /v1/send",
      workMs: 300,
    },
  ]);
});

test("work that began before the last tick is named for the part after it", () => {
  const { watch, lines, pass, tick } = watched();
  watch.begin("job", "campaigns");
  pass(20);
  tick();
  pass(500);
  tick();
  expect(lines).toMatchObject([{ ms: 480, job: "campaigns", workMs: 500 }]);
});

test("a hold by the machine is counted, and no work is blamed for it", () => {
  const { watch, lines, pass, tick } = watched();
  watch.begin("write", "commit");
  for (const [heldMs, cpuMs] of [
    [3_600_000, 3],
    [900, 50],
  ] as const) {
    pass(heldMs + 20, cpuMs);
    tick();
  }
  const message = "the machine held the event loop";
  expect(lines).toMatchObject([
    { level: "debug", message, ms: 3_600_000, cpuMs: 3 },
    { level: "debug", message, ms: 900, cpuMs: 50 },
  ]);
  expect(watch.report()).toMatchObject({ count: 2, recentMaxMs: 0 });
  pass(900, 60);
  tick();
  expect(lines.at(-1)).toMatchObject({
    level: "warn",
    message: "event loop held",
    write: "commit",
  });
});

test("holds that follow each other within five seconds share one line", () => {
  const { watch, lines, pass, tick } = watched();
  for (let i = 0; i < 20; i++) {
    watch.begin("route", "POST /templates/:id/preview");
    pass(120);
    tick();
  }
  expect(lines).toHaveLength(1);
  pass(5_000);
  tick();
  expect(lines).toMatchObject([{}, { holdsNotLogged: 19 }]);
  expect(watch.report().count).toBe(21);
});

test("the report has cumulative buckets and the maximum of the last ten minutes", () => {
  const { watch, pass, tick } = watched();
  for (const held of [60, 90, 200, 700, 9_000]) {
    pass(held + 20);
    tick();
  }
  const report = watch.report();
  expect(report.buckets).toEqual([
    { leMs: 50, count: 0 },
    { leMs: 100, count: 2 },
    { leMs: 250, count: 3 },
    { leMs: 500, count: 3 },
    { leMs: 1_000, count: 4 },
    { leMs: 5_000, count: 4 },
  ]);
  expect([report.count, report.sumMs, report.recentMaxMs]).toEqual([5, 10_050, 9_000]);
  watch.stop();
  pass(11 * 60_000, 0);
  expect(watch.report().recentMaxMs).toBe(0);
});

describe("an idle thread", () => {
  /** A watchdog of a thread that has used less than a twentieth of its processor since the last tick. */
  function idle() {
    const test = watched();
    test.pass(20, 0.9);
    test.tick();
    return test;
  }

  test("is looked at every 100 ms", () => {
    const { lines, pass, tick, tickMs } = idle();
    expect(tickMs()).toBe(100);
    pass(100, 4.9);
    tick();
    expect(tickMs()).toBe(100);
    expect(lines).toEqual([]);
  });

  test("is looked at every 20 ms again when it has used the processor", () => {
    const { pass, tick, tickMs } = idle();
    pass(100, 5);
    tick();
    expect(tickMs()).toBe(20);
    pass(20, 1);
    tick();
    expect(tickMs()).toBe(20);
  });

  test("times a piece of work from its beginning", () => {
    const { watch, lines, pass, tick, tickMs } = idle();
    pass(90, 0);
    watch.begin("route", "GET /contacts");
    expect(tickMs()).toBe(20);
    pass(71);
    tick();
    expect(lines).toMatchObject([{ ms: 51, route: "GET /contacts", workMs: 71 }]);
    expect(tickMs()).toBe(20);
  });

  test("is not held by a piece of work that ends before the next tick", () => {
    const { watch, lines, pass, tick, tickMs } = idle();
    watch.begin("job", "clock");
    pass(20, 0.5);
    tick();
    expect(tickMs()).toBe(20);
    pass(20, 0.5);
    tick();
    expect(tickMs()).toBe(100);
    expect(lines).toEqual([]);
  });

  test("is noticed when work without a name holds it", () => {
    const { lines, pass, tick } = idle();
    pass(151);
    tick();
    expect(lines).toMatchObject([{ message: "event loop held", ms: 51, cpuMs: 151 }]);
  });

  test("is noticed when such work ends with the beginning of another one, which is not blamed", () => {
    const { watch, lines, pass } = idle();
    pass(151);
    watch.begin("route", "GET /contacts");
    expect(lines).toMatchObject([{ message: "event loop held", ms: 51 }]);
    expect(lines[0]).not.toHaveProperty("route");
  });

  test("gets no timer from work that begins after the stop", () => {
    const { watch, tickMs } = idle();
    watch.stop();
    watch.begin("write", "transaction");
    expect(tickMs()).toBe(0);
  });
});

test("many pieces of work in one hold use limited memory", () => {
  const { watch, lines, pass, tick } = watched();
  for (let i = 0; i < 10_000; i++) {
    watch.begin("mail", `mail-${i}`);
    pass(i === 9_990 ? 80 : 1);
  }
  tick();
  expect(lines).toMatchObject([{ mail: "mail-9990", workMs: 80 }]);
});

test.each([
  [false, ["warn"]],
  [true, ["debug"]],
])("with open inboxes: %p, a hold is logged at the level %p", async (hasOpenInboxes, levels) => {
  const lines: string[] = [];
  const log = createLog({ level: "debug", format: "json", write: (line) => void lines.push(line) });
  const server = await captureApp({ log, hasOpenInboxes });
  // Other processes may have the processor meanwhile, which is no hold by the server.
  const untilMs = threadCpuMs() + 150;
  while (threadCpuMs() < untilMs);
  const held = () => lines.filter((line) => line.includes("event loop held"));
  await waitUntil(() => held().length > 0);
  expect(held().map((line) => JSON.parse(line).level)).toEqual(levels);
  await server.close();
});
