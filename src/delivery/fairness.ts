/**
 * Who is next: projects take turns, and within a project its lanes do (round robin at both levels),
 * so neither a project nor a campaign can keep others from leaving. Memory of turns only; a process
 * that starts anew begins with everybody equal.
 */

export type Lane = { projectSeq: number; key: number | string };

export type Turns<L extends Lane> = {
  /** The lane whose turn it is, of those given; null if there is none. It counts as its turn. */
  next(lanes: readonly L[]): L | null;
};

/** Projects and lanes remembered; more than are ever active at once. */
const MOST_REMEMBERED = 10_000;

export function createTurns<L extends Lane>(): Turns<L> {
  const projects = new Map<number, number>();
  const lanes = new Map<Lane["key"], number>();
  let tick = 0;

  function isBefore(a: L, b: L): boolean {
    const byProject = lastOf(projects, a.projectSeq) - lastOf(projects, b.projectSeq);
    if (byProject !== 0) return byProject < 0;
    return lastOf(lanes, a.key) < lastOf(lanes, b.key);
  }

  return {
    next(candidates) {
      const [first, ...others] = candidates;
      if (first === undefined) return null;
      const lane = others.reduce((best, other) => (isBefore(other, best) ? other : best), first);
      tick++;
      remember(projects, lane.projectSeq, tick);
      remember(lanes, lane.key, tick);
      return lane;
    },
  };
}

function lastOf<Key>(turns: ReadonlyMap<Key, number>, key: Key): number {
  return turns.get(key) ?? 0;
}

function remember<Key>(turns: Map<Key, number>, key: Key, tick: number): void {
  turns.delete(key);
  turns.set(key, tick);
  if (turns.size <= MOST_REMEMBERED) return;
  for (const oldest of turns.keys()) {
    turns.delete(oldest);
    return;
  }
}
