/** Finds the flows that have mail in a wait list, or in none (lease.ts). */

import type { Campaign, QueueRows } from "./lease-rows.ts";
import { type Leveled, levelsOf } from "./round-robin.ts";
import { NO_WAIT_LIST } from "./wait-lists.ts";

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
