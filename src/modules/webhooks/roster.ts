/** The enabled webhooks in memory: every event asks for them. */

import type { Db } from "../../db/open.ts";
import { matcherOf, type Matcher } from "./patterns.ts";

export type Listener = {
  seq: number;
  projectSeq: number;
  url: string;
  startSeq: number;
  matches: Matcher;
};

export type Roster = ReturnType<typeof createRoster>;

type Row = Omit<Listener, "matches"> & { events: string };

export function createRoster({ sqlite }: Db) {
  const findEnabled = sqlite.prepare<Row, []>(`
    SELECT seq, project_seq AS projectSeq, url, start_seq AS startSeq, events
    FROM webhooks WHERE is_enabled = 1`);
  let bySeq: Map<number, Listener> | null = null;
  let byProject = new Map<number, Listener[]>();

  function load(): Map<number, Listener> {
    if (bySeq !== null) return bySeq;
    const listeners = findEnabled
      .all()
      .map(({ events, ...row }) => ({ ...row, matches: matcherOf(JSON.parse(events)) }));
    byProject = Map.groupBy(listeners, ({ projectSeq }) => projectSeq);
    bySeq = new Map(listeners.map((listener) => [listener.seq, listener]));
    return bySeq;
  }

  return {
    isEmpty: (): boolean => load().size === 0,

    /** Null for a webhook that is disabled or gone. */
    get: (seq: number): Listener | null => load().get(seq) ?? null,

    ofProject(projectSeq: number): readonly Listener[] {
      load();
      return byProject.get(projectSeq) ?? [];
    },

    /**
     * Part of every change of a webhook, right after its write: who asks next, later in the same
     * transaction, has to see it. To be called as well where a transaction may have been lost.
     */
    forget(): void {
      bySeq = null;
    },
  };
}
