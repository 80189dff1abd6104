/**
 * Finds the flows that have mail in a wait list, or in none (lease.ts), and orders them in round
 * robin at every level: projects are served in turn, within a project its campaigns, and within a
 * campaign its wait lists. So no project, campaign or slow site can keep the mail of others from
 * being sent. The order is in memory only; after a restart all flows are equal.
 */

import type { Campaign, QueueRows } from "./queue-rows.ts";
import { NO_WAIT_LIST } from "./wait-lists.ts";

type Leveled = {
  /** Names from the project down to the flow itself; each name is unique over all levels. */
  levels: readonly string[];
};

export type Flow = Leveled & {
  waitList: string;
  /** `seq` of the project or campaign. */
  key: number;
  kind: "transactional" | "campaign";
  rate: number | null;
};

export type Flows = ReturnType<typeof createFlows>;

export function createFlows(rows: Pick<QueueRows, "nextProject" | "dueInCampaign">) {
  /** Projects with transactional mail in a wait list, found by skipping from one to the next. */
  function ofProjects(line: string, disabled: ReadonlySet<number>): Flow[] {
    const flows: Flow[] = [];
    for (let key = rows.nextProject.get({ line, key: 0 })?.key; typeof key === "number";) {
      const levels = levelsOf([key, ...levelsOfList(line)]);
      if (!disabled.has(key)) {
        flows.push({ levels, waitList: line, key, kind: "transactional", rate: null });
      }
      key = rows.nextProject.get({ line, key })?.key;
    }
    return flows;
  }

  function ofCampaigns(waitList: string, campaigns: readonly Campaign[]): Flow[] {
    return campaigns
      .filter(({ key }) => waitList === NO_WAIT_LIST || firstDueAt(waitList, key) !== null)
      .map(({ key, projectSeq, rate }) => {
        const levels = levelsOf([projectSeq, key, ...levelsOfList(waitList)]);
        return { levels, waitList, key, kind: "campaign", rate };
      });
  }

  /** When the first mail of a campaign in a wait list is due; null if there is none. */
  function firstDueAt(line: string, key: number): number | null {
    return rows.dueInCampaign.get({ line, key })?.at ?? null;
  }

  return { ofProjects, ofCampaigns, firstDueAt };
}

/** Round robin levels: all wait lists together are served as often as the mail in none of them. */
function levelsOfList(waitList: string): [string, string] {
  return [waitList === NO_WAIT_LIST ? "new" : "waiting", waitList];
}

type RoundRobin<F extends Leveled> = {
  /** Returns the flow that was served least recently, and counts it as served; null if none. */
  next(flows: readonly F[]): F | null;
};

/** Number of remembered names: more than are ever active at once. */
const MAX_NAMES = 30_000;

/** Builds the names of the levels: each is the name above it, followed by its own part. */
function levelsOf(parts: readonly (string | number)[]): string[] {
  return parts.map((_, i) => parts.slice(0, i + 1).join(" "));
}

export function createRoundRobin<F extends Leveled>(): RoundRobin<F> {
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

  return {
    next(candidates) {
      const [first, ...others] = candidates;
      if (first === undefined) return null;
      const flow = others.reduce((best, other) => (isBefore(other, best) ? other : best), first);
      tick++;
      flow.levels.forEach(remember);
      return flow;
    },
  };
}
