/**
 * The rows of an import that could not be imported, with the record as it stands in the file, so that
 * they can be mended and imported again. They are stored for a month.
 */

import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { Db } from "../../../db/open.ts";
import { withoutFormula, writeRecord } from "./cells.ts";
import type { ImportError } from "./model.ts";

export type ImportFaults = ReturnType<typeof createImportFaults>;

export type RowFault = { line: number; message: string; cells?: readonly string[] | undefined };

type FaultRow = { line: number; message: string; cells: string | null };

const Cells = Type.Array(Type.String());

/** Most faults that are stored of one import. All are counted. */
const MOST_FAULTS = 10_000;
/** Faults that are shown with the progress. */
const SHOWN_FAULTS = 100;
/** A longer record is not kept: it would be cut, and could not be imported again. */
const LONGEST_RECORD = 4096;
const LONGEST_HEADER = 64 * 1024;
/** Stands for the file itself, which has no line. */
const NO_LINE = 0;
/** The row with the header of the file has no message. */
const HEADER = "";

export function createImportFaults({ sqlite }: Pick<Db, "sqlite">) {
  const insert = sqlite.prepare<unknown, [number, number, string, string | null]>(
    "INSERT OR IGNORE INTO import_faults (job_seq, line, message, cells) VALUES (?, ?, ?, ?)",
  );
  const remove = sqlite.prepare<unknown, [number]>("DELETE FROM import_faults WHERE job_seq = ?");
  const list = sqlite.prepare<FaultRow, [number, number]>(`
    SELECT line, message, cells FROM import_faults
    WHERE job_seq = ? AND message <> '' ORDER BY line LIMIT ?`);
  const findHeader = sqlite.prepare<Pick<FaultRow, "cells">, [number]>(
    "SELECT cells FROM import_faults WHERE job_seq = ? AND message = '' ORDER BY line LIMIT 1",
  );

  return {
    /** Stores faults, inside a change. `before` is the number of the faults before them. */
    add(jobSeq: number, faults: readonly RowFault[], before: number): void {
      for (const { line, message, cells } of faults.slice(0, Math.max(0, MOST_FAULTS - before))) {
        insert.run(jobSeq, line, message, storable(cells, LONGEST_RECORD));
      }
    },

    /** Stores the fault of the whole file, inside a change. */
    addOfFile(jobSeq: number, message: string): void {
      insert.run(jobSeq, NO_LINE, message, null);
    },

    /** Stores the names of the columns, inside a change. */
    setHeader(jobSeq: number, header: readonly string[]): void {
      insert.run(jobSeq, 1, HEADER, storable(header, LONGEST_HEADER));
    },

    /** Removes all faults of an import, inside a change. */
    clear(jobSeq: number): void {
      remove.run(jobSeq);
    },

    /** The first faults, by line. */
    first: (jobSeq: number): ImportError[] =>
      list.all(jobSeq, SHOWN_FAULTS).map(({ line, message }) => ({
        line: line === NO_LINE ? null : line,
        message,
      })),

    /** All stored faults as CSV: the line, the fault, and the columns of the file. */
    csv(jobSeq: number): string {
      const header = parseCells(findHeader.get(jobSeq)?.cells ?? null);
      const rows = list
        .all(jobSeq, MOST_FAULTS + 1)
        .map(({ line, message, cells }) => [
          line === NO_LINE ? "" : String(line),
          message,
          ...parseCells(cells).map(withoutFormula),
        ]);
      return [["line", "fault", ...header], ...rows].map(writeRecord).join("");
    },
  };
}

function storable(cells: readonly string[] | undefined, longest: number): string | null {
  if (cells === undefined) return null;
  const text = JSON.stringify(cells);
  return text.length <= longest ? text : null;
}

function parseCells(text: string | null): string[] {
  return text === null ? [] : Value.Parse(Cells, JSON.parse(text));
}
