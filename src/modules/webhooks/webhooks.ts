/**
 * Webhooks: they send the events of a project to its URLs.
 *
 * 1. This file stores webhooks with sealed secrets (secrets.ts), and holds the enabled ones in memory
 *    with their event patterns (patterns.ts).
 * 2. feed.ts reads the event log and stores one delivery for each event and matching webhook
 *    (rows.ts). A later event of a contact waits for an earlier one during its first tries.
 * 3. dispatcher.ts sends due deliveries within the slots of the project and the concurrency limit of
 *    the webhook (concurrency.ts). attempt.ts makes one signed request and reads its response.
 * 4. schedule.ts decides when a failed delivery is tried again. A webhook that only fails is disabled.
 * 5. operations.ts is the API; deliveries.ts lists and retries deliveries; send-test.ts sends a test.
 * 6. When a contact is deleted, the stored responses to its events are erased, because a receiver may
 *    have repeated the data of the contact.
 *
 * Every function that writes is part of a change.
 */

import { and, eq, inArray, isNull, type SQL } from "drizzle-orm";
import { bound } from "../../db/bound.ts";
import type { App } from "../../core/app.ts";
import { type DISABLED_REASONS, webhooks } from "../../db/schema/webhooks.ts";
import { statement } from "../../db/statement.ts";
import { eventLog } from "../../events/log.ts";
import { createReader } from "../../events/reader.ts";
import type { Page } from "../../http/envelope.ts";
import { containsText, countRows, smallPage } from "../../http/pagination.ts";
import { hostFor, seesSecrets } from "../../http/role-views.ts";
import type { Role } from "../../http/roles.ts";
import { isoTime, isoTimeOrNull } from "../../lib/clock.ts";
import { AppError, notFound } from "../../lib/errors.ts";
import { trimmedEventName } from "../../lib/event-name.ts";
import { newId } from "../../lib/id.ts";
import { perApp } from "../../lib/per-app.ts";
import { ensureResendEvents, resendEventName } from "../resend/webhook-event.ts";
import type {
  Webhook,
  WebhookInput,
  WebhookPatch,
  WebhookQuery,
  WebhookWithSecret,
} from "./model.ts";
import { matcherOf, type Matcher } from "./patterns.ts";
import { isFailingTooLong } from "./schedule.ts";
import { makeSecret, OVERLAP_MS } from "./secrets.ts";

/** The position in the event log up to which deliveries are stored. */
export const webhookLog = perApp(({ db }: App) => createReader({ db, name: "webhooks" }));

/** Every event of the project adds one row for each webhook that it matches. */
const MAX_WEBHOOKS_PER_PROJECT = 50;

const findLast = statement<{ seq: number | null }, []>("SELECT max(seq) AS seq FROM events");

export function getWebhook(app: App, projectSeq: number, id: string): WebhookRow {
  const webhook = findWebhook(app, projectSeq, id);
  if (webhook === null) throw notFound("WEBHOOK");
  return webhook;
}

/**
 * The `seq` of the latest event: a new webhook gets only later ones. If no webhook is enabled, the
 * reader skips the log, because its events are not needed.
 */
function endOfLog(app: App): number {
  if (hasNoWebhook(app)) webhookLog(app).skip();
  return findLast(app).get()?.seq ?? 0;
}

export function createWebhook(
  app: App,
  projectSeq: number,
  input: WebhookInput & { shape?: WebhookRow["shape"] },
): WebhookWithSecret {
  if (countWebhooks(app, projectSeq) >= MAX_WEBHOOKS_PER_PROJECT) throw tooMany();
  const now = app.clock.now();
  const { text, sealed } = makeSecret(app);
  const startSeq = endOfLog(app);
  const row = insertWebhook(app, {
    id: newId(now),
    projectSeq,
    url: input.url,
    shape: input.shape ?? "MAILSTEAD",
    events: storedPatterns(input.events),
    description: input.description ?? null,
    isEnabled: input.enabled ?? true,
    secret: sealed,
    startSeq,
    createdAt: now,
    updatedAt: now,
  });
  return { ...presentWebhook(row), secret: text };
}

