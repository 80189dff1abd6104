/** Queues of calls, with rows in a list and calls that end when the test says so. */

import { describe, expect, test } from "bun:test";
import { type CallStop, createCallQueues } from "../../src/lib/call-queues.ts";
import { manualClock } from "../support/clock.ts";
import { settleEventLoop } from "../support/eventually.ts";

type Row = { seq: number; queue: number; dueAt: number | null };
type Limits = { maxCalls?: number; maxCallsPerProject?: number; maxConcurrent?: number };
type UnderWay = { row: Row; stop: CallStop; end: (isStored: boolean) => void; fail: () => void };

const QUEUES_PER_PROJECT = 10;
const projectOf = (queue: number): number => Math.floor(queue / QUEUES_PER_PROJECT);

/** Queue 1 to 9 belong to project 0, 10 to 19 to project 1, and so on. */
function setUp(limits: Limits = {}, repeatAfterMs = 0) {
  const clock = manualClock();
  const rows: Row[] = [];
  const disabled = new Set<number>();
  const underWay: UnderWay[] = [];
  const started: number[] = [];
  const errors: unknown[] = [];
  const ofQueue = (queue: number) => rows.filter((row) => row.queue === queue);
  const due = (now: number, of: readonly Row[]) =>
    of.filter(({ dueAt }) => dueAt !== null && dueAt <= now);

  const calls = createCallQueues<{ projectSeq: number }, Row>({
    clock,
    maxCalls: limits.maxCalls ?? 100,
    maxCallsPerProject: limits.maxCallsPerProject ?? 0,
    repeatAfterMs,
    findQueues: () => [
      ...new Set(rows.flatMap(({ queue, dueAt }) => (dueAt === null ? [] : queue))),
    ],
    findReceiver: (queue) => (disabled.has(queue) ? null : { projectSeq: projectOf(queue) }),
    findDue: (queue, now, limit) =>
      due(now, ofQueue(queue))
        .toSorted((a, b) => (a.dueAt ?? 0) - (b.dueAt ?? 0) || a.seq - b.seq)
        .slice(0, limit),
    nextDueAt(queue, now) {
      const times = ofQueue(queue).flatMap(({ dueAt }) => dueAt ?? []);
      const next = Math.min(...times.filter((at) => at > now));
      return next === Infinity ? null : next;
    },
    maxConcurrent: () => limits.maxConcurrent ?? 16,
    make(row, _, stop) {
      const { promise, resolve, reject } = Promise.withResolvers<boolean>();
      started.push(row.queue);
      const call: UnderWay = { row, stop, end: resolve, fail: () => reject(new Error("no")) };
      underWay.push(call);
      return promise.finally(() => void underWay.splice(underWay.indexOf(call), 1));
    },
    onError: (error) => void errors.push(error),
  });

  return {
    clock,
    rows,
    disabled,
    underWay,
    started,
    errors,
    calls,
    dueNow: () => due(clock.now(), rows),

    add(queue: number, count = 1, inMs = 0): void {
      for (let i = 0; i < count; i++)
        rows.push({ seq: rows.length + 1, queue, dueAt: clock.now() + inMs });
      calls.wake([queue]);
    },

    /** Ends the oldest call under way; its row is due again after `retryMs`, if given. */
    async end(retryMs: number | null = null): Promise<void> {
      const call = underWay[0];
      if (call === undefined) throw new Error("no call is under way");
      call.row.dueAt = retryMs === null ? null : clock.now() + retryMs;
      call.end(true);
      await settleEventLoop();
    },

    async advance(ms: number): Promise<void> {
      clock.advance(ms);
      await settleEventLoop();
    },
  };
}

type World = ReturnType<typeof setUp>;

async function started(...options: Parameters<typeof setUp>): Promise<World> {
  const world = setUp(...options);
  world.calls.start();
  await settleEventLoop();
  return world;
}

describe("due calls", () => {
  test("are made up to the limits of the queue, the project and all projects", async () => {
    const w = await started({ maxCalls: 12, maxCallsPerProject: 5, maxConcurrent: 3 });
    for (const queue of [1, 2, 11, 12, 21]) w.add(queue, 10);
    await settleEventLoop();
    expect(w.started).toEqual([1, 1, 1, 2, 2, 11, 11, 11, 12, 21, 21]);
  });

  test("are made in turn by queue", async () => {
    const w = await started({ maxCallsPerProject: 1 });
    for (const queue of [1, 2, 3]) w.add(queue, 2);
    await settleEventLoop();
    for (let i = 0; i < 6; i++) await w.end();
    expect(w.started).toEqual([1, 2, 3, 1, 2, 3]);
  });

  test("are made once, at their time, and again when they are due again", async () => {
    const w = await started();
    w.add(1, 1, 5_000);
    await w.advance(4_999);
    expect(w.started).toEqual([]);
    await w.advance(1);
    w.calls.wake([1]);
    await w.advance(60 * 60_000);
    expect(w.started).toEqual([1]);
    await w.end(2_000);
    await w.advance(1_999);
    expect(w.started).toEqual([1]);
    await w.advance(1);
    expect(w.started).toEqual([1, 1]);
  });

  test("wait until the queue may be called and is woken", async () => {
    const w = await started();
    w.disabled.add(1);
    w.add(1);
    await w.advance(60_000);
    w.disabled.delete(1);
    expect(w.started).toEqual([]);
    w.calls.wake([1]);
    await settleEventLoop();
    expect(w.started).toEqual([1]);
  });
});

