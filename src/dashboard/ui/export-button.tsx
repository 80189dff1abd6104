/** Saves the filtered rows of a list as CSV: reads page after page, shows the progress, can be stopped. */

import { Button } from "@mantine/core";
import { Download } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { api, type ListPage, type Query } from "../api.ts";
import { type CsvColumn, csvWriter } from "./csv.ts";
import { Problem } from "./problem.tsx";
import { saveFile } from "./save-file.ts";
import { useNamedDialog } from "./use-create-dialog.ts";

const PAGE_SIZE = 100;
const number = new Intl.NumberFormat();

/** The total is null where the interface does not count the rows of a search. */
type Rows<T> = Omit<ListPage<T>, "total"> & { total: number | null };

type Source<T> = {
  /** The list of the interface, with the query of the page. */
  path: string;
  query?: Query;
  columns: readonly CsvColumn<T>[];
  /** The plural, which also begins the name of the file: `emails-2026-11-22.csv`. */
  noun: string;
};

export type Export = {
  noun: string;
  /** Null while no export runs. */
  progress: { done: number; total: number | null } | null;
  error: unknown;
  start: () => Promise<void>;
  stop: () => void;
};

export function useExport<T>(source: Source<T>): Export {
  const { noun } = source;
  const [progress, setProgress] = useState<Export["progress"]>(null);
  const [error, setError] = useState<unknown>(null);
  const stop = useRef<AbortController | null>(null);
  useEffect(() => () => stop.current?.abort(), []);

  async function start(): Promise<void> {
    const controller = new AbortController();
    stop.current = controller;
    setError(null);
    setProgress({ done: 0, total: null });
    try {
      const parts = await readAll(source, controller.signal, (done, total) =>
        setProgress({ done, total }),
      );
      saveFile(parts, `${noun}-${new Date().toISOString().slice(0, 10)}.csv`);
    } catch (caught) {
      if (!controller.signal.aborted) setError(caught);
    } finally {
      stop.current = null;
      setProgress(null);
    }
  }

  return { noun, progress, error, start, stop: () => stop.current?.abort() };
}

async function readAll<T>(
  { path, query, columns }: Source<T>,
  signal: AbortSignal,
  onProgress: (done: number, total: number | null) => void,
): Promise<string[]> {
  const writer = csvWriter(columns);
  const parts = [writer.header];
  let cursor: string | null = null;
  let done = 0;
  do {
    const page: Rows<T> = await api.get<Rows<T>>(path, {
      query: { ...query, limit: PAGE_SIZE, cursor },
      signal,
    });
    parts.push(page.items.map(writer.row).join(""));
    done += page.items.length;
    onProgress(done, page.total);
    cursor = page.nextCursor;
  } while (cursor !== null);
  return parts;
}

/** Saves rows that are loaded already, such as the selected ones. */
export function saveRows<T>(
  rows: readonly T[],
  { columns, noun }: Pick<Source<T>, "columns" | "noun">,
): void {
  const writer = csvWriter(columns);
  saveFile([writer.header, ...rows.map(writer.row)], `${noun}-selected.csv`);
}

export function ExportButton({ run, isDisabled }: { run: Export; isDisabled: boolean }) {
  return (
    <Button
      variant="default"
      leftSection={<Download size={15} aria-hidden />}
      disabled={isDisabled || run.progress !== null}
      onClick={() => void run.start()}
    >
      Export CSV
    </Button>
  );
}

/**
 * Below the filters, while an export runs or after it failed. A navigation with the state
 * `{ dialog: "export" }` starts one, also before the list is loaded.
 */
export function ExportProgress({ run }: { run: Export }) {
  const { noun, progress, error, start, stop } = run;
  const [isAsked, asked] = useNamedDialog("export");
  useEffect(() => {
    if (!isAsked) return;
    asked.close();
    void start();
  }, [isAsked]);
  if (error !== null) return <Problem error={error} onRetry={() => void start()} />;
  if (progress === null) return null;
  const { done, total } = progress;
  return (
    <div className="export" role="status">
      <progress
        max={total ?? undefined}
        value={total === null ? undefined : done}
        aria-label="Export"
      />
      <span>
        {number.format(done)}
        {total === null ? "" : ` of ${number.format(total)}`} {noun}
      </span>
      <Button size="compact-xs" variant="default" onClick={stop}>
        Stop
      </Button>
    </div>
  );
}
