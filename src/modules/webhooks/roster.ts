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

type Listeners = {
  bySeq: ReadonlyMap<number, Listener>;
  byProject: ReadonlyMap<number, readonly Listener[]>;
};

type Row = Omit<Listener, "matches"> & { events: string };

export function createRoster({ sqlite }: Db) {
  const findEnabled = sqlite.prepare<Row, []>(`
    SELECT seq, project_seq AS projectSeq, url, start_seq AS startSeq, events
    FROM webhooks WHERE is_enabled = 1`);
  let kept: Listeners | null = null;
  /** A change wrote to webhooks, and whether it stays is not known yet. */
  let isUnsure = false;

  function load(): Listeners {
    if (kept !== null) return kept;
    const all = findEnabled
      .all()
      .map(({ events, ...row }) => ({ ...row, matches: matcherOf(JSON.parse(events)) }));
    const found = {
      bySeq: new Map(all.map((listener) => [listener.seq, listener])),
      byProject: Map.groupBy(all, ({ projectSeq }) => projectSeq),
    };
    // What a transaction shows may be rolled back with it; beside one there is only what stays.
    if (isUnsure && sqlite.inTransaction) return found;
    isUnsure = false;
    kept = found;
    return found;
  }

  return {
    isEmpty: (): boolean => load().bySeq.size === 0,

    /** Null for a webhook that is disabled or gone. */
    get: (seq: number): Listener | null => load().bySeq.get(seq) ?? null,

    ofProject: (projectSeq: number): readonly Listener[] => load().byProject.get(projectSeq) ?? [],

    /**
     * Part of every change of a webhook, right after its write: who asks next, later in the same
     * transaction, has to see it.
     */
    forget(): void {
      kept = null;
      isUnsure = true;
    },
  };
}
