/**
 * Helper, loaded before a server of a measurement: how long its event loop was held, seen from
 * inside. A timer of a millisecond notes how late it is called; SIGUSR2 writes what was seen since
 * the last one to `loop.json` in the data folder and begins anew.
 */

import { writeFileSync } from "node:fs";
import { join } from "node:path";

const EVERY_MS = 2;
const MOST_GAPS = 4_000_000;

const data = Bun.argv[Bun.argv.indexOf("--data") + 1] ?? ".";
const gaps = new Float32Array(MOST_GAPS);
let count = 0;
let longest = { ms: 0 };
let last = performance.now();

function beat(): void {
  const now = performance.now();
  const heldMs = Math.max(0, now - last - EVERY_MS);
  if (heldMs > longest.ms) {
    longest = { ms: heldMs };
  }
  if (count < MOST_GAPS) gaps[count++] = heldMs;
  last = now;
}

setInterval(beat, EVERY_MS).unref();

process.on("SIGUSR2", () => {
  beat();
  const sorted = gaps.subarray(0, count).toSorted();
  const p999 = sorted[Math.min(count - 1, Math.floor(0.999 * count))] ?? 0;
  writeFileSync(join(data, "loop.json"), JSON.stringify({ ...longest, p999, count }));
  count = 0;
  longest = { ms: 0 };
  last = performance.now();
});
