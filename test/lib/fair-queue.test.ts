import { expect, test } from "bun:test";
import { createFairQueue, QueueFullError } from "../../src/lib/fair-queue.ts";
import { settleEventLoop } from "../support/eventually.ts";

function setUp(limits = { running: 1, waiting: 4 }) {
  const queue = createFairQueue(limits);
  const started: string[] = [];
  const refused: string[] = [];
  const ends: (() => void)[] = [];
  const put = (owner: string, name: string) => {
    queue
      .run(owner, () => {
        started.push(name);
        return new Promise<void>((resolve) => ends.push(resolve));
      })
      .catch((error: unknown) => {
        if (!(error instanceof QueueFullError)) throw error;
        refused.push(name);
      });
  };
  async function endAll() {
    for (let end = ends.shift(); end !== undefined; end = ends.shift()) {
      end();
      await settleEventLoop();
    }
  }
  return { queue, started, refused, put, endAll };
}

test("tasks of one owner run in their order, and those of several owners in turn", async () => {
  const { put, started, endAll } = setUp({ running: 1, waiting: 10 });
  for (const name of ["a1", "a2", "a3", "a4"]) put("a", name);
  put("b", "b1");
  put("c", "c1");
  put("b", "b2");
  await endAll();
  expect(started).toEqual(["a1", "a2", "b1", "c1", "a3", "b2", "a4"]);
});

test("a full queue refuses the newest task of the owner with the most of them", async () => {
  const { put, started, refused, endAll } = setUp();
  for (const name of ["a1", "a2", "a3", "a4", "a5", "a6"]) put("a", name);
  await settleEventLoop();
  expect(refused).toEqual(["a6"]);
  put("b", "b1");
  put("b", "b2");
  put("b", "b3");
  await settleEventLoop();
  expect(refused.toSorted()).toEqual(["a4", "a5", "a6", "b3"]);
  await endAll();
  expect(started).toEqual(["a1", "a2", "b1", "a3", "b2"]);
});

test("a new task does not take the place that a waiting one has got", async () => {
  const { queue, put, started } = setUp({ running: 1, waiting: 4 });
  const first = Promise.withResolvers<void>();
  const ended = queue.run("a", () => first.promise);
  put("a", "a1");
  first.resolve();
  await ended;
  put("b", "b1");
  await settleEventLoop();
  expect(started).toEqual(["a1"]);
});

test("as many tasks run at once as are allowed, also after one has failed", async () => {
  const { queue, put, started } = setUp({ running: 2, waiting: 4 });
  const failed = queue.run("a", () => Promise.reject(new Error("no")));
  for (const name of ["a1", "a2"]) put("a", name);
  expect(started).toEqual(["a1"]);
  expect(await failed.catch((error: unknown) => String(error))).toBe("Error: no");
  await settleEventLoop();
  expect(started).toEqual(["a1", "a2"]);
});
