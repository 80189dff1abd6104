import { describe, expect, test } from "bun:test";
import { createPace, type Pace } from "../../src/outbox/pace.ts";
import { type ManualClock, manualClock } from "../support/clock.ts";
import { createRandom } from "../../scripts/seed/random.ts";

const SECOND_MS = 1000;
const HOUR_MS = 60 * 60 * SECOND_MS;
const DAY_MS = 24 * HOUR_MS;

/** Runs promises and their continuations while no time passes. */
async function settle(): Promise<void> {
  for (let i = 0; i < 20; i++) await Promise.resolve();
}

/** Advances the clock from timer to timer, so that no time passes while promises run. */
async function advance(clock: ManualClock, ms: number): Promise<void> {
  await settle();
  for (let leftMs = ms; leftMs > 0;) {
    const stepMs = Math.min(leftMs, Math.max(0, clock.untilNextTimer()));
    clock.advance(stepMs);
    leftMs -= stepMs;
    await settle();
  }
}

function paced(options: { ratePerSecond: number }) {
  const clock = manualClock();
  return { clock, pace: createPace({ clock, ...options }) };
}

/** Runs `count` tasks; returns the monotonic times at which they start. */
function startsOf(
  { pace, clock }: { pace: Pace; clock: ManualClock },
  count: number,
  task = () => Promise.resolve(),
): number[] {
  const starts: number[] = [];
  for (let i = 0; i < count; i++) {
    void runTask(pace, () => {
      starts.push(clock.elapsed());
      return task();
    });
  }
  return starts;
}

/** Runs a task that is a promise, and resolves when it has ended. */
function runTask(pace: Pace, task: () => Promise<unknown>, urgency?: number): Promise<void> {
  return new Promise((resolve) => {
    const end = (ended: () => void) => {
      ended();
      resolve();
    };
    pace((ended) => void task().finally(() => end(ended)), urgency);
  });
}

function mostInAnySecond(starts: readonly number[], windowMs = SECOND_MS): number {
  const sorted = starts.toSorted((a, b) => a - b);
  let most = 0;
  let from = 0;
  sorted.forEach((at, i) => {
    while (at - (sorted[from] ?? at) >= windowMs) from++;
    most = Math.max(most, i - from + 1);
  });
  return most;
}

describe("the rate", () => {
  test.each([
    [14, 14, 70],
    [1, 1, 5],
    [14.5, 14, 70],
    [100, 100, 500],
  ])("%d per second: never more than %d in any second", async (ratePerSecond, limit, total) => {
    const { pace, clock } = paced({ ratePerSecond });
    const starts = startsOf({ pace, clock }, total);
    await advance(clock, 5 * SECOND_MS + 500);
    expect(starts).toHaveLength(total);
    expect(mostInAnySecond(starts)).toBe(limit);
  });

  test("is spread, so that a burst takes half of its second", async () => {
    const { pace, clock } = paced({ ratePerSecond: 10 });
    const starts = startsOf({ pace, clock }, 20);
    await advance(clock, 2 * SECOND_MS);
    const first = Array.from({ length: 10 }, (_, i) => i * 50);
    expect(starts).toEqual([...first, ...first.map((at) => 1_000 + at)]);
  });

  test.each([
    ["4 ms", 4, 1_004],
    ["10 ms", 10, 1_010],
    ["half a second", 500, 1_010],
  ])("counts a task of %s from its end, at most 10 ms after its start", async (_, taskMs, next) => {
    const { pace, clock } = paced({ ratePerSecond: 10 });
    const task = () => new Promise<void>((resolve) => clock.after(taskMs, resolve));
    const starts = startsOf({ pace, clock }, 11, task);
    await advance(clock, 2 * SECOND_MS);
    expect(starts[10]).toBe(next);
  });

  test.each([
    ["30 ms", 30, 1_030],
    ["70 ms", 70, 1_070],
    ["half a second", 500, 1_100],
  ])(
    "counts a task that takes %s, where 4 ms are usual, from its end, at most 100 ms after its start",
    async (_, taskMs, next) => {
      const { pace, clock } = paced({ ratePerSecond: 10 });
      const after = (ms: number) => () => new Promise<void>((resolve) => clock.after(ms, resolve));
      startsOf({ pace, clock }, 10, after(4));
      await advance(clock, 5 * SECOND_MS);
      const begin = clock.elapsed();
      const late = startsOf({ pace, clock }, 1, after(taskMs));
      const starts = startsOf({ pace, clock }, 10, after(4));
      await advance(clock, 2 * SECOND_MS);
      expect(late).toEqual([begin]);
      expect((starts[9] ?? 0) - begin).toBe(next);
    },
  );

  test("is kept at a receiver to which some tasks take up to 90 ms", async () => {
    const { bits } = createRandom(7);
    const { pace, clock } = paced({ ratePerSecond: 14 });
    const arrivals: number[] = [];
    const starts = startsOf({ pace, clock }, 400, () => {
      const taskMs = bits() % 8 === 0 ? 10 + (bits() % 80) : 2 + (bits() % 4);
      return new Promise<void>((resolve) =>
        clock.after(taskMs, () => {
          arrivals.push(clock.elapsed());
          resolve();
        }),
      );
    });
    await advance(clock, 32 * SECOND_MS);
    expect(starts.length).toBe(400);
    expect(mostInAnySecond(arrivals)).toBe(14);
  });

  test("below one allows a mail every 1/rate seconds", async () => {
    const { pace, clock } = paced({ ratePerSecond: 0.5 });
    const starts = startsOf({ pace, clock }, 3);
    await advance(clock, 4_100);
    expect(starts).toEqual([0, 2_020, 4_040]);
  });

  test("holds after a pause and for tasks that come at any time", async () => {
    const { pace, clock } = paced({ ratePerSecond: 14 });
    const groups: number[][] = [];
    for (const waitMs of [900, 50, 50, 300, 5_000, 700, 100, 250, 1]) {
      groups.push(startsOf({ pace, clock }, 9));
      await advance(clock, waitMs);
    }
    await advance(clock, 4 * SECOND_MS);
    expect(groups.flat()).toHaveLength(81);
    expect(mostInAnySecond(groups.flat())).toBe(14);
  });

  test("counts starts, so slow tasks that end together do not cause a burst", async () => {
    const { pace, clock } = paced({ ratePerSecond: 10 });
    const task = () => new Promise<void>((resolve) => clock.after(400, resolve));
    const starts = startsOf({ pace, clock }, 40, task);
    await advance(clock, 6 * SECOND_MS);
    expect(starts).toHaveLength(40);
    expect(mostInAnySecond(starts)).toBeLessThanOrEqual(10);
  });

  test("lets an urgent task start before others that came earlier and wait", async () => {
    const { pace, clock } = paced({ ratePerSecond: 14 });
    const starts: string[] = [];
    const run = (name: string, urgency: number) =>
      void runTask(pace, () => Promise.resolve(starts.push(name)), urgency);
    for (let i = 0; i < 20; i++) run(`campaign ${i}`, 0);
    await advance(clock, 100);
    expect(starts).toHaveLength(3);
    run("transactional", 1);
    await advance(clock, 10);
    expect(starts.slice(3)).toEqual(["transactional"]);
    // The window is full after 14 starts.
    await advance(clock, 600);
    expect(starts).toHaveLength(14);
    run("transactional too", 1);
    await advance(clock, 300);
    expect(starts[14]).toBe("transactional too");
  });
});

