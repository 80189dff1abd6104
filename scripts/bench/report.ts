/** Prints results for people, one line for each measured value and each aim. */

/** Prints a name and a value in two columns. */
export function printValue(name: string, value: string): void {
  console.log(`  ${name.padEnd(40)} ${value}`);
}

export type Aim = { name: string; isMet: boolean; measured: string; wanted: string };

/** Prints whether each aim was met, and returns true if all were. */
export function reportAims(aims: readonly Aim[]): boolean {
  for (const { name, isMet, measured, wanted } of aims) {
    console.log(`  ${isMet ? "ok    " : "MISSED"} ${name}: ${measured} (aim: ${wanted})`);
  }
  return aims.every(({ isMet }) => isMet);
}

/** The aim that something was found as often as it may be; `limit` is 0 for what must not happen. */
export function limitAim(name: string, count: number, limit = 0, reason = ""): Aim {
  const wanted = limit === 0 ? "0" : `≤ ${whole(limit)}${reason === "" ? "" : `, ${reason}`}`;
  return { name, isMet: count <= limit, measured: whole(count), wanted };
}

/** The aim that something was found at all; without it, the other aims would show nothing. */
export function presenceAim(name: string, count: number, least = 1): Aim {
  return { name, isMet: count >= least, measured: whole(count), wanted: `≥ ${whole(least)}` };
}

/** The result of a proof: figures for people, and the aims that must be met. */
export type Outcome = {
  figures: readonly (readonly [name: string, value: string])[];
  aims: readonly Aim[];
};

/** Prints an outcome, and returns true if all its aims were met. */
export function reportOutcome({ figures, aims }: Outcome): boolean {
  for (const [name, value] of figures) printValue(name, value);
  return reportAims(aims);
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

export function quantile(values: readonly number[], q: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? Number.NaN;
}

/** Returns the largest number of times (in milliseconds) within any second, excluding its end. */
export function maxPerSecond(times: readonly number[]): number {
  const sorted = times.toSorted((a, b) => a - b);
  let most = 0;
  let from = 0;
  sorted.forEach((time, i) => {
    while (time - (sorted[from] ?? time) >= 1000) from++;
    most = Math.max(most, i - from + 1);
  });
  return most;
}

export const whole = (value: number): string =>
  Math.round(value).toLocaleString("en-US", { useGrouping: true });

export const fixed = (value: number, digits: number): string => value.toFixed(digits);

export function msAim(name: string, measured: number, below: number): Aim {
  return { name, isMet: measured < below, measured: ms(measured), wanted: `< ${below} ms` };
}

/** Returns the aim for the resident memory of the server. */
export function memoryAim(name: string, mib: number): Aim {
  return { name, isMet: mib < 350, measured: `${whole(mib)} MiB`, wanted: "< 350 MiB" };
}

export function ms(value: number): string {
  return `${fixed(value, value < 10 ? 1 : 0)} ms`;
}

/** Prints the latencies of a repeated operation. */
export function printLatencies(measured: {
  name: string;
  p50: number;
  p99: number;
  max: number;
}): void {
  const { name, p50, p99, max } = measured;
  printValue(name, `p50 ${ms(p50)}, p99 ${ms(p99)}, max ${ms(max)}`);
}
