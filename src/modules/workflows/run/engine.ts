/**
 * The state machine of an execution. Pure: from the graph, the progress, an occurrence and the time,
 * `advance` computes the next progress and the step that is completed. advance.ts runs the steps:
 *
 * 1. `begin` puts the execution at the TRIGGER, due for a TURN: its step can run at once.
 * 2. advance.ts runs the step and reports the result as the occurrence `done`.
 * 3. The next step is due for a TURN, TIME (the end of a DELAY or of a timeout) or CALL (a webhook
 *    call), or it waits for an event without a timeout.
 * 4. This repeats until no transition follows, an EXIT runs or a step fails.
 *
 * If an execution waits for an event with a timeout, the earlier of the two decides. `dueAt` is the
 * first moment at which the event is too late. The runner reports events and times in their order.
 */

import type { DueFor, ExecutionStatus } from "../../../db/schema/workflows.ts";
import { mergeVariables } from "../../../render/variables.ts";
import type { JsonObject } from "../../contacts/data.ts";
import type { Step } from "../graph/graph.ts";
import type { Paths } from "../graph/paths.ts";
import { nextTryAt } from "../../../lib/backoff.ts";
import { CALL_BACKOFF, delayMs, MAX_TRIES, nextPostponedTryAt } from "./due-times.ts";

/** The progress of an execution. Its members are columns (db/schema/workflows.ts). */
export type Progress = {
  status: ExecutionStatus;
  /** The current step, or the step that failed; null after the last step. */
  stepId: string | null;
  stepStartedAt: number;
  stepCount: number;
  tries: number;
  dueFor: DueFor | null;
  dueAt: number | null;
  awaitedEvent: string | null;
  context: JsonObject;
  eventSeq: number | null;
  completedAt: number | null;
  exitReason: string | null;
  error: string | null;
};

export type Occurrence =
  /** The step ran, or its webhook call ended, with this result. */
  | { kind: "done"; result: StepResult }
  | { kind: "postponed"; result: Postponed }
  /** A webhook call failed temporarily. `random`: 0 ≤ random < 1. */
  | { kind: "callFailed"; reason: string; retryAfterMs: number | null; random: number }
  | { kind: "event"; event: ExecutionEvent }
  /** The due time has come: the end of a DELAY, or of the timeout of a WAIT_FOR_EVENT. */
  | { kind: "time" }
  /** The window of a TIME_WINDOW opens at `at`. */
  | { kind: "windowClosed"; at: number }
  /** One of the exits of the workflow happened to the contact. */
  | { kind: "exit"; reason: string };

/** An event of the execution's contact; `at` is the time when it was recorded. */
export type ExecutionEvent = { seq: number; name: string; data: JsonObject; at: number };

/** A TIME_WINDOW is closed until `until`. */
export type WindowClosed = { outcome: "WINDOW_CLOSED"; until: number };

/** The step cannot run now, but may later. `until`: time of the last try; null without a limit. */
export type Postponed = { outcome: "POSTPONED"; reason: string; until: number | null };

export type StepResult = {
  outcome: "COMPLETED" | "SKIPPED" | "FAILED";
  /** null for the transition without a branch. */
  branch?: string | null;
  /** Stored with the completed step. */
  detail?: JsonObject;
  /** Members to add to the context of the execution. */
  addToContext?: JsonObject;
  /** Name of the member to remove from the context of the execution. */
  removeFromContext?: string;
  /** The reason of a failure: one sentence for people. */
  error?: string;
  /** The execution ends here as EXITED with this reason. */
  exit?: { reason: string | null };
};

export type CompletedStep = {
  number: number;
  stepId: string;
  type: Step["type"];
  outcome: StepResult["outcome"];
  branch: string | null;
  detail: JsonObject | null;
  startedAt: number;
  completedAt: number;
};

type Advance = { progress: Progress; completed: CompletedStep | null };

/** Largest context of an execution as JSON; the same limit as for the data of one event. */
const MAX_CONTEXT_BYTES = 64 * 1024;
/** An endless loop ends here, because the API shows all steps of an execution in one response. */
const MAX_COMPLETED_STEPS = 10_000;

