/**
 * Drives executions through the engine within a change: does the steps whose turn it is, and writes
 * what they came to together with their effects. Each execution is in a savepoint of its own: one
 * that cannot go on by a fault of ours is FAILED, and no other one suffers.
 */

import type { Db } from "../../db/open.ts";
import { isStorageError } from "../../db/refusal.ts";
import { describeError, type Log } from "../../lib/log.ts";
import type { Contacts } from "../contacts/service.ts";
import { isServiceEvent } from "../events/names.ts";
import type { Agenda, Execution } from "./agenda.ts";
import {
  advance,
  type CompletedStep,
  end,
  type Occurrence,
  type Progress,
  type StepResult,
} from "./engine.ts";
import { ROUNDS_AN_HOUR, tooManyRounds } from "./loops.ts";
import type { Paths } from "./paths.ts";
import type { Perform } from "./perform.ts";

/** Whether the time of this slice is not over yet. */
export type HasTime = () => boolean;

export type Drive = ReturnType<typeof createDrive>;

const HOUR_MS = 60 * 60 * 1000;
const DELETED = "The contact was deleted.";
const DEFECT = "An unexpected error on our side; the log has it.";

export function createDrive(deps: {
  db: Pick<Db, "sqlite">;
  agenda: Agenda;
  contacts: Pick<Contacts, "findBySeq">;
  pathsOf: (versionSeq: number) => Paths | null;
  perform: Perform;
  /** Part of a change: an execution on this version ended. */
  noteEnd: (execution: Execution) => void;
  log: Log;
}) {
  const { agenda, log } = deps;
  const { sqlite } = deps.db;
  const savepoint = sqlite.prepare("SAVEPOINT execution");
  const release = sqlite.prepare("RELEASE execution");
  const rollbackTo = sqlite.prepare("ROLLBACK TO execution");

  type Walk = { execution: Execution; paths: Paths; progress: Progress; steps: CompletedStep[] };

  function apply(walk: Walk, occurrence: Occurrence, now: number): boolean {
    const advanced = advance(walk.paths, walk.progress, occurrence, now);
    if (advanced === null) return false;
    walk.progress = advanced.progress;
    if (advanced.completed !== null) walk.steps.push(advanced.completed);
    return true;
  }

  function resultOf({ execution, paths, progress }: Walk, now: number): StepResult {
    const step = progress.stepId === null ? null : paths.step(progress.stepId);
    const contact =
      execution.contactSeq === null ? null : deps.contacts.findBySeq(execution.contactSeq);
    if (step === null || contact === null) throw new Error("an execution without step or contact");
    const { seq: executionSeq, projectSeq } = execution;
    return deps.perform(step, {
      projectSeq,
      executionSeq,
      contact,
      context: progress.context,
      now,
    });
  }

  /** A loop through events of our own would go round as fast as the log is read. */
  function isLoop({ execution, paths, progress }: Walk, occurrence: Occurrence, now: number) {
    if (occurrence.kind !== "event" || !isServiceEvent(occurrence.event.name)) return false;
    if (progress.stepId === null || progress.stepCount < ROUNDS_AN_HOUR) return false;
    const rounds = agenda.rounds(execution.seq, {
      stepId: progress.stepId,
      after: progress.stepCount - ROUNDS_AN_HOUR * paths.size,
      since: now - HOUR_MS,
      // Steps that seem to lie ahead were done before the clock was set back: they are not counted.
      until: now,
    });
    return rounds >= ROUNDS_AN_HOUR;
  }

  function walkOn(
    execution: Execution,
    { occurrence, now, hasTime }: { occurrence: Occurrence | null; now: number; hasTime: HasTime },
  ): Progress {
    const paths = deps.pathsOf(execution.versionSeq);
    if (paths === null) throw new Error("the graph of an execution is gone");
    const walk: Walk = { execution, paths, progress: execution.progress, steps: [] };
    if (execution.contactSeq === null) {
      walk.progress = end(walk.progress, now, { status: "CANCELLED", exitReason: DELETED });
    } else if (occurrence !== null && isLoop(walk, occurrence, now)) {
      const error = tooManyRounds(walk.progress.awaitedEvent ?? "");
      walk.progress = end(walk.progress, now, { status: "FAILED", error });
    } else if (occurrence !== null && !apply(walk, occurrence, now)) {
      return walk.progress;
    }
    while (walk.progress.dueFor === "TURN" && (walk.steps.length === 0 || hasTime())) {
      apply(walk, { kind: "done", result: resultOf(walk, now) }, now);
    }
    agenda.save(execution, walk.progress, walk.steps);
    if (walk.progress.completedAt !== null) deps.noteEnd(execution);
    return walk.progress;
  }

  function giveUp(execution: Execution, now: number, error: unknown): Progress {
    log.error("a workflow execution failed unexpectedly", {
      execution: execution.id,
      step: execution.progress.stepId,
      error: describeError(error),
    });
    const progress = end(execution.progress, now, { status: "FAILED", error: DEFECT });
    agenda.save(execution, progress, []);
    deps.noteEnd(execution);
    return progress;
  }

  return {
    /**
     * Part of a change: shows an execution what happened (null: it is its turn) and takes it as far
     * as it gets while there is time. Returns where it is then; `dueFor` TURN: not all was done.
     */
    proceed(
      execution: Execution,
      work: { occurrence: Occurrence | null; now: number; hasTime: HasTime },
    ): Progress {
      savepoint.run();
      try {
        const progress = walkOn(execution, work);
        release.run();
        return progress;
      } catch (error) {
        if (isStorageError(error) || !sqlite.inTransaction) throw error;
        rollbackTo.run();
        release.run();
        return giveUp(execution, work.now, error);
      }
    },
  };
}
