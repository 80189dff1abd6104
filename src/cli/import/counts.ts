/** The counts of an import for the objects of one kind, as the table shows them. */

export type ImportCounts = {
  kind: string;
  read: number;
  created: number;
  changed: number;
  unchanged: number;
  /** The number of people of the source who want no mail; null where it has no meaning. */
  out: number | null;
  refused: number;
};

export function countsOf(kind: string, read: number): ImportCounts {
  return { kind, read, created: 0, changed: 0, unchanged: 0, out: null, refused: 0 };
}

const TITLES = ["", "read", "new", "changed", "unchanged", "out", "refused"] as const;

export function countsTable(all: readonly ImportCounts[]): string {
  const rows = all.map(({ kind, read, created, changed, unchanged, out, refused }) => [
    kind,
    ...[read, created, changed, unchanged, out ?? "", refused].map(String),
  ]);
  const table = [[...TITLES], ...rows];
  const widths = TITLES.map((_, i) => Math.max(...table.map((row) => (row[i] ?? "").length)));
  return table
    .map((row) =>
      row
        .map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0)))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}
