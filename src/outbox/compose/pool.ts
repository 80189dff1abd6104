/**
 * The threads that compose and sign mail: one for unsigned mail, one per processor core (at most
 * eight) if signed mail waits, and one more while a slow batch runs. They start when there is work,
 * and end after a minute without. In order: a job joins the queue (job-queue.ts); a thread with room
 * takes a batch (thread.ts, worker.ts); its results resolve the jobs; jobs that the thread did not
 * begin go back. Bun cannot limit the memory of a thread; the limits of templates bound it.
 *
 * A batch that exceeds the time limit ends its thread. It is split in halves, which run alone, until
 * one mail is left, and only this mail fails. A thread that fails otherwise gives its jobs to the
 * event loop, and no thread is started for a minute.
 */

import { availableParallelism } from "node:os";
import { callForEach } from "../../lib/callbacks.ts";
import { type Clock, systemClock } from "../../lib/clock.ts";
import type { Log } from "../../lib/log.ts";
import { threadFile } from "../../lib/thread-file.ts";
import type { TokenKeys } from "../../render/letter/tokens.ts";
import { RENDER_LIMIT_MS } from "../../render/template/limits.ts";
import { type Busy, WITHDRAWN } from "../outcome.ts";
import { createFlowCosts, type FlowCosts } from "./flow-costs.ts";
import { createJobQueue, type ComposeJob, type JobBatch } from "./job-queue.ts";
import { createSlowBatches } from "./slow-batches.ts";
import { createThreadSet } from "./thread-set.ts";
import { createThread, MAX_STRETCH, resultsOf, type Thread, type ThreadEvents } from "./thread.ts";

/**
 * A batch may take this much processor time more than one render: a thread continues no batch that
 * has taken a tenth of a second.
 */
const REST_OF_BATCH_MS = 500;
/** A thread that works on a batch for this long is held by it: other mail goes to another thread. */
const HELD_MS = 150;
/** A thread without work ends after this time; it takes tens of megabytes. */
const IDLE_MS = 60_000;
/**
 * Most threads for signed mail. Each signs about 1,500 mails per second, so that more could sign
 * faster than the event loop sends.
 */
const MAX_THREADS = Math.min(availableParallelism(), 8);
/** Batches of one thread: it works on one and has the next one ready. */
const MAX_BATCHES = 2;
/** The number of tries of a mail that is alone in its batch. */
const MAX_TIMEOUTS = 2;

export type PoolDeps = {
  keys: TokenKeys;
  log: Log;
  /** The time at which mail is signed. */
  now: () => number;
  /** Prepares a job on the event loop. */
  prepareHere: (job: ComposeJob) => void;
  /** False while the messages of campaigns take too much memory. */
  mayCompose: () => boolean;
  clock?: Clock | undefined;
  file?: URL | undefined;
  renderLimitMs?: number | undefined;
  limitMs?: number | undefined;
  maxStretch?: number | undefined;
  heldMs?: number | undefined;
  idleMs?: number | undefined;
};

const FILE = threadFile(import.meta.url, {
  beside: "./worker.ts",
  inExecutable: "./outbox/compose/worker.js",
});

