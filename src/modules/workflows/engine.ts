/**
 * What an execution does next. Pure: (paths of the graph, progress, occurrence, now) → the next
 * progress, and the step that was completed by it. Whoever drives it does what steps are about:
 *
 *   begin → TURN? do the step, tell what it came to (`done`) → TURN? … until the execution waits:
 *   TIME (a delay, or the end of a wait), CALL (a webhook), an event, or nothing any more.
 *
 * Whichever of an event and the time that ends its wait was earlier wins: `dueAt` is the first
 * moment that is too late. The driver shows events and times in the order in which they were.
 */

import type { DueFor, ExecutionStatus } from "../../db/schema/workflows.ts";
import { overlaid } from "../../mail/variables.ts";
import type { JsonObject } from "../contacts/data.ts";
import type { Step } from "./graph.ts";
import type { Paths } from "./paths.ts";
import { delayMs, MOST_TRIES, nextTryAt } from "./times.ts";

/** Where an execution is. Members are those of its row (db/schema/workflows.ts). */
export type Progress = {
  status: ExecutionStatus;
  /** Null once it came to its end; where it is, or failed, otherwise. */
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
  /** The step whose turn it was, or that was called, came to a result. */
  | { kind: "done"; result: StepResult }
  /** A call got no answer that counts. `random`: 0 ≤ random < 1. */
  | { kind: "unanswered"; reason: string; retryAfterMs: number | null; random: number }
  | { kind: "event"; event: Met }
  /** `now` is the time that it waits for, or later. */
  | { kind: "time" };

/** An event of the execution's contact; `at`: when it was recorded. */
export type Met = { seq: number; name: string; data: JsonObject; at: number };

export type StepResult = {
  outcome: "COMPLETED" | "SKIPPED" | "FAILED";
  /** Null for the plain way on. */
  branch?: string | null;
  /** What is kept with the completed step. */
  detail?: JsonObject;
  /** What joins the context. */
  joins?: JsonObject;
  /** Of a failed one: one sentence for people. */
  error?: string;
  /** The execution ends here, EXITED, for this reason. */
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

export type Advance = { progress: Progress; completed: CompletedStep | null };

/** Serialised size of what an execution carries with it: as much as one event may have. */
const CONTEXT_CAP_BYTES = 64 * 1024;
/** Whoever goes round and round for years ends some day: its record is shown whole. */
const MOST_COMPLETED_STEPS = 10_000;

/** At the trigger, which is done at its first turn. */
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

/** Null where the occurrence is none of this execution's business now. */
export function advance(
  paths: Paths,
  progress: Progress,
  occurrence: Occurrence,
  now: number,
): Advance | null {
  if (isEnded(progress.status)) return null;
  const step = progress.stepId === null ? null : paths.step(progress.stepId);
  if (step === null) return lost(progress, now);
  const at = { paths, progress, step, now };
  switch (occurrence.kind) {
    case "done":
      return complete(at, occurrence.result);
    case "unanswered":
      return unanswered(at, occurrence);
    case "event":
      return meet(at, occurrence.event);
    case "time":
      return timeIsUp(at);
  }
}

export function isEnded(status: ExecutionStatus): boolean {
  return status !== "RUNNING" && status !== "WAITING";
}

/** Ends it from outside: cancelled by people, or because it cannot go on. */
export function end(
  progress: Progress,
  now: number,
  how: { status: "CANCELLED" | "FAILED"; exitReason?: string; error?: string },
): Progress {
  const { status, exitReason = null, error = null } = how;
  return { ...stopped(progress), status, exitReason, error, completedAt: now };
}

type Place = { paths: Paths; progress: Progress; step: Step; now: number };

function meet(place: Place, event: Met): Advance | null {
  const { progress, step } = place;
  if (step.type !== "WAIT_FOR_EVENT" || progress.awaitedEvent !== event.name) return null;
  if (progress.dueAt !== null && event.at >= progress.dueAt) return null;
  const met = { ...place, progress: { ...progress, eventSeq: event.seq } };
  return complete(met, {
    outcome: "COMPLETED",
    detail: { event: event.name },
    joins: event.data,
  });
}

function timeIsUp(place: Place): Advance | null {
  const { progress, step, now } = place;
  if (progress.dueFor !== "TIME" || progress.dueAt === null || progress.dueAt > now) return null;
  const branch = step.type === "WAIT_FOR_EVENT" ? "timeout" : null;
  return complete(place, { outcome: "COMPLETED", branch });
}

function unanswered(
  place: Place,
  { reason, retryAfterMs, random }: Extract<Occurrence, { kind: "unanswered" }>,
): Advance {
  const { progress, now } = place;
  const tries = progress.tries + 1;
  const at = nextTryAt({ tries, now, retryAfterMs, random });
  if (at === null) {
    const error = `${reason} That was the last of ${MOST_TRIES} tries.`;
    return complete(place, { outcome: "FAILED", error, detail: { tries } });
  }
  const waiting = { ...progress, tries, dueFor: "CALL" as const, dueAt: at, error: reason };
  return { progress: waiting, completed: null };
}

function complete(place: Place, result: StepResult): Advance {
  const { paths, progress, step, now } = place;
  const context = joined(progress.context, result.joins);
  if (context === null) return complete(place, tooLarge());
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
  const after: Progress = { ...stopped(progress), context, stepCount: completed.number };
  if (outcome === "FAILED") {
    return { completed, progress: { ...after, status: "FAILED", error, completedAt: now } };
  }
  if (result.exit !== undefined) {
    const { reason } = result.exit;
    return { completed, progress: { ...ended(after, now), status: "EXITED", exitReason: reason } };
  }
  const next = paths.next(step.id, branch);
  if (next === null) return { completed, progress: ended(after, now) };
  if (completed.number >= MOST_COMPLETED_STEPS) return { completed, progress: tooLong(after, now) };
  return { completed, progress: enter(after, next, now) };
}

function enter(progress: Progress, step: Step, now: number): Progress {
  const there = { ...progress, stepId: step.id, stepStartedAt: now };
  switch (step.type) {
    case "DELAY":
      return waitFor(there, { dueAt: now + delayMs(step.config), event: null });
    case "WAIT_FOR_EVENT": {
      const { eventName: event, timeout } = step.config;
      // An event of the very last millisecond is in time.
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

function stopped(progress: Progress): Progress {
  return { ...progress, dueFor: null, dueAt: null, awaitedEvent: null, tries: 0, error: null };
}

function ended(progress: Progress, now: number): Progress {
  return { ...progress, status: "COMPLETED", stepId: null, completedAt: now };
}

function tooLong(progress: Progress, now: number): Progress {
  const error = `It took ${MOST_COMPLETED_STEPS} steps without coming to an end.`;
  return end(progress, now, { status: "FAILED", error });
}

/** Graphs are checked whole, so this takes a fault of ours. */
function lost(progress: Progress, now: number): Advance {
  const error = "The step that it was at is not in its graph.";
  return { progress: end(progress, now, { status: "FAILED", error }), completed: null };
}

function joined(context: JsonObject, more: JsonObject | undefined): JsonObject | null {
  if (more === undefined) return context;
  const both = overlaid(context, more);
  return isContextTooLarge(both) ? null : both;
}

export function isContextTooLarge(context: JsonObject): boolean {
  return Buffer.byteLength(JSON.stringify(context)) > CONTEXT_CAP_BYTES;
}

function tooLarge(): StepResult {
  const error = "With the data of this event the context would take more than 64 KiB.";
  return { outcome: "FAILED", error };
}
