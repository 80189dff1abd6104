/**
 * Threads for work that may hold the event loop for long, shared by projects. In order: a job joins
 * the queue of its project, or is refused if that is full; projects take turns, and one project never
 * has all threads; a free thread, or a new one, gets the job; its answer resolves the job. Threads
 * start when they are needed and end after a minute without work.
 *
 * - Urgent jobs of a project come before its others, each kind with a queue of its own length.
 * - The data of a job is made when a thread is free for it, so that jobs that wait take little memory.
 * - A job that waits or runs for too long is refused. The thread that runs it is ended, and the next
 *   job gets another one.
 */

import { Worker } from "node:worker_threads";
import { type Clock, systemClock } from "./clock.ts";
import { hasFreeDescriptors } from "./descriptors.ts";
import { takeRoundRobin } from "./job-round-robin.ts";

type Request<Task> = { id: number; task: Task };
type Answer<Result> =
  { id: number; ok: true; result: Result } | { id: number; ok: false; reason: string };

/**
 * - full: too many jobs of the project wait already, or this one waited for too long.
 * - late: it ran for too long.
 * - failed: its thread could not start, or failed.
 * - stopping: the server stops.
 */
type PoolRefusal = "full" | "late" | "failed" | "stopping";

/** A job was not done. */
export class ThreadPoolError extends Error {
  readonly reason: PoolRefusal;

  constructor(reason: PoolRefusal, cause: string) {
    super(cause);
    this.reason = reason;
  }
}

export type PoolJob<Task> = {
  /** `seq` of the project. */
  owner: number;
  /** Whether it comes before the other jobs of its project. */
  isUrgent: boolean;
  /**
   * Makes the data for the thread, when one is free. Its time counts as time of the job. It must not
   * wait for another job, which could wait for this thread.
   */
  prepare: () => Task | Promise<Task>;
};

type ThreadPool<Task, Result> = {
  /** Rejects with ThreadPoolError, or with the error of `prepare`. */
  run(job: PoolJob<Task>): Promise<Result>;
  /** Ends the threads. All jobs are refused. */
  close(): void;
};

type ThreadPoolOptions = {
  /** The program of the threads; it calls `answerTasks`. */
  file: URL;
  maxThreads: number;
  /** Most threads of one project. */
  maxOfOwner: number;
  /** Most jobs of one project that wait, of each kind. */
  maxWaiting: number;
  /** Longest wait for a thread. */
  waitMs: number;
  /** Longest time of a job by the clock. */
  limitMs: number;
  /** A thread ends after this time without work. */
  idleMs: number;
  clock?: Pick<Clock, "after">;
};

/** The runtime ends the whole process if a thread that starts finds no descriptor. */
const DESCRIPTORS_OF_START = 32;
/** Most threads that were ended and still run: native code ends late. */
const MAX_LOST = 2;

type Job<Task, Result> = PoolJob<Task> & {
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
  cancelWait: () => void;
};

type Thread<Task, Result> = {
  worker: Worker;
  job: Job<Task, Result> | null;
  taskId: number;
  /** Cancels the limit of its job, or its end after a time without work. */
  cancelTimer: () => void;
};

