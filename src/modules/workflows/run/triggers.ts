/** Starts executions if re-entry and the loop limit allow it. Every function is part of a change. */

import type { Db } from "../../../db/open.ts";
import { newId } from "../../../lib/id.ts";
import type { JsonObject } from "../../contacts/data.ts";
import { isServiceEvent } from "../../../lib/service-events.ts";
import type { ExecutionRows, Execution } from "./execution-rows.ts";
import { begin, end, type ExecutionEvent, type Progress } from "./engine.ts";
import { MAX_ROUNDS_PER_HOUR, loopMessage } from "./loop-limit.ts";
import type { Paths } from "../graph/paths.ts";

/** The columns of a workflow that are needed to start an execution. */
export type StartableWorkflow = {
  seq: number;
  projectSeq: number;
  versionSeq: number;
  allowReentry: boolean;
};

export type Triggers = ReturnType<typeof createTriggers>;

const HOUR_MS = 60 * 60 * 1000;

export function createTriggers(deps: {
  db: Pick<Db, "sqlite">;
  executionRows: ExecutionRows;
  pathsOf: (versionSeq: number) => Paths | null;
}) {
  const { executionRows } = deps;
  const { sqlite } = deps.db;
  const findActive = sqlite.prepare<{ found: number }, [number, number]>(`
    SELECT EXISTS (SELECT 1 FROM workflow_executions
                   WHERE workflow_seq = +? AND contact_seq = +? AND status IN ('RUNNING', 'WAITING')
                  ) AS found`);
  const findAny = sqlite.prepare<{ found: number }, [number, number]>(`
    SELECT EXISTS (SELECT 1 FROM workflow_executions
                   WHERE contact_seq = +? AND workflow_seq = +?) AS found`);
  const newest = sqlite.prepare<{ startedAt: number; error: string | null }, [number, number]>(`
    SELECT started_at AS startedAt, error FROM workflow_executions
    WHERE contact_seq = +? AND workflow_seq = +? ORDER BY seq DESC LIMIT ${MAX_ROUNDS_PER_HOUR}`);

  /** Without re-entry: one execution per contact ever. With re-entry: one active execution. */
  function mayStart({ seq, allowReentry }: StartableWorkflow, contactSeq: number): boolean {
    const row = allowReentry ? findActive.get(seq, contactSeq) : findAny.get(contactSeq, seq);
    return row?.found === 0;
  }

  /** Returns the error of a loop if the latest executions reach the limit within an hour. */
  function loopOf(
    workflow: StartableWorkflow,
    contactSeq: number,
    event: ExecutionEvent,
    now: number,
  ) {
    if (!workflow.allowReentry || !isServiceEvent(event.name)) return null;
    const previous = newest.all(contactSeq, workflow.seq);
    const oldest = previous.at(-1);
    if (previous.length < MAX_ROUNDS_PER_HOUR || oldest === undefined) return null;
    // Executions with a later time started before the clock was set back; they are not counted.
    if (oldest.startedAt <= now - HOUR_MS || oldest.startedAt > now) return null;
    const error = loopMessage(event.name);
    return { error, isReported: previous.some((execution) => execution.error === error) };
  }

  function insert(
    workflow: StartableWorkflow,
    rest: { contactSeq: number; progress: Progress; now: number },
  ): Execution {
    const { contactSeq, progress, now } = rest;
    return executionRows.insert({
      id: newId(now),
      projectSeq: workflow.projectSeq,
      workflowSeq: workflow.seq,
      versionSeq: workflow.versionSeq,
      contactSeq,
      startedAt: now,
      progress,
    });
  }

  function firstProgress(
    workflow: StartableWorkflow,
    rest: { context: JsonObject; eventSeq: number | null; now: number },
  ): Progress {
    const paths = deps.pathsOf(workflow.versionSeq);
    if (paths === null) throw new Error("the current graph of a workflow does not exist");
    return begin(paths, rest);
  }

  return {
    /**
     * Starts an execution through the API, at its TRIGGER and due at once. Returns null if the
     * contact may not enter the workflow.
     */
    startManually(
      workflow: StartableWorkflow,
      rest: { contactSeq: number; context: JsonObject; now: number },
    ): Execution | null {
      const { contactSeq, context, now } = rest;
      if (!mayStart(workflow, contactSeq)) return null;
      const progress = firstProgress(workflow, { context, eventSeq: null, now });
      return insert(workflow, { contactSeq, progress, now });
    },

    /**
     * Starts an execution for an event. Returns null if the contact may not enter the workflow. A
     * loop is reported once per hour by an execution that is FAILED from its beginning.
     */
    startByEvent(
      workflow: StartableWorkflow,
      rest: { contactSeq: number; event: ExecutionEvent; now: number },
    ): Execution | null {
      const { contactSeq, event, now } = rest;
      if (!mayStart(workflow, contactSeq)) return null;
      const loop = loopOf(workflow, contactSeq, event, now);
      if (loop?.isReported === true) return null;
      const { seq: eventSeq, data: context } = event;
      const progress = firstProgress(workflow, { context, eventSeq, now });
      if (loop === null) return insert(workflow, { contactSeq, progress, now });
      const failed = end(progress, now, { status: "FAILED", error: loop.error });
      return insert(workflow, { contactSeq, progress: failed, now });
    },
  };
}
