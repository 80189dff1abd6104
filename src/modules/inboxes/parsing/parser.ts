/**
 * Gives tasks to the thread that parses messages. A task has a time limit: beyond it the thread is
 * ended, a new one takes its place, and the tasks that waited behind the slow one run there.
 *
 * Each task belongs to a sender (lib/message-senders.ts). Senders take turns,
 * one task each, so the many messages of one sender delay those of another by one task. A sender whose
 * task took long is slow for some minutes. Its tasks run when nothing else waits, or in a fifth of the
 * time; the task that took long is tried once more then, with more time.
 */

import { Worker } from "node:worker_threads";
import type { Clock } from "../../../lib/clock.ts";
import { ExpiringMap } from "../../../lib/expiring-map.ts";
import type { Log } from "../../../lib/log.ts";
import { threadFile } from "../../../lib/thread-file.ts";
import type { Detail } from "../../../checks/detail.ts";
import type { Report } from "../../../protocols/dsn/read-report.ts";
import type { Addresses, Part } from "../messages/record.ts";
import type { IndexResult, ParserAnswer, ParserResult, ParserTask, Unparsed } from "./tasks.ts";
import type { App } from "../../../core/app.ts";
import { perApp } from "../../../lib/per-app.ts";

/** Longest time of a task. */
const LIMIT_MS = 5_000;
/** Longest time of a task that is tried again, or that cannot be. */
const LAST_LIMIT_MS = 20_000;
/** The time for which a sender counts as slow after a task that took long. */
const SLOW_FOR_MS = 10 * 60_000;
const MAX_SLOW_SENDERS = 10_000;
/** After a task of a slow sender, others have the thread for so many times its duration. */
const SLOW_PAUSE_FACTOR = 4;

const STOPPING = "The server stops.";

const FILE = threadFile(import.meta.url, {
  beside: "./worker.ts",
  inExecutable: "./modules/inboxes/parsing/worker.js",
});

export class ParserError extends Error {}

type Job = {
  sender: string;
  /** Whether an earlier try took too long. */
  isRetry: boolean;
  task: ParserTask;
  /** Memory of the task that is moved to the thread; the rest is copied. */
  transfer: ArrayBuffer[];
  resolve: (result: ParserResult) => void;
  reject: (error: Error) => void;
};

/** The parts of a message that are shown, its files, and the addresses of its header. */
type ReadParts = Detail & { parts: Part[]; addresses: Addresses };

export type Parser = ReturnType<typeof createParser>;

export const mailParser = perApp((app: App) => createParser(app));

