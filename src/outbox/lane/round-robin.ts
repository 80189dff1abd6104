/**
 * Orders the flows of due mail in round robin at every level: projects are served in turn, within a
 * project its campaigns, and within a campaign its wait lists. So no project, campaign or slow site can
 * keep the mail of others from being sent. The order is in memory only; after a restart all flows are
 * equal.
 */

type Leveled = {
  /** Names from the project down to the flow itself; each name is unique over all levels. */
  levels: readonly string[];
};

/** Number of remembered names: more than are ever active at once. */
const MAX_NAMES = 30_000;

/** Builds the names of the levels: each is the name above it, followed by its own part. */
export function levelsOf(parts: readonly (string | number)[]): string[] {
  return parts.map((_, i) => parts.slice(0, i + 1).join(" "));
}

/** Returns a function that returns the flow that was served least recently, and counts it as served. */
export function createRoundRobin<F extends Leveled>(): (flows: readonly F[]) => F | null {
  /** Name of a level → the tick at which it was last served. */
  const servedAt = new Map<string, number>();
  let tick = 0;

  const lastOf = (level: string | undefined): number => servedAt.get(level ?? "") ?? 0;

  function isBefore(a: F, b: F): boolean {
    for (const [i, level] of a.levels.entries()) {
      const difference = lastOf(level) - lastOf(b.levels[i]);
      if (difference !== 0) return difference < 0;
    }
    return false;
  }

  function remember(level: string): void {
    servedAt.delete(level);
    servedAt.set(level, tick);
    if (servedAt.size <= MAX_NAMES) return;
    for (const oldest of servedAt.keys()) {
      servedAt.delete(oldest);
      return;
    }
  }

  return ([first, ...others]) => {
    if (first === undefined) return null;
    const flow = others.reduce((best, other) => (isBefore(other, best) ? other : best), first);
    tick++;
    flow.levels.forEach(remember);
    return flow;
  };
}
