/**
 * Rows of executions that announce their changes to the live updates of the dashboard, and due calls to
 * their queue.
 */

import type { Db } from "../../../db/open.ts";
import type { Writer } from "../../../db/writer.ts";
import type { Announcements } from "../../../events/announcements.ts";
import type { Execution, ExecutionRows } from "./execution-rows.ts";

/** Ids in the cache. */
const MAX_CACHED = 1_000;

export type AnnounceExecution = (of: Pick<Execution, "projectSeq" | "workflowSeq">) => void;

/** Part of a change: after its commit, clients are told that executions of a workflow changed. */
export function createAnnounceExecution(deps: {
  db: Db;
  writer: Pick<Writer, "afterCommit">;
  announcements: Pick<Announcements, "announce">;
}): AnnounceExecution {
  const findId = deps.db.sqlite.prepare<{ id: string }, [number]>(
    "SELECT id FROM workflows WHERE seq = +?",
  );
  const ids = new Map<number, string>();

  function idOf(workflowSeq: number): string | null {
    const id = ids.get(workflowSeq) ?? findId.get(workflowSeq)?.id ?? null;
    if (ids.size >= MAX_CACHED) ids.clear();
    if (id !== null) ids.set(workflowSeq, id);
    return id;
  }

  return ({ projectSeq, workflowSeq }) =>
    deps.writer.afterCommit(() => {
      const id = idOf(workflowSeq);
      if (id === null) return;
      deps.announcements.announce({ projectSeq, type: "workflow.execution", id });
    });
}

export function announcedRows(
  rows: ExecutionRows,
  announce: AnnounceExecution,
  /** Part of a change: a webhook call of the workflow is due, now or later. */
  announceCall: (workflowSeq: number) => void,
): ExecutionRows {
  return {
    ...rows,
    insert(given) {
      const execution = rows.insert(given);
      announce(execution);
      return execution;
    },
    save(from, progress, completed) {
      rows.save(from, progress, completed);
      announce(from);
      if (progress.dueFor === "CALL") announceCall(from.workflowSeq);
    },
  };
}
