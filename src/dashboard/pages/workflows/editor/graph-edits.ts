/**
 * Edits of the graph of a workflow. Each returns a new graph in which every step is reached from the
 * TRIGGER, as the server demands: steps that an edit leaves without a way to them are removed.
 */

import { branchesOf, type Config, type DraftStep, type Graph, type Way } from "./draft.ts";

/** A way out of a step. `branch` is null for the only one. */
export type WayOut = { from: string; branch: string | null };

export const isAt = ({ from, branch }: WayOut, way: WayOut): boolean =>
  way.from === from && way.branch === branch;

export const wayAt = ({ transitions }: Graph, place: WayOut): Way | undefined =>
  transitions.find((way) => isAt(place, way));

export const stepOf = ({ steps }: Graph, id: string): DraftStep | undefined =>
  steps.find((step) => step.id === id);

/** The ways out of steps where nothing follows: the execution ends there. */
export function openEnds(graph: Graph): WayOut[] {
  const taken = new Set(graph.transitions.map(keyOf));
  return graph.steps.flatMap((step) =>
    branchesOf(step)
      .map((branch) => ({ from: step.id, branch }))
      .filter((place) => !taken.has(keyOf(place))),
  );
}

const keyOf = ({ from, branch }: WayOut): string => JSON.stringify([from, branch]);

/** An id for a new step: its kind, and a number if that is taken. */
export function freeStepId({ steps }: Graph, type: DraftStep["type"]): string {
  const taken = new Set(steps.map(({ id }) => id));
  const base = type.toLowerCase().replaceAll("_", "-");
  let id = base;
  for (let number = 2; taken.has(id); number++) id = `${base}-${number}`;
  return id;
}

/** Inserts a step. The step that came next there then follows the first branch of the new one. */
export function insertStep(graph: Graph, place: WayOut, step: DraftStep): Graph {
  const next = wayAt(graph, place);
  const [branch] = branchesOf(step);
  const into = { id: "", ...place, to: step.id };
  const kept = graph.transitions.map((way) => (way === next ? { ...way, to: step.id } : way));
  return reached({
    steps: [...graph.steps, step],
    transitions:
      next === undefined
        ? [...kept, into]
        : branch === undefined
          ? kept
          : [...kept, { id: "", from: step.id, branch, to: next.to }],
  });
}

/** Deletes a step. The steps before it then lead to the step that followed its branch `kept`. */
export function deleteStep(graph: Graph, id: string, kept: string | null): Graph {
  const next = wayAt(graph, { from: id, branch: kept })?.to;
  return reached({
    steps: graph.steps.filter((step) => step.id !== id),
    transitions: graph.transitions.flatMap((way) => {
      if (way.from === id) return [];
      if (way.to !== id) return [way];
      const isEnd = next === undefined || next === id || next === way.from;
      return isEnd ? [] : [{ ...way, to: next }];
    }),
  });
}

/** The branches of a step that lead to another one; a deletion keeps one of them. */
export const takenBranches = ({ transitions }: Graph, id: string): (string | null)[] =>
  transitions.filter(({ from, to }) => from === id && to !== id).map(({ branch }) => branch);

/** Leads a way out of a step to an existing step; null ends the execution there. */
export function connect(graph: Graph, place: WayOut, to: string | null): Graph {
  const before = wayAt(graph, place);
  const transitions =
    to === null
      ? graph.transitions.filter((way) => way !== before)
      : before === undefined
        ? [...graph.transitions, { id: "", ...place, to }]
        : graph.transitions.map((way) => (way === before ? { ...way, to } : way));
  return reached({ steps: graph.steps, transitions });
}

/**
 * Changes the settings of a step. `renames` has the new names of branches, whose steps follow them;
 * steps after a branch that the settings do not have any more are removed.
 */
