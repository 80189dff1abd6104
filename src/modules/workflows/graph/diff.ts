/**
 * The differences between two graphs: steps and transitions that were added, removed or changed, and
 * exits. Pure. Positions are left out, because they do not change an execution. Transitions are
 * compared by the step and branch that they leave, not by their ids.
 */

import type { Exit, Graph, Step, Transition } from "./graph.ts";

type ChangeKind = "ADDED" | "REMOVED" | "CHANGED";

/** A field of a step with its values before and after; null where it has none. */
type FieldChange = { field: string; before: unknown; after: unknown };

type StepChange = {
  kind: ChangeKind;
  stepId: string;
  name: string;
  type: Step["type"];
  /** The fields that differ, for a step that was changed. */
  fields: FieldChange[];
};

type TransitionChange = {
  kind: ChangeKind;
  from: string;
  branch: string | null;
  /** The steps to which it led and leads; null for a transition that was added or removed. */
  before: string | null;
  after: string | null;
};

type ExitChange = { kind: "ADDED" | "REMOVED"; exit: Exit };

type GraphDiff = {
  steps: StepChange[];
  transitions: TransitionChange[];
  exits: ExitChange[];
};

export function diffGraphs(before: Graph, after: Graph): GraphDiff {
  return {
    steps: diffSteps(before.steps, after.steps),
    transitions: diffTransitions(before.transitions, after.transitions),
    exits: diffExits(before.exits ?? [], after.exits ?? []),
  };
}

/** In the order of the graph after the change; then the removed ones, in the order before it. */
function diffSteps(before: readonly Step[], after: readonly Step[]): StepChange[] {
  const old = new Map(before.map((step) => [step.id, step]));
  const kept = new Set(after.map(({ id }) => id));
  const changeOf = (kind: ChangeKind, step: Step, fields: FieldChange[] = []): StepChange => {
    const { id, name, type } = step;
    return { kind, stepId: id, name, type, fields };
  };
  return [
    ...after.flatMap((step) => {
      const previous = old.get(step.id);
      if (previous === undefined) return [changeOf("ADDED", step)];
      const fields = diffFields(fieldsOf(previous), fieldsOf(step));
      return fields.length === 0 ? [] : [changeOf("CHANGED", step, fields)];
    }),
    ...before.filter(({ id }) => !kept.has(id)).map((step) => changeOf("REMOVED", step)),
  ];
}

/** The members of a step that matter, with those of its config as `config.amount`. */
function fieldsOf({ type, name, config }: Step): Map<string, unknown> {
  const settings = Object.entries(config).map(([key, value]) => [`config.${key}`, value] as const);
  return new Map<string, unknown>([["type", type], ["name", name], ...settings]);
}

function diffFields(
  before: ReadonlyMap<string, unknown>,
  after: ReadonlyMap<string, unknown>,
): FieldChange[] {
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((field) => {
    const change = { field, before: before.get(field) ?? null, after: after.get(field) ?? null };
    return isSame(change.before, change.after) ? [] : [change];
  });
}

function diffTransitions(
  before: readonly Transition[],
  after: readonly Transition[],
): TransitionChange[] {
  const [old, current] = [targetsOf(before), targetsOf(after)];
  return [...new Set([...current.keys(), ...old.keys()])].flatMap((key): TransitionChange[] => {
    const [was, is] = [old.get(key) ?? null, current.get(key) ?? null];
    const edge = is ?? was;
    if (edge === null || was?.to === is?.to) return [];
    const kind = was === null ? "ADDED" : is === null ? "REMOVED" : "CHANGED";
    const { from, branch = null } = edge;
    return [{ kind, from, branch, before: was?.to ?? null, after: is?.to ?? null }];
  });
}

/** A branch of a step has at most one transition. */
function targetsOf(transitions: readonly Transition[]): Map<string, Transition> {
  return new Map(
    transitions.map((edge) => [JSON.stringify([edge.from, edge.branch ?? null]), edge]),
  );
}

function diffExits(before: readonly Exit[], after: readonly Exit[]): ExitChange[] {
  const isIn = (exits: readonly Exit[], exit: Exit) => exits.some((other) => isSame(other, exit));
  return [
    ...after
      .filter((exit) => !isIn(before, exit))
      .map((exit) => ({ kind: "ADDED" as const, exit })),
    ...before
      .filter((exit) => !isIn(after, exit))
      .map((exit) => ({ kind: "REMOVED" as const, exit })),
  ];
}

/**
 * True if two values of JSON are equal; the members of objects may have any order. The recursion is
 * bounded: requests nest at most 100 levels.
 */
function isSame(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (Array.isArray(one) || Array.isArray(other)) {
    if (!Array.isArray(one) || !Array.isArray(other)) return false;
    return one.length === other.length && one.every((value, i) => isSame(value, other[i]));
  }
  if (!isRecord(one) || !isRecord(other)) return false;
  const names = new Set([...Object.keys(one), ...Object.keys(other)]);
  return [...names].every((name) => isSame(one[name], other[name]));
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null;
