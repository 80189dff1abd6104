/** Shows workflows as the API does. */

import {
  HIDDEN_VALUE,
  dataFor,
  hostFor,
  namesFor,
  seesSecrets,
  stepDetailFor,
  textFor,
} from "../../http/role-views.ts";
import type { Role } from "../../http/roles.ts";
import { isoTime, isoTimeOrNull } from "../../lib/clock.ts";
import type { ExecutionDetails, ListedExecution } from "./execution-model.ts";
import { type Graph, type TriggerConfig, triggerOf } from "./graph/graph.ts";
import type { Workflow } from "./model.ts";
import type { WorkflowRow } from "./store.ts";

export function presentWorkflow(row: WorkflowRow, graph: Graph): Workflow {
  const { id, name, description, isEnabled, allowReentry, revision } = row;
  return {
    id,
    name,
    description,
    enabled: isEnabled,
    trigger: shownTrigger(triggerOf(graph)),
    nextEntryAt: isoTimeOrNull(row.nextEntryAt),
    allowReentry,
    exits: [...(graph.exits ?? [])],
    steps: graph.steps.map((step) => ({ ...step, config: { ...step.config } })),
    transitions: graph.transitions.map(({ id: transitionId, from, to, branch = null }) => ({
      id: transitionId,
      from,
      to,
      branch,
    })),
    revision,
    createdAt: isoTime(row.createdAt),
    updatedAt: isoTime(row.updatedAt),
  };
}

const shownTrigger = (trigger: TriggerConfig): Workflow["trigger"] =>
  "type" in trigger ? trigger : { type: "EVENT", ...trigger };

/**
 * The workflow as a role may read it. The URL, the headers and the body of WEBHOOK steps hold
 * credentials of other services; other steps compare and set data of contacts.
 */
export function readableBy(role: Role | null, workflow: Workflow): Workflow {
  if (seesSecrets(role)) return workflow;
  return { ...workflow, steps: workflow.steps.map((step) => withoutCredentials(role, step)) };
}

/** An execution as a role may read it. */
export function readableExecution<Shown extends ListedExecution>(
  role: Role | null,
  execution: Shown,
): Shown {
  const { context, error } = execution;
  return {
    ...execution,
    context: namesFor(role, context),
    error: error === null ? null : textFor(role, error),
  };
}

/** The same with the completed steps. */
export function readableDetails(role: Role | null, execution: ExecutionDetails): ExecutionDetails {
  const steps = execution.steps.map((step) => ({
    ...step,
    detail: stepDetailFor(role, step.detail),
  }));
  return { ...readableExecution(role, execution), steps };
}

type ShownStep = Workflow["steps"][number];

function withoutCredentials(role: Role | null, step: ShownStep): ShownStep {
  if (step.type !== "WEBHOOK") return { ...step, config: dataFor(role, step.config) };
  const { url, headers, body } = step.config;
  const isObject = headers !== null && typeof headers === "object";
  return {
    ...step,
    config: {
      ...step.config,
      ...(typeof url === "string" ? { url: hostFor(role, url) } : {}),
      ...(isObject ? { headers: namesFor(role, { ...headers }) } : {}),
      ...(body === undefined || body === null ? {} : { body: HIDDEN_VALUE }),
    },
  };
}
