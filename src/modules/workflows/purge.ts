/**
 * Removes workflow executions that ended long ago, with their steps and context. If the workflow
 * does not allow re-entry, the row of the execution stays without its context, because it prevents
 * the contact from entering again.
 *
 * A scan reads the executions by `seq`, in the order of their start. It skips executions that have
 * not ended or ended recently, and the next scan reads them again. It starts at the mark, before
 * which all executions are done.
 */

import type { Db } from "../../db/open.ts";
import { createPurgeMark, type ProjectScope, type Purge } from "../../db/purge.ts";

type Row = { seq: number; startedAt: number; completedAt: number | null; isKept: number };

const PAGE = 100;

const ROWS = `
    SELECT e.seq, e.started_at AS startedAt, e.completed_at AS completedAt,
           NOT w.allow_reentry AND e.contact_seq IS NOT NULL AS isKept
    FROM workflow_executions e CROSS JOIN workflows w ON w.seq = e.workflow_seq`;

/** The function that it returns creates the purge for one scan. */
export function createExecutionPurges({ sqlite }: Db): (projectSeq: ProjectScope) => Purge {
  const pageOfAll = sqlite.prepare<Row, [number, number]>(`
    ${ROWS} WHERE e.seq > +? ORDER BY e.seq LIMIT +?`);
  const pageOfProject = sqlite.prepare<Row, [number, number, number]>(`
    ${ROWS} WHERE e.project_seq = +? AND e.seq > +? ORDER BY e.seq LIMIT +?`);
  const dropSteps = sqlite.prepare<unknown, [number]>(
    "DELETE FROM workflow_execution_steps WHERE execution_seq = +?",
  );
  const strip = sqlite.prepare<unknown, [number]>(
    "UPDATE workflow_executions SET context = '{}' WHERE seq = +?",
  );
  const drop = sqlite.prepare<unknown, [number]>("DELETE FROM workflow_executions WHERE seq = +?");

  return (projectSeq) => {
    const mark = createPurgeMark(sqlite, "executions", projectSeq);
    const readPage = (after: number): Row[] =>
      projectSeq === null ? pageOfAll.all(after, PAGE) : pageOfProject.all(projectSeq, after, PAGE);
    /** Position of the scan; null before it starts. */
    let position: number | null = null;
    let isWithoutGap = true;

    function purgeRow({ seq, completedAt, isKept }: Row, before: number): void {
      position = seq;
      if (completedAt === null || completedAt >= before) {
        isWithoutGap = false;
        return;
      }
      dropSteps.run(seq);
      if (isKept === 1) strip.run(seq);
      else drop.run(seq);
    }

    return (before, hasTime) => {
      position ??= mark.read();
      const start = position;
      let isOver = false;
      while (hasTime() && !isOver) {
        const page = readPage(position);
        isOver = page.length === 0;
        for (const row of page) {
          isOver = row.startedAt >= before;
          if (isOver || !hasTime()) break;
          purgeRow(row, before);
        }
      }
      if (isWithoutGap && position > start) mark.write(position);
      return !isOver;
    };
  };
}
