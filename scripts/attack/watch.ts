/**
 * Helper: requests `/livez` repeatedly and reads the peak of the server's resident memory. For each
 * line of its input it prints its measurements since the line before, and starts again.
 */

import { readFileSync, writeFileSync } from "node:fs";
import { Type } from "@sinclair/typebox";
import { linesOf, parse } from "../bench/children.ts";

const Settings = Type.Object({ port: Type.Number(), pid: Type.Number() });

const { port, pid } = parse(Settings, JSON.parse(Bun.argv[2] ?? "{}"));

const PAUSE_MS = 5;
/** Scheduling statistics of the main threads of the server and of this process. */
const THREADS = [pid, process.pid].map((id) => `/proc/${id}/task/${id}/schedstat`);

let slowestMs = 0;
/** Without the time for which other processes had the processors. */
let slowestOwnMs = 0;
let asked = 0;

/** proc_pid_clear_refs(5): 5 sets the peak back to the memory that is resident now. */
function resetPeak(): void {
  writeFileSync(`/proc/${pid}/clear_refs`, "5");
}

function peakMiB(): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) / 1024;
}

/** The time for which both threads were ready to run and had no processor. */
function queuedMs(): number {
  const times = THREADS.map((file) => Number(readFileSync(file, "utf8").split(" ")[1]) / 1e6);
  return times.reduce((sum, ms) => sum + ms, 0);
}

async function ask(): Promise<void> {
  for (;;) {
    const [startedAt, queuedBefore] = [performance.now(), queuedMs()];
    const response = await fetch(`http://127.0.0.1:${port}/livez`).catch(() => null);
    await response?.arrayBuffer();
    const tookMs = response?.ok === true ? performance.now() - startedAt : 1e6;
    slowestMs = Math.max(slowestMs, tookMs);
    slowestOwnMs = Math.max(slowestOwnMs, tookMs - (queuedMs() - queuedBefore));
    asked++;
    await Bun.sleep(PAUSE_MS);
  }
}

void ask();
resetPeak();
for await (const _ of linesOf(Bun.stdin.stream())) {
  console.log(JSON.stringify({ peakMiB: peakMiB(), slowestMs, slowestOwnMs, asked }));
  slowestMs = 0;
  slowestOwnMs = 0;
  asked = 0;
  resetPeak();
}
process.exit(0);
