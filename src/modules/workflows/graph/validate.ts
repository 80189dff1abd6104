/**
 * Checks the input of a caller and turns it into a graph, or returns all its violations. This file
 * does not use the database: references.ts checks templates and segments.
 */

import { isRecord, MAX_ERRORS } from "../../../http/validation.ts";
import type { FieldError } from "../../../lib/errors.ts";
import { measureTemplate } from "../../../render/template/size.ts";
import type { CheckResult } from "../../segments/condition/input.ts";
import { type Head, readStep } from "./config.ts";
import type { Exit, Graph, Step, Transition } from "./graph.ts";
import { readShape } from "./read-shape.ts";
import { type Edge, type Node, shapeErrors } from "./shape.ts";
import { StepHead, TransitionShape } from "./step-schemas.ts";

const MAX_STEPS = 500;
const MAX_TRANSITIONS = 2000;
const MAX_GRAPH_BYTES = 1024 * 1024;
/** Most Liquid of all steps: each output and tag takes some microseconds to parse. */
const MAX_LIQUID = { tags: 5_000, code: 128 * 1024 };

/**
 * Checks a whole graph. The fields of violations are paths such as `steps.3.config.amount`. Steps
 * that are taken from the graph `checked` are not checked again, because parsing Liquid is expensive.
 * The exits are checked already, and are those of `checked` if none are given.
 */
export function checkGraph(
  given: { steps: unknown; transitions: unknown; exits?: readonly Exit[] },
  checked: Graph | null = null,
): CheckResult<Graph> {
  const errors = [
    ...listErrors(given.steps, "steps", MAX_STEPS),
    ...listErrors(given.transitions, "transitions", MAX_TRANSITIONS),
  ];
  // The size is checked first, because reading a very large graph takes long.
  if (errors.length === 0) errors.push(...sizeErrors(given));
  if (errors.length > 0) return { ok: false, errors };
  const known = new Map<unknown, Step>(checked?.steps.map((step) => [step, step]));
  const items = itemsOf(given.steps);
  const trigger = items.findIndex((step) => isRecord(step) && step["type"] === "TRIGGER");
  const nodes = items.flatMap((step, i) => {
    const same = known.get(step);
    // A schedule takes long to read, and a second TRIGGER is refused anyway.
    const isRead = i === trigger || !isRecord(step) || step["type"] !== "TRIGGER";
    return same === undefined ? readNode(step, { index: i, isRead }, errors) : [nodeOf(same, i)];
  });
  const edges = itemsOf(given.transitions).flatMap((edge, i) => readEdge(edge, i, errors));
  errors.push(...idErrors(nodes.map((node) => ({ ...node, list: "steps" as const }))));
  errors.push(
    ...idErrors(
      edges.map(({ index, transition: { id } }) => ({
        index,
        id,
        label: `transition ${index}`,
        list: "transitions" as const,
      })),
    ),
  );
  // If a step is missing, transitions to it would be reported as violations, so they are not checked.
  const isComplete =
    nodes.length === itemsOf(given.steps).length &&
    edges.length === itemsOf(given.transitions).length &&
    new Set(nodes.map(({ id }) => id)).size === nodes.length;
  if (isComplete) errors.push(...shapeErrors(nodes, edges));
  const exits = given.exits ?? checked?.exits ?? [];
  const graph: Graph = {
    steps: nodes.flatMap(({ step }) => step ?? []),
    transitions: withIds(edges.map(({ transition }) => transition)),
    ...(exits.length === 0 ? {} : { exits }),
  };
  return errors.length === 0
    ? { ok: true, value: graph }
    : { ok: false, errors: errors.slice(0, MAX_ERRORS) };
}

function listErrors(given: unknown, field: string, most: number): FieldError[] {
  if (!Array.isArray(given)) {
    return [{ field, message: "must be an array", code: "invalid_type" }];
  }
  if (given.length <= most) return [];
  return [{ field, message: `must have at most ${most} items`, code: "too_big" }];
}

