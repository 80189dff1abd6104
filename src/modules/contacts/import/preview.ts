/** The first rows of a file, as an import would store them. */

import type { CsvItem } from "../../../lib/csv.ts";
import { parseData } from "../data.ts";
import type { FileFormat } from "./format.ts";
import type { ImportJob } from "./model.ts";
import { readRow } from "./rows.ts";
import type { Trial } from "./trial.ts";
import type { RowContent } from "./write.ts";

type PreviewedRow = NonNullable<ImportJob["preview"]>[number];

export const PREVIEWED_ROWS = 20;
const MOST_CELLS = 500;
const LONGEST_VALUE = 200;
const MOST_VALUES = 500;

/** `preview` says what a row would do. */
export function previewRows(
  format: FileFormat,
  items: readonly CsvItem[],
  preview: (row: RowContent) => ReturnType<Trial["preview"]>,
): PreviewedRow[] {
  return items.map((item): PreviewedRow => {
    const { line } = item;
    const nothing = { email: null, subscribed: null, data: {} };
    if (item.kind !== "record") return { line, cells: [], ...nothing, error: item.message };
    const cells = item.cells.slice(0, MOST_CELLS).map(shorten);
    const row = readRow(format, item);
    if (row.kind === "fault") return { line, cells, ...nothing, error: row.message };
    const data = shortened(parseData(row.data));
    const outcome = preview(row);
    if (outcome.is === "failed") {
      return { line, cells, email: row.email, subscribed: null, data, error: outcome.message };
    }
    const { isSubscribed: subscribed } = outcome;
    return { line, cells, email: row.email, subscribed, data, error: null };
  });
}

/** The values that are shown; long texts are cut, and long lists and objects are shown as texts. */
function shortened(data: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const entries = Object.entries(data).slice(0, MOST_VALUES);
  return Object.fromEntries(
    entries.map(([key, value]) => {
      if (typeof value === "number" || typeof value === "boolean") return [key, value];
      if (typeof value === "string") return [key, shorten(value)];
      const text = JSON.stringify(value);
      return [key, text.length > LONGEST_VALUE ? shorten(text) : value];
    }),
  );
}

const shorten = (text: string): string =>
  text.length > LONGEST_VALUE ? `${text.slice(0, LONGEST_VALUE)}…` : text;
