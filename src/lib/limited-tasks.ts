/** Limits how many tasks run at once. Waiting tasks start by urgency, then by arrival. */

/** A task calls `ended` once, at its end. It must not throw. */
type LimitedTask = (ended: () => void) => void;

/** Returns a function that starts a task as soon as fewer than `limit` run. */
export function createTaskLimit(limit: number): (task: LimitedTask, urgency?: number) => void {
  let running = 0;
  /** The waiting tasks, by urgency; each list has the longest waiting one first. */
  const waiting = new Map<number, LimitedTask[]>();

  function end(): void {
    running--;
    if (waiting.size === 0) return;
    const next = takeNext();
    if (next !== undefined) start(next);
  }

  function takeNext(): LimitedTask | undefined {
    const urgency = Math.max(...waiting.keys());
    const tasks = waiting.get(urgency) ?? [];
    const next = tasks.shift();
    if (tasks.length === 0) waiting.delete(urgency);
    return next;
  }

  function start(task: LimitedTask): void {
    running++;
    task(end);
  }

  return (task, urgency = 0) => {
    if (running < limit) return start(task);
    const tasks = waiting.get(urgency) ?? [];
    tasks.push(task);
    waiting.set(urgency, tasks);
  };
}

/**
 * Limits tasks that return a promise. The returned function resolves to the result of its task.
 */
export function createLimitedTasks(
  limit: number,
): <T>(task: () => Promise<T>, urgency?: number) => Promise<T> {
  const run = createTaskLimit(limit);

  return <T>(task: () => Promise<T>, urgency = 0) =>
    new Promise<T>((resolve, reject) => {
      // An error that the task throws before it returns a promise rejects as well.
      const started = async () => task();
      run((ended) => void started().finally(ended).then(resolve, reject), urgency);
    });
}
