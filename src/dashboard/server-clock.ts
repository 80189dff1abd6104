/**
 * The time of the server. The clock of a computer may be wrong by hours; the answers of the server
 * name its time, so that "5 min. ago" is right in any case.
 */

/** A smaller difference is that of the answer's way, and of the header's whole seconds. */
const TOLERANCE_MS = 30_000;

let offsetMs = 0;
/** The time in the last answer, to the second. */
let latestOffsetMs = 0;
const listeners = new Set<() => void>();

/** Reads the header Date of an answer. */
export function noteServerTime(date: string | null): void {
  const serverMs = Date.parse(date ?? "");
  if (Number.isNaN(serverMs)) return;
  const foundMs = serverMs - Date.now();
  latestOffsetMs = foundMs;
  const nextMs = Math.abs(foundMs) < TOLERANCE_MS ? 0 : foundMs;
  if (Math.abs(nextMs - offsetMs) < TOLERANCE_MS) return;
  offsetMs = nextMs;
  for (const listener of listeners) listener();
}

/** Milliseconds since the epoch. */
export const serverNow = (): number => Date.now() + offsetMs;

/**
 * The time of the server to the second, at most a second and the way of an answer too early. It may
 * jump with each answer, so it is for times that the server compares with its own, not for display.
 */
export const exactServerNow = (): number => Date.now() + latestOffsetMs;

export const onServerTimeChange = (listener: () => void): void => void listeners.add(listener);
