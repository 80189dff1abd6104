/**
 * The rows of webhooks. Every function that writes is part of a change. It invalidates the cache if
 * the cache may hold what it has written.
 */

import { and, eq, isNull } from "drizzle-orm";
import { bound } from "../../db/bound.ts";
import type { Db } from "../../db/open.ts";
import { webhooks } from "../../db/schema/webhooks.ts";
import { containsText, countRows, newestRows } from "../../http/pagination.ts";
import type { WebhookCache } from "./cache.ts";

export type WebhookRow = typeof webhooks.$inferSelect;
type NewWebhook = typeof webhooks.$inferInsert;
export type WebhookRows = ReturnType<typeof createWebhookRows>;

export function createWebhookRows({ db, cache }: { db: Db; cache: WebhookCache }) {
  const inProject = (projectSeq: number) =>
    and(eq(webhooks.projectSeq, projectSeq), isNull(webhooks.deletedAt));
  const findById = db
    .select()
    .from(webhooks)
    .where(
      and(
        eq(webhooks.projectSeq, bound("projectSeq")),
        eq(webhooks.id, bound("id")),
        isNull(webhooks.deletedAt),
      ),
    )
    .limit(1)
    .prepare();
  const clearFailing = db.sqlite.prepare<unknown, [number]>(
    "UPDATE webhooks SET failing_since = NULL WHERE seq = +? AND failing_since IS NOT NULL",
  );
  const setFailing = db.sqlite.prepare<{ since: number }, [number, number]>(`
    UPDATE webhooks SET failing_since = coalesce(failing_since, +?)
    WHERE seq = +? AND is_enabled = 1 RETURNING failing_since AS since`);

  return {
    find: (projectSeq: number, id: string): WebhookRow | null =>
      findById.get({ projectSeq, id }) ?? null,

    count: (projectSeq: number): number => countRows(db, webhooks, inProject(projectSeq)),

    /** The `read` function of a list of the webhooks whose address contains a text, or of all. */
    pageOf: (projectSeq: number, url: string | undefined) =>
      newestRows(db, {
        table: webhooks,
        filter: and(
          inProject(projectSeq),
          url === undefined ? undefined : containsText(webhooks.url, url),
        ),
        select: db.select().from(webhooks),
      }),

    insert(values: NewWebhook): WebhookRow {
      const row = db.insert(webhooks).values(values).returning().get();
      cache.invalidate();
      return row;
    },

    update(seq: number, set: Partial<NewWebhook>): WebhookRow {
      const row = db.update(webhooks).set(set).where(eq(webhooks.seq, seq)).returning().get();
      cache.invalidate();
      return row;
    },

    clearFailing: (seq: number): void => void clearFailing.run(seq),

    /**
     * Returns the time of the first failure after the latest success, which is `now` unless one is
     * stored. Null if the webhook is disabled or deleted.
     */
    setFailing: (seq: number, now: number): number | null =>
      setFailing.get(now, seq)?.since ?? null,
  };
}
