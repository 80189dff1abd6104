/**
 * Who is next: projects take turns, within a project its campaigns do, and so on (round robin at
 * every level), so neither a project nor a campaign nor a slow site can keep others from leaving.
 * Memory of turns only; a process that starts anew begins with everybody equal.
 */

export type Lane = {
  /** From the project down to the lane itself; each name stands for one thing only. */
  levels: readonly string[];
};

export type Turns<L extends Lane> = {
  /** The lane whose turn it is, of those given; null if there is none. It counts as its turn. */
  next(lanes: readonly L[]): L | null;
};

/** Names remembered; more than are ever active at once. */
const MOST_REMEMBERED = 30_000;

/** The names of the levels, out of what each adds to the one above it. */
export function levelsOf(parts: readonly (string | number)[]): string[] {
  return parts.map((_, i) => parts.slice(0, i + 1).join(" "));
}

export function createTurns<L extends Lane>(): Turns<L> {
  const turns = new Map<string, number>();
  let tick = 0;

  const lastOf = (level: string | undefined): number => turns.get(level ?? "") ?? 0;

  function isBefore(a: L, b: L): boolean {
    for (const [i, level] of a.levels.entries()) {
      const difference = lastOf(level) - lastOf(b.levels[i]);
      if (difference !== 0) return difference < 0;
    }
    return false;
  }

  function remember(level: string): void {
    turns.delete(level);
    turns.set(level, tick);
    if (turns.size <= MOST_REMEMBERED) return;
    for (const oldest of turns.keys()) {
      turns.delete(oldest);
      return;
    }
  }

  return {
    next(candidates) {
      const [first, ...others] = candidates;
      if (first === undefined) return null;
      const lane = others.reduce((best, other) => (isBefore(other, best) ? other : best), first);
      tick++;
      lane.levels.forEach(remember);
      return lane;
    },
  };
}
