/**
 * Numbers of executions. They are counted on the server for each request, so live messages renew
 * them at most every few seconds.
 */

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useRef } from "react";
import type {
  ExecutionCounts,
  ListedCounts,
  WorkflowCounts,
} from "../../../modules/workflows/count-model.ts";
import { api } from "../../api.ts";
import { type LiveMessage, useLiveMessages } from "../../live.ts";
import { useProject } from "../../state.ts";

const RENEWAL_MS = 5_000;
/** Ids of one request. */
const MAX_IDS = 100;
const KEY = "workflow-counts";

/** The numbers of a workflow and of its steps. */
export function useWorkflowCounts(id: string) {
  useRenewal();
  const project = useProject()?.id ?? null;
  return useQuery({
    queryKey: [KEY, project, id],
    queryFn: ({ signal }) => api.get<WorkflowCounts>(`/workflows/${id}/counts`, { signal }),
  });
}

/** The numbers of the workflows of a list, by their ids. */
export function useListedCounts(ids: readonly string[]): ReadonlyMap<string, ExecutionCounts> {
  useRenewal();
  const project = useProject()?.id ?? null;
  const { data } = useQuery({
    queryKey: [KEY, project, ids],
    queryFn: async ({ signal }) => {
      const found: ListedCounts[] = [];
      for (let i = 0; i < ids.length; i += MAX_IDS) {
        const query = { ids: ids.slice(i, i + MAX_IDS).join(",") };
        const page = await api.get<{ items: ListedCounts[] }>("/workflows/counts", {
          query,
          signal,
        });
        found.push(...page.items);
      }
      return new Map(found.map(({ workflowId, executions }) => [workflowId, executions]));
    },
    enabled: ids.length > 0,
    placeholderData: (before) => before,
  });
  return data ?? new Map();
}

/** Renews the numbers after the latest message, and at most once per `RENEWAL_MS`. */
function useRenewal(): void {
  const client = useQueryClient();
  const timer = useRef<number | undefined>(undefined);
  useEffect(() => () => window.clearTimeout(timer.current), []);
  const onMessages = useCallback(
    (messages: readonly LiveMessage[]) => {
      const isAbout = ({ type }: LiveMessage) => type === "reload" || type.startsWith("workflow.");
      if (timer.current !== undefined || !messages.some(isAbout)) return;
      void client.invalidateQueries({ queryKey: [KEY] });
      timer.current = window.setTimeout(() => {
        timer.current = undefined;
        void client.invalidateQueries({ queryKey: [KEY] });
      }, RENEWAL_MS);
    },
    [client],
  );
  useLiveMessages(onMessages);
}
