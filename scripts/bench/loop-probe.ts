/**
 * Helper, loaded before a server of a measurement: how long its event loop was held, seen from
 * inside. A timer notes how late it is called, and how much of that the thread was ready to run and
 * another process had the processor (Linux tells; elsewhere it counts as held). SIGUSR2 writes what
 * was seen since the last one to `loop.json` in the data folder and begins anew.
 */

import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { queuedMs } from "./queued.ts";

const EVERY_MS = 2;
const MOST_BEATS = 1_000_000;

const data = Bun.argv[Bun.argv.indexOf("--data") + 1] ?? ".";
const held = new Float32Array(MOST_BEATS);
let count = 0;
let longestLate = 0;
let last = performance.now();

let lastQueued = queuedMs();

function beat(): void {
  const [now, queued] = [performance.now(), queuedMs()];
  const late = Math.max(0, now - last - EVERY_MS);
  longestLate = Math.max(longestLate, late);
  if (count < MOST_BEATS) held[count++] = Math.max(0, late - (queued - lastQueued));
  last = now;
  lastQueued = queued;
}

setInterval(beat, EVERY_MS).unref();

process.on("SIGUSR2", () => {
  beat();
  const sorted = held.subarray(0, count).toSorted();
  const at = (q: number) => sorted[Math.min(count - 1, Math.floor(q * count))] ?? 0;
  const file = join(data, "loop.json");
  writeFileSync(
    `${file}.new`,
    JSON.stringify({ longest: at(1), p999: at(0.999), longestLate, beats: count }),
  );
  renameSync(`${file}.new`, file);
  count = 0;
  longestLate = 0;
  last = performance.now();
});
