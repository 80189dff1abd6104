/**
 * The rules of a whole graph: one TRIGGER, transitions that lead somewhere by branches that exist,
 * no step without a way to it, no round without a rest.
 */

import type { FieldError, FieldErrorCode } from "../../lib/errors.ts";
import { branchesOf, PLAIN } from "./branches.ts";
import type { Step, StepType, Transition } from "./graph.ts";

/** A step as far as it could be read, and its place in the request. */
export type Node = {
  index: number;
  id: string;
  type: StepType;
  label: string;
  /** Null where its config is wrong: its ways on are unknown then. */
  step: Step | null;
};

/** A transition and its place in the request. */
export type Edge = { index: number; transition: Transition };

/** Every violation; `edges` may name what is not there, `nodes` have ids of their own. */
export function shapeErrors(nodes: readonly Node[], edges: readonly Edge[]): FieldError[] {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const edgeFaults = [
    ...edges.flatMap((edge) => endErrors(edge, byId)),
    ...twinErrors(edges, byId),
  ];
  const triggers = nodes.filter(({ type }) => type === "TRIGGER");
  return [
    ...triggerErrors(triggers),
    ...edgeFaults,
    // With a wrong edge or trigger, every step behind it would seem unreachable.
    ...(edgeFaults.length === 0 && triggers.length === 1 ? reachErrors(nodes, edges) : []),
    ...roundErrors(nodes, edges),
  ];
}

function triggerErrors(triggers: readonly Node[]): FieldError[] {
  if (triggers.length === 0) {
    const message = "must have one step of type TRIGGER, unless trigger is given";
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
    fail("to", "invalid_value", `cannot be ${target.label}: nothing leads to a TRIGGER`);
  }
  if (source?.step === undefined || source.step === null) return errors;
  const ways = branchesOf(source.step);
  if (ways.length === 0) {
    fail("from", "invalid_value", `cannot be ${source.label}: nothing comes after an EXIT`);
  } else if (!ways.includes(branch ?? PLAIN)) {
    const message = `must be a branch that ${source.label} has: ${inWords(ways)}`;
    fail("branch", "invalid_value", message);
  }
  return errors;
}

function inWords(ways: readonly (string | null)[]): string {
  return ways.map((way) => (way === PLAIN ? "none" : `"${way}"`)).join(", ");
}

/** A way on leads to one step. */
function twinErrors(edges: readonly Edge[], byId: ReadonlyMap<string, Node>): FieldError[] {
  const seen = new Set<string>();
  return edges.flatMap(({ index, transition: { from, branch } }): FieldError[] => {
    const way = JSON.stringify([from, branch ?? null]);
    const isTwin = seen.has(way);
    seen.add(way);
    const label = byId.get(from)?.label;
    if (!isTwin || label === undefined) return [];
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

/** An execution must rest somewhere in every round that it can make. */
function roundErrors(nodes: readonly Node[], edges: readonly Edge[]): FieldError[] {
  const restless = new Map(
    nodes.filter(({ type }) => !RESTS.includes(type)).map((node) => [node.id, node]),
  );
  const round = firstRound([...restless.keys()], targetsOf(edges), (id) => restless.has(id));
  if (round === null) return [];
  const inRound = round.flatMap((id) => restless.get(id) ?? []);
  const [first] = inRound.toSorted((a, b) => a.index - b.index);
  if (first === undefined) return [];
  const names = [...inRound, ...inRound.slice(0, 1)].map(({ label }) => label).join(" → ");
  const message = `is part of a cycle without a DELAY or WAIT_FOR_EVENT: ${names}`;
  return [{ field: `steps.${first.index}`, message, code: "invalid_value" }];
}

const RESTS: readonly StepType[] = ["DELAY", "WAIT_FOR_EVENT"];

/** The steps of one cycle in order, or null; without recursion, however long the way is. */
function firstRound(
  ids: readonly string[],
  targets: ReadonlyMap<string, readonly string[]>,
  isMeant: (id: string) => boolean,
): string[] | null {
  const done = new Set<string>();
  for (const start of ids) {
    const path: { id: string; rest: string[] }[] = [];
    const onPath = new Set<string>();
    const enter = (id: string) => {
      path.push({ id, rest: (targets.get(id) ?? []).filter(isMeant) });
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
        const way = path.map(({ id }) => id);
        return way.slice(way.indexOf(next));
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
