/** The threads that simulate workflows and replay recorded events. */

import type { App } from "../../../core/app.ts";
import { AppError } from "../../../lib/errors.ts";
import { perApp } from "../../../lib/per-app.ts";
import { threadFile } from "../../../lib/thread-file.ts";
import { createThreadPool, ThreadPoolError } from "../../../lib/thread-pool.ts";
import type { ReplayTask } from "./replay.ts";
import type { ReplayCounts } from "./replay-counts.ts";
import type { MemberCounts, SegmentReplayTask } from "./segment-replay.ts";
import type { SimulationResult, SimulationTask } from "./simulate.ts";

export type SandboxTask = ReplayTask | SegmentReplayTask | SimulationTask;
export type SandboxResult =
  | { kind: "replay"; counts: ReplayCounts }
  | { kind: "segment"; counts: MemberCounts }
  | ({ kind: "simulation" } & SimulationResult);

/** One for backtests, so that a simulation does not wait for them. Each takes about 100 MB until it ends. */
const MAX_THREADS = 2;
const MAX_WAITING = 16;
const WAIT_MS = 60_000;
const LIMIT_MS = 60_000;
const IDLE_MS = 60_000;
const RETRY_SECONDS = 5;

const FILE = threadFile(import.meta.url, {
  beside: "./worker.ts",
  inExecutable: "./modules/workflows/simulation/worker.js",
});

const threads = perApp(() =>
  createThreadPool<SandboxTask, SandboxResult>({
    file: FILE,
    maxThreads: MAX_THREADS,
    maxOfOwner: MAX_THREADS,
    maxWaiting: MAX_WAITING,
    waitMs: WAIT_MS,
    limitMs: LIMIT_MS,
    idleMs: IDLE_MS,
  }),
);

/** Refuses all work, because the server stops. */
export const closeSandboxes = (app: App): void => threads(app).close();

export async function runSimulation(
  app: App,
  projectSeq: number,
  task: SimulationTask,
): Promise<SimulationResult> {
  const result = await run(app, projectSeq, { isUrgent: true, prepare: () => task });
  if (result.kind !== "simulation") throw new Error("a thread did not simulate");
  return result;
}

export async function runReplay(
  app: App,
  projectSeq: number,
  task: ReplayTask,
): Promise<ReplayCounts> {
  const result = await run(app, projectSeq, { isUrgent: false, prepare: () => task });
  if (result.kind !== "replay") throw new Error("a thread did not replay");
  return result.counts;
}

export async function runSegmentReplay(
  app: App,
  projectSeq: number,
  task: SegmentReplayTask,
): Promise<MemberCounts> {
  const result = await run(app, projectSeq, { isUrgent: false, prepare: () => task });
  if (result.kind !== "segment") throw new Error("a thread did not replay a segment");
  return result.counts;
}

async function run(
  app: App,
  projectSeq: number,
  work: { isUrgent: boolean; prepare: () => SandboxTask },
): Promise<SandboxResult> {
  try {
    return await threads(app).run({ owner: projectSeq, ...work });
  } catch (error) {
    throw error instanceof ThreadPoolError ? refusalOf(error) : error;
  }
}

function refusalOf({ reason, message: cause }: ThreadPoolError): AppError {
  const message = {
    full: "Too many simulations and backtests run at the same time.",
    late: "A simulation, or a part of a backtest, has taken more than a minute.",
    failed: "A simulation or a backtest cannot run right now.",
    stopping: "The server stops.",
  }[reason];
  return new AppError(503, "SERVICE_UNAVAILABLE", message, {
    suggestion: "Choose a shorter time, or try again in a few seconds.",
    headers: { "Retry-After": String(RETRY_SECONDS) },
    cause,
  });
}
