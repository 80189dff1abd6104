/** Saves the filtered emails as CSV: reads page after page, shows the progress, and can be stopped. */

import { Button } from "@mantine/core";
import { Download } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import type { Email } from "../../../modules/emails/record-model.ts";
import { api, type Query } from "../../api.ts";
import { Problem } from "../../ui/problem.tsx";
import { CSV_HEADER, csvRow } from "./csv.ts";
import type { EmailRows } from "./use-email-list.ts";

const PAGE_SIZE = 100;
const number = new Intl.NumberFormat();

export type Export = ReturnType<typeof useExport>;

/** `done` is null while no export runs. */
export function useExport(query: Query) {
  const [progress, setProgress] = useState<{ done: number; total: number | null } | null>(null);
  const [error, setError] = useState<unknown>(null);
  const stop = useRef<AbortController | null>(null);
  useEffect(() => () => stop.current?.abort(), []);

  async function start(): Promise<void> {
    const controller = new AbortController();
    stop.current = controller;
    setError(null);
    setProgress({ done: 0, total: null });
    try {
      const parts = await readAll(query, controller.signal, (done, total) =>
        setProgress({ done, total }),
      );
      save(parts, `emails-${new Date().toISOString().slice(0, 10)}.csv`);
    } catch (caught) {
      if (!controller.signal.aborted) setError(caught);
    } finally {
      stop.current = null;
      setProgress(null);
    }
  }

  return { progress, error, start, stop: () => stop.current?.abort() };
}

async function readAll(
  query: Query,
  signal: AbortSignal,
  onProgress: (done: number, total: number | null) => void,
): Promise<string[]> {
  const parts = [CSV_HEADER];
  let cursor: string | null = null;
  let done = 0;
  do {
    const page: EmailRows = await api.get<EmailRows>("/emails", {
      query: { ...query, limit: PAGE_SIZE, cursor },
      signal,
    });
    parts.push(page.items.map(csvRow).join(""));
    done += page.items.length;
    onProgress(done, page.total);
    cursor = page.nextCursor;
  } while (cursor !== null);
  return parts;
}

export function saveRows(emails: readonly Email[]): void {
  save([CSV_HEADER, ...emails.map(csvRow)], "emails-selected.csv");
}

function save(parts: readonly string[], name: string): void {
  const url = URL.createObjectURL(new Blob([...parts], { type: "text/csv;charset=utf-8" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
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

/** Below the filters, while an export runs or after it failed. */
export function ExportProgress({ run }: { run: Export }) {
  const { progress, error, start, stop } = run;
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
        {total === null ? "" : ` of ${number.format(total)}`} emails
      </span>
      <Button size="compact-xs" variant="default" onClick={stop}>
        Stop
      </Button>
    </div>
  );
}
