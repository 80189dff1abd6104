/**
 * Advances executions within a change: runs the steps that are due for a TURN, and stores the new
 * progress together with the effects of the steps. Each execution has its own savepoint: a defect
 * of this program fails one execution and rolls back nothing of the others.
 */

import type { Db } from "../../../db/open.ts";
import { isStorageError } from "../../../db/refusal.ts";
import { describeError, type Log } from "../../../lib/log.ts";
import type { Contacts } from "../../contacts/service.ts";
import { isServiceEvent } from "../../../lib/service-events.ts";
import type { ExecutionRows, Execution } from "./execution-rows.ts";
import { advance, type CompletedStep, end, type Occurrence, type Progress } from "./engine.ts";
import { MAX_ROUNDS_PER_HOUR, loopMessage } from "./loop-limit.ts";
import type { Paths } from "../graph/paths.ts";
import type { RunStep } from "../steps/run-step.ts";

/** True if the current slice has time left. */
export type HasTime = () => boolean;

export type Advancer = ReturnType<typeof createAdvancer>;

const HOUR_MS = 60 * 60 * 1000;
const DELETED = "The contact was deleted.";
const DEFECT = "An unexpected error of the server; the log contains its details.";

export function createAdvancer(deps: {
  db: Pick<Db, "sqlite">;
  executionRows: ExecutionRows;
  contacts: Pick<Contacts, "findBySeq">;
  pathsOf: (versionSeq: number) => Paths | null;
  runStep: RunStep;
  /** Part of a change: an execution ended. */
  onExecutionEnd: (execution: Execution) => void;
  log: Log;
}) {
  const { executionRows, log } = deps;
  const { sqlite } = deps.db;
  const savepoint = sqlite.prepare("SAVEPOINT execution");
  const release = sqlite.prepare("RELEASE execution");
  const rollbackTo = sqlite.prepare("ROLLBACK TO execution");

  type Run = { execution: Execution; paths: Paths; progress: Progress; steps: CompletedStep[] };

  function applyOccurrence(run: Run, occurrence: Occurrence, now: number): boolean {
    const advanced = advance(run.paths, run.progress, occurrence, now);
    if (advanced === null) return false;
    run.progress = advanced.progress;
    if (advanced.completed !== null) run.steps.push(advanced.completed);
    return true;
  }

  function resultOf({ execution, paths, progress }: Run, now: number): Occurrence {
    const step = progress.stepId === null ? null : paths.step(progress.stepId);
    const contact =
      execution.contactSeq === null ? null : deps.contacts.findBySeq(execution.contactSeq);
    if (step === null || contact === null) {
      throw new Error("an execution has no step or no contact");
    }
    const { seq: executionSeq, projectSeq, workflowSeq } = execution;
    const { context, stepStartedAt } = progress;
    const input = { projectSeq, workflowSeq, executionSeq, contact, context, stepStartedAt, now };
    const result = deps.runStep(step, input);
    if (result.outcome === "POSTPONED") return { kind: "postponed", result };
    if (result.outcome === "WINDOW_CLOSED") return { kind: "windowClosed", at: result.until };
    return { kind: "done", result };
  }

  /** A workflow that waits for events that it causes itself would loop without any pause. */
  function isLoop({ execution, paths, progress }: Run, occurrence: Occurrence, now: number) {
    if (occurrence.kind !== "event" || !isServiceEvent(occurrence.event.name)) return false;
    if (progress.stepId === null || progress.stepCount < MAX_ROUNDS_PER_HOUR) return false;
    const rounds = executionRows.completionsOf(execution.seq, {
      stepId: progress.stepId,
      after: progress.stepCount - MAX_ROUNDS_PER_HOUR * paths.size,
      since: now - HOUR_MS,
      // Steps with a later time were completed before the clock was set back; they are not counted.
      until: now,
    });
    return rounds >= MAX_ROUNDS_PER_HOUR;
  }

  function runSteps(
    execution: Execution,
    { occurrence, now, hasTime }: { occurrence: Occurrence | null; now: number; hasTime: HasTime },
  ): Progress {
    const paths = deps.pathsOf(execution.versionSeq);
    if (paths === null) throw new Error("the graph of an execution does not exist");
    const run: Run = { execution, paths, progress: execution.progress, steps: [] };
    if (execution.contactSeq === null) {
      run.progress = end(run.progress, now, { status: "CANCELLED", exitReason: DELETED });
    } else if (occurrence !== null && isLoop(run, occurrence, now)) {
      const error = loopMessage(run.progress.awaitedEvent ?? "");
      run.progress = end(run.progress, now, { status: "FAILED", error });
    } else if (occurrence !== null && !applyOccurrence(run, occurrence, now)) {
      return run.progress;
    }
    while (run.progress.dueFor === "TURN" && (run.steps.length === 0 || hasTime())) {
      applyOccurrence(run, resultOf(run, now), now);
    }
    executionRows.save(execution, run.progress, run.steps);
    if (run.progress.completedAt !== null) deps.onExecutionEnd(execution);
    return run.progress;
  }

  function failExecution(execution: Execution, now: number, error: unknown): Progress {
    log.error("a workflow execution failed unexpectedly", {
      execution: execution.id,
      step: execution.progress.stepId,
      error: describeError(error),
    });
    const progress = end(execution.progress, now, { status: "FAILED", error: DEFECT });
    executionRows.save(execution, progress, []);
    deps.onExecutionEnd(execution);
    return progress;
  }

  return {
    /**
     * Part of a change: applies an occurrence (null if the execution is due for a TURN) and runs
     * steps until the execution waits or ends or the slice is over. Returns the new progress, which
     * is due for a TURN if steps are left.
     */
    advance(
      execution: Execution,
      work: { occurrence: Occurrence | null; now: number; hasTime: HasTime },
    ): Progress {
      savepoint.run();
      try {
        const progress = runSteps(execution, work);
        release.run();
        return progress;
      } catch (error) {
        if (isStorageError(error) || !sqlite.inTransaction) throw error;
        rollbackTo.run();
        release.run();
        return failExecution(execution, work.now, error);
      }
    },
  };
}