export function configure(
  graph: Graph,
  id: string,
  config: Config,
  renames: Readonly<Record<string, string>> = {},
): Graph {
  const step = stepOf(graph, id);
  if (step === undefined) return graph;
  const changed = { ...step, config };
  const steps = graph.steps.map((each) => (each === step ? changed : each));
  const branches = branchesOf(changed);
  const isSame = Object.keys(renames).length === 0 && isEqualList(branches, branchesOf(step));
  if (isSame) return { steps, transitions: graph.transitions };
  const transitions = graph.transitions.flatMap((way) => {
    if (way.from !== id) return [way];
    const branch = way.branch === null ? null : (renames[way.branch] ?? way.branch);
    return branches.includes(branch) ? [{ ...way, branch }] : [];
  });
  return reached({ steps, transitions });
}

const isEqualList = (a: readonly unknown[], b: readonly unknown[]): boolean =>
  a.length === b.length && a.every((each, i) => each === b[i]);

export function nameStep(graph: Graph, id: string, name: string): Graph {
  const steps = graph.steps.map((step) => (step.id === id ? { ...step, name } : step));
  return { steps, transitions: graph.transitions };
}

/** Gives a step another id; the graph stays as it is if that is empty or taken. */
export function renameId(graph: Graph, id: string, next: string): Graph {
  if (next.trim() === "" || stepOf(graph, next) !== undefined) return graph;
  const renamed = (each: string) => (each === id ? next : each);
  return {
    steps: graph.steps.map((step) => (step.id === id ? { ...step, id: next } : step)),
    // The server makes the ids of transitions of those of the steps.
    transitions: graph.transitions.map((way) =>
      way.from === id || way.to === id
        ? { id: "", from: renamed(way.from), to: renamed(way.to), branch: way.branch }
        : way,
    ),
  };
}

/** Exchanges a step with the one before it; null if one of them has several ways in or out. */
export function moveUp(graph: Graph, id: string): Graph | null {
  const before = graph.transitions.filter(({ to }) => to === id);
  const [into] = before;
  if (before.length !== 1 || into === undefined || !isPlain(graph, id)) return null;
  const above = into.from;
  if (above === id || !isPlain(graph, above)) return null;
  const after = wayAt(graph, { from: id, branch: null });
  if (after?.to === above) return null;
  return {
    steps: graph.steps,
    transitions: graph.transitions
      .flatMap((way) => {
        if (way.to === above) return [{ ...way, to: id }];
        if (way === into) return after === undefined ? [] : [{ ...way, to: after.to }];
        return way === after ? [{ ...way, to: above }] : [way];
      })
      .concat(after === undefined ? [{ id: "", from: id, branch: null, to: above }] : []),
  };
}

/** Exchanges a step with the one after it. */
export function moveDown(graph: Graph, id: string): Graph | null {
  const after = wayAt(graph, { from: id, branch: null });
  return after === undefined ? null : moveUp(graph, after.to);
}

/** A step with one way out, which is not the start. */
function isPlain(graph: Graph, id: string): boolean {
  const step = stepOf(graph, id);
  if (step === undefined || step.type === "TRIGGER") return false;
  const branches = branchesOf(step);
  return branches.length === 1 && branches[0] === null;
}

/** The graph without the steps that no way from the TRIGGER leads to. */
function reached(graph: Graph): Graph {
  const targets = Map.groupBy(graph.transitions, ({ from }) => from);
  const found = new Set(graph.steps.flatMap(({ type, id }) => (type === "TRIGGER" ? [id] : [])));
  for (const id of found) for (const { to } of targets.get(id) ?? []) found.add(to);
  return {
    steps: graph.steps.filter(({ id }) => found.has(id)),
    transitions: graph.transitions.filter(({ from, to }) => found.has(from) && found.has(to)),
  };
}

/** The steps that the second graph does not have. */
export function lostSteps(before: Graph, after: Graph): DraftStep[] {
  const kept = new Set(after.steps.map(({ id }) => id));
  return before.steps.filter(({ id }) => !kept.has(id));
}
