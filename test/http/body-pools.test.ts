/** Request bodies without sockets: the pools for copies and for parsing, the timers and the event loop. */

import { expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { createBodies } from "../../src/http/body.ts";
import { BODY_LIMITS, limited } from "../../src/http/body-limits.ts";
import { AppError } from "../../src/lib/errors.ts";
import { manualClock } from "../support/clock.ts";
import { settleEventLoop, waitUntil } from "../support/eventually.ts";

const KIB = 1024;
const MIB = 1024 * KIB;

function setUp(beginWork: () => void = () => {}) {
  const clock = manualClock();
  let timers = 0;
  const countingClock: typeof clock = {
    ...clock,
    after(delayMs, run) {
      timers++;
      return clock.after(delayMs, run);
    },
  };
  const bodies = createBodies({ clock: countingClock, beginWork });
  const body = limited(Type.Object({ text: Type.Unknown() }), BODY_LIMITS.send);
  bodies.registerRoutes([{ method: "POST", path: "/send", hooks: { body } }]);
  return {
    bodies,
    timers: () => timers,
    read: (request: Request, projectSeq = 1) =>
      bodies.readJson(request, {
        method: "POST",
        route: "/send",
        holder: { projectSeq, isPublic: false },
      }),
  };
}

const post = (body: string) =>
  new Request("http://localhost/send", {
    method: "POST",
    body,
    headers: { "content-length": String(body.length) },
  });

/** Records the statuses with which requests end; those that still wait are not in the list. */
function recordEnds() {
  const ends: number[] = [];
  const record = (ending: Promise<unknown>) =>
    void ending.then(
      () => ends.push(200),
      (error: unknown) => ends.push(error instanceof AppError ? error.status : 500),
    );
  return { ends, record };
}

test("a hundred requests of one project wait to copy more data, and the next gets 503", async () => {
  const { bodies } = setUp();
  const { ends, record } = recordEnds();
  const ask = (projectSeq: number) =>
    record(bodies.takeCopies(post("{}"), { projectSeq, isPublic: false }));
  for (let i = 0; i < 101; i++) ask(1);
  await settleEventLoop();
  expect(ends).toEqual([200]);
  ask(1);
  ask(2);
  await settleEventLoop();
  expect(ends.toSorted((a, b) => a - b)).toEqual([200, 200, 503]);
});

test("24 MiB of large documents are parsed and handled at the same time", async () => {
  const { bodies, read } = setUp();
  const { ends, record } = recordEnds();
  const text = JSON.stringify({ text: "x".repeat(13 * MIB) });
  const first = post(text);
  await read(first, 1);
  record(read(post(text), 2));
  await settleEventLoop();
  expect(ends).toEqual([]);
  bodies.returnShares(first);
  await waitUntil(() => ends.length > 0);
  expect(ends).toEqual([200]);
});

test("small bodies share one timer", async () => {
  const { read, timers } = setUp();
  const text = JSON.stringify({ text: "x".repeat(20 * KIB) });
  await Promise.all(Array.from({ length: 50 }, () => read(post(text))));
  await Promise.all(Array.from({ length: 50 }, () => read(post("{}"))));
  expect(timers()).toBe(1);
});

test("other work goes on while small bodies with many values are parsed", async () => {
  let iteration = 0;
  const iterations = new Set<number>();
  const { bodies, read } = setUp(() => void iterations.add(iteration));
  const text = JSON.stringify({ text: Array.from({ length: 30_000 }, () => 1) });
  let isDone = false;
  const countIterations = () => {
    iteration++;
    if (!isDone) setImmediate(countIterations);
  };
  setImmediate(countIterations);
  const readAll = async (projectSeq: number) => {
    const request = post(text);
    await read(request, projectSeq);
    bodies.returnShares(request);
  };
  await Promise.all(Array.from({ length: 100 }, (_, i) => readAll(i)));
  isDone = true;
  expect(iterations.size).toBeGreaterThan(3);
});
