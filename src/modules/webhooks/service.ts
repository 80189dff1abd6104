/** Stores webhooks: creates, changes, deletes and lists them, and records whether they work. */

import { and, eq, isNull } from "drizzle-orm";
import { bound } from "../../db/bound.ts";
import type { Db } from "../../db/open.ts";
import { type DISABLED_REASONS, webhooks } from "../../db/schema/webhooks.ts";
import type { Change } from "../../db/writer.ts";
import type { Page } from "../../http/envelope.ts";
import { countRows, type ListPage, newestRows, type PageQuery } from "../../http/pagination.ts";
import { type Clock, isoTime, isoTimeOrNull } from "../../lib/clock.ts";
import { AppError, notFound } from "../../lib/errors.ts";
import { trimmedEventName } from "../../lib/event-name.ts";
import { newId } from "../../lib/id.ts";
import type { Reader } from "../../events/reader.ts";
import type { EventLog } from "../../events/log.ts";
import type { Webhook, WebhookInput, WebhookPatch, WebhookWithSecret } from "./model.ts";
import type { WebhookCache } from "./cache.ts";
import { isFailingTooLong } from "./schedule.ts";
import { OVERLAP_MS, type Secrets } from "./secrets.ts";

export type WebhookRow = typeof webhooks.$inferSelect;
type DisabledReason = (typeof DISABLED_REASONS)[number];
export type Webhooks = ReturnType<typeof createWebhooks>;

/** Every event of the project adds one row for each webhook that it matches. */
const MAX_WEBHOOKS_PER_PROJECT = 50;

