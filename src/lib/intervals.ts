/**
 * Runs functions at intervals of a fraction of a second. Intervals that are multiples of 100 ms share
 * one timer, so that a process without work wakes up once for all of them.
 */

/** Runs `run` every `ms` until the returned function is called. */
export type Every = (ms: number, run: () => void) => () => void;

const BEAT_MS = 100;

/** `every` of the platform. Its timers do not keep the process alive. */
export const every: Every = createEvery((ms, run) => {
  const timer = setInterval(run, ms);
  timer.unref();
  return () => clearInterval(timer);
});

export function createEvery(startTimer: Every): Every {
  const runs = new Set<{ beats: number; run: () => void }>();
  let beat = 0;
  let stopBeating = (): void => {};

  function runBeat(): void {
    beat++;
    for (const { beats, run } of runs) if (beat % beats === 0) run();
  }

  return (ms, run) => {
    if (ms % BEAT_MS !== 0) return startTimer(ms, run);
    if (runs.size === 0) stopBeating = startTimer(BEAT_MS, runBeat);
    const started = { beats: ms / BEAT_MS, run };
    runs.add(started);
    return () => {
      if (runs.delete(started) && runs.size === 0) stopBeating();
    };
  };
}
