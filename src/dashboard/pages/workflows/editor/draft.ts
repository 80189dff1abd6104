/** A workflow while it is edited: the fields of the interface, without ids that the server makes. */

import type { Workflow } from "../../../../modules/workflows/model.ts";
import { isRecord } from "../../../ui/is-record.ts";

export type StepKind = Workflow["steps"][number]["type"];
export type Config = Readonly<Record<string, unknown>>;

export type DraftStep = {
  id: string;
  type: StepKind;
  /** Empty for a step that is called by its kind. */
  name: string;
  position: { x: number; y: number };
  config: Config;
};

/** A transition. `branch` is null for the only way on; `id` is empty until the server makes it. */
export type Way = { id: string; from: string; to: string; branch: string | null };

export type Graph = { steps: readonly DraftStep[]; transitions: readonly Way[] };

export type Exit = Workflow["exits"][number];

export type WorkflowDraft = Graph & {
  name: string;
  description: string;
  allowReentry: boolean;
  exits: readonly Exit[];
};

/** The fields that are decided together when two people changed the workflow. */
export const DRAFT_GROUPS = [["steps", "transitions"]] as const;
export const DRAFT_LABELS = {
  name: "Name",
  description: "Description",
  allowReentry: "Whether a contact may enter again",
  exits: "Exits",
  steps: "Steps",
  transitions: "Transitions",
} as const;

export function workflowDraft(workflow: Workflow): WorkflowDraft {
  const { name, description, allowReentry, steps, transitions } = workflow;
  return {
    name,
    description: description ?? "",
    allowReentry,
    exits: workflow.exits,
    steps: steps.map(({ id, type, name: title, position, config }) => ({
      id,
      type,
      // A step without a name is stored with its type as the name.
      name: title === type ? "" : title,
      position,
      config,
    })),
    transitions: transitions.map(({ id, from, to, branch }) => ({ id, from, to, branch })),
  };
}

/** The body of a request with the changed fields. */
export function bodyOf(draft: WorkflowDraft, changed: readonly string[]): object {
  const { name, description, allowReentry, exits } = draft;
  const has = (...fields: string[]) => fields.some((field) => changed.includes(field));
  return {
    ...(has("name") ? { name: name.trim() } : {}),
    ...(has("description") ? { description: description.trim() || null } : {}),
    ...(has("allowReentry") ? { allowReentry } : {}),
    ...(has("exits") ? { exits } : {}),
    ...(has("steps", "transitions") ? graphBody(draft) : {}),
  };
}

/** The exits of a body; a workflow without any leaves them out. */
export const exitsBody = ({ exits }: WorkflowDraft): { exits?: readonly Exit[] } =>
  exits.length === 0 ? {} : { exits };

/** The graph as the interface takes it. The trigger is that of the TRIGGER step. */
export function graphBody({ steps, transitions }: Graph) {
  const trigger = steps.find(({ type }) => type === "TRIGGER");
  return {
    ...(trigger === undefined ? {} : { trigger: triggerOf(trigger) }),
    steps: steps.map(({ id, type, name, position, config }) => ({
      id,
      type,
      ...(name.trim() === "" ? {} : { name: name.trim() }),
      position,
      config,
    })),
    transitions: transitions.map(({ id, from, to, branch }) => ({
      ...(id === "" ? {} : { id }),
      from,
      to,
      ...(branch === null ? {} : { branch }),
    })),
  };
}

/** The trigger of the interface: the settings of the TRIGGER step, which has no type for an event. */
const triggerOf = ({ config }: DraftStep): Config => ({ type: "EVENT", ...config });

/**
 * The branches that a step has, as the server knows them. A faulty setting keeps its branch, so that
 * the steps after it stay while a number is typed anew.
 */
export function branchesOf({
  type,
  config,
}: Pick<DraftStep, "type" | "config">): (string | null)[] {
  switch (type) {
    case "EXIT":
      return [];
    case "CONDITION":
      return Array.isArray(config["branches"]) ? [...branchIds(config), "default"] : ["yes", "no"];
    case "SPLIT":
      return branchIds(config);
    case "WAIT_FOR_EVENT":
      return (config["timeout"] ?? null) === null ? [null] : [null, "timeout"];
    default:
      return [null];
  }
}

export function branchIds(config: Config): string[] {
  const branches: unknown = config["branches"];
  if (!Array.isArray(branches)) return [];
  return branches.flatMap((branch: unknown) =>
    isRecord(branch) && typeof branch["id"] === "string" ? [branch["id"]] : [],
  );
}