export function createParser(deps: { clock: Clock; log: Log }) {
  const { clock, log } = deps;
  /** The jobs that wait, by sender; the sender whose turn is next comes first. */
  const waiting = new Map<string, Job[]>();
  const slowSenders = new ExpiringMap<true>({ maxEntries: MAX_SLOW_SENDERS, clock });
  let running: { id: number; job: Job; startedAt: number; cancelLimit: () => void } | null = null;
  let worker: Worker | null = null;
  let lastId = 0;
  let lastSender = "";
  /** When a task of a slow sender may run although others wait, by `Clock.elapsed`. */
  let slowAllowedAt = 0;
  let isClosed = false;

  function startWorker(): Worker {
    const started = new Worker(FILE);
    started.on("message", (answer: ParserAnswer) => finish(answer));
    started.on("error", (error: unknown) => {
      if (worker === started) replaceWorker(error instanceof Error ? error.message : String(error));
    });
    started.unref();
    return started;
  }

  const isSlow = (sender: string): boolean => slowSenders.get(sender) !== undefined;

  function add(job: Job): void {
    const jobs = waiting.get(job.sender);
    if (jobs === undefined) waiting.set(job.sender, [job]);
    else jobs.push(job);
  }

  function takeNext(): Job | undefined {
    moveToEnd(lastSender);
    const quick = waiting.keys().find((each) => !isSlow(each));
    const slow = waiting.keys().find(isSlow);
    const isSlowAllowed = quick === undefined || clock.elapsed() >= slowAllowedAt;
    const sender = isSlowAllowed ? (slow ?? quick) : quick;
    if (sender === undefined) return undefined;
    lastSender = sender;
    const jobs = waiting.get(sender) ?? [];
    const job = jobs.shift();
    if (jobs.length === 0) waiting.delete(sender);
    return job;
  }

  /** The sender whose task has ended waits behind all others. */
  function moveToEnd(sender: string): void {
    const jobs = waiting.get(sender);
    waiting.delete(sender);
    if (jobs !== undefined) waiting.set(sender, jobs);
  }

  /** Ends the task that runs; it is tried again if its memory was not moved to the thread. */
  function endLong(): void {
    const job = running?.job;
    if (job === undefined) return;
    slowSenders.set(job.sender, true, SLOW_FOR_MS);
    if (isLastTry(job)) return replaceWorker("it took too long");
    leave();
    add({ ...job, isRetry: true });
    replaceWorker("it took long");
  }

  /** The task that runs leaves the thread. */
  function leave(): Job | null {
    if (running === null) return null;
    const { job, startedAt, cancelLimit } = running;
    running = null;
    cancelLimit();
    const now = clock.elapsed();
    if (isSlow(job.sender)) slowAllowedAt = now + SLOW_PAUSE_FACTOR * (now - startedAt);
    return job;
  }

  function runNext(): void {
    if (running !== null || isClosed) return;
    const job = takeNext();
    if (job === undefined) return;
    worker ??= startWorker();
    const id = ++lastId;
    const cancelLimit = clock.after(isLastTry(job) ? LAST_LIMIT_MS : LIMIT_MS, endLong);
    running = { id, job, startedAt: clock.elapsed(), cancelLimit };
    worker.postMessage({ id, task: job.task }, job.transfer);
  }

  function finish(answer: ParserAnswer): void {
    if (running === null || running.id !== answer.id) return;
    const job = leave();
    if (answer.ok) job?.resolve(answer.result);
    else job?.reject(new ParserError(answer.reason));
    runNext();
  }

  /** Ends the thread; the task that ran there fails. */
  function replaceWorker(reason: string): void {
    const failed = leave();
    void worker?.terminate();
    worker = null;
    if (failed !== null) {
      log.warn("a message could not be parsed", { reason });
      failed.reject(new ParserError(`The message cannot be parsed: ${reason}.`));
    }
    runNext();
  }

  const run = (
    sender: string,
    task: ParserTask,
    transfer: ArrayBuffer[] = [],
  ): Promise<ParserResult> =>
    new Promise((resolve, reject) => {
      if (isClosed) return reject(new ParserError(STOPPING));
      add({ sender, isRetry: false, task, transfer, resolve, reject });
      runNext();
    });

  async function parts(
    raw: Uint8Array,
    partIds: readonly string[],
    sender: string,
  ): Promise<ReadonlyMap<string, Uint8Array>> {
    return (await run(sender, { kind: "parts", raw, partIds })).parts ?? new Map();
  }

  // All functions but `read` and `report` reject with ParserError if the task fails or takes too long.
  return {
    /** The parts of a message that are shown, and its files; null if it cannot be parsed. */
    async read(raw: Uint8Array, sender: string): Promise<ReadParts | null> {
      try {
        const { detail } = await run(sender, { kind: "detail", raw, hasLineEnds: false });
        const { copies, buffer } = copyTogether([{ raw, recipients: [] }]);
        const { index = [] } = await run(sender, { kind: "index", messages: copies }, [buffer]);
        const [result] = index;
        if (detail === undefined || result?.ok !== true) return null;
        const { parts, addresses } = result.parsed;
        return { ...detail, parts, addresses };
      } catch (error) {
        if (error instanceof ParserError) return null;
        throw error;
      }
    },

    async index(messages: readonly Unparsed[], sender: string): Promise<IndexResult[]> {
      const { copies, buffer } = copyTogether(messages);
      return (await run(sender, { kind: "index", messages: copies }, [buffer])).index ?? [];
    },

    /** Whether a task of the sender took too long in the last minutes. */
    isSlow,

    /** Lines end with LF, or as in the message if `hasLineEnds` is true. */
    async detail(
      raw: Uint8Array,
      { sender, hasLineEnds }: { sender: string; hasLineEnds: boolean },
    ): Promise<Detail> {
      const { detail } = await run(sender, { kind: "detail", raw, hasLineEnds });
      if (detail === undefined) throw new ParserError("The parser returned no result.");
      return detail;
    },

    /** Reads the report of the message about mail that we sent; null if it cannot be read. */
    async report(raw: Uint8Array, sender: string): Promise<Report | null> {
      try {
        return (await run(sender, { kind: "report", raw })).report ?? null;
      } catch (error) {
        if (error instanceof ParserError) return null;
        throw error;
      }
    },

    /** Resolves to null if the message has no such part. */
    async part(raw: Uint8Array, partId: string, sender: string): Promise<Uint8Array | null> {
      return (await parts(raw, [partId], sender)).get(partId) ?? null;
    },

    /** The contents of the parts that the message has, by their ids. */
    parts,

    /** Ends the thread. Tasks that wait fail. */
    async close(): Promise<void> {
      isClosed = true;
      const jobs = [
        ...(running === null ? [] : [running.job]),
        ...waiting.values().toArray().flat(),
      ];
      waiting.clear();
      running?.cancelLimit();
      running = null;
      for (const job of jobs) job.reject(new ParserError(STOPPING));
      await worker?.terminate();
      worker = null;
    },
  };
}

const isLastTry = ({ isRetry, transfer }: Job): boolean => isRetry || transfer.length > 0;

/** Copies the messages into one buffer, which is moved to the thread without a further copy. */
function copyTogether(messages: readonly Unparsed[]): { copies: Unparsed[]; buffer: ArrayBuffer } {
  const buffer = new ArrayBuffer(messages.reduce((sum, { raw }) => sum + raw.byteLength, 0));
  let end = 0;
  const copies = messages.map(({ raw, recipients }) => {
    const copy = new Uint8Array(buffer, end, raw.byteLength);
    copy.set(raw);
    end += raw.byteLength;
    return { raw: copy, recipients };
  });
  return { copies, buffer };
}
