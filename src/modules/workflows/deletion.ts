/**
 * Deletes workflows with their executions. The workflow is marked as deleted, so that no request
 * finds it; then its active executions, its ended executions and its row are deleted in slices.
 * `removeDeleted` finishes a deletion that a crash interrupted.
 */

import type { Db } from "../../db/open.ts";
import type { Writer } from "../../db/writer.ts";
import type { Clock } from "../../lib/clock.ts";

/** Executions deleted in one transaction; the rows of their steps are deleted with them. */
const SLICE = 250;
/** Executions deleted while the caller waits; `removeDeleted` deletes the others later. */
const ENDED_AT_ONCE = 2_000;

export function createDeletion({ db, writer, clock }: { db: Db; writer: Writer; clock: Clock }) {
  const { sqlite } = db;
  const mark = sqlite.prepare<unknown, [number, number]>(
    `UPDATE workflows SET deleted_at = ?, is_enabled = 0, next_entry_at = NULL
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

  /** Part of a change: deletes active executions first. Returns true if some are left. */
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

  async function removeAllActive(seq: number): Promise<void> {
    while (await writer.write(() => removeActive.run(seq, SLICE).changes >= SLICE));
  }

  async function removeRest(): Promise<void> {
    for (const { seq } of findDeleted.all()) {
      while (!hasToStop() && (await writer.write(() => removeSlice(seq))));
    }
  }

  return {
    /**
     * Resolves when the workflow has no active execution any more. `write` runs the change that
     * marks it as deleted.
     */
    async remove(seq: number, write: Writer["write"]): Promise<void> {
      await write(() => {
        mark.run(clock.now(), seq);
      });
      await removeAllActive(seq);
      for (let removed = 0; removed < ENDED_AT_ONCE; removed += SLICE) {
        if (!(await writer.write(() => removeSlice(seq)))) return;
      }
    },

    /** Deletes the remaining rows of deleted workflows, slice by slice. */
    removeDeleted(): Promise<void> {
      underWay = removeRest();
      return underWay;
    },

    /** Ends `removeDeleted` after its slice; the remaining rows wait for the next start. */
    async stop(): Promise<void> {
      isStopping = true;
      await underWay.catch(() => undefined); // The caller of removeDeleted handles its error.
    },
  };
}
