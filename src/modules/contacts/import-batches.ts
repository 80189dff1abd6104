/**
 * Puts the rows of a file into batches that are sorted by address. Neighbours in a batch then meet
 * in the same pages of the index of addresses: five times fewer pages are written than in the order
 * of the file. A batch holds whole stretches of the file, so a later row still wins over an earlier
 * one. The batches are the same each time: a job that goes on finds its place by counting rows.
 */

import type { CsvItem } from "../../lib/csv.ts";
import type { Column } from "./columns.ts";
import { type ImportRow, readRow } from "./import-rows.ts";

export type Batch = {
  rows: ImportRow[];
  /** Why nothing beyond this batch was read; null where there is more, or the file ended. */
  endedBy: string | null;
};

/** A job under way at an upgrade counts on these: they are part of the stored format. */
const MOST_ROWS = 32_768;
const MOST_CHARACTERS = 8 * 1024 * 1024;
/** Sorted in one go, which must not take long. */
const RUN_ROWS = 4096;

/** `records` begin after the header. */
export async function* inBatches(
  records: AsyncIterable<CsvItem[]>,
  columns: readonly Column[],
): AsyncGenerator<Batch> {
  let collector = createCollector();
  for await (const items of records) {
    for (const item of items) {
      if (item.kind === "end") {
        yield { rows: collector.finish(), endedBy: item.message };
        return;
      }
      const isRecord = item.kind === "record";
      collector.add(isRecord ? readRow(columns, item) : item, isRecord ? lengthOf(item.cells) : 0);
      if (!collector.isFull()) continue;
      yield { rows: collector.finish(), endedBy: null };
      collector = createCollector();
    }
  }
  yield { rows: collector.finish(), endedBy: null };
}

function createCollector() {
  const runs: ImportRow[][] = [];
  let run: ImportRow[] = [];
  let rows = 0;
  let characters = 0;

  function endRun(): void {
    runs.push(run.sort(inOrder));
    run = [];
  }

  return {
    add(row: ImportRow, length: number): void {
      run.push(row);
      rows++;
      characters += length;
      if (run.length === RUN_ROWS) endRun();
    },
    isFull: () => rows >= MOST_ROWS || characters >= MOST_CHARACTERS,
    finish(): ImportRow[] {
      endRun();
      return mergeAll(runs);
    },
  };
}

function mergeAll(runs: readonly ImportRow[][]): ImportRow[] {
  const [first = [], ...others] = runs;
  if (others.length === 0) return first;
  const middle = Math.ceil(runs.length / 2);
  return merge(mergeAll(runs.slice(0, middle)), mergeAll(runs.slice(middle)));
}

function merge(left: readonly ImportRow[], right: readonly ImportRow[]): ImportRow[] {
  const merged: ImportRow[] = [];
  let [i, j] = [0, 0];
  for (;;) {
    const [a, b] = [left[i], right[j]];
    if (a === undefined) return merged.concat(right.slice(j));
    if (b === undefined) return merged.concat(left.slice(i));
    const isLeft = inOrder(a, b) < 0;
    merged.push(isLeft ? a : b);
    if (isLeft) i++;
    else j++;
  }
}

/** Faults first; rows of one address in the order of the file, so that the last one wins. */
function inOrder(a: ImportRow, b: ImportRow): number {
  const left = a.kind === "row" ? a.email : "";
  const right = b.kind === "row" ? b.email : "";
  return left < right ? -1 : left > right ? 1 : a.line - b.line;
}

function lengthOf(cells: readonly string[]): number {
  return cells.reduce((sum, cell) => sum + cell.length, 0);
}