export function createThreadPool<Task, Result>(
  options: ThreadPoolOptions,
): ThreadPool<Task, Result> {
  const { file, maxThreads, maxOfOwner, maxWaiting, waitMs, limitMs, idleMs } = options;
  const { clock = systemClock } = options;
  type OwnJob = Job<Task, Result>;
  type OwnThread = Thread<Task, Result>;
  /** Jobs that wait, by project in the order in which projects get a thread; urgent jobs first. */
  const waiting = new Map<number, OwnJob[]>();
  const threads = new Set<OwnThread>();
  const lost = new Set<Worker>();
  let lastId = 0;
  let isClosed = false;

  function start(): OwnThread {
    if (lost.size >= MAX_LOST) throw new ThreadPoolError("failed", "two threads cannot be ended");
    if (!hasFreeDescriptors(DESCRIPTORS_OF_START)) {
      throw new ThreadPoolError("failed", "too few free descriptors");
    }
    const worker = new Worker(file);
    const thread: OwnThread = { worker, job: null, taskId: 0, cancelTimer() {} };
    worker.on("message", (answer: Answer<Result>) => finish(thread, answer));
    worker.on("error", (error: unknown) => end(thread, failure(error)));
    worker.on("exit", () => {
      end(thread, failure("the thread ended"));
      lost.delete(worker);
    });
    worker.unref();
    threads.add(thread);
    return thread;
  }

  const owners = () => [...threads].map(({ job }) => job?.owner);

  function runNext(): void {
    for (;;) {
      if (isClosed || waiting.size === 0) return;
      const idle = [...threads].find(({ job }) => job === null);
      if (idle === undefined && threads.size >= maxThreads) return;
      const job = takeRoundRobin(waiting, owners(), maxOfOwner);
      if (job === null) return;
      job.cancelWait();
      try {
        void begin(idle ?? start(), job);
      } catch (error) {
        job.reject(error);
      }
    }
  }

  async function begin(thread: OwnThread, job: OwnJob): Promise<void> {
    const id = ++lastId;
    thread.job = job;
    thread.taskId = id;
    thread.cancelTimer();
    thread.cancelTimer = clock.after(limitMs, () =>
      end(thread, new ThreadPoolError("late", "the work took too long")),
    );
    try {
      const task = await job.prepare();
      if (thread.taskId !== id || thread.job === null) return;
      const request: Request<Task> = { id, task };
      thread.worker.postMessage(request);
    } catch (error) {
      if (thread.taskId === id && thread.job !== null) free(thread);
      job.reject(error);
    }
  }

  function finish(thread: OwnThread, answer: Answer<Result>): void {
    const { job, taskId } = thread;
    if (job === null || answer.id !== taskId) return;
    free(thread);
    if (answer.ok) job.resolve(answer.result);
    else job.reject(failure(answer.reason));
  }

  function free(thread: OwnThread): void {
    thread.job = null;
    thread.cancelTimer();
    thread.cancelTimer = clock.after(idleMs, () => end(thread, failure("the thread ended")));
    runNext();
  }

  /** Ends a thread, and refuses its job. */
  function end(thread: OwnThread, error: unknown): void {
    if (!threads.delete(thread)) return;
    const { job, worker } = thread;
    thread.job = null;
    thread.cancelTimer();
    if (job !== null) lost.add(worker);
    void worker.terminate();
    job?.reject(error);
    runNext();
  }

  function enqueue(job: OwnJob): void {
    const others = waiting.get(job.owner) ?? [];
    const urgent = others.filter(({ isUrgent }) => isUrgent).length;
    const ofKind = job.isUrgent ? urgent : others.length - urgent;
    if (ofKind >= maxWaiting) throw new ThreadPoolError("full", "too many jobs wait");
    waiting.set(job.owner, others.toSpliced(job.isUrgent ? urgent : others.length, 0, job));
    job.cancelWait = clock.after(waitMs, () => {
      const left = waiting.get(job.owner)?.filter((other) => other !== job) ?? [];
      if (left.length > 0) waiting.set(job.owner, left);
      else waiting.delete(job.owner);
      job.reject(new ThreadPoolError("full", "no thread was free in time"));
    });
  }

  return {
    run: ({ owner, isUrgent, prepare }) =>
      new Promise((resolve, reject) => {
        if (isClosed) throw new ThreadPoolError("stopping", "the server stops");
        enqueue({ owner, isUrgent, prepare, resolve, reject, cancelWait() {} });
        runNext();
      }),

    close() {
      isClosed = true;
      const refusal = new ThreadPoolError("stopping", "the server stops");
      for (const job of [...waiting.values()].flat()) {
        job.cancelWait();
        job.reject(refusal);
      }
      waiting.clear();
      for (const thread of threads) end(thread, refusal);
    },
  };
}

function failure(error: unknown): ThreadPoolError {
  return new ThreadPoolError("failed", error instanceof Error ? error.message : String(error));
}
