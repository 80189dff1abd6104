/**
 * Deletes workflows with their executions, in slices: first the workflow is gone for everybody,
 * then its executions that are under way, then the rest, then the row. A crash in between is
 * mended by `sweep`.
 */

import type { Db } from "../../db/open.ts";
import type { Writer } from "../../db/writer.ts";
import type { Clock } from "../../lib/clock.ts";

export type Deletion = ReturnType<typeof createDeletion>;

/** Executions of one transaction; each has a few steps that go with it. */
const SLICE = 250;
/** Ended executions removed while the caller waits; more of them go by `sweep`. */
const ENDED_AT_ONCE = 2_000;

export function createDeletion({ db, writer, clock }: { db: Db; writer: Writer; clock: Clock }) {
  const { sqlite } = db;
  const mark = sqlite.prepare<unknown, [number, number]>(
    `UPDATE workflows SET deleted_at = ?, is_enabled = 0
     WHERE seq = ? AND deleted_at IS NULL`,
  );
  const removeActive = sqlite.prepare<unknown, [number, number]>(`
    DELETE FROM workflow_executions WHERE seq IN (
      SELECT seq FROM workflow_executions
      WHERE workflow_seq = +? AND status IN ('RUNNING', 'WAITING') LIMIT +?)`);
  const removeAny = sqlite.prepare<unknown, [number, number]>(`
    DELETE FROM workflow_executions WHERE seq IN (
      SELECT seq FROM workflow_executions WHERE workflow_seq = +? LIMIT +?)`);
  const removeRow = sqlite.prepare<unknown, [number]>(
    "DELETE FROM workflows WHERE seq = ? AND deleted_at IS NOT NULL",
  );
  const findDeleted = sqlite.prepare<{ seq: number }, []>(
    "SELECT seq FROM workflows WHERE deleted_at IS NOT NULL",
  );

  /** Part of a change: those under way first. True if there is more to do. */
  function removeSlice(seq: number): boolean {
    const active = removeActive.run(seq, SLICE).changes;
    if (active >= SLICE) return true;
    const { changes } = removeAny.run(seq, SLICE - active);
    if (active + changes >= SLICE) return true;
    removeRow.run(seq);
    return false;
  }

  let isStopping = false;
  let underWay = Promise.resolve();
  const hasToStop = () => isStopping;

  async function cancelActive(seq: number): Promise<void> {
    while (await writer.write(() => removeActive.run(seq, SLICE).changes >= SLICE));
  }

  async function sweepAll(): Promise<void> {
    for (const { seq } of findDeleted.all()) {
      while (!hasToStop() && (await writer.write(() => removeSlice(seq))));
    }
  }

  return {
    /** Resolves when nothing of the workflow goes on any more. */
    async remove(seq: number): Promise<void> {
      await writer.write(() => {
        mark.run(clock.now(), seq);
      });
      await cancelActive(seq);
      for (let removed = 0; removed < ENDED_AT_ONCE; removed += SLICE) {
        if (!(await writer.write(() => removeSlice(seq)))) return;
      }
    },

    /** Removes what is left of deleted workflows, slice by slice. */
    sweep(): Promise<void> {
      underWay = sweepAll();
      return underWay;
    },

    /** Resolves when no sweep is under way any more; what is left waits for the next start. */
    async stop(): Promise<void> {
      isStopping = true;
      await underWay.catch(() => undefined); // Whoever began it hears of its failure.
    },
  };
}
