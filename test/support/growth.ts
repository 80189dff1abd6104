/**
 * Measures how the time of a parser grows with the length of its input.
 *
 * A sample is `prefix + count × pump + tail`.
 *
 * 1. The count doubles until a run takes QUICK_MS. If four times the input then takes about four
 *    times as long, the parser is linear.
 * 2. Otherwise the count grows until a run takes MEASURABLE_MS. Twice the input may then take at
 *    most MAX_GROWTH times as long: linear time gives 2, n·log n a little more, quadratic time 4.
 * 3. A parser fails only if it exceeds this growth for two doublings. A single one can have other
 *    causes, such as a buffer that no longer fits the cache, or an expression that is not compiled.
 *
 * A parser that stays below MEASURABLE_MS up to its own limit is fast enough, with any growth.
 *
 * The time is processor time of this thread, so that other work on the machine does not count.
 */

export type Run = (text: string) => unknown;

export type Pump = { prefix?: string; pump: string; tail?: string };

export type Growth = {
  count: number;
  /** Processor time for `count` and for half of it. */
  ms: number;
  halfMs: number;
};

const MAX_GROWTH = 3;
/** Growth from which on the result is certain, and is not measured again. */
const CLEAR_GROWTH = 3.4;
const CUBIC_GROWTH = 6;
/** Largest growth of a linear parser for four times the input: linear is 4, quadratic 16. */
const LINEAR_GROWTH = 5.5;
/** So few repeats take an exponential parser long. */
const FEW_REPEATS = 24;
/** A text of a few hundred characters that takes longer is measured step by step. */
const SHORT_TEXT_MS = 10;
/** A text of a quick look that takes less is not compared with its quarter. */
const LOOK_MS = 0.5;
const QUICK_MS = 1;
/** With less growth, the time hardly depends on the length. */
const CONSTANT_GROWTH = 2.5;
const MEASURABLE_MS = 5;
/** If such a small count takes long, the growth is exponential, and the count is not doubled. */
const SMALL_COUNT = 64;
/** The minimum of several runs counts, because garbage collection and compilation only add time. */
const MIN_ROUNDS = 3;
const MAX_ROUNDS = 10;
/** Duration of a run for which measurement errors are small. */
const LONG_MS = 30;

/**
 * Yields small counts first, so that an exponential parser is detected before it takes too long.
 */
function* counts(): Generator<number> {
  for (let count = 2; count < 32; count += 2) yield count;
  for (let count = 32; ; count *= 2) yield count;
}

export function sampleOf({ prefix = "", pump, tail = "" }: Pump, count: number): string {
  return prefix + pump.repeat(count) + tail;
}

export function lengthOf({ prefix = "", pump, tail = "" }: Pump, count: number): number {
  return prefix.length + pump.length * count + tail.length;
}

/**
 * A quick look: returns whether a text with so many characters of pumps is read in negligible time, or
 * in about four times the time of its quarter. If not, `findGrowth` must decide.
 */
export async function isClearlyLinear(run: Run, pump: Pump, characters: number): Promise<boolean> {
  const most = Math.floor(characters / pump.pump.length);
  for (const count of [FEW_REPEATS, most / 16, most / 4, most].map(Math.floor)) {
    if (count > most) continue;
    const text = sampleOf(pump, count);
    const startedAt = performance.now();
    await run(text);
    const tookMs = performance.now() - startedAt;
    if (tookMs <= LOOK_MS) continue;
    if (tookMs > LONG_MS) return false;
    if (count < most / 4) {
      // An exponential or cubic parser shows itself before its text is long.
      if (tookMs > SHORT_TEXT_MS && (await spentMs(run, text)) > SHORT_TEXT_MS) return false;
      continue;
    }
    const growth = await quarterGrowth(run, pump, count);
    if (growth > LINEAR_GROWTH) return false;
    // Otherwise most of the time is that of the prefix or of the call, and a longer text shows more.
    if (growth > CONSTANT_GROWTH) return true;
  }
  return true;
}

/** Returns how much longer a text takes than its quarter, at least; 1 if its time is negligible. */
async function quarterGrowth(run: Run, pump: Pump, count: number): Promise<number> {
  const text = sampleOf(pump, count);
  const quarter = sampleOf(pump, Math.floor(count / 4));
  let [ms, quarterMs] = [Infinity, Infinity];
  for (let round = 1; round <= MIN_ROUNDS; round++) {
    ms = Math.min(ms, await spentMs(run, text));
    if (ms <= LOOK_MS) return 1;
    quarterMs = Math.min(quarterMs, await spentMs(run, quarter));
    if (ms <= LINEAR_GROWTH * quarterMs) break;
  }
  return ms / quarterMs;
}

