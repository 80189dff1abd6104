/** The queries of one email: its record, its content, the checks of its message, and its source. */

import { useQuery } from "@tanstack/react-query";
import type { EmailChecks, EmailContent } from "../../../modules/emails/content/model.ts";
import type { Email } from "../../../modules/emails/record-model.ts";
import { api, ApiError, projectUrl } from "../../api.ts";
import { useProject } from "../../state.ts";

/** Renewed by live messages, whose first key is "emails". */
export function useEmail(id: string) {
  const project = useProject()?.id ?? null;
  return useQuery({
    queryKey: ["emails", project, id],
    queryFn: ({ signal }) => api.get<Email>(`/emails/${encodeURIComponent(id)}`, { signal }),
  });
}

/** The content does not change, and the server renders it for each request. */
const CONTENT = { staleTime: Infinity, gcTime: 60_000, refetchOnWindowFocus: false } as const;

export function useContent(id: string) {
  const project = useProject()?.id ?? null;
  return useQuery({
    ...CONTENT,
    queryKey: ["email-content", project, id],
    queryFn: ({ signal }) =>
      api.get<EmailContent>(`/emails/${encodeURIComponent(id)}/content`, { signal }),
  });
}

/** `isLinked`: the server also requests the links, which takes seconds. */
export function useChecks(id: string, isLinked: boolean) {
  const project = useProject()?.id ?? null;
  return useQuery({
    ...CONTENT,
    queryKey: ["email-checks", project, id, isLinked],
    queryFn: ({ signal }) =>
      api.get<EmailChecks>(`/emails/${encodeURIComponent(id)}/checks`, {
        query: { links: isLinked || undefined },
        signal,
      }),
  });
}

export type SourceText = { text: string; isCut: boolean };

/** `kind`: the message as it leaves, rendered again, or the message that was captured. */
export function useSource(id: string, kind: "source" | "raw") {
  const project = useProject()?.id ?? null;
  return useQuery({
    ...CONTENT,
    gcTime: 0,
    queryKey: ["email-source", project, id, kind],
    queryFn: ({ signal }) => readText(`/emails/${encodeURIComponent(id)}/${kind}`, signal),
  });
}

/** Bytes of a message that are shown. */
const MAX_BYTES = 20 * 1024 * 1024;

async function readText(path: string, signal: AbortSignal): Promise<SourceText> {
  const response = await fetch(projectUrl(path), { signal, credentials: "same-origin" });
  // The client of the interface turns the answer into an error with all details.
  if (!response.ok) {
    await response.body?.cancel();
    await api.get(path, { signal });
    throw new ApiError({
      status: response.status,
      code: "ERROR",
      message: `The server answered with status ${response.status}.`,
      suggestion: "",
      requestId: response.headers.get("x-request-id") ?? "",
      errors: [],
    });
  }
  return response.body === null ? { text: "", isCut: false } : readStart(response.body);
}

async function readStart(body: ReadableStream<Uint8Array>): Promise<SourceText> {
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  // Leaving the loop cancels the stream.
  for await (const part of body) {
    bytes += part.byteLength;
    text += decoder.decode(part, { stream: true });
    if (bytes > MAX_BYTES) return { text, isCut: true };
  }
  return { text: text + decoder.decode(), isCut: false };
}
