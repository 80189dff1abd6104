/** Shows workflows as the API does. */

import { includesRole, type Role } from "../../http/roles.ts";
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

/** The value of a header that a role may not read. */
const HIDDEN_VALUE = "(hidden)";

/**
 * The workflow as a role may read it. The headers of WEBHOOK steps hold credentials of other
 * services, so viewers get only their names.
 */
export function readableBy(role: Role | null, workflow: Workflow): Workflow {
  if (includesRole(role, "EDITOR")) return workflow;
  return { ...workflow, steps: workflow.steps.map(withoutHeaderValues) };
}

type ShownStep = Workflow["steps"][number];

function withoutHeaderValues(step: ShownStep): ShownStep {
  const { headers } = step.config;
  if (step.type !== "WEBHOOK" || headers === null || typeof headers !== "object") return step;
  const hidden = Object.fromEntries(Object.keys(headers).map((name) => [name, HIDDEN_VALUE]));
  return { ...step, config: { ...step.config, headers: hidden } };
}
