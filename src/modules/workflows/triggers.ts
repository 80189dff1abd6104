/** Whether an execution may start, and its row. Everything here is part of a change. */

import type { Db } from "../../db/open.ts";
import { newId } from "../../lib/id.ts";
import type { JsonObject } from "../contacts/data.ts";
import { isServiceEvent } from "../events/names.ts";
import type { Agenda, Execution } from "./agenda.ts";
import { begin, end, type Met, type Progress } from "./engine.ts";
import { ROUNDS_AN_HOUR, tooManyRounds } from "./loops.ts";
import type { Paths } from "./paths.ts";

/** What of a workflow's row a start needs. */
export type Startable = {
  seq: number;
  projectSeq: number;
  versionSeq: number;
  allowReentry: boolean;
};

export type Starts = ReturnType<typeof createStarts>;

const HOUR_MS = 60 * 60 * 1000;

export function createStarts(deps: {
  db: Pick<Db, "sqlite">;
  agenda: Agenda;
  pathsOf: (versionSeq: number) => Paths | null;
}) {
  const { agenda } = deps;
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
    WHERE contact_seq = +? AND workflow_seq = +? ORDER BY seq DESC LIMIT ${ROUNDS_AN_HOUR}`);

  /** Off: one execution per contact ever. On: one at a time. */
  function mayEnter({ seq, allowReentry }: Startable, contactSeq: number): boolean {
    const row = allowReentry ? findActive.get(seq, contactSeq) : findAny.get(contactSeq, seq);
    return row?.found === 0;
  }

  /** Of the newest executions: they were as many as there may be within an hour. */
  function loopOf(workflow: Startable, contactSeq: number, event: Met, now: number) {
    if (!workflow.allowReentry || !isServiceEvent(event.name)) return null;
    const rounds = newest.all(contactSeq, workflow.seq);
    const oldest = rounds.at(-1);
    if (rounds.length < ROUNDS_AN_HOUR || oldest === undefined) return null;
    // Those that seem to lie ahead began before the clock was set back: they are not counted.
    if (oldest.startedAt <= now - HOUR_MS || oldest.startedAt > now) return null;
    const error = tooManyRounds(event.name);
    return { error, isTold: rounds.some((round) => round.error === error) };
  }

  function insert(
    workflow: Startable,
    rest: { contactSeq: number; progress: Progress; now: number },
  ): Execution {
    const { contactSeq, progress, now } = rest;
    return agenda.insert({
      id: newId(now),
      projectSeq: workflow.projectSeq,
      workflowSeq: workflow.seq,
      versionSeq: workflow.versionSeq,
      contactSeq,
      startedAt: now,
      progress,
    });
  }

  function beginning(
    workflow: Startable,
    rest: { context: JsonObject; eventSeq: number | null; now: number },
  ): Progress {
    const paths = deps.pathsOf(workflow.versionSeq);
    if (paths === null) throw new Error("the current graph of a workflow is gone");
    return begin(paths, rest);
  }

  return {
    /** Null where re-entry forbids it. The execution is at its trigger, and has its turn. */
    byHand(
      workflow: Startable,
      rest: { contactSeq: number; context: JsonObject; now: number },
    ): Execution | null {
      const { contactSeq, context, now } = rest;
      if (!mayEnter(workflow, contactSeq)) return null;
      const progress = beginning(workflow, { context, eventSeq: null, now });
      return insert(workflow, { contactSeq, progress, now });
    },

    /**
     * Null where none starts. A loop is told by an execution that is FAILED at once, once an hour.
     */
    byEvent(
      workflow: Startable,
      rest: { contactSeq: number; event: Met; now: number },
    ): Execution | null {
      const { contactSeq, event, now } = rest;
      if (!mayEnter(workflow, contactSeq)) return null;
      const loop = loopOf(workflow, contactSeq, event, now);
      if (loop?.isTold === true) return null;
      const { seq: eventSeq, data: context } = event;
      const progress = beginning(workflow, { context, eventSeq, now });
      if (loop === null) return insert(workflow, { contactSeq, progress, now });
      const stopped = end(progress, now, { status: "FAILED", error: loop.error });
      return insert(workflow, { contactSeq, progress: stopped, now });
    },
  };
}
