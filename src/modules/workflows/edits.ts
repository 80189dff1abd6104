/** Single changes of a graph. Each gives the parts of a new one, which is then checked whole. */

import { AppError, fieldError, notFound } from "../../lib/errors.ts";
import { PLAIN } from "./branches.ts";
import type { Graph, Step, Transition } from "./graph.ts";
import type { StepAddition, StepPatch, TransitionInput, TransitionPatch } from "./model.ts";
import { freeId } from "./validate.ts";

/** Not checked yet: `Graph` as a request would bring it. */
export type Draft = { steps: readonly unknown[]; transitions: readonly unknown[] };

/** `names`: places in the draft, such as `steps.3`, by what the request calls them. */
export type Edit = { draft: Draft; names: Readonly<Record<string, string>> };

/**
 * Puts a step into the way that leaves `after` by `branch`: what came there comes after the new
 * step, by its plain way on, or by `yes` or `default` of a CONDITION.
 */
export function addStep(graph: Graph, { after, branch = null, ...given }: StepAddition): Edit {
  if (graph.steps.every(({ id }) => id !== after)) {
    throw fieldError("after", "unknown_reference", `names no step: "${after}"`);
  }
  const taken = new Set(graph.steps.map(({ id }) => id));
  const id = given.id ?? freeId(given.type.toLowerCase().replaceAll("_", "-"), taken);
  const into = { from: after, to: id, ...(branch === null ? {} : { branch }) };
  const next = graph.transitions.find((way) => isWay(way, after, branch));
  const transitions: unknown[] =
    next === undefined
      ? [...graph.transitions, into]
      : [
          ...graph.transitions.map((way) => (way === next ? { ...way, to: id } : way)),
          ...(given.type === "EXIT" ? [] : [{ from: id, to: next.to, ...onward(given) }]),
        ];
  const draft = { steps: [...graph.steps, { ...given, id }], transitions };
  const way = `transitions.${graph.transitions.length}`;
  const names = {
    [`steps.${graph.steps.length}`]: "",
    [`${way}.from`]: "after",
    [`${way}.to`]: "after",
    [`${way}.branch`]: "branch",
  };
  return { draft, names };
}

function onward({ type, config }: Pick<StepAddition, "type" | "config">): { branch?: string } {
  if (type !== "CONDITION") return {};
  const isMulti = typeof config === "object" && config !== null && "branches" in config;
  return { branch: isMulti ? "default" : "yes" };
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

/** What led to the step leads to the one after it; 409 where there are several. */
export function removeStep(graph: Graph, id: string): Draft {
  const step = graph.steps[indexOf(graph.steps, id, "STEP")];
  if (step?.type === "TRIGGER") {
    throw conflict("A workflow has one TRIGGER; it can be changed, not deleted.");
  }
  const out = graph.transitions.filter(({ from, to }) => from === id && to !== id);
  if (out.length > 1) {
    throw conflict(`${labelOf(step)} has several ways on. Delete those that are not needed first.`);
  }
  const next = out[0]?.to;
  const transitions = graph.transitions
    .filter(({ from }) => from !== id)
    .flatMap((way) => (way.to === id ? (next === undefined ? [] : [{ ...way, to: next }]) : [way]));
  return { steps: graph.steps.filter((other) => other !== step), transitions };
}

export function addTransition(graph: Graph, given: TransitionInput): Edit {
  const transitions = [...graph.transitions, given];
  return {
    draft: { steps: graph.steps, transitions },
    names: { [`transitions.${graph.transitions.length}`]: "" },
  };
}

/** A `branch` of null makes it the plain way on. */
export function patchTransition(graph: Graph, id: string, patch: TransitionPatch): Edit {
  const index = indexOf(graph.transitions, id, "TRANSITION");
  const { from, to, branch } = patch;
  const given = {
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
    ...(branch === undefined ? {} : { branch }),
  };
  const transitions = graph.transitions.map((way, i) => (i === index ? { ...way, ...given } : way));
  return { draft: { steps: graph.steps, transitions }, names: { [`transitions.${index}`]: "" } };
}

export function removeTransition(graph: Graph, id: string): Draft {
  const index = indexOf(graph.transitions, id, "TRANSITION");
  return { steps: graph.steps, transitions: graph.transitions.toSpliced(index, 1) };
}

/** The field as the request knows it: `config.amount` for `steps.3.config.amount`. */
export function fieldOf(field: string, { names }: Edit): string {
  for (const [place, name] of Object.entries(names)) {
    if (field === place) return name === "" ? lastOf(place) : name;
    if (field.startsWith(`${place}.`)) {
      return [name, field.slice(place.length + 1)].filter((part) => part !== "").join(".");
    }
  }
  return field;
}

/** `step` for `steps.3`: the whole of it. */
function lastOf(place: string): string {
  return place.startsWith("steps.") ? "step" : "transition";
}

function indexOf(items: readonly { id: string }[], id: string, noun: string): number {
  const index = items.findIndex((item) => item.id === id);
  if (index === -1) throw notFound(noun);
  return index;
}

function isWay(way: Transition, from: string, branch: string | null): boolean {
  return way.from === from && (way.branch ?? PLAIN) === branch;
}

function labelOf(step: Step | undefined): string {
  return step === undefined ? "The step" : `Step "${step.name}" (${step.id})`;
}

export function conflict(message: string): AppError {
  return new AppError(409, "CONFLICT", message, {
    suggestion: "Send the whole graph with PATCH to change several things at once.",
  });
}
