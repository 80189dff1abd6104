/**
 * Helper, loaded before a server of a measurement: how long its event loop was held, seen from
 * inside. A timer notes how late it is called; SIGUSR2 writes what was seen since the last one to
 * `loop.json` in the data folder and begins anew.
 */

import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const EVERY_MS = 2;
const MOST_BEATS = 1_000_000;

const data = Bun.argv[Bun.argv.indexOf("--data") + 1] ?? ".";
const held = new Float32Array(MOST_BEATS);
let count = 0;
let last = performance.now();

function beat(): void {
  const now = performance.now();
  if (count < MOST_BEATS) held[count++] = Math.max(0, now - last - EVERY_MS);
  last = now;
}

setInterval(beat, EVERY_MS).unref();

process.on("SIGUSR2", () => {
  beat();
  const sorted = held.subarray(0, count).toSorted();
  const at = (q: number) => sorted[Math.min(count - 1, Math.floor(q * count))] ?? 0;
  const file = join(data, "loop.json");
  writeFileSync(`${file}.new`, JSON.stringify({ longest: at(1), p999: at(0.999), beats: count }));
  renameSync(`${file}.new`, file);
  count = 0;
  last = performance.now();
});