/** Returns null if the time of the parser is linear or negligible up to `maxCharacters`. */
export async function findGrowth(
  run: Run,
  pump: Pump,
  maxCharacters: number,
): Promise<Growth | null> {
  for (const minMs of [QUICK_MS, MEASURABLE_MS]) {
    const count = await firstCount(run, pump, { minMs, maxCharacters });
    if (count === null || (await isLinear(run, pump, count))) return null;
    if (minMs === MEASURABLE_MS) return confirmGrowth(run, pump, { count, maxCharacters });
  }
  return null;
}

/**
 * Returns the first count for which a run takes `minMs`; null if there is none within the limit.
 */
async function firstCount(
  run: Run,
  pump: Pump,
  { minMs, maxCharacters }: { minMs: number; maxCharacters: number },
): Promise<number | null> {
  for (const count of counts()) {
    if (lengthOf(pump, count) > maxCharacters) return null;
    const text = sampleOf(pump, count);
    const startedAt = performance.now();
    await run(text);
    if (performance.now() - startedAt < minMs) continue;
    if (await staysAbove(minMs, run, text)) return count;
  }
  return null;
}

async function staysAbove(minMs: number, run: Run, text: string): Promise<boolean> {
  for (let round = 1; round <= MIN_ROUNDS; round++) {
    if ((await spentMs(run, text)) < minMs) return false;
  }
  return true;
}

async function isLinear(run: Run, pump: Pump, count: number): Promise<boolean> {
  const ms = await spentMs(run, sampleOf(pump, count));
  const quarter = sampleOf(pump, Math.floor(count / 4));
  for (let round = 1; round <= MIN_ROUNDS; round++) {
    if (ms > LINEAR_GROWTH * (await spentMs(run, quarter))) return false;
  }
  return true;
}

async function confirmGrowth(
  run: Run,
  pump: Pump,
  { count, maxCharacters }: { count: number; maxCharacters: number },
): Promise<Growth | null> {
  const first = await measure(run, pump, count);
  if (!isSteep(first) || count <= SMALL_COUNT) return isSteep(first) ? first : null;
  // If the growth is cubic or worse, twice the count would take too long, so half of it is
  // measured.
  const isBelowCubic = first.ms <= CUBIC_GROWTH * first.halfMs;
  const canDouble = isBelowCubic && lengthOf(pump, 2 * count) <= maxCharacters;
  const second = await measure(run, pump, canDouble ? 2 * count : count / 2);
  return isSteep(second) ? second : null;
}

function isSteep({ ms, halfMs }: Growth): boolean {
  return ms > MAX_GROWTH * halfMs;
}

/**
 * Returns the minimum of several measurements; there are more of them if the result is not clear.
 */
async function measure(run: Run, pump: Pump, count: number): Promise<Growth> {
  const text = sampleOf(pump, count);
  const half = sampleOf(pump, count / 2);
  const growth = { count, ms: Infinity, halfMs: Infinity };
  for (let round = 1; round <= MAX_ROUNDS; round++) {
    growth.halfMs = Math.min(growth.halfMs, await spentMs(run, half));
    growth.ms = Math.min(growth.ms, await spentMs(run, text));
    const isClear = !isSteep(growth) || growth.ms > CLEAR_GROWTH * growth.halfMs;
    if (round >= (growth.ms > LONG_MS ? 2 : MIN_ROUNDS) && isClear) break;
  }
  return growth;
}

async function spentMs(run: Run, text: string): Promise<number> {
  const before = threadMs();
  await run(text);
  return threadMs() - before;
}

/**
 * Returns the processor time of this thread, with a resolution of a microsecond. Reading the time
 * of the process first makes the kernel update the time of the thread.
 */
export function threadMs(): number {
  process.cpuUsage();
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

/** Describes a growth in one line. */
export function describeGrowth(pump: Pump, { count, ms, halfMs }: Growth): string {
  const shown = JSON.stringify({ ...pump, count });
  return `${shown}: ${ms.toFixed(1)} ms, half of it ${halfMs.toFixed(1)} ms`;
}
