/** The job of an import, and the requests that start it. */

import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import type { ImportProgress, ImportRun } from "../../../../modules/contacts/import/model.ts";
import { api } from "../../../api.ts";
import { hasEnded } from "./counts.ts";

/** The options that a user changes; undefined leaves the decision to the server. */
export type ImportOptions = { [Key in keyof ImportRun]?: ImportRun[Key] | undefined };

/** Jobs send no live messages. */
const LOOK_AGAIN_MS = 700;
/** Time after the last change of an option until the file is tried again. */
const SETTLED_MS = 500;

export const importKey = (project: string, job: string) => ["imports", project, job];

/** The progress of a job, which is read again until the job has ended. */
export const useImport = (project: string, job: string) =>
  useQuery({
    queryKey: importKey(project, job),
    queryFn: ({ signal }) =>
      api.get<ImportProgress>(`/contacts/import/${encodeURIComponent(job)}`, { signal }),
    refetchInterval: ({ state }) =>
      state.data === undefined || hasEnded(state.data) ? false : LOOK_AGAIN_MS,
    // The results of the options before stay until those of the new options are there.
    placeholderData: (before) => before,
  });

/** Uploads a file and returns the id of the job that tries it. */
export async function uploadFile(file: File, signal: AbortSignal): Promise<string> {
  const form = new FormData();
  form.set("dryRun", "true");
  form.set("file", file, file.name);
  const { jobId } = await api.upload<{ jobId: string }>("/contacts/import", form, { signal });
  return jobId;
}

/** Imports the file of a dry run, or tries it again, and returns the id of the new job. */
export async function runFile(
  job: string,
  body: ImportOptions,
  idempotencyKey?: string,
): Promise<string> {
  const { jobId } = await api.post<{ jobId: string }>(
    `/contacts/import/${encodeURIComponent(job)}/run`,
    body,
    idempotencyKey === undefined ? {} : { idempotencyKey },
  );
  return jobId;
}

/**
 * The options of a dry run while a user changes them. The file is tried again half a second after the
 * last change, and never twice at once: the file belongs to the newest job.
 */
export function useOptions(job: ImportProgress, onTried: (job: string) => void) {
  const [options, setOptions] = useState<ImportOptions>(job.options);
  const [tried, setTried] = useState<ImportOptions>(job.options);
  const [error, setError] = useState<unknown>(null);
  const [isSending, setIsSending] = useState(false);
  const isChanged = options !== tried;
  const mayTry = isChanged && hasEnded(job) && !isSending && error === null;

  async function tryAgain(): Promise<void> {
    setIsSending(true);
    try {
      const next = await runFile(job.id, { ...options, dryRun: true });
      setTried(options);
      onTried(next);
    } catch (caught) {
      setError(caught);
    } finally {
      setIsSending(false);
    }
  }

  useEffect(() => {
    if (!mayTry) return undefined;
    const timer = setTimeout(() => void tryAgain(), SETTLED_MS);
    return () => clearTimeout(timer);
  }, [mayTry, options, job.id]);

  return {
    options,
    error,
    /** The results are not those of the options. */
    isStale: isChanged || !hasEnded(job) || isSending,
    change(next: ImportOptions): void {
      setError(null);
      setOptions((before) => ({ ...before, ...next }));
    },
  };
}