/** The progress of a new execution: at the TRIGGER, due at once. */
export function begin(
  { trigger }: Paths,
  { context, eventSeq, now }: { context: JsonObject; eventSeq: number | null; now: number },
): Progress {
  return {
    status: "RUNNING",
    stepId: trigger.id,
    stepStartedAt: now,
    stepCount: 0,
    tries: 0,
    dueFor: "TURN",
    dueAt: now,
    awaitedEvent: null,
    context,
    eventSeq,
    completedAt: null,
    exitReason: null,
    error: null,
  };
}

/** Returns null if the occurrence does not concern the execution in its present state. */
export function advance(
  paths: Paths,
  progress: Progress,
  occurrence: Occurrence,
  now: number,
): Advance | null {
  if (isEnded(progress.status)) return null;
  const step = progress.stepId === null ? null : paths.step(progress.stepId);
  if (step === null) return stepMissing(progress, now);
  const position = { paths, progress, step, now };
  switch (occurrence.kind) {
    case "done":
      return complete(position, occurrence.result);
    case "postponed":
      return postponed(position, occurrence.result);
    case "callFailed":
      return callFailed(position, occurrence);
    case "event":
      return completeWait(position, occurrence.event);
    case "time":
      return endByTime(position);
    case "windowClosed":
      return {
        progress: waitFor(progress, { dueAt: occurrence.at, event: null }),
        completed: null,
      };
    case "exit": {
      const how = { status: "EXITED", exitReason: occurrence.reason } as const;
      return { progress: end(progress, now, how), completed: null };
    }
  }
}

export function isEnded(status: ExecutionStatus): boolean {
  return status !== "RUNNING" && status !== "WAITING";
}

/** Ends an execution for a reason other than its steps: it is cancelled, exits or cannot continue. */
export function end(
  progress: Progress,
  now: number,
  how: { status: "CANCELLED" | "EXITED" | "FAILED"; exitReason?: string; error?: string },
): Progress {
  const { status, exitReason = null, error = null } = how;
  return { ...withoutWait(progress), status, exitReason, error, completedAt: now };
}

type Position = { paths: Paths; progress: Progress; step: Step; now: number };

function completeWait(position: Position, event: ExecutionEvent): Advance | null {
  const { progress, step } = position;
  if (step.type !== "WAIT_FOR_EVENT" || progress.awaitedEvent !== event.name) return null;
  if (progress.dueAt !== null && event.at >= progress.dueAt) return null;
  const withEvent = { ...position, progress: { ...progress, eventSeq: event.seq } };
  return complete(withEvent, {
    outcome: "COMPLETED",
    detail: { event: event.name },
    addToContext: event.data,
  });
}

function endByTime(position: Position): Advance | null {
  const { progress, step, now } = position;
  if (progress.dueFor !== "TIME" || progress.dueAt === null || progress.dueAt > now) return null;
  // Both run again: the domain may be verified now; the clock or the contact's zone may have changed.
  if (step.type === "SEND_EMAIL" || step.type === "TIME_WINDOW") {
    return { progress: { ...progress, status: "RUNNING", dueFor: "TURN" }, completed: null };
  }
  const branch = step.type === "WAIT_FOR_EVENT" ? "timeout" : null;
  return complete(position, { outcome: "COMPLETED", branch });
}

function postponed(position: Position, { reason, until }: Postponed): Advance {
  const { progress, now } = position;
  const tries = progress.tries + 1;
  const dueAt = nextPostponedTryAt({ tries, now, until });
  if (dueAt === null) {
    const error = `${reason} That was the last of ${tries} tries.`;
    return complete(position, { outcome: "FAILED", error, detail: { tries } });
  }
  const waiting = { ...progress, tries, dueAt, error: reason };
  return { progress: { ...waiting, status: "WAITING", dueFor: "TIME" }, completed: null };
}

function callFailed(
  position: Position,
  { reason, retryAfterMs, random }: Extract<Occurrence, { kind: "callFailed" }>,
): Advance {
  const { progress, now } = position;
  const tries = progress.tries + 1;
  const at = nextTryAt(CALL_BACKOFF, { tries, now, retryAfterMs, random });
  if (at === null) {
    const error = `${reason} That was the last of ${MAX_TRIES} tries.`;
    return complete(position, { outcome: "FAILED", error, detail: { tries } });
  }
  const waiting = { ...progress, tries, dueFor: "CALL" as const, dueAt: at, error: reason };
  return { progress: waiting, completed: null };
}

