/**
 * Runs a few tasks at once. Waiting tasks are taken from their owners round robin, so that one
 * owner with many tasks delays another by one task only. When the queue is full, the newest task of
 * the owner with the most waiting tasks is evicted.
 */

/** The queue is full, and no task of another owner is evicted for this one. */
export class QueueFullError extends Error {}

type Waiting = { start: () => void; refuse: (error: QueueFullError) => void };

type FairQueue = {
  /** Rejects with QueueFullError if the task cannot wait, also later, when it is evicted. */
  run<T>(owner: string, task: () => Promise<T>): Promise<T>;
};

export function createFairQueue(limits: { running: number; waiting: number }): FairQueue {
  /** Waiting tasks by owner, in round-robin order: the first owner is served next. */
  const queues = new Map<string, Waiting[]>();
  let running = 0;
  let size = 0;

  /** Gives the slot of a task that has ended to the next waiting task, before any new one. */
  function releaseSlot(): void {
    const next = takeNext();
    if (next === undefined) running--;
    else next.start();
  }

  function takeNext(): Waiting | undefined {
    for (const [owner, tasks] of queues) {
      const next = tasks.shift();
      queues.delete(owner);
      if (tasks.length > 0) queues.set(owner, tasks);
      size--;
      return next;
    }
    return undefined;
  }

  /**
   * Evicts the newest task of the owner with the most, if the queue is full. Throws QueueFullError if
   * the new task of `owner` would be the one to evict.
   */
  function evictIfFull(owner: string): void {
    if (size < limits.waiting) return;
    const [largest, tasks] = [...queues].reduce((a, b) => (b[1].length > a[1].length ? b : a));
    const own = queues.get(owner)?.length ?? 0;
    if (own + 1 >= tasks.length) throw new QueueFullError();
    tasks.pop()?.refuse(new QueueFullError());
    if (tasks.length === 0) queues.delete(largest);
    size--;
  }

  function wait(owner: string): Promise<void> {
    evictIfFull(owner);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const tasks = queues.get(owner) ?? [];
    tasks.push({ start: resolve, refuse: reject });
    queues.set(owner, tasks);
    size++;
    return promise;
  }

  return {
    async run(owner, task) {
      if (running >= limits.running) await wait(owner);
      else running++;
      try {
        return await task();
      } finally {
        releaseSlot();
      }
    },
  };
}
