import { expect, test } from "bun:test";
import { storageRefused } from "../../src/db/refusal.ts";
import { writeResult } from "../../src/db/write-result.ts";
import type { Writer } from "../../src/db/writer.ts";
import { manualClock } from "../support/clock.ts";
import { settleEventLoop } from "../support/eventually.ts";

const PAUSE_MS = 1000;

/** Writes a result with a writer that fails with these errors first. */
function setUp(errors: unknown[]) {
  const clock = manualClock();
  const reported: [tries: number, message: string][] = [];
  let isStopping = false;
  const writer: Pick<Writer, "write"> = {
    async write(change) {
      const error = errors.shift();
      if (error !== undefined) throw error;
      return change();
    },
  };
  const written = writeResult({ writer, clock }, () => "stored", {
    isStopping: () => isStopping,
    error: (error, tries) => reported.push([tries, String(error)]),
  });
  const stop = () => {
    isStopping = true;
  };
  return { clock, reported, written, stop };
}

const refusal = () => storageRefused(new Error("the disk is full"));

test("returns the value of the change", async () => {
  const { written } = setUp([]);
  expect(await written).toEqual({ isStored: true, value: "stored" });
});

test("repeats the change after a pause while the storage refuses writes", async () => {
  const { clock, reported, written } = setUp([refusal(), refusal()]);
  for (const tries of [1, 2]) {
    await settleEventLoop();
    expect(reported.length).toBe(tries);
    clock.advance(PAUSE_MS - 1);
    await settleEventLoop();
    expect(reported.length).toBe(tries);
    clock.advance(1);
  }
  expect(await written).toEqual({ isStored: true, value: "stored" });
});

test("does not repeat the change after another error", async () => {
  const { reported, written } = setUp([new Error("a defect")]);
  expect(await written).toEqual({ isStored: false });
  expect(reported).toEqual([[1, "Error: a defect"]]);
});

test("does not repeat the change when the process stops", async () => {
  const { written, stop } = setUp([refusal()]);
  stop();
  expect(await written).toEqual({ isStored: false });
});