function itemsOf(given: unknown): readonly unknown[] {
  return Array.isArray(given) ? given : [];
}

function nodeOf(step: Step, index: number): Node {
  return { index, id: step.id, type: step.type, label: labelOf(step, index), step };
}

/** Reads a step. Returns none if its id or type is invalid. The messages of violations name the step. */
function readNode(
  given: unknown,
  { index, isRead }: { index: number; isRead: boolean },
  errors: FieldError[],
): Node[] {
  const found: FieldError[] = [];
  const label = labelOf(given, index);
  const nodes: Node[] = [];
  if (readShape(StepHead, given, "", found)) {
    const { id, type } = given;
    const { x, y } = given.position ?? { x: 0, y: 0 };
    const head: Head = { id, type, name: given.name ?? type, position: { x, y } };
    const step = isRead ? readStep(head, given.config, found) : null;
    nodes.push({ index, id, type, label, step });
  }
  errors.push(
    ...found.map(({ field, message, code }) => ({
      field: `steps.${index}${field === "" ? "" : `.${field}`}`,
      message: `${message}, in ${label}`,
      code,
    })),
  );
  return nodes;
}

/** The name of a step in messages: `step "Second mail" (mail2)`, or the part of it that is given. */
function labelOf(given: unknown, index: number): string {
  const { name, id } = isRecord(given) ? given : {};
  const isNamed = typeof name === "string" && name !== "";
  const isIdentified = typeof id === "string" && id !== "";
  if (!isIdentified) return isNamed ? `step "${shortened(name)}"` : `step ${index}`;
  return isNamed ? `step "${shortened(name)}" (${shortened(id)})` : `step "${shortened(id)}"`;
}

function shortened(text: string): string {
  return text.length > 100 ? `${text.slice(0, 100)}…` : text;
}

function readEdge(given: unknown, index: number, errors: FieldError[]): Edge[] {
  if (!readShape(TransitionShape, given, `transitions.${index}`, errors)) return [];
  const { from, to, id = null, branch = null } = given;
  const transition = { id: id ?? "", from, to, ...(branch === null ? {} : { branch }) };
  return [{ index, transition }];
}

type Identified = { index: number; id: string; label: string; list: "steps" | "transitions" };

function idErrors(items: readonly Identified[]): FieldError[] {
  const seen = new Set<string>();
  return items.flatMap(({ index, id, label, list }): FieldError[] => {
    const isDuplicate = id !== "" && seen.has(id);
    seen.add(id);
    if (!isDuplicate) return [];
    const message = `must be unique: "${id}" is used twice, in ${label}`;
    return [{ field: `${list}.${index}.id`, message, code: "invalid_value" }];
  });
}

/** Gives transitions without an id one that is made of their step and branch. */
function withIds(transitions: readonly Transition[]): Transition[] {
  const taken = new Set(transitions.map(({ id }) => id));
  return transitions.map((transition) => {
    if (transition.id !== "") return transition;
    const id = freeId(`${transition.from}-${transition.branch ?? "next"}`, taken);
    taken.add(id);
    return { ...transition, id };
  });
}

/** Returns `base`, or `base-2` and so on if it is taken; never longer than the limit of ids. */
export function freeId(base: string, taken: ReadonlySet<string>): string {
  const short = base.slice(0, 90).toWellFormed();
  let id = short;
  for (let number = 2; taken.has(id); number++) id = `${short}-${number}`;
  return id;
}

function sizeErrors(given: object): FieldError[] {
  const text = JSON.stringify(given);
  const { tags, code } = measureTemplate(text);
  const message =
    Buffer.byteLength(text) > MAX_GRAPH_BYTES
      ? "must take at most 1 MiB as JSON, transitions included"
      : tags > MAX_LIQUID.tags || code > MAX_LIQUID.code
        ? "must have at most 5,000 outputs and tags of Liquid together, with 128 KiB of code"
        : null;
  return message === null ? [] : [{ field: "steps", message, code: "too_big" }];
}