export function createPool(deps: PoolDeps) {
  const { log, prepareHere, clock = systemClock, file = FILE } = deps;
  const { renderLimitMs = RENDER_LIMIT_MS, heldMs = HELD_MS, idleMs = IDLE_MS } = deps;
  const { limitMs = renderLimitMs + REST_OF_BATCH_MS, maxStretch = MAX_STRETCH } = deps;
  const { url, linkKey, trackingUrl, trackingKey } = deps.keys;
  const data = { keys: { url, linkKey, trackingUrl, trackingKey }, renderLimitMs };
  const costs = createFlowCosts();
  const queue = createJobQueue(costs);
  const slowBatches = createSlowBatches(clock, schedule);
  const threads = createThreadSet({
    log,
    clock,
    start: () => createThread({ file, data, clock, heldMs, limitMs, maxStretch, idleMs }, events),
  });

  const events: ThreadEvents = {
    onUp: schedule,
    onHeld: schedule,
    onIdle: threads.remove,
    onResults(thread, batch, results) {
      slowBatches.end(thread);
      const ended = resultsOf(batch, results);
      for (const { job, ms } of ended) costs.note(job.flow, ms);
      // A result may withdraw the waiting mails of its campaign, so these are in the queue before.
      queue.putBack(batch.jobs.slice(results.prepared.length));
      callForEach(ended, ({ job, result }) => job.resolve(result), schedule);
    },
    onTimeout(thread, [first, ...others], hasWorked) {
      lose(thread);
      for (const { jobs } of others) queue.putBack(jobs);
      if (first !== undefined) {
        noteTimeout(first, costs, limitMs);
        for (const half of halvesOf(first, hasWorked, limitMs)) queue.addHalf(half);
      }
      schedule();
    },
    onFailure(thread, batches, reason) {
      lose(thread);
      threads.noteFailure(reason);
      callForEach(
        batches.flatMap(({ jobs }) => jobs),
        giveUp,
        schedule,
      );
    },
  };

  function lose(thread: Thread): void {
    threads.remove(thread);
    slowBatches.end(thread);
  }

  /** Gives batches to all threads with room, and starts another one if work is left. */
  function schedule(): void {
    for (const thread of threads.all()) {
      for (let batch = nextFor(thread); batch !== null; batch = nextFor(thread)) {
        thread.run(batch, deps.now());
      }
    }
    const hasSlow = queue.hasSlow() && slowBatches.isFree();
    if (hasSlow || queue.hasOthers()) {
      const needsOneMore = hasSlow || !slowBatches.isFree() || threads.isAnyHeld();
      const usual = queue.hasSigned() ? MAX_THREADS : 1;
      threads.startUpTo(usual + (needsOneMore ? 1 : 0));
    }
    if (!threads.canWork()) queue.takeAll().forEach(giveUp);
  }

  function nextFor(thread: Thread): JobBatch | null {
    const [running] = thread.batches;
    if (!thread.isUp() || thread.batches.length >= MAX_BATCHES) return null;
    const withCampaigns = deps.mayCompose();
    if (running !== undefined) {
      return running.kind === "fast" ? queue.takeNext({ mayBegin: null, withCampaigns }) : null;
    }
    if (slowBatches.isFree() && (threads.hasFreeBeside(thread) || !queue.hasOthers())) {
      const slow = queue.takeSlow({ withCampaigns });
      if (slow !== null) return slowBatches.begin(thread, slow);
    }
    return queue.takeNext({ mayBegin: (flow) => !isTried(flow), withCampaigns });
  }

  /** A new flow has one batch at a time until its cost is known, so that it holds one thread only. */
  function isTried(flow: string): boolean {
    const isOf = ({ kind, jobs }: JobBatch) => kind === "new" && jobs[0]?.flow === flow;
    return [...threads.all()].some(({ batches }) => batches.some(isOf));
  }

  /** For a mail that no thread will prepare. */
  function giveUp(job: ComposeJob): void {
    if (threads.isClosed()) job.resolve(WITHDRAWN);
    else prepareHere(job);
  }

  return {
    isUp: threads.isAnyUp,
    isAvailable: threads.isAvailable,
    /** Starts a thread, because there will be work. */
    warmUp: () => threads.startUpTo(1),
    add(jobs: readonly ComposeJob[]): void {
      jobs.forEach(queue.add);
      schedule();
    },
    /** The mails of a flow that wait for a thread go back to the queue of due mail. */
    withdraw(flow: string): void {
      callForEach(queue.takeFlow(flow), (job) => job.resolve(WITHDRAWN));
    },
    schedule,
    noteCost: costs.note,
    /** If this flow is slow and enough of its mails wait: after which time the next one may. */
    backlogOf(flow: string): Busy | null {
      if (costs.kindOf(flow) !== "slow") return null;
      return slowBatches.backlogOf({ waiting: queue.countOf(flow), meanMs: costs.meanMs(flow) });
    },
    close(): void {
      slowBatches.close();
      callForEach([...threads.close(), ...queue.takeAll()], giveUp);
    },
  };
}

/** The flow of the batch is slow. If it has several flows, which one is slow is not known yet. */
function noteTimeout({ jobs }: JobBatch, costs: FlowCosts, limitMs: number): void {
  const flows = new Set(jobs.map(({ flow }) => flow));
  if (flows.size === 1) for (const flow of flows) costs.note(flow, limitMs);
}

/**
 * The halves of a batch that took too long. A mail that was alone is tried again, or fails.
 * `hasWorked` is false if its thread had too little processor time.
 */
function halvesOf({ jobs }: JobBatch, hasWorked: boolean, limitMs: number): ComposeJob[][] {
  const [job] = jobs;
  if (job === undefined) return [];
  if (jobs.length > 1) {
    const middle = Math.ceil(jobs.length / 2);
    return [jobs.slice(0, middle), jobs.slice(middle)];
  }
  job.timeouts++;
  if (job.timeouts < MAX_TIMEOUTS) return [[job]];
  if (hasWorked) {
    const reason = `The body cannot be rendered: it takes longer than ${limitMs} ms.`;
    job.resolve({ kind: "failed", reason, isTooSlow: true });
  } else {
    const reason = "The message could not be prepared: the machine is overloaded.";
    job.resolve({ kind: "deferred", reason });
  }
  return [];
}
