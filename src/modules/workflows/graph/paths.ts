/** An index of a graph: steps by id, and the next step by branch. */

import type { Graph, Step } from "./graph.ts";

export type Paths = {
  /** The one TRIGGER. */
  trigger: Step;
  /** Number of steps. */
  size: number;
  step(id: string): Step | null;
  /** The step after `from` at a branch (null for the unconditional transition); null at the end. */
  next(from: string, branch: string | null): Step | null;
};

export function pathsOf({ steps, transitions }: Graph): Paths {
  const byId = new Map(steps.map((step) => [step.id, step]));
  const targets = new Map(
    transitions.map(({ from, to, branch }) => [keyOf(from, branch ?? null), to]),
  );
  const trigger = steps.find(({ type }) => type === "TRIGGER");
  if (trigger === undefined) throw new Error("a stored graph has no trigger");
  return {
    trigger,
    size: steps.length,
    step: (id) => byId.get(id) ?? null,
    next(from, branch) {
      const to = targets.get(keyOf(from, branch));
      return to === undefined ? null : (byId.get(to) ?? null);
    },
  };
}

function keyOf(from: string, branch: string | null): string {
  return JSON.stringify([from, branch]);
}
