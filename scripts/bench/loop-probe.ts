/**
 * Helper, preloaded into a measured server: records how long its event loop was blocked. A timer
 * measures how late it is called. Time in which the thread was ready to run but another process had
 * the processor does not count as blocked; only Linux reports it, elsewhere it counts. On SIGUSR2 the
 * probe writes its results since the previous signal to `loop.json` in the data folder.
 */

import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cpuWaitMs } from "./cpu-wait.ts";

const INTERVAL_MS = 2;
const MAX_SAMPLES = 1_000_000;

const data = Bun.argv[Bun.argv.indexOf("--data") + 1] ?? ".";
const blockedMs = new Float32Array(Bun.isMainThread ? MAX_SAMPLES : 0);
let sampleCount = 0;
let longestLateMs = 0;
let lastAt = performance.now();

let lastWaitMs = cpuWaitMs();

function takeSample(): void {
  const [now, waitMs] = [performance.now(), cpuWaitMs()];
  const lateMs = Math.max(0, now - lastAt - INTERVAL_MS);
  longestLateMs = Math.max(longestLateMs, lateMs);
  if (sampleCount < MAX_SAMPLES)
    blockedMs[sampleCount++] = Math.max(0, lateMs - (waitMs - lastWaitMs));
  lastAt = now;
  lastWaitMs = waitMs;
}

function writeSamples(): void {
  takeSample();
  const sorted = blockedMs.subarray(0, sampleCount).toSorted();
  const at = (q: number) => sorted[Math.min(sampleCount - 1, Math.floor(q * sampleCount))] ?? 0;
  const file = join(data, "loop.json");
  writeFileSync(
    `${file}.new`,
    JSON.stringify({ longestMs: at(1), p999Ms: at(0.999), longestLateMs, samples: sampleCount }),
  );
  renameSync(`${file}.new`, file);
  sampleCount = 0;
  longestLateMs = 0;
  lastAt = performance.now();
}

// The preload also runs in worker threads, whose event loops are not measured.
if (Bun.isMainThread) {
  setInterval(takeSample, INTERVAL_MS).unref();
  process.on("SIGUSR2", writeSamples);
}
