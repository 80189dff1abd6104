/** Limits how many tasks run at once. Waiting tasks start by urgency, then by arrival. */

/** Returns a function that runs a task as soon as fewer than `limit` run. */
export function createLimitedTasks(
  limit: number,
): <T>(task: () => Promise<T>, urgency?: number) => Promise<T> {
  let running = 0;
  /** The starts of waiting tasks, by urgency; each list has the longest waiting one first. */
  const waiting = new Map<number, (() => void)[]>();

  function end(): void {
    running--;
    if (waiting.size > 0) takeNext()?.();
  }

  function takeNext(): (() => void) | undefined {
    const urgency = Math.max(...waiting.keys());
    const starts = waiting.get(urgency) ?? [];
    const next = starts.shift();
    if (starts.length === 0) waiting.delete(urgency);
    return next;
  }

  async function start<T>(task: () => Promise<T>): Promise<T> {
    running++;
    try {
      return await task();
    } finally {
      end();
    }
  }

  return (task, urgency = 0) => {
    if (running < limit) return start(task);
    return new Promise((resolve, reject) => {
      const starts = waiting.get(urgency) ?? [];
      starts.push(() => void start(task).then(resolve, reject));
      waiting.set(urgency, starts);
    });
  };
}
