/**
 * Measures how the time of a parser grows with the length of its input.
 *
 * A sample is `prefix + count × pump + tail`. The count doubles until a run takes GLANCE_MS; where four
 * times the input then takes about four times as long, the parser is linear. Otherwise the count grows
 * until a run takes FLOOR_MS, and twice the input may take at most MOST_GROWTH times as long: linear is
 * 2, n·log n a little more, quadratic 4. A parser that stays below the floor up to its own bound is
 * fast enough, whatever its growth is.
 *
 * A parser is blamed only if it exceeds the growth for two doublings in a row, as a single one can have
 * other reasons: a buffer that no longer fits the cache, an expression that leaves compiled code.
 *
 * Time is processor time of this thread, so that other work on the machine does not count.
 */

export type Run = (text: string) => unknown;

export type Pump = { prefix?: string; pump: string; tail?: string };

export type Growth = {
  count: number;
  /** Processor time for `count` and for half of it. */
  ms: number;
  halfMs: number;
};

const MOST_GROWTH = 3;
/** So much is no longer close to the bound. */
const CLEAR_GROWTH = 3.4;
const CUBIC_GROWTH = 6;
/** Of the time for four times the input: 4 is linear, 16 quadratic. */
const PLAIN_GROWTH = 5.5;
const GLANCE_MS = 1;
const FLOOR_MS = 5;
/** Such a small count takes so long only if the growth is exponential: it is not doubled again. */
const SMALL_COUNT = 64;
/** Least of several runs, as garbage collection and compilation only ever add time. */
const LEAST_ROUNDS = 3;
const MOST_ROUNDS = 10;
/** In so long a run, accidents of measurement are small. */
const LONG_MS = 30;

/** Small counts first, so that an exponential parser is noticed before it takes for ever. */
function* counts(): Generator<number> {
  for (let count = 2; count < 32; count += 2) yield count;
  for (let count = 32; ; count *= 2) yield count;
}

export function sampleOf({ prefix = "", pump, tail = "" }: Pump, count: number): string {
  return prefix + pump.repeat(count) + tail;
}

function lengthOf({ prefix = "", pump, tail = "" }: Pump, count: number): number {
  return prefix.length + pump.length * count + tail.length;
}

/** Null for a parser whose time is linear or negligible up to `mostCharacters`. */
export async function findGrowth(
  run: Run,
  pump: Pump,
  mostCharacters: number,
): Promise<Growth | null> {
  for (const leastMs of [GLANCE_MS, FLOOR_MS]) {
    const count = await firstCount(run, pump, { leastMs, mostCharacters });
    if (count === null || (await isPlain(run, pump, count))) return null;
    if (leastMs === FLOOR_MS) return judge(run, pump, { count, mostCharacters });
  }
  return null;
}

/** The first count for which a run takes so long; null if none does within the bound. */
async function firstCount(
  run: Run,
  pump: Pump,
  { leastMs, mostCharacters }: { leastMs: number; mostCharacters: number },
): Promise<number | null> {
  for (const count of counts()) {
    if (lengthOf(pump, count) > mostCharacters) return null;
    const text = sampleOf(pump, count);
    const startedAt = performance.now();
    await run(text);
    if (performance.now() - startedAt < leastMs) continue;
    if (await staysAbove(leastMs, run, text)) return count;
  }
  return null;
}

async function staysAbove(leastMs: number, run: Run, text: string): Promise<boolean> {
  for (let round = 1; round <= LEAST_ROUNDS; round++) {
    if ((await spentMs(run, text)) < leastMs) return false;
  }
  return true;
}

async function isPlain(run: Run, pump: Pump, count: number): Promise<boolean> {
  const ms = await spentMs(run, sampleOf(pump, count));
  return ms <= PLAIN_GROWTH * (await spentMs(run, sampleOf(pump, Math.floor(count / 4))));
}

async function judge(
  run: Run,
  pump: Pump,
  { count, mostCharacters }: { count: number; mostCharacters: number },
): Promise<Growth | null> {
  const first = await measure(run, pump, count);
  if (!isSteep(first) || count <= SMALL_COUNT) return isSteep(first) ? first : null;
  // Of what is cubic or worse, twice as much would take too long.
  const isMore = first.ms <= CUBIC_GROWTH * first.halfMs;
  const isWithin = isMore && lengthOf(pump, 2 * count) <= mostCharacters;
  const second = await measure(run, pump, isWithin ? 2 * count : count / 2);
  return isSteep(second) ? second : null;
}

function isSteep({ ms, halfMs }: Growth): boolean {
  return ms > MOST_GROWTH * halfMs;
}

/** The least of several measurements, more of them as long as the result is suspicious. */
async function measure(run: Run, pump: Pump, count: number): Promise<Growth> {
  const text = sampleOf(pump, count);
  const half = sampleOf(pump, count / 2);
  const growth = { count, ms: Infinity, halfMs: Infinity };
  for (let round = 1; round <= MOST_ROUNDS; round++) {
    growth.halfMs = Math.min(growth.halfMs, await spentMs(run, half));
    growth.ms = Math.min(growth.ms, await spentMs(run, text));
    const isClear = !isSteep(growth) || growth.ms > CLEAR_GROWTH * growth.halfMs;
    if (round >= (growth.ms > LONG_MS ? 2 : LEAST_ROUNDS) && isClear) break;
  }
  return growth;
}

async function spentMs(run: Run, text: string): Promise<number> {
  const before = threadMs();
  await run(text);
  return threadMs() - before;
}

/**
 * Processor time of this thread so far, to a microsecond. Asking for the time of the process first
 * makes the kernel bring that of the thread up to date.
 */
export function threadMs(): number {
  process.cpuUsage();
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

/** A line for people. */
export function describeGrowth(pump: Pump, { count, ms, halfMs }: Growth): string {
  const shown = JSON.stringify({ ...pump, count });
  return `${shown}: ${ms.toFixed(1)} ms, half of it ${halfMs.toFixed(1)} ms`;
}
