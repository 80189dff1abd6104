/** Edits of one step or transition. Each returns a draft of the graph, which is checked as a whole. */

import { isRecord } from "../../../http/validation.ts";
import { AppError, fieldError, notFound } from "../../../lib/errors.ts";
import { UNCONDITIONAL } from "./branches.ts";
import type { Graph, Step, Transition } from "./graph.ts";
import type { StepAddition, StepPatch, TransitionPatch } from "../model.ts";
import type { TransitionInput } from "../step-model.ts";
import { freeId } from "./validate.ts";

/** A graph that is not checked yet. */
export type Draft = { steps: readonly unknown[]; transitions: readonly unknown[] };

/** `names` maps paths in the draft, such as `steps.3`, to the names of the fields in the request. */
export type Edit = { draft: Draft; names: Readonly<Record<string, string>> };

/**
 * Inserts a step after the step `after`, at the branch `branch`. The step that followed there follows
 * the new step: without a branch, or at the branch `yes` or `default` of a CONDITION.
 */
export function addStep(graph: Graph, { after, branch = null, ...given }: StepAddition): Edit {
  if (graph.steps.every(({ id }) => id !== after)) {
    throw fieldError("after", "unknown_reference", `names no step: "${after}"`);
  }
  const taken = new Set(graph.steps.map(({ id }) => id));
  const id = given.id ?? freeId(given.type.toLowerCase().replaceAll("_", "-"), taken);
  const into = { from: after, to: id, ...(branch === null ? {} : { branch }) };
  const next = graph.transitions.find((edge) => isTransition(edge, after, branch));
  const transitions: unknown[] =
    next === undefined
      ? [...graph.transitions, into]
      : [
          ...graph.transitions.map((edge) => (edge === next ? { ...edge, to: id } : edge)),
          ...(given.type === "EXIT" ? [] : [{ from: id, to: next.to, ...branchOfNext(given) }]),
        ];
  const draft = { steps: [...graph.steps, { ...given, id }], transitions };
  const transition = `transitions.${graph.transitions.length}`;
  const names = {
    [`steps.${graph.steps.length}`]: "",
    [`${transition}.from`]: "after",
    [`${transition}.to`]: "after",
    [`${transition}.branch`]: "branch",
  };
  return { draft, names };
}

function branchOfNext({ type, config }: Pick<StepAddition, "type" | "config">): {
  branch?: string;
} {
  if (type === "SPLIT") return firstBranchIn(config);
  if (type !== "CONDITION") return {};
  const isMulti = typeof config === "object" && config !== null && "branches" in config;
  return { branch: isMulti ? "default" : "yes" };
}

/** A config without a first branch is refused by the check of the draft. */
function firstBranchIn(config: unknown): { branch?: string } {
  const branches = isRecord(config) ? config["branches"] : undefined;
  const [first]: unknown[] = Array.isArray(branches) ? branches : [];
  const id = isRecord(first) ? first["id"] : undefined;
  return typeof id === "string" ? { branch: id } : {};
}

export function patchStep(graph: Graph, id: string, patch: StepPatch): Edit {
  const index = indexOf(graph.steps, id, "STEP");
  const { type, name, position, config } = patch;
  const given = {
    ...(type === undefined ? {} : { type }),
    ...(name === undefined ? {} : { name }),
    ...(position === undefined ? {} : { position }),
    ...(config === undefined ? {} : { config }),
  };
  const steps = graph.steps.map((step, i) => (i === index ? { ...step, ...given } : step));
  return { draft: { steps, transitions: graph.transitions }, names: { [`steps.${index}`]: "" } };
}

/** Transitions to the deleted step lead to the step after it; 409 if there are several. */
export function removeStep(graph: Graph, id: string): Draft {
  const step = graph.steps[indexOf(graph.steps, id, "STEP")];
  if (step?.type === "TRIGGER") {
    throw conflict("A workflow has one TRIGGER; it can be changed, not deleted.");
  }
  const out = graph.transitions.filter(({ from, to }) => from === id && to !== id);
  if (out.length > 1) {
    throw conflict(
      `${labelOf(step)} has several outgoing transitions. Delete all but one of them first.`,
    );
  }
  const next = out[0]?.to;
  const transitions = graph.transitions
    .filter(({ from }) => from !== id)
    .flatMap((edge) =>
      edge.to === id ? (next === undefined ? [] : [{ ...edge, to: next }]) : [edge],
    );
  return { steps: graph.steps.filter((other) => other !== step), transitions };
}

export function addTransition(graph: Graph, given: TransitionInput): Edit {
  const transitions = [...graph.transitions, given];
  return {
    draft: { steps: graph.steps, transitions },
    names: { [`transitions.${graph.transitions.length}`]: "" },
  };
}

/** `branch: null` is the unconditional transition. */
export function patchTransition(graph: Graph, id: string, patch: TransitionPatch): Edit {
  const index = indexOf(graph.transitions, id, "TRANSITION");
  const { from, to, branch } = patch;
  const given = {
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
    ...(branch === undefined ? {} : { branch }),
  };
  const transitions = graph.transitions.map((edge, i) =>
    i === index ? { ...edge, ...given } : edge,
  );
  return { draft: { steps: graph.steps, transitions }, names: { [`transitions.${index}`]: "" } };
}

export function removeTransition(graph: Graph, id: string): Draft {
  const index = indexOf(graph.transitions, id, "TRANSITION");
  return { steps: graph.steps, transitions: graph.transitions.toSpliced(index, 1) };
}

/** The name of a field in the request: `config.amount` for `steps.3.config.amount`. */
export function fieldOf(field: string, { names }: Edit): string {
  for (const [path, name] of Object.entries(names)) {
    if (field === path) return name === "" ? nounOf(path) : name;
    if (field.startsWith(`${path}.`)) {
      return [name, field.slice(path.length + 1)].filter((part) => part !== "").join(".");
    }
  }
  return field;
}

/** The field name for an error of the whole item: `step` for `steps.3`. */
function nounOf(path: string): string {
  return path.startsWith("steps.") ? "step" : "transition";
}

function indexOf(items: readonly { id: string }[], id: string, noun: string): number {
  const index = items.findIndex((item) => item.id === id);
  if (index === -1) throw notFound(noun);
  return index;
}

function isTransition(edge: Transition, from: string, branch: string | null): boolean {
  return edge.from === from && (edge.branch ?? UNCONDITIONAL) === branch;
}

function labelOf(step: Step | undefined): string {
  return step === undefined ? "The step" : `Step "${step.name}" (${step.id})`;
}

export function conflict(message: string): AppError {
  return new AppError(409, "CONFLICT", message, {
    suggestion: "Send the whole graph with PATCH to change several things at once.",
  });
}