export function createWebhooks(deps: {
  db: Db;
  clock: Clock;
  listPage: ListPage;
  events: Pick<EventLog, "record">;
  reader: Reader;
  cache: WebhookCache;
  secrets: Secrets;
}) {
  const { db, clock, listPage, events, reader, cache, secrets } = deps;
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
  const findLast = db.sqlite.prepare<{ seq: number | null }, []>(
    "SELECT max(seq) AS seq FROM events",
  );
  const noteSuccess = db.sqlite.prepare<unknown, [number]>(
    "UPDATE webhooks SET failing_since = NULL WHERE seq = +? AND failing_since IS NOT NULL",
  );
  const noteFailure = db.sqlite.prepare<{ since: number }, [number, number]>(`
    UPDATE webhooks SET failing_since = coalesce(failing_since, +?)
    WHERE seq = +? AND is_enabled = 1 RETURNING failing_since AS since`);

  function get(projectSeq: number, id: string): WebhookRow {
    const webhook = findById.get({ projectSeq, id });
    if (webhook === undefined) throw notFound("WEBHOOK");
    return webhook;
  }

  function countOf(projectSeq: number): number {
    return countRows(db, webhooks, inProject(projectSeq));
  }

  function update(seq: number, set: Partial<typeof webhooks.$inferInsert>): WebhookRow {
    const row = db.update(webhooks).set(set).where(eq(webhooks.seq, seq)).returning().get();
    cache.invalidate();
    return row;
  }

  /**
   * The `seq` of the latest event: a new webhook gets only later ones. If no webhook is enabled, the
   * reader skips the log, because its events are not needed.
   */
  function endOfLog(): number {
    if (cache.isEmpty()) reader.skip();
    return findLast.get()?.seq ?? 0;
  }

  function disable(seq: number, reason: DisabledReason, now: number): void {
    const { id, projectSeq, url } = update(seq, {
      isEnabled: false,
      disabledReason: reason,
      updatedAt: now,
    });
    const data = { webhookId: id, url, reason };
    events.record({ projectSeq, name: "webhook.disabled", contactSeq: null, data, at: now });
  }

  return {
    get,

    create(projectSeq: number, input: WebhookInput): Change<WebhookWithSecret> {
      return () => {
        if (countOf(projectSeq) >= MAX_WEBHOOKS_PER_PROJECT) throw tooMany();
        const now = clock.now();
        const { text, sealed } = secrets.make();
        const startSeq = endOfLog();
        const row = db
          .insert(webhooks)
          .values({
            id: newId(now),
            projectSeq,
            url: input.url,
            events: storedPatterns(input.events),
            description: input.description ?? null,
            isEnabled: input.enabled ?? true,
            secret: sealed,
            startSeq,
            createdAt: now,
            updatedAt: now,
          })
          .returning()
          .get();
        cache.invalidate();
        return { ...presentWebhook(row), secret: text };
      };
    },

    /** Changes a webhook. One that is enabled again does not get the events of the meantime. */
    patch(projectSeq: number, id: string, patch: WebhookPatch): Change<WebhookRow> {
      return () => {
        const webhook = get(projectSeq, id);
        const { url, events: patterns, description, enabled } = patch;
        const isEnabling = enabled === true && !webhook.isEnabled;
        return update(webhook.seq, {
          ...(url !== undefined && { url }),
          ...(patterns !== undefined && { events: storedPatterns(patterns) }),
          ...(description !== undefined && { description }),
          ...(enabled === false && { isEnabled: false }),
          ...(isEnabling && {
            isEnabled: true,
            disabledReason: null,
            failingSince: null,
            startSeq: endOfLog(),
          }),
          updatedAt: clock.now(),
        });
      };
    },

    /** Marks a webhook as deleted and sends nothing more; retention deletes its rows later. */
    remove(projectSeq: number, id: string): Change<void> {
      return () => {
        update(get(projectSeq, id).seq, {
          isEnabled: false,
          deletedAt: clock.now(),
          secret: Buffer.alloc(0),
          previousSecret: null,
        });
      };
    },

    rotateSecret(projectSeq: number, id: string): Change<WebhookWithSecret> {
      return () => {
        const webhook = get(projectSeq, id);
        const now = clock.now();
        const { text, sealed } = secrets.make();
        const row = update(webhook.seq, {
          secret: sealed,
          previousSecret: webhook.secret,
          previousUntil: now + OVERLAP_MS,
          updatedAt: now,
        });
        return { ...presentWebhook(row), secret: text };
      };
    },

    list: (projectSeq: number, query: PageQuery): Promise<Page<Webhook>> =>
      listPage(
        { scope: `${projectSeq}:webhooks`, query },
        newestRows(db, {
          table: webhooks,
          filter: inProject(projectSeq),
          select: db.select().from(webhooks),
        }),
        (rows) => rows.map(presentWebhook),
      ),

    /** Part of a change: the webhook works. */
    noteSuccess: (seq: number): void => void noteSuccess.run(seq),

    /** Part of a change: disables the webhook after 5 days of failures, or at once if `isGone`. */
    noteFailure(seq: number, isGone: boolean, now: number): void {
      const since = noteFailure.get(now, seq)?.since;
      if (since === undefined) return; // The webhook was disabled or deleted meanwhile.
      if (isGone) disable(seq, "GONE", now);
      else if (isFailingTooLong(since, now)) disable(seq, "FAILING", now);
    },
  };
}

function storedPatterns(patterns: readonly string[]): string {
  return JSON.stringify(patterns.map(trimmedEventName));
}

export function presentWebhook(row: WebhookRow): Webhook {
  const { id, url, description, disabledReason } = row;
  return {
    id,
    url,
    events: JSON.parse(row.events),
    enabled: row.isEnabled,
    description,
    disabledReason,
    failingSince: isoTimeOrNull(row.failingSince),
    createdAt: isoTime(row.createdAt),
    updatedAt: isoTime(row.updatedAt),
  };
}

function tooMany(): AppError {
  return new AppError(
    409,
    "CONFLICT",
    `A project has at most ${MAX_WEBHOOKS_PER_PROJECT} webhooks.`,
    {
      suggestion: "Delete a webhook that is not needed, or let one webhook receive more events.",
    },
  );
}
