/**
 * The graph as nested lists, for people who read or hear it in order: the steps of one way below each
 * other, the branches of a step nested below it, and after them the step where the branches meet.
 */

import { branchesOf, type DraftStep, type Graph, type Way } from "./draft.ts";
import { wayAt } from "./graph-edits.ts";

export type OutlineStep = {
  step: DraftStep;
  /** Counts the steps in the order of the outline, from 1. */
  number: number;
  ways: readonly OutlineWay[];
};

export type OutlineWay = {
  branch: string | null;
  /** The step that it leads to; null if the execution ends. */
  to: string | null;
  /** True if the step stands elsewhere in the outline, so that its name must be shown. */
  isElsewhere: boolean;
  /** The steps of the branch, unless they follow in the list of the step itself. */
  steps: readonly OutlineStep[];
};

/** The graph, and the steps of it that are in the outline already. */
type Walk = {
  graph: Graph;
  byId: ReadonlyMap<string, DraftStep>;
  targets: ReadonlyMap<string, readonly Way[]>;
  rank: ReadonlyMap<string, number>;
  shown: Set<string>;
};

type Ids = ReadonlySet<string>;

export function outlineOf(graph: Graph): OutlineStep[] {
  const trigger = graph.steps.find(({ type }) => type === "TRIGGER");
  if (trigger === undefined) return [];
  const walk: Walk = {
    graph,
    byId: new Map(graph.steps.map((step) => [step.id, step])),
    targets: Map.groupBy(graph.transitions, ({ from }) => from),
    rank: rankOf(graph),
    shown: new Set(),
  };
  return listFrom(walk, trigger.id, new Set());
}

/** The steps from `start` on, as far as they are in no other list; `stops` follow in an outer list. */
function listFrom(walk: Walk, start: string, stops: Ids): OutlineStep[] {
  const { graph, byId, shown } = walk;
  const items: OutlineStep[] = [];
  let id: string | null = start;
  while (id !== null && !stops.has(id) && !shown.has(id)) {
    const step = byId.get(id);
    if (step === undefined) break;
    shown.add(id);
    const number = shown.size;
    const branches = branchesOf(step);
    const ends = branches.map((branch) => wayAt(graph, { from: step.id, branch })?.to ?? null);
    const isBranching = branches.some((branch) => branch !== null);
    const next: string | null = isBranching ? joinOf(walk, ends, stops) : (ends[0] ?? null);
    const inner = next === null ? stops : new Set([...stops, next]);
    const ways = branches.map((branch, i): OutlineWay => {
      const to = ends[i] ?? null;
      const steps = isBranching && to !== null ? listFrom(walk, to, inner) : [];
      const isFollowing = !isBranching && to !== null && !stops.has(to) && !shown.has(to);
      return { branch, to, isElsewhere: to !== null && steps.length === 0 && !isFollowing, steps };
    });
    items.push({ step, number, ways });
    id = next;
  }
  return items;
}

/** The first step that two of the branches reach; null if they do not meet. */
function joinOf(walk: Walk, ends: readonly (string | null)[], stops: Ids): string | null {
  const reached = new Map<string, number>();
  for (const end of ends) {
    if (end === null) continue;
    for (const id of reachedFrom(walk, end, stops)) reached.set(id, (reached.get(id) ?? 0) + 1);
  }
  const shared = [...reached].filter(([, times]) => times > 1).map(([id]) => id);
  const { rank } = walk;
  return shared.toSorted((a, b) => (rank.get(a) ?? 0) - (rank.get(b) ?? 0))[0] ?? null;
}

/** The steps from `start` on that are not in the outline yet. */
function reachedFrom({ shown, targets }: Walk, start: string, stops: Ids): Ids {
  const isNew = (id: string) => !shown.has(id) && !stops.has(id);
  const found = new Set(isNew(start) ? [start] : []);
  for (const id of found) {
    for (const { to } of targets.get(id) ?? []) if (isNew(to)) found.add(to);
  }
  return found;
}

/** The place of each step in an order that follows the transitions, apart from those that close a loop. */
function rankOf({ steps, transitions }: Graph): ReadonlyMap<string, number> {
  const targets = Map.groupBy(transitions, ({ from }) => from);
  const seen = new Set<string>();
  const finished: string[] = [];
  for (const { id: start } of steps) {
    if (seen.has(start)) continue;
    seen.add(start);
    const stack = [{ id: start, next: 0 }];
    for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
      const to = targets.get(top.id)?.[top.next++]?.to;
      if (to === undefined) {
        finished.push(top.id);
        stack.pop();
      } else if (!seen.has(to)) {
        seen.add(to);
        stack.push({ id: to, next: 0 });
      }
    }
  }
  return new Map(finished.toReversed().map((id, i) => [id, i]));
}

/** The number of each step in the outline. */
export function numbersOf(graph: Graph): ReadonlyMap<string, number> {
  const numbers = new Map<string, number>();
  const rest = outlineOf(graph);
  for (let item = rest.shift(); item !== undefined; item = rest.shift()) {
    numbers.set(item.step.id, item.number);
    rest.push(...item.ways.flatMap(({ steps }) => steps));
  }
  return numbers;
}
