/** Numbers for people: one line each, easy to paste. */

/** Prints `name   value`. */
export function say(name: string, value: string): void {
  console.log(`  ${name.padEnd(34)} ${value}`);
}

export type Aim = { name: string; isMet: boolean; measured: string; wanted: string };

/** Prints whether each aim was met; true if all were. */
export function judge(aims: readonly Aim[]): boolean {
  for (const { name, isMet, measured, wanted } of aims) {
    console.log(`  ${isMet ? "ok    " : "MISSED"} ${name}: ${measured} (aim: ${wanted})`);
  }
  return aims.every(({ isMet }) => isMet);
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

export function quantile(values: readonly number[], q: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? Number.NaN;
}

/** The largest number of moments (milliseconds) within any second, its end not included. */
export function mostInAnySecond(moments: readonly number[]): number {
  const sorted = moments.toSorted((a, b) => a - b);
  let most = 0;
  let from = 0;
  sorted.forEach((moment, i) => {
    while (moment - (sorted[from] ?? moment) >= 1000) from++;
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

/** Of the server, resident. */
export function memoryAim(name: string, mib: number): Aim {
  return { name, isMet: mib < 350, measured: `${whole(mib)} MiB`, wanted: "< 350 MiB" };
}

export function ms(value: number): string {
  return `${fixed(value, value < 10 ? 1 : 0)} ms`;
}

/** Prints how long something took, again and again. */
export function tell(of: { name: string; p50: number; p99: number; max: number }): void {
  say(of.name, `p50 ${ms(of.p50)}, p99 ${ms(of.p99)}, max ${ms(of.max)}`);
}
