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
const MOST_ROWS = 16_384;
const MOST_CHARACTERS = 8 * 1024 * 1024;

/** `records` begin after the header. */
export async function* inBatches(
  records: AsyncIterable<CsvItem[]>,
  columns: readonly Column[],
): AsyncGenerator<Batch> {
  let rows: ImportRow[] = [];
  let characters = 0;
  for await (const items of records) {
    for (const item of items) {
      if (item.kind === "end") {
        yield { rows: sorted(rows), endedBy: item.message };
        return;
      }
      rows.push(item.kind === "record" ? readRow(columns, item) : item);
      characters += item.kind === "record" ? lengthOf(item.cells) : 0;
      if (rows.length < MOST_ROWS && characters < MOST_CHARACTERS) continue;
      yield { rows: sorted(rows), endedBy: null };
      rows = [];
      characters = 0;
    }
  }
  yield { rows: sorted(rows), endedBy: null };
}

/** Faults first; rows of one address in the order of the file, so that the last one wins. */
function sorted(rows: ImportRow[]): ImportRow[] {
  return rows.sort((a, b) => {
    const [left, right] = [addressOf(a), addressOf(b)];
    return left < right ? -1 : left > right ? 1 : a.line - b.line;
  });
}

function addressOf(row: ImportRow): string {
  return row.kind === "row" ? row.email : "";
}

function lengthOf(cells: readonly string[]): number {
  return cells.reduce((sum, cell) => sum + cell.length, 0);
}
