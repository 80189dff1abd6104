/** The queries of received mails. */

import { useQuery, useQueryClient } from "@tanstack/react-query";
import type { InboundRoute, ReceivedMail } from "../../../modules/inbound-routes/model.ts";
import { api, projectUrl } from "../../api.ts";
import { useProject } from "../../state.ts";
import { readMessageSource } from "../../ui/message/source-view.tsx";
import { type List, useList } from "../../ui/use-list.ts";

export const LIST_PATH = "/received-mails";
/** A received mail never changes. */
const FIXED = { staleTime: Infinity, refetchOnWindowFocus: false, retry: false } as const;

export const receivedPath = (id: string): string => `${LIST_PATH}/${encodeURIComponent(id)}`;

export const useRoutes = (): List<InboundRoute> =>
  useList<InboundRoute>("inbound-routes", "/inbound-routes");

/** A loaded row is used at once. */
export function useReceivedMail(id: string | undefined, rows: readonly ReceivedMail[]) {
  const project = useProject()?.id ?? null;
  const loaded = rows.find((row) => row.id === id);
  const found = useQuery({
    ...FIXED,
    queryKey: ["received-mail", project, id],
    queryFn: ({ signal }) => api.get<ReceivedMail>(receivedPath(id ?? ""), { signal }),
    enabled: id !== undefined && loaded === undefined,
  });
  const error = loaded === undefined ? found.error : null;
  return { data: loaded ?? found.data, error, refetch: found.refetch };
}

export function useReceivedSource(id: string) {
  const project = useProject()?.id ?? null;
  return useQuery({
    ...FIXED,
    gcTime: 0,
    queryKey: ["received-source", project, id],
    queryFn: ({ signal }) => readMessageSource(projectUrl(`${receivedPath(id)}/raw`), signal),
  });
}

/** Deletes a mail, and reads the list again. */
export function useRemoveReceived() {
  const project = useProject()?.id ?? null;
  const client = useQueryClient();
  return async (id: string): Promise<void> => {
    await api.delete(receivedPath(id));
    client.removeQueries({ queryKey: ["received-mail", project, id] });
    await client.invalidateQueries({ queryKey: ["live-list", project, LIST_PATH] });
  };
}
