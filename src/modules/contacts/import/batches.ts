/**
 * Groups the rows of a file into batches that are sorted by address. Consecutive rows of a batch
 * then change the same pages of the address index, so that five times fewer pages are written than
 * in the order of the file. A batch contains consecutive rows of the file, so a later row still
 * wins over an earlier one. The batches are the same at each run, so a resumed job finds its
 * position by counting rows.
 */

import type { CsvItem } from "../../../lib/csv.ts";
import { type ImportRow, readRow, type RowFormat } from "./rows.ts";

export type Batch = {
  /** The rows in their order; merged lazily while they are read. */
  rows: Iterator<ImportRow>;
  count: number;
  /** The error after which reading stopped; null if there are more rows or the file ended. */
  endedBy: string | null;
};

/*
 * Size of a batch. A job that is resumed after an upgrade must find the same batches, so these
 * numbers are part of the stored format.
 */
const MAX_ROWS = 16_384;
const MAX_CHARACTERS = 4 * 1024 * 1024;
/** Rows sorted by one call, which must not block the event loop for long. */
const RUN_ROWS = 2048;

/** Reads the rows of all records after the header in batches. */
export async function* readBatches(
  records: AsyncIterable<CsvItem[]>,
  format: RowFormat,
): AsyncGenerator<Batch> {
  let collector = createCollector();
  for await (const items of records) {
    for (const item of items) {
      if (item.kind === "end") {
        yield collector.finish(item.message);
        return;
      }
      const isRecord = item.kind === "record";
      collector.add(isRecord ? readRow(format, item) : item, isRecord ? lengthOf(item.cells) : 0);
      if (!collector.isFull()) continue;
      yield collector.finish(null);
      collector = createCollector();
    }
  }
  yield collector.finish(null);
}

/**
 * Collects the rows of one batch as runs, which are sorted while they are added and merged later.
 */
function createCollector() {
  const runs: ImportRow[][] = [];
  let run: ImportRow[] = [];
  let count = 0;
  let characters = 0;

  function endRun(): void {
    runs.push(run.sort(byAddressAndLine));
    run = [];
  }

  return {
    add(row: ImportRow, length: number): void {
      run.push(row);
      count++;
      characters += length;
      if (run.length === RUN_ROWS) endRun();
    },
    isFull: () => count >= MAX_ROWS || characters >= MAX_CHARACTERS,
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
    if (b.done === true || (a.done !== true && byAddressAndLine(a.value, b.value) < 0)) {
      if (a.done !== true) yield a.value;
      a = left.next();
    } else {
      yield b.value;
      b = right.next();
    }
  }
}

/** Invalid rows first; rows of one address in the order of the file, so that the last one wins. */
function byAddressAndLine(a: ImportRow, b: ImportRow): number {
  const left = a.kind === "row" ? a.email : "";
  const right = b.kind === "row" ? b.email : "";
  if (left === right) return a.line - b.line;
  return left < right ? -1 : 1;
}

function lengthOf(cells: readonly string[]): number {
  return cells.reduce((sum, cell) => sum + cell.length, 0);
}
