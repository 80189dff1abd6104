/**
 * A workflow while it is edited. Changes are kept in the browser and sent when the user saves, for two
 * reasons: a graph is often incomplete between two edits, and each save is a version that takes effect
 * at once if the workflow is enabled.
 */

import { type QueryClient, useQueryClient } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import type { Workflow } from "../../../../modules/workflows/model.ts";
import { api, ApiError } from "../../../api.ts";
import { useMay } from "../../../state.ts";
import type { SaveOptions } from "../../../ui/editors/autosave.ts";
import { refreshOthers } from "../../../ui/editors/record-requests.ts";
import { useAutosave } from "../../../ui/editors/use-autosave.ts";
import { workflowKey, workflowPath } from "../use-workflow.ts";
import { bodyOf, DRAFT_GROUPS, workflowDraft, type Graph, type WorkflowDraft } from "./draft.ts";
import { type Fault, faultsOf } from "./faults.ts";
import { type History, noHistory, recorded, redone, undone } from "./history.ts";

export type WorkflowEditing = ReturnType<typeof useWorkflowEditor>;

export function useWorkflowEditor(workflow: Workflow, project: string) {
  const { id } = workflow;
  const client = useQueryClient();
  const mayEdit = useMay("EDITOR");
  const [faults, setFaults] = useState<readonly Fault[]>([]);
  const stored = useMemo(() => workflowDraft(workflow), [workflow]);

  const requests = workflowRequests(client, project, id, setFaults);
  const autosave = useAutosave<WorkflowDraft>({
    key: `workflows:${id}`,
    value: stored,
    revision: workflow.revision,
    groups: DRAFT_GROUPS,
    isManual: true,
    ...requests,
  });
  const { value } = autosave;
  const { history, change, startOver } = useHistory(value, autosave.change);
  return {
    ...autosave,
    mayEdit,
    /** True if the workflow has changes that are not saved. */
    isChanged: autosave.status !== "SAVED",
    /** The faults of the last save, of the steps that have not been changed since. */
    faults: faults.filter(({ step }) => step === null || value.steps.some((each) => each === step)),
    ...history,
    change,
    /** Changes the graph. Changes with the same topic are undone together. */
    edit(next: Graph, topic: string | null = null): void {
      const { steps, transitions } = next;
      change({ steps, transitions }, topic);
    },
    discard(): void {
      startOver();
      setFaults([]);
      autosave.discard();
    },
    resolve(choices: Parameters<typeof autosave.resolve>[0]): void {
      startOver();
      autosave.resolve(choices);
    },
  };
}

/** The requests that save the changed fields and read the changes of others. */
function workflowRequests(
  client: QueryClient,
  project: string,
  id: string,
  onFaults: (faults: readonly Fault[]) => void,
) {
  const queryKey = workflowKey(project, id);
  return {
    async save(value: WorkflowDraft, revision: number, { changed }: SaveOptions): Promise<number> {
      try {
        const saved = await api.patch<Workflow>(workflowPath(id), bodyOf(value, changed), {
          headers: { "If-Match": `"${revision}"` },
          project,
        });
        onFaults([]);
        client.setQueryData(queryKey, saved);
        refreshOthers(client, queryKey);
        void client.invalidateQueries({ queryKey: ["workflow-counts"] });
        return saved.revision;
      } catch (error) {
        onFaults(error instanceof ApiError ? faultsOf(error.errors, value) : []);
        throw error;
      }
    },
    async load() {
      const newest = await api.get<Workflow>(workflowPath(id), { project });
      client.setQueryData(queryKey, newest);
      return { value: workflowDraft(newest), revision: newest.revision };
    },
  };
}

/** Undo and redo for a value that `apply` changes. */
function useHistory(value: WorkflowDraft, apply: (next: Partial<WorkflowDraft>) => void) {
  const [steps, setSteps] = useState<History<WorkflowDraft>>(noHistory);
  /** Counts the changes that no form made, so that forms with a state of their own start anew. */
  const [replaced, setReplaced] = useState(0);
  function go(found: ReturnType<typeof undone<WorkflowDraft>>): void {
    if (found === null) return;
    setSteps(found.history);
    setReplaced(replaced + 1);
    apply(found.value);
  }
  return {
    history: {
      replaced,
      undo: steps.past.length === 0 ? null : () => go(undone(steps, value)),
      redo: steps.future.length === 0 ? null : () => go(redone(steps, value)),
    },
    change(next: Partial<WorkflowDraft>, topic: string | null = null): void {
      setSteps(recorded(steps, value, topic));
      apply(next);
    },
    startOver(): void {
      setSteps(noHistory());
      setReplaced(replaced + 1);
    },
  };
}
