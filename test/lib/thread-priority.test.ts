/** A thread that lowers its priority changes that of no other thread. */

import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { once } from "node:events";
import { join } from "node:path";
import { Worker } from "node:worker_threads";

const FILE = join(import.meta.dir, "../../src/lib/thread-priority.ts");
const NUMBER_FILE = join(import.meta.dir, "../../src/lib/thread-cpu.ts");

/** The niceness of each thread of this process, by its number (proc_pid_stat(5)). */
function niceness(): Map<number, number> {
  return new Map(
    readdirSync("/proc/self/task").map((number) => {
      const text = readFileSync(`/proc/self/task/${number}/stat`, "latin1");
      const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
      return [Number(number), Number(fields[16])];
    }),
  );
}

test.skipIf(process.platform !== "linux")(
  "only the calling thread gets another priority",
  async () => {
    const before = niceness();
    const source = `
    const { parentPort } = require("node:worker_threads");
    const { lowerThreadPriority } = require(${JSON.stringify(FILE)});
    const { threadNumber } = require(${JSON.stringify(NUMBER_FILE)});
    lowerThreadPriority();
    parentPort.postMessage(threadNumber());
    parentPort.on("message", () => parentPort.close());`;
    const worker = new Worker(source, { eval: true });
    const [number]: unknown[] = await once(worker, "message");
    const after = niceness();
    await worker.terminate();
    const own = before.get(process.pid) ?? 0;
    expect(after.get(Number(number))).toBe(Math.min(own + 5, 19));
    for (const [other, value] of before) expect(after.get(other) ?? value).toBe(value);
  },
);
