/**
 * Puts the rows of a file into batches that are sorted by address. Neighbours in a batch then meet
 * in the same pages of the index of addresses: five times fewer pages are written than in the order
 * of the file. A batch holds whole stretches of the file, so a later row still wins over an earlier
 * one. The batches are the same each time: a job that goes on finds its place by counting rows.
 */

import type { CsvItem } from "../../../lib/csv.ts";
import type { Column } from "./columns.ts";
import { type ImportRow, readRow } from "./rows.ts";

export type Batch = {
  /** In their order; sorted bit by bit, as they are taken. */
  rows: Iterator<ImportRow>;
  count: number;
  /** Why nothing beyond this batch was read; null where there is more, or the file ended. */
  endedBy: string | null;
};

/** A job under way at an upgrade counts on these: they are part of the stored format. */
const MOST_ROWS = 16_384;
const MOST_CHARACTERS = 4 * 1024 * 1024;
/** Sorted in one go, which must not take long. */
const RUN_ROWS = 2048;

/** `records` begin after the header. */
export async function* inBatches(
  records: AsyncIterable<CsvItem[]>,
  columns: readonly Column[],
): AsyncGenerator<Batch> {
  let collector = createCollector();
  for await (const items of records) {
    for (const item of items) {
      if (item.kind === "end") {
        yield collector.finish(item.message);
        return;
      }
      const isRecord = item.kind === "record";
      collector.add(isRecord ? readRow(columns, item) : item, isRecord ? lengthOf(item.cells) : 0);
      if (!collector.isFull()) continue;
      yield collector.finish(null);
      collector = createCollector();
    }
  }
  yield collector.finish(null);
}

function createCollector() {
  const runs: ImportRow[][] = [];
  let run: ImportRow[] = [];
  let count = 0;
  let characters = 0;

  function endRun(): void {
    runs.push(run.sort(inOrder));
    run = [];
  }

  return {
    add(row: ImportRow, length: number): void {
      run.push(row);
      count++;
      characters += length;
      if (run.length === RUN_ROWS) endRun();
    },
    isFull: () => count >= MOST_ROWS || characters >= MOST_CHARACTERS,
    finish(endedBy: string | null): Batch {
      endRun();
      return { rows: mergeAll(runs), count, endedBy };
    },
  };
}

function mergeAll(runs: readonly ImportRow[][]): Iterator<ImportRow> {
  const [first = [], ...others] = runs;
  if (others.length === 0) return first.values();
  const middle = Math.ceil(runs.length / 2);
  return merge(mergeAll(runs.slice(0, middle)), mergeAll(runs.slice(middle)));
}

function* merge(left: Iterator<ImportRow>, right: Iterator<ImportRow>): Generator<ImportRow> {
  let a = left.next();
  let b = right.next();
  while (a.done !== true || b.done !== true) {
    if (b.done === true || (a.done !== true && inOrder(a.value, b.value) < 0)) {
      if (a.done !== true) yield a.value;
      a = left.next();
    } else {
      yield b.value;
      b = right.next();
    }
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
