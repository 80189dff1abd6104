/**
 * Backtests of workflows: the entries and mails that a workflow would have had with the events of the
 * last days, as if it had been enabled at their beginning, when no contact had entered it. In order:
 *
 * 1. `startBacktest` checks the workflow and answers at once; the rest runs in the background.
 * 2. The contacts that had the event of the trigger are found by an index.
 * 3. Their events are read and replayed in a thread (replay.ts), a group of contacts after the other
 *    (backtest-runs.ts). The counts of all groups are added.
 */

import type { App } from "../../../core/app.ts";
import type { Project } from "../../../http/admission.ts";
import { AppError, validationError } from "../../../lib/errors.ts";
import { nextTime } from "../cron.ts";
import { type Graph, triggerEventOf, triggerOf } from "../graph/graph.ts";
import type { WorkflowPatch } from "../model.ts";
import type { WorkflowRow } from "../store.ts";
import { workflowService } from "../service.ts";
import { approximationsOf } from "./approximations.ts";
import {
  type BacktestRun,
  cancelRun,
  DAY_MS,
  ensureNoBacktest,
  lastWorkflowBacktest,
  MAX_CONTACTS,
  newRun,
  replayGroups,
  runBacktest,
  type WorkflowRun,
} from "./backtest-runs.ts";
import { type Needs, needsOf } from "./needs.ts";
import { addCounts, NOTHING_REPLAYED } from "./replay-counts.ts";
import {
  namesToRead,
  readContactRows,
  readContactsUntil,
  readContactsWith,
  readProjectRows,
} from "./rows.ts";
import { sandboxSettings } from "./sandbox-app.ts";
import type { SandboxInput } from "./sandbox.ts";
import { runReplay } from "./threads.ts";

/** A plan of a backtest that has been checked. */
type Plan = {
  row: WorkflowRow;
  graph: Graph;
  patch: WorkflowPatch;
  needs: Needs;
  /** The times at which a schedule starts the workflow. */
  entryTimes: readonly number[];
};

/** Times of a schedule; at each one the segment is evaluated for each contact. */
const MAX_ENTRY_TIMES = 1_000;

/** Throws 404 for an unknown workflow, 422 for an invalid change of it, 409 while another one runs. */
export function startBacktest(
  app: App,
  project: Project,
  workflowId: string,
  { days, workflow: patch = {} }: { days: number; workflow?: WorkflowPatch | undefined },
): WorkflowRun {
  const { row, graph } = checkedDraft(app, project, workflowId, patch);
  ensureNoBacktest(app, project.seq);
  const until = app.clock.now();
  const from = until - days * DAY_MS;
  const needs = needsOf(app, project.seq, graph);
  const entryTimes = entryTimesOf(graph, from, until);
  const approximations = approximationsOf(app, project.seq, { graph, needs, from });
  const state: WorkflowRun = {
    kind: "workflow",
    ...newRun(row.id, { days, from, until }, approximations),
    counts: NOTHING_REPLAYED,
  };
  const plan = { row, graph, patch, needs, entryTimes };
  runBacktest(app, project.seq, state, () => replayAll(app, project.seq, state, plan));
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

/** The last backtest of a workflow; null if there is none, or if another one came later. */
export function findBacktest(app: App, project: Project, workflowId: string): WorkflowRun | null {
  const { id } = workflowService(app).get(project.seq, workflowId);
  return lastWorkflowBacktest(app, project.seq, id);
}

/** Ends the backtest of a workflow that runs. Throws 409 if none does. */
export const cancelBacktest = (app: App, project: Project, workflowId: string): WorkflowRun =>
  cancelRun(findBacktest(app, project, workflowId), "workflow");

/** Adds the counts of one group of contacts after the other to the state. */
async function replayAll(
  app: App,
  projectSeq: number,
  state: WorkflowRun,
  { row, graph, patch, needs, entryTimes }: Plan,
): Promise<void> {
  const { from, until } = state;
  const contacts = await contactsOf(app, projectSeq, state, graph);
  const names = await namesToRead(app, projectSeq, needs);
  const shared = await readProjectRows(app, row, needs);
  const input = { projectSeq, contacts, names, workflowSeq: row.seq };
  await replayGroups(app, state, input, async ({ contactSeqs, events }) => {
    const own = await readContactRows(app, projectSeq, contactSeqs, needs);
    const replayed = await runReplay(app, projectSeq, {
      kind: "replay",
      sandbox: sandboxOf(app, row, { patch, tables: [...shared, ...own] }),
      graph,
      events,
      from,
      until,
      entryTimes,
      contactSeqs,
    });
    state.counts = addCounts(state.counts, replayed);
  });
}

/** The contacts that could enter the workflow. */
async function contactsOf(
  app: App,
  projectSeq: number,
  { from, until }: BacktestRun,
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
  return { ...sandboxSettings(app), projectSeq, workflowId, ...given };
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
