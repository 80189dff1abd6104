/** The operations of the API on webhooks: create, change, delete and list. */

import type { Db } from "../../db/open.ts";
import type { Change } from "../../db/writer.ts";
import type { Page } from "../../http/envelope.ts";
import type { ListPage } from "../../http/pagination.ts";
import { type Clock, isoTime, isoTimeOrNull } from "../../lib/clock.ts";
import { AppError, notFound } from "../../lib/errors.ts";
import { trimmedEventName } from "../../lib/event-name.ts";
import { newId } from "../../lib/id.ts";
import type { Reader } from "../../events/reader.ts";
import type {
  Webhook,
  WebhookInput,
  WebhookPatch,
  WebhookQuery,
  WebhookWithSecret,
} from "./model.ts";
import type { WebhookCache } from "./cache.ts";
import { OVERLAP_MS, type Secrets } from "./secrets.ts";
import type { WebhookRow, WebhookRows } from "./webhook-rows.ts";

export type Webhooks = ReturnType<typeof createWebhooks>;

/** Every event of the project adds one row for each webhook that it matches. */
const MAX_WEBHOOKS_PER_PROJECT = 50;

export function createWebhooks(deps: {
  db: Db;
  clock: Clock;
  listPage: ListPage;
  webhookRows: WebhookRows;
  reader: Reader;
  cache: WebhookCache;
  secrets: Secrets;
}) {
  const { webhookRows, clock, listPage, reader, cache, secrets } = deps;
  const findLast = deps.db.sqlite.prepare<{ seq: number | null }, []>(
    "SELECT max(seq) AS seq FROM events",
  );

  function get(projectSeq: number, id: string): WebhookRow {
    const webhook = webhookRows.find(projectSeq, id);
    if (webhook === null) throw notFound("WEBHOOK");
    return webhook;
  }

  /**
   * The `seq` of the latest event: a new webhook gets only later ones. If no webhook is enabled, the
   * reader skips the log, because its events are not needed.
   */
  function endOfLog(): number {
    if (cache.isEmpty()) reader.skip();
    return findLast.get()?.seq ?? 0;
  }

  return {
    get,

    create(projectSeq: number, input: WebhookInput): Change<WebhookWithSecret> {
      return () => {
        if (webhookRows.count(projectSeq) >= MAX_WEBHOOKS_PER_PROJECT) throw tooMany();
        const now = clock.now();
        const { text, sealed } = secrets.make();
        const startSeq = endOfLog();
        const row = webhookRows.insert({
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
        });
        return { ...presentWebhook(row), secret: text };
      };
    },

    /** Changes a webhook. One that is enabled again does not get the events of the meantime. */
    patch(projectSeq: number, id: string, patch: WebhookPatch): Change<WebhookRow> {
      return () => {
        const webhook = get(projectSeq, id);
        const { url, events: patterns, description, enabled } = patch;
        const isEnabling = enabled === true && !webhook.isEnabled;
        return webhookRows.update(webhook.seq, {
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
        webhookRows.update(get(projectSeq, id).seq, {
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
        const row = webhookRows.update(webhook.seq, {
          secret: sealed,
          previousSecret: webhook.secret,
          previousUntil: now + OVERLAP_MS,
          updatedAt: now,
        });
        return { ...presentWebhook(row), secret: text };
      };
    },

    list: (projectSeq: number, query: WebhookQuery): Promise<Page<Webhook>> =>
      listPage(
        { scope: `${projectSeq}:webhooks`, query },
        webhookRows.pageOf(projectSeq, query.url),
        (rows) => rows.map(presentWebhook),
      ),
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
