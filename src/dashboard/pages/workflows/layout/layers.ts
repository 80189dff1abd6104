/**
 * Divides a graph into layers, so that each edge leads down by one layer: edges that close a cycle
 * are set aside, and an edge that passes layers gets a bend in each of them.
 */

export type Edge = { id: string; from: string; to: string };

/** A node of a layer: a step, the open end of a branch, or the bend of an edge. */
export type Slot = { key: string; isBend: boolean; isEnd: boolean };

export type Layers = {
  rows: Slot[][];
  /** Pairs of keys in neighbouring rows. */
  links: { from: string; to: string }[];
  /** The keys that each edge passes, from its step to its step; edges of cycles are absent. */
  pathOf: ReadonlyMap<string, readonly string[]>;
  /** Edges that lead to an earlier step. */
  back: readonly Edge[];
};

/** `ends` are the ids of open ends, which take less room than steps. */
export function layersOf(
  ids: readonly string[],
  edges: readonly Edge[],
  ends: ReadonlySet<string> = new Set(),
): Layers {
  const known = new Set(ids);
  const valid = edges.filter(({ from, to }) => known.has(from) && known.has(to));
  const { order, back } = orderOf(ids, valid);
  const isBack = new Set(back.map(({ id }) => id));
  const down = valid.filter(({ id }) => !isBack.has(id));
  const rankOf = ranksOf(order, down);
  const rows: Slot[][] = [];
  const add = (rank: number, slot: Slot) => void (rows[rank] ??= []).push(slot);
  for (const id of order) {
    add(rankOf.get(id) ?? 0, { key: id, isBend: false, isEnd: ends.has(id) });
  }
  const links: Layers["links"] = [];
  const pathOf = new Map<string, readonly string[]>();
  for (const { id, from, to } of down) {
    const path = [from];
    const last = rankOf.get(to) ?? 0;
    for (let rank = (rankOf.get(from) ?? 0) + 1; rank < last; rank++) {
      const key = `${id} ${rank}`;
      add(rank, { key, isBend: true, isEnd: false });
      path.push(key);
    }
    path.push(to);
    for (let i = 1; i < path.length; i++) {
      links.push({ from: path[i - 1] ?? "", to: path[i] ?? "" });
    }
    pathOf.set(id, path);
  }
  return { rows, links, pathOf, back };
}

/** Each id after those that lead to it, apart from the edges of cycles. */
function orderOf(ids: readonly string[], edges: readonly Edge[]) {
  // The order is reversed at the end, so the first branch is at the left.
  const outgoing = Map.groupBy(edges.toReversed(), ({ from }) => from);
  const state = new Map<string, "OPEN" | "DONE">();
  const back: Edge[] = [];
  const finished: string[] = [];
  for (const start of ids) {
    if (state.has(start)) continue;
    state.set(start, "OPEN");
    const stack = [{ id: start, next: 0 }];
    for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
      const edge: Edge | undefined = outgoing.get(top.id)?.[top.next++];
      if (edge === undefined) {
        state.set(top.id, "DONE");
        finished.push(top.id);
        stack.pop();
      } else if (state.get(edge.to) === "OPEN") back.push(edge);
      else if (!state.has(edge.to)) {
        state.set(edge.to, "OPEN");
        stack.push({ id: edge.to, next: 0 });
      }
    }
  }
  return { order: finished.toReversed(), back };
}

/** The length of the longest way to each step. */
function ranksOf(order: readonly string[], edges: readonly Edge[]): Map<string, number> {
  const outgoing = Map.groupBy(edges, ({ from }) => from);
  const ranks = new Map(order.map((id) => [id, 0]));
  for (const id of order) {
    const below = (ranks.get(id) ?? 0) + 1;
    for (const { to } of outgoing.get(id) ?? []) {
      ranks.set(to, Math.max(ranks.get(to) ?? 0, below));
    }
  }
  return ranks;
}