test.each([
  ["was not stored", (call: UnderWay) => call.end(false), 0],
  ["is a defect", (call: UnderWay) => call.fail(), 1],
])("a call whose result %s is repeated a minute later", async (_, fail, errors) => {
  const w = await started({ maxConcurrent: 1 });
  w.add(1);
  await settleEventLoop();
  for (const call of w.underWay) fail(call);
  await settleEventLoop();
  expect([w.errors.length, w.calls.isBusy()]).toEqual([errors, false]);
  await w.advance(59_999);
  expect(w.started).toEqual([1]);
  await w.advance(1);
  expect(w.started).toEqual([1, 1]);
});

describe("a stop", () => {
  test("waits for calls under way, and starts no further one", async () => {
    const w = await started({ maxConcurrent: 1 });
    w.add(1, 2);
    await settleEventLoop();
    const stopped = w.calls.stop(3_000);
    await settleEventLoop();
    await w.advance(2_999);
    expect(w.underWay[0]?.stop.isStopping()).toBe(true);
    expect(w.underWay[0]?.stop.signal.aborted).toBe(false);
    await w.end();
    await stopped;
    expect(w.started).toEqual([1]);
  });

  test("aborts them after its time, and the next start makes them again", async () => {
    const w = await started();
    w.add(1);
    await settleEventLoop();
    const stopped = w.calls.stop(3_000);
    await settleEventLoop();
    w.underWay[0]?.stop.signal.addEventListener("abort", () => w.underWay[0]?.end(true));
    await w.advance(3_000);
    await stopped;
    w.calls.start();
    await settleEventLoop();
    expect(w.started).toEqual([1, 1]);
    expect(w.underWay[0]?.stop.signal.aborted).toBe(false);
  });

  test("forgets the results that were not stored", async () => {
    const w = await started();
    w.add(1);
    await settleEventLoop();
    for (const call of w.underWay) call.end(false);
    await settleEventLoop();
    await w.calls.stop(0);
    expect(w.clock.untilNextTimer()).toBe(Infinity);
    w.calls.start();
    await settleEventLoop();
    expect(w.started).toEqual([1, 1]);
  });
});

test("calls that an earlier process may have made wait at the start, and new ones do not", async () => {
  const w = setUp({}, 5_000);
  w.add(1);
  w.calls.start();
  w.add(1);
  await settleEventLoop();
  expect(w.underWay.map(({ row }) => row.seq)).toEqual([2]);
  await w.advance(5_000);
  expect(w.underWay.map(({ row }) => row.seq)).toEqual([2, 1]);
});

test("whatever happens, no limit is exceeded, no call waits without a reason, and each is made", async () => {
  const limits = { maxCalls: 12, maxCallsPerProject: 5, maxConcurrent: 3 };
  const w = await started(limits);
  let state = 7;
  const random = (below: number) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
  const queues = [1, 2, 3, 11, 12, 21, 31];
  const randomQueue = () => queues[random(queues.length)] ?? 1;
  const waitUntil = new Map<Row, number>();
  const count = (isCounted: (row: Row) => boolean) =>
    w.underWay.filter(({ row }) => isCounted(row)).length;

  /** Whether the row may be called now by the rules in words: a free slot of the queue and project. */
  function isStartable(row: Row): boolean {
    if (w.disabled.has(row.queue) || w.underWay.some((call) => call.row === row)) return false;
    if ((waitUntil.get(row) ?? 0) > w.clock.elapsed()) return false;
    const waiting = [...waitUntil].filter(
      ([{ queue }, until]) => queue === row.queue && until > w.clock.elapsed(),
    );
    const ofQueue = count(({ queue }) => queue === row.queue) + waiting.length;
    const project = projectOf(row.queue);
    const ofProject = count(({ queue }) => projectOf(queue) === project);
    const isFair = ofProject < limits.maxCalls - w.underWay.length;
    return ofQueue < limits.maxConcurrent && ofProject < limits.maxCallsPerProject && isFair;
  }

  async function act(): Promise<void> {
    const call = w.underWay[random(Math.max(1, w.underWay.length))];
    const action = random(10);
    if (action < 4) w.add(randomQueue(), 1 + random(4), random(3) * random(5_000));
    else if (action < 8 && call !== undefined) {
      const isStored = random(8) > 0;
      if (isStored) call.row.dueAt = random(3) === 0 ? w.clock.now() + random(9_000) : null;
      else waitUntil.set(call.row, w.clock.elapsed() + 60_000);
      call.end(isStored);
    } else if (action === 8) w.clock.advance(random(20_000));
    else {
      const queue = randomQueue();
      if (!w.disabled.delete(queue)) w.disabled.add(queue);
      w.calls.wake([queue]);
    }
    await settleEventLoop();
  }

  for (let step = 0; step < 300; step++) {
    await act();
    expect(w.dueNow().filter(isStartable)).toEqual([]);
    expect(new Set(w.underWay.map(({ row }) => row)).size).toBe(w.underWay.length);
    expect(w.underWay.length).toBeLessThanOrEqual(limits.maxCalls);
    for (const queue of queues) {
      const project = projectOf(queue);
      expect(count((row) => row.queue === queue)).toBeLessThanOrEqual(limits.maxConcurrent);
      expect(count((row) => projectOf(row.queue) === project)).toBeLessThanOrEqual(5);
    }
  }
  w.disabled.clear();
  w.calls.wakeAll();
  for (let step = 0; w.rows.some(({ dueAt }) => dueAt !== null); step++) {
    if (step > 5_000) throw new Error("some calls are never made");
    if (w.underWay.length > 0) await w.end();
    else await w.advance(60_000);
  }
  expect(w.rows.length).toBeGreaterThan(150);
});
