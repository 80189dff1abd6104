/** Shows workflows as the API does. */

import { isoTime } from "../../lib/clock.ts";
import type { Graph } from "./graph/graph.ts";
import type { Workflow } from "./model.ts";
import type { WorkflowRow } from "./store.ts";

export function presentWorkflow(row: WorkflowRow, graph: Graph): Workflow {
  const { id, name, description, isEnabled, allowReentry, triggerEvent } = row;
  return {
    id,
    name,
    description,
    enabled: isEnabled,
    trigger: { type: "EVENT", eventName: triggerEvent },
    allowReentry,
    steps: graph.steps.map((step) => ({ ...step, config: { ...step.config } })),
    transitions: graph.transitions.map(({ id: transitionId, from, to, branch = null }) => ({
      id: transitionId,
      from,
      to,
      branch,
    })),
    createdAt: isoTime(row.createdAt),
    updatedAt: isoTime(row.updatedAt),
  };
}
