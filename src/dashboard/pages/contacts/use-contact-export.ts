/**
 * The export of contacts. The server streams the file, because page after page would take long for
 * a million contacts, and because it asks for the password before it gives away all addresses.
 */

import { useEffect, useRef, useState } from "react";
import { api, type Query } from "../../api.ts";
import type { Export } from "../../ui/export-button.tsx";
import { saveFile } from "../../ui/save-file.ts";
import { createRecordCounter } from "./record-counter.ts";

export function useContactExport(query: Query, total: number | null): Export {
  const [progress, setProgress] = useState<Export["progress"]>(null);
  const [error, setError] = useState<unknown>(null);
  const stop = useRef<AbortController | null>(null);
  useEffect(() => () => stop.current?.abort(), []);

  async function start(): Promise<void> {
    const controller = new AbortController();
    stop.current = controller;
    setError(null);
    setProgress({ done: 0, total });
    try {
      const response = await api.file("/contacts/export", { query, signal: controller.signal });
      const parts: BlobPart[] = [];
      const counter = createRecordCounter();
      for await (const part of response.body ?? []) {
        parts.push(part);
        // The first record has the names of the columns.
        setProgress({ done: Math.max(0, counter.add(part) - 1), total });
      }
      saveFile(parts, `contacts-${new Date().toISOString().slice(0, 10)}.csv`);
    } catch (caught) {
      if (!controller.signal.aborted) setError(caught);
    } finally {
      stop.current = null;
      setProgress(null);
    }
  }

  return { noun: "contacts", progress, error, start, stop: () => stop.current?.abort() };
}
