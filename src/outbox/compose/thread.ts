/**
 * One thread that composes: its start, its batches and their time limit. It has at most two batches,
 * so that it need not wait for the event loop between them.
 */

import { Worker } from "node:worker_threads";
import type { Clock } from "../../lib/clock.ts";
import { cpuMsOfThread, otherThreadsCpuMs } from "../../lib/thread-cpu.ts";
import type { ComposeJob, JobBatch } from "./job-queue.ts";
import type { Prepared } from "./prepare.ts";
import { type ThreadAnswer, createBatchWriter, readResults, type ThreadData } from "./tasks.ts";

/** Longest time until a thread is ready. */
const START_LIMIT_MS = 10_000;
/** Time for an answer that waits because the event loop itself was held. */
const ANSWER_MS = 20;
/** By default, a batch may take this multiple of its limit while other threads have the processors. */
export const MAX_STRETCH = 10;
type Results = ReturnType<typeof readResults>;

export type ThreadEvents = {
  onUp(): void;
  /** The results of the first jobs of a batch, at least one. */
  onResults(thread: Thread, batch: JobBatch, results: Results): void;
  onHeld(): void;
  /**
   * The thread was ended, because the first of its batches exceeded the limit. `hasWorked` is false
   * if it had so little processor time meanwhile that the machine may be overloaded.
   */
  onTimeout(thread: Thread, batches: readonly JobBatch[], hasWorked: boolean): void;
  /** The thread did not start, or it has ended with an error. */
  onFailure(thread: Thread, batches: readonly JobBatch[], reason: string): void;
  onIdle(thread: Thread): void;
};

export type Thread = {
  isUp(): boolean;
  /** Its batches, the one that it works on first. */
  batches: readonly JobBatch[];
  isHeld(): boolean;
  run(batch: JobBatch, signedAt: number): void;
  /** Ends the thread and returns the jobs without results. */
  end(): ComposeJob[];
};

export function createThread(
  options: {
    file: URL;
    data: ThreadData;
    clock: Clock;
    /** A thread that works on a batch for this long is held by it: other mail goes to another thread. */
    heldMs: number;
    /** Longest processor time of a batch. */
    limitMs: number;
    /** Longest time of a batch by the clock, as a multiple of `limitMs`. */
    maxStretch: number;
    /** The thread ends after this time without work. */
    idleMs: number;
  },
  events: ThreadEvents,
): Thread {
  const { file, data, clock, heldMs, limitMs, maxStretch, idleMs } = options;
  const writeBatch = createBatchWriter();
  const batches: JobBatch[] = [];
  /** The number of the thread in the kernel, once it is up. */
  let number: number | null = null;
  let state: "starting" | "up" | "ended" = "starting";
  let isHeld = false;
  let cancelTimer = clock.after(START_LIMIT_MS, () => fail("it did not start in time"));
  const worker = new Worker(file, { workerData: data });
  worker.unref();
  worker.on("message", receive);
  worker.on("error", (error: unknown) => fail(messageOf(error)));
  worker.on("exit", () => fail("it ended by itself"));
  const thread: Thread = {
    isUp: () => state === "up",
    batches,
    isHeld: () => isHeld,
    run(batch, signedAt) {
      batches.push(batch);
      const { text, contents } = writeBatch(batch.jobs, signedAt);
      worker.postMessage({ text, contents });
      if (batches.length === 1) beginFirst();
    },
    end() {
      end();
      return batches.splice(0).flatMap(({ jobs }) => jobs);
    },
  };
  return thread;

  function receive(answer: ThreadAnswer): void {
    if (state === "ended") return;
    if (answer.kind === "up") {
      state = "up";
      number = answer.number;
      beIdle();
      events.onUp();
      return;
    }
    const [batch] = batches;
    const results = readResults(answer);
    if (batch === undefined || results.prepared.length === 0) return fail("it gave a wrong answer");
    batches.shift();
    if (batches.length > 0) beginFirst();
    else beIdle();
    events.onResults(thread, batch, results);
  }

  function beIdle(): void {
    isHeld = false;
    cancelTimer();
    cancelTimer = clock.after(idleMs, () => {
      end();
      events.onIdle(thread);
    });
  }

  /** Begins to measure the time of the first batch. */
  function beginFirst(): void {
    isHeld = false;
    cancelTimer();
    cancelTimer = clock.after(heldMs, () => {
      isHeld = true;
      limitFirst({ beganMs: clock.elapsed(), beganCpuMs: cpuMs() });
      events.onHeld();
    });
  }

  /** Ends the thread once the rest of the limit has passed in processor time. */
  function limitFirst(since: { beganMs: number; beganCpuMs: number }): void {
    const maxMs = limitMs - heldMs;
    const workedMs = cpuMs() - since.beganCpuMs;
    const tookMs = clock.elapsed() - since.beganMs;
    if (workedMs >= maxMs || tookMs >= maxStretch * limitMs) return timeOut(workedMs >= maxMs);
    // The answer may wait in the queue of the event loop.
    cancelTimer = clock.after(maxMs - workedMs + ANSWER_MS, () => limitFirst(since));
  }

  /** The processor time of the thread; where it cannot be read, that of all but the event loop. */
  function cpuMs(): number {
    return cpuMsOfThread(number) ?? otherThreadsCpuMs();
  }

  function timeOut(hasWorked: boolean): void {
    end();
    events.onTimeout(thread, batches.splice(0), hasWorked);
  }

  function fail(reason: string): void {
    if (state === "ended") return;
    end();
    events.onFailure(thread, batches.splice(0), reason);
  }

  function end(): void {
    state = "ended";
    cancelTimer();
    void worker.terminate();
  }
}

/** The result of each job and its processor time, if it took long. Jobs that were not begun have none. */
export function resultsOf(
  { jobs }: JobBatch,
  { prepared, slow }: Results,
): { job: ComposeJob; result: Prepared; ms: number }[] {
  const times = new Map(slow.map(({ number, ms }) => [number, ms]));
  return prepared.flatMap((result, number) => {
    const job = jobs[number];
    return job === undefined ? [] : [{ job, result, ms: times.get(number) ?? 0 }];
  });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
