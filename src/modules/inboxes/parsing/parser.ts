/**
 * Gives tasks to the thread that parses messages. A task has a time limit: beyond it the thread is
 * ended, a new one takes its place, and the tasks that waited behind the slow one run there.
 */

import { Worker } from "node:worker_threads";
import type { Clock } from "../../../lib/clock.ts";
import type { Log } from "../../../lib/log.ts";
import { threadFile } from "../../../lib/thread-file.ts";
import type { Detail } from "../../../checks/detail.ts";
import type { Report } from "../../../protocols/dsn/read-report.ts";
import type { Part } from "../messages/record.ts";
import type { IndexResult, ParserAnswer, ParserResult, ParserTask, Unparsed } from "./tasks.ts";

/** Longest time of one task. */
const LIMIT_MS = 20_000;

const STOPPING = "The server stops.";

const FILE = threadFile(import.meta.url, {
  beside: "./worker.ts",
  inExecutable: "./modules/inboxes/parsing/worker.js",
});

export class ParserError extends Error {}

type Job = {
  task: ParserTask;
  /** Memory of the task that is moved to the thread; the rest is copied. */
  transfer: ArrayBuffer[];
  resolve: (result: ParserResult) => void;
  reject: (error: Error) => void;
};

export type Parser = ReturnType<typeof createParser>;

export function createParser(deps: { clock: Clock; log: Log; limitMs?: number }) {
  const { clock, log, limitMs = LIMIT_MS } = deps;
  const waiting: Job[] = [];
  let running: { id: number; job: Job; cancelLimit: () => void } | null = null;
  let worker: Worker | null = null;
  let lastId = 0;
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

  function runNext(): void {
    if (running !== null || isClosed) return;
    const job = waiting.shift();
    if (job === undefined) return;
    worker ??= startWorker();
    const id = ++lastId;
    const cancelLimit = clock.after(limitMs, () => replaceWorker("it took too long"));
    running = { id, job, cancelLimit };
    worker.postMessage({ id, task: job.task }, job.transfer);
  }

  function finish(answer: ParserAnswer): void {
    if (running === null || running.id !== answer.id) return;
    const { job, cancelLimit } = running;
    running = null;
    cancelLimit();
    if (answer.ok) job.resolve(answer.result);
    else job.reject(new ParserError(answer.reason));
    runNext();
  }

  /** Ends the thread; the task that ran there fails. */
  function replaceWorker(reason: string): void {
    const failed = running;
    running = null;
    void worker?.terminate();
    worker = null;
    if (failed !== null) {
      failed.cancelLimit();
      log.warn("a message could not be parsed", { reason });
      failed.job.reject(new ParserError(`The message cannot be parsed: ${reason}.`));
    }
    runNext();
  }

  const run = (task: ParserTask, transfer: ArrayBuffer[] = []): Promise<ParserResult> =>
    new Promise((resolve, reject) => {
      if (isClosed) return reject(new ParserError(STOPPING));
      waiting.push({ task, transfer, resolve, reject });
      runNext();
    });

  async function parts(
    raw: Uint8Array,
    partIds: readonly string[],
  ): Promise<ReadonlyMap<string, Uint8Array>> {
    return (await run({ kind: "parts", raw, partIds })).parts ?? new Map();
  }

  // All functions but `read` and `report` reject with ParserError if the task fails or takes too long.
  return {
    /** The parts of a message that are shown, and its files; null if it cannot be parsed. */
    async read(raw: Uint8Array): Promise<(Detail & { parts: Part[] }) | null> {
      try {
        const { detail } = await run({ kind: "detail", raw, hasLineEnds: false });
        const { copies, buffer } = copyTogether([{ raw, recipients: [] }]);
        const { index = [] } = await run({ kind: "index", messages: copies }, [buffer]);
        const [result] = index;
        if (detail === undefined || result?.ok !== true) return null;
        return { ...detail, parts: result.parsed.parts };
      } catch (error) {
        if (error instanceof ParserError) return null;
        throw error;
      }
    },

    async index(messages: readonly Unparsed[]): Promise<IndexResult[]> {
      const { copies, buffer } = copyTogether(messages);
      return (await run({ kind: "index", messages: copies }, [buffer])).index ?? [];
    },

    /** Lines end with LF, or as in the message if `hasLineEnds` is true. */
    async detail(raw: Uint8Array, { hasLineEnds = false } = {}): Promise<Detail> {
      const { detail } = await run({ kind: "detail", raw, hasLineEnds });
      if (detail === undefined) throw new ParserError("The parser returned no result.");
      return detail;
    },

    /** What the message reports about mail that we sent; null if it cannot be read. */
    async report(raw: Uint8Array): Promise<Report | null> {
      try {
        return (await run({ kind: "report", raw })).report ?? null;
      } catch (error) {
        if (error instanceof ParserError) return null;
        throw error;
      }
    },

    /** Resolves to null if the message has no such part. */
    async part(raw: Uint8Array, partId: string): Promise<Uint8Array | null> {
      return (await parts(raw, [partId])).get(partId) ?? null;
    },

    /** The contents of the parts that the message has, by their ids. */
    parts,

    /** Ends the thread. Tasks that wait fail. */
    async close(): Promise<void> {
      isClosed = true;
      const jobs = [...(running === null ? [] : [running.job]), ...waiting.splice(0)];
      running?.cancelLimit();
      running = null;
      for (const job of jobs) job.reject(new ParserError(STOPPING));
      await worker?.terminate();
      worker = null;
    },
  };
}

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