/** Changes a webhook. One that is enabled again does not get the events of the meantime. */
export function patchWebhook(
  app: App,
  projectSeq: number,
  id: string,
  patch: WebhookPatch,
): WebhookRow {
  const webhook = getWebhook(app, projectSeq, id);
  const { url, events: patterns, description, enabled } = patch;
  if (patterns !== undefined && webhook.shape === "RESEND") ensureResendEvents(patterns);
  const isEnabling = enabled === true && !webhook.isEnabled;
  return updateWebhookRow(app, webhook.seq, {
    ...(url !== undefined && { url }),
    ...(patterns !== undefined && { events: storedPatterns(patterns) }),
    ...(description !== undefined && { description }),
    ...(enabled === false && { isEnabled: false }),
    ...(isEnabling && {
      isEnabled: true,
      disabledReason: null,
      failingSince: null,
      startSeq: endOfLog(app),
    }),
    updatedAt: app.clock.now(),
  });
}

/** Marks a webhook as deleted and sends nothing more; retention deletes its rows later. */
export function removeWebhook(app: App, projectSeq: number, id: string): void {
  updateWebhookRow(app, getWebhook(app, projectSeq, id).seq, {
    isEnabled: false,
    deletedAt: app.clock.now(),
    secret: Buffer.alloc(0),
    previousSecret: null,
  });
}

export function rotateWebhookSecret(app: App, projectSeq: number, id: string): WebhookWithSecret {
  const webhook = getWebhook(app, projectSeq, id);
  const now = app.clock.now();
  const { text, sealed } = makeSecret(app);
  const row = updateWebhookRow(app, webhook.seq, {
    secret: sealed,
    previousSecret: webhook.secret,
    previousUntil: now + OVERLAP_MS,
    updatedAt: now,
  });
  return { ...presentWebhook(row), secret: text };
}

/** The webhooks of a project as a role sees them. */
export function listWebhooks(
  app: App,
  { projectSeq, role }: { projectSeq: number; role: Role | null },
  { url, ...query }: WebhookQuery,
): Promise<Page<Webhook>> {
  /** A viewer must not find out the hidden part of a URL by searching for it. */
  function showsText(text: string): SQL {
    const rows = app.db.select().from(webhooks).where(inProject(projectSeq)).all();
    const shown = rows.filter((row) =>
      hostFor(role, row.url).toLowerCase().includes(text.toLowerCase()),
    );
    const seqs = shown.map(({ seq }) => seq);
    return inArray(webhooks.seq, seqs);
  }
  return smallPage(
    app,
    { seq: projectSeq },
    {
      name: "webhooks",
      query,
      table: webhooks,
      filter: and(
        inProject(projectSeq),
        url === undefined ? undefined : containsText(webhooks.url, url),
        url === undefined || seesSecrets(role) ? undefined : showsText(url),
      ),
      present: (row) => readableWebhook(role, presentWebhook(row)),
    },
  );
}

function storedPatterns(patterns: readonly string[]): string {
  return JSON.stringify(patterns.map(trimmedEventName));
}

/** The webhook as a role sees it: its URL may hold a token of the receiving service. */
export function readableWebhook(role: Role | null, webhook: Webhook): Webhook {
  return { ...webhook, url: hostFor(role, webhook.url) };
}

