/**
 * Limits how many tasks of one owner (a project or a client) run at the same time. Its other tasks
 * wait, those of higher priority first; tasks of other owners do not wait for them.
 */

import PQueue from "p-queue";

type OwnerQueues<Owner> = {
  run<T>(owner: Owner, task: () => Promise<T>, priority?: number): Promise<T>;
};

export function createOwnerQueues<Owner = number>(maxPerOwner: number): OwnerQueues<Owner> {
  const queues = new Map<Owner, PQueue>();
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
