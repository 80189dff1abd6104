/**
 * Checks the rules of a whole graph (docs/interface.md#workflows): one TRIGGER; transitions between
 * existing steps at existing branches; every step reachable; no cycle without a step that waits.
 */

import type { FieldError, FieldErrorCode } from "../../../lib/errors.ts";
import { branchesOf, UNCONDITIONAL } from "./branches.ts";
import type { Step, StepType, Transition } from "./graph.ts";

/** A step as far as it could be read, and its index in the request. */
export type Node = {
  index: number;
  id: string;
  type: StepType;
  label: string;
  /** null if its config is invalid; its branches are unknown then. */
  step: Step | null;
};

/** A transition and its index in the request. */
export type Edge = { index: number; transition: Transition };

/** Returns every violation. The ids of `nodes` are unique; `edges` may name unknown steps. */
export function shapeErrors(nodes: readonly Node[], edges: readonly Edge[]): FieldError[] {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const edgeFaults = [
    ...edges.flatMap((edge) => endErrors(edge, byId)),
    ...duplicateErrors(edges, byId),
  ];
  const triggers = nodes.filter(({ type }) => type === "TRIGGER");
  return [
    ...triggerErrors(triggers),
    ...edgeFaults,
    // After an invalid edge or trigger, every following step would be reported as unreachable.
    ...(edgeFaults.length === 0 && triggers.length === 1 ? reachErrors(nodes, edges) : []),
    ...cycleErrors(nodes, edges),
  ];
}

function triggerErrors(triggers: readonly Node[]): FieldError[] {
  if (triggers.length === 0) {
    const message = "must have one step of type TRIGGER if trigger is not given";
    return [{ field: "steps", message, code: "required" }];
  }
  return triggers.slice(1).map(({ index, label }) => ({
    field: `steps.${index}.type`,
    message: `must not be TRIGGER a second time, in ${label}`,
    code: "invalid_value",
  }));
}

function endErrors({ index, transition }: Edge, byId: ReadonlyMap<string, Node>): FieldError[] {
  const { from, to, branch } = transition;
  const at = `transitions.${index}`;
  const source = byId.get(from);
  const target = byId.get(to);
  const errors: FieldError[] = [];
  const fail = (member: string, code: FieldErrorCode, message: string) =>
    errors.push({ field: `${at}.${member}`, message, code });
  if (source === undefined) fail("from", "unknown_reference", `names no step: "${from}"`);
  if (target === undefined) fail("to", "unknown_reference", `names no step: "${to}"`);
  if (target?.type === "TRIGGER") {
    fail("to", "invalid_value", `cannot be ${target.label}: no transition can lead to a TRIGGER`);
  }
  if (source?.step === undefined || source.step === null) return errors;
  const branches = branchesOf(source.step);
  if (branches.length === 0) {
    fail("from", "invalid_value", `cannot be ${source.label}: no step can follow an EXIT`);
  } else if (!branches.includes(branch ?? UNCONDITIONAL)) {
    const message = `must be a branch that ${source.label} has: ${listed(branches)}`;
    fail("branch", "invalid_value", message);
  }
  return errors;
}

function listed(branches: readonly (string | null)[]): string {
  return branches.map((name) => (name === UNCONDITIONAL ? "none" : `"${name}"`)).join(", ");
}

/** A branch of a step has at most one transition. */
function duplicateErrors(edges: readonly Edge[], byId: ReadonlyMap<string, Node>): FieldError[] {
  const seen = new Set<string>();
  return edges.flatMap(({ index, transition: { from, branch } }): FieldError[] => {
    const key = JSON.stringify([from, branch ?? null]);
    const isDuplicate = seen.has(key);
    seen.add(key);
    const label = byId.get(from)?.label;
    if (!isDuplicate || label === undefined) return [];
    const which = branch === undefined ? "without a branch" : `for its branch "${branch}"`;
    const message = `is ${label}, which has another transition ${which}`;
    return [{ field: `transitions.${index}.from`, message, code: "invalid_value" }];
  });
}

function reachErrors(nodes: readonly Node[], edges: readonly Edge[]): FieldError[] {
  const targets = targetsOf(edges);
  const reached = new Set(nodes.flatMap(({ type, id }) => (type === "TRIGGER" ? [id] : [])));
  for (const id of reached) for (const target of targets.get(id) ?? []) reached.add(target);
  return nodes
    .filter(({ id }) => !reached.has(id))
    .map(({ index, label }) => ({
      field: `steps.${index}`,
      message: `cannot be reached from the TRIGGER: ${label}`,
      code: "invalid_value",
    }));
}

/** Every cycle needs a step that waits; otherwise an execution would never stop running. */
function cycleErrors(nodes: readonly Node[], edges: readonly Edge[]): FieldError[] {
  const notWaiting = new Map(
    nodes.filter(({ type }) => !WAITING_TYPES.includes(type)).map((node) => [node.id, node]),
  );
  const ids = findCycle([...notWaiting.keys()], targetsOf(edges), (id) => notWaiting.has(id));
  if (ids === null) return [];
  const cycle = ids.flatMap((id) => notWaiting.get(id) ?? []);
  const [first] = cycle.toSorted((a, b) => a.index - b.index);
  if (first === undefined) return [];
  const names = [...cycle, ...cycle.slice(0, 1)].map(({ label }) => label).join(" → ");
  const message = `is part of a cycle without a DELAY or WAIT_FOR_EVENT: ${names}`;
  return [{ field: `steps.${first.index}`, message, code: "invalid_value" }];
}

const WAITING_TYPES: readonly StepType[] = ["DELAY", "WAIT_FOR_EVENT"];

/** Returns the steps of one cycle in order, or null. It does not recurse, so a long path is safe. */
function findCycle(
  ids: readonly string[],
  targets: ReadonlyMap<string, readonly string[]>,
  isIncluded: (id: string) => boolean,
): string[] | null {
  const done = new Set<string>();
  for (const start of ids) {
    const path: { id: string; rest: string[] }[] = [];
    const onPath = new Set<string>();
    const enter = (id: string) => {
      path.push({ id, rest: (targets.get(id) ?? []).filter(isIncluded) });
      onPath.add(id);
    };
    if (!done.has(start)) enter(start);
    for (let last = path.at(-1); last !== undefined; last = path.at(-1)) {
      const next = last.rest.pop();
      if (next === undefined) {
        path.pop();
        onPath.delete(last.id);
        done.add(last.id);
      } else if (onPath.has(next)) {
        const visited = path.map(({ id }) => id);
        return visited.slice(visited.indexOf(next));
      } else if (!done.has(next)) {
        enter(next);
      }
    }
  }
  return null;
}

function targetsOf(edges: readonly Edge[]): Map<string, string[]> {
  const byFrom = Map.groupBy(edges, ({ transition }) => transition.from);
  return new Map(
    [...byFrom].map(([from, group]) => [from, group.map(({ transition }) => transition.to)]),
  );
}