function complete(position: Position, result: StepResult): Advance {
  const { paths, progress, step, now } = position;
  const context = contextAfter(progress.context, result);
  if (context === null) return complete(position, CONTEXT_TOO_LARGE);
  const branch = result.branch ?? null;
  const { outcome, error = null } = result;
  const completed: CompletedStep = {
    number: progress.stepCount + 1,
    stepId: step.id,
    type: step.type,
    outcome,
    branch,
    detail: error === null ? (result.detail ?? null) : { ...result.detail, error },
    startedAt: progress.stepStartedAt,
    completedAt: now,
  };
  const after: Progress = { ...withoutWait(progress), context, stepCount: completed.number };
  if (outcome === "FAILED") {
    return { completed, progress: { ...after, status: "FAILED", error, completedAt: now } };
  }
  if (result.exit !== undefined) {
    const { reason } = result.exit;
    return {
      completed,
      progress: { ...asCompleted(after, now), status: "EXITED", exitReason: reason },
    };
  }
  const next = paths.next(step.id, branch);
  if (next === null) return { completed, progress: asCompleted(after, now) };
  if (completed.number >= MAX_COMPLETED_STEPS) return { completed, progress: tooLong(after, now) };
  return { completed, progress: enter(after, next, now) };
}

function enter(progress: Progress, step: Step, now: number): Progress {
  const there = { ...progress, stepId: step.id, stepStartedAt: now };
  switch (step.type) {
    case "DELAY":
      return waitFor(there, { dueAt: now + delayMs(step.config), event: null });
    case "WAIT_FOR_EVENT": {
      const { eventName: event, timeout } = step.config;
      // An event in the last millisecond of the timeout still counts.
      const dueAt = timeout === undefined ? null : now + timeout * 1000 + 1;
      return waitFor(there, { dueAt, event });
    }
    case "WEBHOOK":
      return { ...there, status: "RUNNING", dueFor: "CALL", dueAt: now };
    default:
      return { ...there, status: "RUNNING", dueFor: "TURN", dueAt: now };
  }
}

function waitFor(
  progress: Progress,
  { dueAt, event }: { dueAt: number | null; event: string | null },
): Progress {
  const dueFor = dueAt === null ? null : ("TIME" as const);
  return { ...progress, status: "WAITING", dueFor, dueAt, awaitedEvent: event };
}

function withoutWait(progress: Progress): Progress {
  return { ...progress, dueFor: null, dueAt: null, awaitedEvent: null, tries: 0, error: null };
}

function asCompleted(progress: Progress, now: number): Progress {
  return { ...progress, status: "COMPLETED", stepId: null, completedAt: now };
}

function tooLong(progress: Progress, now: number): Progress {
  const error = `The execution was stopped after ${MAX_COMPLETED_STEPS} steps.`;
  return end(progress, now, { status: "FAILED", error });
}

/** Stored graphs were checked as a whole, so only a defect of this program can lead here. */
function stepMissing(progress: Progress, now: number): Advance {
  const error = "The current step of the execution is not in its graph.";
  return { progress: end(progress, now, { status: "FAILED", error }), completed: null };
}

/** Returns null if the context would be too large. */
function contextAfter(
  context: JsonObject,
  { addToContext, removeFromContext }: StepResult,
): JsonObject | null {
  const kept = Object.entries(context).filter(([name]) => name !== removeFromContext);
  if (addToContext === undefined) return Object.fromEntries(kept);
  const both = mergeVariables(Object.fromEntries(kept), addToContext);
  return isContextTooLarge(both) ? null : both;
}

export function isContextTooLarge(context: JsonObject): boolean {
  return Buffer.byteLength(JSON.stringify(context)) > MAX_CONTEXT_BYTES;
}

const CONTEXT_TOO_LARGE: StepResult = {
  outcome: "FAILED",
  error: "With the data of this event, the context would take more than 64 KiB.",
};
