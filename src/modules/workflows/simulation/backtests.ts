/**
 * Backtests: the entries and mails that a workflow would have had with the events of the last days,
 * as if it had been enabled at their beginning, when no contact had entered it. In order:
 *
 * 1. `startBacktest` checks the workflow and answers at once; the rest runs in the background.
 * 2. The contacts that had the event of the trigger are found by an index.
 * 3. Their events are read and replayed in a thread (replay.ts), some hundred contacts at a time: a
 *    contact's executions depend on its own events alone. The counts of all groups are added.
 *
 * A project has one backtest at a time. The last one of each project is kept in memory.
 */

import type { App } from "../../../core/app.ts";
import type { Project } from "../../../http/admission.ts";
import { AppError, validationError } from "../../../lib/errors.ts";
import { newId } from "../../../lib/id.ts";
import { describeError } from "../../../lib/log.ts";
import { perApp } from "../../../lib/per-app.ts";
import { nextTime } from "../cron.ts";
import { type Graph, triggerEventOf, triggerOf } from "../graph/graph.ts";
import type { WorkflowPatch } from "../model.ts";
import type { WorkflowRow } from "../store.ts";
import { workflowService } from "../service.ts";
import { approximationsOf } from "./approximations.ts";
import { type Needs, needsOf } from "./needs.ts";
import { addCounts, NOTHING_REPLAYED, type ReplayCounts } from "./replay-counts.ts";
import {
  namesToRead,
  readContactEvents,
  readContactRows,
  readContactsUntil,
  readContactsWith,
  readProjectRows,
} from "./rows.ts";
import type { SandboxInput } from "./sandbox.ts";
import { runReplay } from "./threads.ts";

type BacktestStatus = "RUNNING" | "COMPLETED" | "FAILED" | "CANCELLED";

export type BacktestState = {
  id: string;
  workflowId: string;
  days: number;
  from: number;
  until: number;
  status: BacktestStatus;
  /** Contacts that were replayed, of all. */
  done: number;
  total: number;
  counts: ReplayCounts;
  approximations: string[];
  error: string | null;
};

/** A plan of a backtest that has been checked. */
type Plan = {
  row: WorkflowRow;
  graph: Graph;
  patch: WorkflowPatch;
  needs: Needs;
  /** The times at which a schedule starts the workflow. */
  entryTimes: readonly number[];
};

const DAY_MS = 24 * 60 * 60_000;
const MAX_CONTACTS = 500_000;
/** Times of a schedule; at each one the segment is evaluated for each contact. */
const MAX_ENTRY_TIMES = 1_000;
/** Contacts that are replayed together. Each group opens a new sandbox, which takes some milliseconds. */
const GROUP = 500;
const LIMIT_MS = 15 * 60_000;
const MAX_KEPT = 50;

/** The last backtest of each project, the oldest first. */
const backtests = perApp(() => new Map<number, BacktestState>());

/** Throws 404 for an unknown workflow, 422 for an invalid change of it, 409 while another one runs. */
export function startBacktest(
  app: App,
  project: Project,
  workflowId: string,
  { days, workflow: patch = {} }: { days: number; workflow?: WorkflowPatch | undefined },
): BacktestState {
  const { row, graph } = checkedDraft(app, project, workflowId, patch);
  const last = backtests(app).get(project.seq);
  if (last?.status === "RUNNING") throw isRunning();
  const until = app.clock.now();
  const needs = needsOf(app, project.seq, graph);
  const from = until - days * DAY_MS;
  const entryTimes = entryTimesOf(graph, from, until);
  const state: BacktestState = {
    id: newId(until),
    workflowId: row.id,
    days,
    from,
    until,
    status: "RUNNING",
    done: 0,
    total: 0,
    counts: NOTHING_REPLAYED,
    approximations: approximationsOf(app, project.seq, { graph, needs, from }),
    error: null,
  };
  keep(app, project.seq, state);
  void run(app, project, state, { row, graph, patch, needs, entryTimes });
  return state;
}

/** The graph of the workflow with the changes of a request, whose errors name the field `workflow`. */
export function checkedDraft(
  app: App,
  project: Project,
  workflowId: string,
  patch: WorkflowPatch,
): { row: WorkflowRow; graph: Graph } {
  try {
    return workflowService(app).draft(project.seq, workflowId, patch);
  } catch (error) {
    if (!(error instanceof AppError) || error.errors === undefined) throw error;
    throw validationError(error.errors.map((e) => ({ ...e, field: `workflow.${e.field}` })));
  }
}

/** The last backtest of a workflow; null if there is none, or if one of another workflow came later. */
export function findBacktest(app: App, project: Project, workflowId: string): BacktestState | null {
  const { id } = workflowService(app).get(project.seq, workflowId);
  const last = backtests(app).get(project.seq);
  return last?.workflowId === id ? last : null;
}

/** Ends the backtest of a workflow that runs. Throws 409 if none does. */
export function cancelBacktest(app: App, project: Project, workflowId: string): BacktestState {
  const state = findBacktest(app, project, workflowId);
  if (state?.status !== "RUNNING") {
    throw new AppError(409, "INVALID_STATE", "No backtest of this workflow is running.", {
      suggestion: "Start one with POST /workflows/{id}/backtest.",
    });
  }
  state.status = "CANCELLED";
  return state;
}