export function presentWebhook(row: WebhookRow): Webhook {
  const { id, url, shape, description, disabledReason } = row;
  return {
    id,
    url,
    shape,
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

export type WebhookRow = typeof webhooks.$inferSelect;
type NewWebhook = typeof webhooks.$inferInsert;

const clearFailing = statement<unknown, [number]>(
  "UPDATE webhooks SET failing_since = NULL WHERE seq = +? AND failing_since IS NOT NULL",
);

const setFailing = statement<{ since: number }, [number, number]>(`
    UPDATE webhooks SET failing_since = coalesce(failing_since, +?)
    WHERE seq = +? AND is_enabled = 1 RETURNING failing_since AS since`);

const findById = perApp((app: App) =>
  app.db
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
    .prepare(),
);

function inProject(projectSeq: number) {
  return and(eq(webhooks.projectSeq, projectSeq), isNull(webhooks.deletedAt));
}

function findWebhook(app: App, projectSeq: number, id: string): WebhookRow | null {
  return findById(app).get({ projectSeq, id }) ?? null;
}

function countWebhooks(app: App, projectSeq: number): number {
  return countRows(app.db, webhooks, inProject(projectSeq));
}

function insertWebhook(app: App, values: NewWebhook): WebhookRow {
  const row = app.db.insert(webhooks).values(values).returning().get();
  forgetWebhooks(app);
  return row;
}

function updateWebhookRow(app: App, seq: number, set: Partial<NewWebhook>): WebhookRow {
  const row = app.db.update(webhooks).set(set).where(eq(webhooks.seq, seq)).returning().get();
  forgetWebhooks(app);
  return row;
}

function clearFailingOf(app: App, seq: number): void {
  clearFailing(app).run(seq);
}

/**
 * Returns the time of the first failure after the latest success, which is `now` unless one is
 * stored. Null if the webhook is disabled or deleted.
 */
function setFailingOf(app: App, seq: number, now: number): number | null {
  return setFailing(app).get(now, seq)?.since ?? null;
}

// The enabled webhooks, which are needed for every event, are cached.

export type CachedWebhook = {
  seq: number;
  id: string;
  projectSeq: number;
  url: string;
  shape: WebhookRow["shape"];
  startSeq: number;
  matches: Matcher;
};

type Loaded = {
  bySeq: ReadonlyMap<number, CachedWebhook>;
  byProject: ReadonlyMap<number, readonly CachedWebhook[]>;
};

type EnabledRow = Omit<CachedWebhook, "matches"> & { events: string };

const findEnabled = statement<EnabledRow, []>(`
    SELECT seq, id, project_seq AS projectSeq, url, shape, start_seq AS startSeq, events
    FROM webhooks WHERE is_enabled = 1`);

type CacheState = {
  loaded: Loaded | null;
  /** True if a change wrote to webhooks and its commit is not known yet. */
  isUncommitted: boolean;
};

const cacheState = perApp((): CacheState => ({ loaded: null, isUncommitted: false }));

function matcherFor(shape: WebhookRow["shape"], patterns: readonly string[]): Matcher {
  const matches = matcherOf(patterns);
  return shape === "RESEND" ? (name) => matches(resendEventName(name) ?? "") : matches;
}

function load(app: App): Loaded {
  const { loaded } = cacheState(app);
  if (loaded !== null) return loaded;
  const all = findEnabled(app)
    .all()
    .map(({ events, ...row }) => ({ ...row, matches: matcherFor(row.shape, JSON.parse(events)) }));
  const found = {
    bySeq: new Map(all.map((webhook) => [webhook.seq, webhook])),
    byProject: Map.groupBy(all, ({ projectSeq }) => projectSeq),
  };
  // Rows that are read within the transaction of a change may be rolled back: do not cache them.
  if (cacheState(app).isUncommitted && app.db.sqlite.inTransaction) return found;
  cacheState(app).isUncommitted = false;
  cacheState(app).loaded = found;
  return found;
}

export function hasNoWebhook(app: App): boolean {
  return load(app).bySeq.size === 0;
}

/** null if the webhook is disabled or deleted. */
export function enabledWebhook(app: App, seq: number): CachedWebhook | null {
  return load(app).bySeq.get(seq) ?? null;
}

export function webhooksOfProject(app: App, projectSeq: number): readonly CachedWebhook[] {
  return load(app).byProject.get(projectSeq) ?? [];
}

/**
 * Part of every change of a webhook: called right after the write, so that later reads in the
 * same transaction see it.
 */
export function forgetWebhooks(app: App): void {
  cacheState(app).loaded = null;
  cacheState(app).isUncommitted = true;
}

// Webhooks that do not work are disabled.

type DisabledReason = (typeof DISABLED_REASONS)[number];

/** Part of a change: the webhook works. */
export function noteSuccess(app: App, seq: number): void {
  clearFailingOf(app, seq);
}

function disable(app: App, seq: number, reason: DisabledReason, now: number): void {
  const { id, projectSeq, url } = updateWebhookRow(app, seq, {
    isEnabled: false,
    disabledReason: reason,
    updatedAt: now,
  });
  const data = { webhookId: id, url, reason };
  eventLog(app).record({ projectSeq, name: "webhook.disabled", contactSeq: null, data, at: now });
}

/** Part of a change: disables the webhook after 5 days of failures, or at once if `isGone`. */
export function noteFailure(app: App, seq: number, isGone: boolean, now: number): void {
  const since = setFailingOf(app, seq, now);
  if (since === null) return; // The webhook was disabled or deleted meanwhile.
  if (isGone) disable(app, seq, "GONE", now);
  else if (isFailingTooLong(since, now)) disable(app, seq, "FAILING", now);
}
