/**
 * Limits how many tasks of one owner (a project) run at the same time. Its other tasks wait, those of
 * higher priority first; tasks of other owners do not wait for them.
 */

import PQueue from "p-queue";

type OwnerQueues = {
  run<T>(owner: number, task: () => Promise<T>, priority?: number): Promise<T>;
};

export function createOwnerQueues(maxPerOwner: number): OwnerQueues {
  const queues = new Map<number, PQueue>();
  return {
    async run(owner, task, priority = 0) {
      const queue = queues.get(owner) ?? new PQueue({ concurrency: maxPerOwner });
      queues.set(owner, queue);
      try {
        return await queue.add(task, { priority });
      } finally {
        const isIdle = queue.size + queue.pending === 0;
        if (isIdle && queues.get(owner) === queue) queues.delete(owner);
      }
    },
  };
}
