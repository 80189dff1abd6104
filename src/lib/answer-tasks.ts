/** The thread's side of a pool of threads (thread-pool.ts). */

import { parentPort } from "node:worker_threads";

/** Answers each task that the pool sends to this thread, one after the other. */
export function answerTasks(run: (task: never) => unknown): void {
  parentPort?.on("message", ({ id, task }: { id: number; task: never }) => {
    Promise.try(run, task).then(
      (result) => parentPort?.postMessage({ id, ok: true, result }),
      (error: unknown) => {
        const reason = error instanceof Error ? error.message : String(error);
        parentPort?.postMessage({ id, ok: false, reason });
      },
    );
  });
}
