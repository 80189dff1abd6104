/** A cache of the enabled webhooks, which are needed for every event. */

import type { Db } from "../../db/open.ts";
import { matcherOf, type Matcher } from "./patterns.ts";

export type CachedWebhook = {
  seq: number;
  id: string;
  projectSeq: number;
  url: string;
  startSeq: number;
  matches: Matcher;
};

export type WebhookCache = ReturnType<typeof createWebhookCache>;

type Loaded = {
  bySeq: ReadonlyMap<number, CachedWebhook>;
  byProject: ReadonlyMap<number, readonly CachedWebhook[]>;
};

type Row = Omit<CachedWebhook, "matches"> & { events: string };

export function createWebhookCache({ sqlite }: Db) {
  const findEnabled = sqlite.prepare<Row, []>(`
    SELECT seq, id, project_seq AS projectSeq, url, start_seq AS startSeq, events
    FROM webhooks WHERE is_enabled = 1`);
  let loaded: Loaded | null = null;
  /** True if a change wrote to webhooks and its commit is not known yet. */
  let isUncommitted = false;

  function load(): Loaded {
    if (loaded !== null) return loaded;
    const all = findEnabled
      .all()
      .map(({ events, ...row }) => ({ ...row, matches: matcherOf(JSON.parse(events)) }));
    const found = {
      bySeq: new Map(all.map((webhook) => [webhook.seq, webhook])),
      byProject: Map.groupBy(all, ({ projectSeq }) => projectSeq),
    };
    // Rows that are read within the transaction of a change may be rolled back: do not cache them.
    if (isUncommitted && sqlite.inTransaction) return found;
    isUncommitted = false;
    loaded = found;
    return found;
  }

  return {
    isEmpty: (): boolean => load().bySeq.size === 0,

    /** null if the webhook is disabled or deleted. */
    get: (seq: number): CachedWebhook | null => load().bySeq.get(seq) ?? null,

    ofProject: (projectSeq: number): readonly CachedWebhook[] =>
      load().byProject.get(projectSeq) ?? [],

    /**
     * Part of every change of a webhook: called right after the write, so that later reads in the
     * same transaction see it.
     */
    invalidate(): void {
      loaded = null;
      isUncommitted = true;
    },
  };
}
