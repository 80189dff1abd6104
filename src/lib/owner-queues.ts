/**
 * Limits how many tasks of one owner (a project) run at the same time. Its other tasks wait in
 * order; tasks of other owners do not wait for them.
 */

import PQueue from "p-queue";

type OwnerQueues = { run<T>(owner: number, task: () => Promise<T>): Promise<T> };

export function createOwnerQueues(maxPerOwner: number): OwnerQueues {
  const queues = new Map<number, PQueue>();
  return {
    async run(owner, task) {
      const queue = queues.get(owner) ?? new PQueue({ concurrency: maxPerOwner });
      queues.set(owner, queue);
      try {
        return await queue.add(task);
      } finally {
        const isIdle = queue.size + queue.pending === 0;
        if (isIdle && queues.get(owner) === queue) queues.delete(owner);
      }
    },
  };
}