describe("a step of the wall clock", () => {
  const steps: [why: string, ms: number][] = [
    ["an hour back", -HOUR_MS],
    ["an hour forward", HOUR_MS],
    ["a day back", -DAY_MS],
    ["a day forward", DAY_MS],
  ];
  test.each(steps)("%s changes nothing about the starts", async (_, stepMs) => {
    for (const ratePerSecond of [14, 0.5]) {
      const steady = paced({ ratePerSecond });
      const stepped = paced({ ratePerSecond });
      const expected = startsOf(steady, 40);
      const starts = startsOf(stepped, 40);
      for (let i = 0; i < 6; i++) {
        await advance(steady.clock, 613);
        await advance(stepped.clock, 613);
        stepped.clock.stepWall(stepMs);
      }
      expect(starts).toEqual(expected);
      expect(starts.length).toBe(ratePerSecond === 14 ? 40 : 2);
    }
  });
});

describe("random arrivals, urgencies, durations and late timers", () => {
  const rates = [0.7, 1, 2.5, 14, 33, 120];
  test.each(rates)("keep the rate, the order and the full pace (%p per second)", async (rate) => {
    const { bits } = createRandom(rate * 10);
    const random = () => bits() / 2 ** 32;
    const clock = manualClock();
    const lateMs = () => (random() < 0.02 ? random() * 50 : random());
    const late = {
      ...clock,
      after: (delayMs: number, run: () => void) => clock.after(delayMs + lateMs(), run),
    };
    const pace = createPace({ ratePerSecond: rate, clock: late });
    const arrived: { urgency: number; arrivedAt: number; startedAt: number }[] = [];
    const starts: typeof arrived = [];

    function arrive(): void {
      const mail = { urgency: random() < 0.2 ? 1 : 0, arrivedAt: clock.elapsed(), startedAt: -1 };
      arrived.push(mail);
      const taskMs = random() < 0.1 ? random() * 700 : random() * 20;
      pace((ended) => {
        mail.startedAt = clock.elapsed();
        starts.push(mail);
        clock.after(taskMs, ended);
      }, mail.urgency);
    }

    const endsAt = 30_000;
    while (clock.elapsed() < endsAt) {
      // On average slightly more arrivals than the rate, in bursts with quiet times between them.
      if (random() < 0.02)
        for (let i = random() * rate * 0.8; i > 0; i--) if (arrived.length < 900) arrive();
      clock.advance(random() < 0.01 ? random() * 80 : 2 * random());
      if (random() < 0.01) clock.stepWall((random() - 0.5) * DAY_MS);
      await settle();
    }
    const limit = Math.max(1, Math.floor(rate));
    const windowMs = Math.max(SECOND_MS, SECOND_MS / rate);
    expect(
      mostInAnySecond(
        starts.map((mail) => mail.startedAt),
        windowMs,
      ),
    ).toBeLessThanOrEqual(limit);

    // No starvation: as long as mail waits, it starts at nearly the full rate.
    await advance(clock, Math.ceil((arrived.length * windowMs * 1.15) / limit + 2_000));
    expect(starts).toHaveLength(arrived.length);
    expect(
      mostInAnySecond(
        starts.map((mail) => mail.startedAt),
        windowMs,
      ),
    ).toBeLessThanOrEqual(limit);

    // Among mails that wait at the same time, the urgent ones start first, then the earlier ones.
    starts.forEach((mail, i) => {
      const overtaken = starts
        .slice(i + 1)
        .find(
          (other) =>
            other.arrivedAt < mail.startedAt &&
            (other.urgency > mail.urgency ||
              (other.urgency === mail.urgency && other.arrivedAt < mail.arrivedAt)),
        );
      expect(overtaken).toBeUndefined();
    });
  });
});
