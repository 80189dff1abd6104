/** One workflow, one of its executions, and the actions on them. */

import { useQuery, useQueryClient } from "@tanstack/react-query";
import type { ExecutionDetails } from "../../../modules/workflows/execution-model.ts";
import type { Workflow } from "../../../modules/workflows/model.ts";
import { api } from "../../api.ts";

export const workflowPath = (id: string): string => `/workflows/${encodeURIComponent(id)}`;
export const workflowKey = (project: string, id: string) => ["workflows", project, id];

export function useWorkflow(project: string, id: string) {
  return useQuery({
    queryKey: workflowKey(project, id),
    queryFn: ({ signal }) => api.get<Workflow>(workflowPath(id), { signal }),
  });
}

/** Without an id nothing is read. */
export function useExecution(project: string, workflow: string, id: string | undefined) {
  return useQuery({
    queryKey: [...workflowKey(project, workflow), "execution", id],
    queryFn: ({ signal }) =>
      api.get<ExecutionDetails>(
        `${workflowPath(workflow)}/executions/${encodeURIComponent(id ?? "")}`,
        { signal },
      ),
    enabled: id !== undefined,
  });
}

export function useWorkflowActions(project: string, id: string) {
  const client = useQueryClient();
  const refresh = async () => {
    await client.invalidateQueries({ queryKey: ["workflows"] });
    await client.invalidateQueries({ queryKey: ["workflow-counts"] });
  };
  return {
    async setEnabled(enabled: boolean): Promise<void> {
      const workflow = await api.patch<Workflow>(workflowPath(id), { enabled });
      client.setQueryData(workflowKey(project, id), workflow);
      await refresh();
    },
    async cancel(execution: string): Promise<void> {
      await api.post(`${workflowPath(id)}/executions/${encodeURIComponent(execution)}/cancel`);
      await refresh();
    },
    async cancelAll(): Promise<void> {
      await api.post(`${workflowPath(id)}/executions/cancel`);
      await refresh();
    },
  };
}
