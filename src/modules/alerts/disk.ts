/** The space of the disk of the data folder: samples every ten minutes, and when it will be full. */

import type { App } from "../../core/app.ts";
import { type diskSpace, usedBytes } from "../../db/folder.ts";
import { statement } from "../../db/statement.ts";

type DiskSample = { at: number; freeBytes: number };

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const SAMPLE_MS = 10 * MINUTE_MS;
/** The weekly digest compares with the sample of a week ago. */
const KEPT_MS = 8 * DAY_MS;
/** The prediction uses the samples of this time, and needs those of at least half of it. */
const WINDOW_MS = 6 * HOUR_MS;
const MIN_SAMPLES = 12;

const findLast = statement<{ at: number | null }, []>("SELECT max(at) AS at FROM disk_samples");
const insertSample = statement<unknown, [number, number, number]>(
  "INSERT INTO disk_samples (at, free_bytes, used_bytes) VALUES (?, ?, ?)",
);
/** Samples of the future are of a clock that was set back since. */
const deleteBefore = statement<unknown, [number]>("DELETE FROM disk_samples WHERE at < +?");
const deleteAfter = statement<unknown, [number]>("DELETE FROM disk_samples WHERE at >= +?");
const findSince = statement<DiskSample, [number]>(
  "SELECT at, free_bytes AS freeBytes FROM disk_samples WHERE at >= +? ORDER BY at",
);
const findFirst = statement<{ usedBytes: number }, [number]>(
  "SELECT used_bytes AS usedBytes FROM disk_samples WHERE at >= +? ORDER BY at LIMIT 1",
);

/** Stores a sample if the last one is ten minutes old. */
export async function sampleDisk(app: App, readSpace: typeof diskSpace): Promise<void> {
  const { folder, clock, writer } = app;
  if (folder === null) return;
  const now = clock.now();
  const { at = null } = findLast(app).get() ?? {};
  // The timer of the minute may come a little early.
  if (at !== null && at <= now && now - at < SAMPLE_MS - MINUTE_MS / 2) return;
  const space = readSpace(folder);
  if (space === null) return;
  const used = usedBytes(folder);
  await writer.write(() => {
    deleteBefore(app).run(now - KEPT_MS);
    deleteAfter(app).run(now);
    insertSample(app).run(now, space.freeBytes, used);
  });
}

/** Milliseconds until the disk is full if it goes on as in the last hours; null if it does not fill. */
export function diskFullInMs(app: App): number | null {
  const now = app.clock.now();
  return predictFull(findSince(app).all(now - WINDOW_MS), now);
}

/** By how much the data folder has grown since then, as far as samples reach; null without one. */
export function folderGrowth(app: App, since: number): number | null {
  const { folder } = app;
  const first = findFirst(app).get(since);
  return folder === null || first === null ? null : usedBytes(folder) - first.usedBytes;
}

/**
 * The line of least squares through the samples, and when it reaches zero. Null if it does not fall, or
 * if there are too few samples to tell.
 */
function predictFull(samples: readonly DiskSample[], now: number): number | null {
  const [first] = samples;
  const last = samples.at(-1);
  if (first === undefined || last === undefined || samples.length < MIN_SAMPLES) return null;
  if (last.at - first.at < WINDOW_MS / 2) return null;
  const mean = (of: (sample: DiskSample) => number) =>
    samples.reduce((sum, sample) => sum + of(sample), 0) / samples.length;
  const meanAt = mean(({ at }) => at - now);
  const meanFree = mean(({ freeBytes }) => freeBytes);
  const spread = mean(({ at }) => (at - now - meanAt) ** 2);
  const together = mean(({ at, freeBytes }) => (at - now - meanAt) * (freeBytes - meanFree));
  const bytesPerMs = together / spread;
  if (bytesPerMs >= 0) return null;
  const freeNow = meanFree - bytesPerMs * meanAt;
  return Math.max(0, freeNow / -bytesPerMs);
}