function keep(app: App, projectSeq: number, state: BacktestState): void {
  const kept = backtests(app);
  kept.delete(projectSeq);
  kept.set(projectSeq, state);
  for (const [seq, { status }] of kept) {
    if (kept.size <= MAX_KEPT) return;
    if (status !== "RUNNING") kept.delete(seq);
  }
}

async function run(app: App, project: Project, state: BacktestState, plan: Plan): Promise<void> {
  try {
    await replayAll(app, project, state, plan);
    if (state.status === "RUNNING") state.status = "COMPLETED";
  } catch (error) {
    const isExpected = error instanceof AppError;
    if (!isExpected) {
      const workflow = state.workflowId;
      app.log.error("a backtest failed unexpectedly", { workflow, error: describeError(error) });
    }
    state.status = "FAILED";
    state.error = isExpected ? error.message : "An unexpected error of the server; see its log.";
  }
}

/** Adds the counts of one group of contacts after the other to the state. */
async function replayAll(
  app: App,
  project: Project,
  state: BacktestState,
  { row, graph, patch, needs, entryTimes }: Plan,
): Promise<void> {
  const { seq: projectSeq } = project;
  const endsAt = app.clock.elapsed() + LIMIT_MS;
  const contacts = await contactsOf(app, projectSeq, state, graph);
  state.total = contacts.length;
  const names = await namesToRead(app, projectSeq, needs);
  const shared = await readProjectRows(app, row, needs);
  let size = GROUP;
  while (state.done < contacts.length && state.status === "RUNNING") {
    if (app.clock.elapsed() > endsAt) throw tooSlow();
    const group = contacts.slice(state.done, state.done + size);
    const of = { projectSeq, workflowSeq: row.seq };
    const { events, share } = await readContactEvents(app, of, group, names);
    if (share > 1 && group.length > 1) {
      size = Math.max(1, Math.floor(group.length / (2 * share)));
      continue;
    }
    if (share > 1) add(state.approximations, LONG_HISTORY);
    const own = await readContactRows(app, projectSeq, group, needs);
    const sandbox = sandboxOf(app, row, { patch, tables: [...shared, ...own] });
    const { from, until } = state;
    const replayed = await runReplay(app, projectSeq, {
      kind: "replay",
      sandbox,
      graph,
      events,
      from,
      until,
      entryTimes,
      contactSeqs: group,
    });
    state.counts = addCounts(state.counts, replayed);
    state.done += group.length;
    if (share < 0.5) size = Math.min(2 * size, GROUP);
  }
}

/** The contacts that could enter the workflow. */
async function contactsOf(
  app: App,
  projectSeq: number,
  { from, until }: BacktestState,
  graph: Graph,
): Promise<number[]> {
  const name = triggerEventOf(triggerOf(graph));
  const limit = MAX_CONTACTS + 1;
  const found =
    name === null
      ? await readContactsUntil(app, projectSeq, { until, limit })
      : await readContactsWith(app, projectSeq, { name, from, until, limit });
  if (found.length > MAX_CONTACTS) throw tooMany();
  return found;
}

/** The times of a schedule in the period. Throws 409 for too many, and for a workflow without events. */
function entryTimesOf(graph: Graph, from: number, until: number): number[] {
  const trigger = triggerOf(graph);
  if ("eventName" in trigger) return [];
  if (!("cron" in trigger)) throw isManual();
  const times: number[] = [];
  for (
    let at = nextTime(trigger, from - 1);
    at !== null && at <= until;
    at = nextTime(trigger, at)
  ) {
    if (times.length === MAX_ENTRY_TIMES) throw tooOften();
    times.push(at);
  }
  return times;
}

/** The input that all sandboxes of a workflow share. */
export function sandboxOf(
  app: App,
  { projectSeq, id: workflowId }: WorkflowRow,
  given: Pick<SandboxInput, "patch" | "tables">,
): Omit<SandboxInput, "startAt"> {
  const { url, trackingUrl, requireVerifiedDomain, allowPrivateAddresses } = app.config;
  return {
    config: { url, trackingUrl, requireVerifiedDomain, allowPrivateAddresses },
    url: app.url,
    projectSeq,
    workflowId,
    ...given,
  };
}

function add(list: string[], text: string): void {
  if (!list.includes(text)) list.push(text);
}

const LONG_HISTORY =
  "Of contacts with more than 20,000 events, or 16 MiB of their data, only the newest ones count.";

function isRunning(): AppError {
  return new AppError(409, "CONFLICT", "Another backtest of this project is running.", {
    suggestion: "Wait until it has ended, or cancel it with POST /workflows/{id}/backtest/cancel.",
  });
}

function tooMany(): AppError {
  const message = `More than ${MAX_CONTACTS} contacts could enter the workflow in this time.`;
  return new AppError(409, "CONFLICT", message, { suggestion: "Choose fewer days." });
}

function tooOften(): AppError {
  const message = `The schedule has more than ${MAX_ENTRY_TIMES} times in this period.`;
  return new AppError(409, "CONFLICT", message, { suggestion: "Choose fewer days." });
}

function isManual(): AppError {
  const message = "The workflow is only started by hand, so no recorded event starts it.";
  return new AppError(409, "INVALID_STATE", message, {
    suggestion:
      "Simulate it for a contact, or try it with a trigger of the type EVENT or SCHEDULE.",
  });
}

function tooSlow(): AppError {
  const message = `The backtest was stopped after ${LIMIT_MS / 60_000} minutes. Choose fewer days.`;
  return new AppError(503, "SERVICE_UNAVAILABLE", message);
}
