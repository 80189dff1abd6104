/**
 * Backtests that run in the background. A project has one at a time, of a workflow or of a segment, and
 * the last one of each project is kept in memory. Contacts are replayed in threads, some hundred at a
 * time: what happens to a contact depends on its own events alone.
 */

import type { App } from "../../../core/app.ts";
import { isoTime } from "../../../lib/clock.ts";
import { AppError } from "../../../lib/errors.ts";
import { newId } from "../../../lib/id.ts";
import { describeError } from "../../../lib/log.ts";
import { perApp } from "../../../lib/per-app.ts";
import type { ReplayCounts } from "./replay-counts.ts";
import { readContactEvents } from "./rows.ts";
import type { MemberCounts } from "./segment-replay.ts";

type BacktestStatus = "RUNNING" | "COMPLETED" | "FAILED" | "CANCELLED";

export type BacktestRun = {
  id: string;
  /** Id of the workflow or the segment. */
  subjectId: string;
  days: number;
  from: number;
  until: number;
  status: BacktestStatus;
  /** Contacts that were replayed, of all. */
  done: number;
  total: number;
  approximations: string[];
  error: string | null;
};

export type WorkflowRun = BacktestRun & { kind: "workflow"; counts: ReplayCounts };
export type SegmentRun = BacktestRun & { kind: "segment"; counts: MemberCounts };
type AnyBacktest = WorkflowRun | SegmentRun;

export const DAY_MS = 24 * 60 * 60_000;
export const MAX_CONTACTS = 500_000;
/** Contacts that are replayed together. Each group opens a new sandbox, which takes some milliseconds. */
const GROUP = 500;
const LIMIT_MS = 15 * 60_000;
const MAX_KEPT = 50;

/** The last backtest of each project, the oldest first. */
const backtests = perApp(() => new Map<number, AnyBacktest>());

/** Throws 409 while a backtest of the project runs. */
export function ensureNoBacktest(app: App, projectSeq: number): void {
  const last = backtests(app).get(projectSeq);
  if (last?.status !== "RUNNING") return;
  const path = `/${last.kind}s/${last.subjectId}/backtest/cancel`;
  throw new AppError(409, "CONFLICT", "Another backtest of this project is running.", {
    suggestion: `Wait until it has ended, or cancel it with POST ${path}.`,
  });
}

export const newRun = (
  subjectId: string,
  period: Pick<BacktestRun, "days" | "from" | "until">,
  approximations: string[],
): BacktestRun => ({
  id: newId(period.until),
  subjectId,
  ...period,
  status: "RUNNING",
  done: 0,
  total: 0,
  approximations,
  error: null,
});

/** Keeps the state and runs `work` in the background, which adds its counts to the state. */
export function runBacktest(
  app: App,
  projectSeq: number,
  state: AnyBacktest,
  work: () => Promise<void>,
): void {
  keep(app, projectSeq, state);
  void untilItEnds(app, state, work);
}

function keep(app: App, projectSeq: number, state: AnyBacktest): void {
  const kept = backtests(app);
  kept.delete(projectSeq);
  kept.set(projectSeq, state);
  for (const [seq, { status }] of kept) {
    if (kept.size <= MAX_KEPT) return;
    if (status !== "RUNNING") kept.delete(seq);
  }
}

async function untilItEnds(app: App, state: AnyBacktest, work: () => Promise<void>): Promise<void> {
  try {
    await work();
    if (state.status === "RUNNING") state.status = "COMPLETED";
  } catch (error) {
    const isExpected = error instanceof AppError;
    if (!isExpected) {
      const { kind, subjectId } = state;
      const details = { [kind]: subjectId, error: describeError(error) };
      app.log.error("a backtest failed unexpectedly", details);
    }
    // One that was cancelled stays so, even if the group of contacts that was under way fails.
    if (state.status !== "RUNNING") return;
    state.status = "FAILED";
    state.error = isExpected ? error.message : "An unexpected error of the server; see its log.";
  }
}

/** The last backtest of a project if it is one of this workflow. */
export function lastWorkflowBacktest(app: App, projectSeq: number, subjectId: string) {
  const last = backtests(app).get(projectSeq);
  return last?.kind === "workflow" && last.subjectId === subjectId ? last : null;
}

/** The last backtest of a project if it is one of this segment. */
export function lastSegmentBacktest(app: App, projectSeq: number, subjectId: string) {
  const last = backtests(app).get(projectSeq);
  return last?.kind === "segment" && last.subjectId === subjectId ? last : null;
}

/** Ends a backtest. Throws 409 if it does not run. */
export function cancelRun<State extends BacktestRun>(
  state: State | null,
  kind: AnyBacktest["kind"],
): State {
  if (state?.status !== "RUNNING") {
    throw new AppError(409, "INVALID_STATE", `No backtest of this ${kind} is running.`, {
      suggestion: `Start one with POST /${kind}s/{id}/backtest.`,
    });
  }
  state.status = "CANCELLED";
  return state;
}

type Group = { contactSeqs: readonly number[]; events: string };

/**
 * Reads the events of some hundred contacts after the other and calls `replay` with them, until all were
 * replayed or the backtest was cancelled. A group whose events are too many is divided.
 */
export async function replayGroups(
  app: App,
  state: BacktestRun,
  input: {
    projectSeq: number;
    contacts: readonly number[];
    /** Names of the events to read. */
    names: readonly string[];
    /** Events that were caused by this workflow are left out. */
    workflowSeq?: number;
    /** Most contacts of a group. */
    maxGroup?: number;
  },
  replay: (group: Group) => Promise<void>,
): Promise<void> {
  const { projectSeq, contacts, names, workflowSeq = NO_WORKFLOW, maxGroup = GROUP } = input;
  const largest = Math.min(maxGroup, GROUP);
  const endsAt = app.clock.elapsed() + LIMIT_MS;
  state.total = contacts.length;
  let size = largest;
  while (state.done < contacts.length && state.status === "RUNNING") {
    if (app.clock.elapsed() > endsAt) throw tooSlow();
    const contactSeqs = contacts.slice(state.done, state.done + size);
    const of = { projectSeq, workflowSeq };
    const { events, share } = await readContactEvents(app, of, contactSeqs, names);
    if (share > 1 && contactSeqs.length > 1) {
      size = Math.max(1, Math.floor(contactSeqs.length / (2 * share)));
      continue;
    }
    if (share > 1 && !state.approximations.includes(LONG_HISTORY)) {
      state.approximations.push(LONG_HISTORY);
    }
    await replay({ contactSeqs, events });
    state.done += contactSeqs.length;
    if (share < 0.5) size = Math.min(2 * size, largest);
  }
}

/** No workflow has this number. */
const NO_WORKFLOW = 0;

const LONG_HISTORY =
  "Of contacts with more than 20,000 events, or 16 MiB of their data, only the newest ones count.";

function tooSlow(): AppError {
  const message = `The backtest was stopped after ${LIMIT_MS / 60_000} minutes. Choose fewer days.`;
  return new AppError(503, "SERVICE_UNAVAILABLE", message);
}

/** The part of an answer that backtests of both kinds have. */
export const presentRun = (state: BacktestRun) => ({
  id: state.id,
  status: state.status,
  days: state.days,
  from: isoTime(state.from),
  until: isoTime(state.until),
  progress: { done: state.done, total: state.total },
  error: state.error,
  approximations: state.approximations,
});
