/**
 * The quotas of a project's stored bytes and of its queued mails. Strangers must not use them up:
 *
 * - The mail that they send to inbound routes does not count against the quota of stored bytes. It
 *   has a share of its own, which is beside the quota, and counts the mail and its event.
 * - Their other additions leave a tenth of each quota to the project: requests with a public key,
 *   mails of workflows and those that an inbound route forwards, repeated clicks, and subscriptions on the page of a mail.
 *
 * A change that would add to them first checks the counters, which are updated together with the rows
 * (db/usage.ts). A project can therefore exceed its storage quota by at most one request, and never
 * its queue quota. The mails of campaigns are not checked against the queue quota, because the size of
 * their audience limits them.
 *
 * A refusal in a request is an error with code QUOTA_EXCEEDED, and the operator finds a warning in the
 * log.
 */

import type { App } from "../core/app.ts";
import { statement } from "../db/statement.ts";
import { AppError } from "../lib/errors.ts";
import { perApp } from "../lib/per-app.ts";

/** `ownBytes` are the stored bytes without those of received mail. */
type Usage = { ownBytes: number; receivedBytes: number; queuedMails: number };
type Bytes = "ownBytes" | "receivedBytes";

const MIB = 1024 * 1024;

/** The time for which a reading of a project's usage is used while the project is far below a quota. */
const READING_MS = 1000;
const MAX_READINGS = 10_000;
/** A project that is farther below its quotas than this cannot reach them within READING_MS. */
const FAR_BYTES = 1024 * MIB;
const FAR_MAILS = 100_000;
/** Part of each quota up to which strangers can fill a project. */
const PUBLIC_PART = 0.9;
/** The share of received mail, as a part of the quota of stored bytes. */
const RECEIVED_PART = 0.25;

/** The queue empties continuously, so the exact time when a mail fits again is not known. */
const RETRY_AFTER_SECONDS = 60;
/** Shortest time between two log entries about the same project and quota. */
const WARNING_INTERVAL_MS = 10 * 60_000;

/**
 * Throws 409 if the storage quota is reached, or the part of it that strangers may fill. Call it
 * inside the change that stores data.
 */
export function ensureStorage(app: App, projectSeq: number, isPublic = false): void {
  const refusal = refuseStorage(app, projectSeq, isPublic);
  if (refusal !== null) throw refusal;
}

/** Part of a change: whether the part of the storage quota that strangers may fill has space left. */
export function isWithinPublicStorage(app: App, projectSeq: number): boolean {
  return refuseStorage(app, projectSeq, true) === null;
}

/**
 * Throws 429 if the mails do not fit into the project's queue, or into the part of it that strangers
 * may fill. Call it inside the change that queues them.
 */
export function ensureQueue(app: App, projectSeq: number, mails: number, isPublic = false): void {
  const refusal = refuseQueue(app, projectSeq, mails, isPublic);
  if (refusal !== null) throw refusal;
}

/**
 * The error for one more mail of a workflow, or null. It waits and tries again later. Strangers
 * start workflows, with a public key or by clicks.
 */
export function refuseWorkflowMail(app: App, projectSeq: number): AppError | null {
  return refuseStorage(app, projectSeq, true) ?? refuseQueue(app, projectSeq, 1, true);
}

/**
 * Runs `change` inside a change. If the storage quota was already reached and `change` stored
 * more than it removed, throws 409, so that it is rolled back. Requests with a public key leave
 * a tenth of the quota to those with a secret key.
 */
export function runWithinStorage<T>(
  app: App,
  projectSeq: number,
  change: () => T,
  isPublic = false,
): T {
  const limit = storageLimit(app) * partOf(isPublic);
  return runWithin(app, { projectSeq, counter: "ownBytes", limit }, change);
}

/** The same for the bytes that mail to inbound routes stores, and their share. */
export function runWithinReceived<T>(app: App, projectSeq: number, change: () => T): T {
  const limit = storageLimit(app) * RECEIVED_PART;
  return runWithin(app, { projectSeq, counter: "receivedBytes", limit }, change);
}

/** Undoes a change that adds to a counter which has reached its limit. */
function runWithin<T>(
  app: App,
  { projectSeq, counter, limit }: { projectSeq: number; counter: Bytes; limit: number },
  change: () => T,
): T {
  if (limit === 0 || isFarFromStorage(app, projectSeq, counter, limit)) return change();
  const before = usageOf(app, projectSeq)[counter];
  const result = change();
  if (before < limit) return result;
  if (usageOf(app, projectSeq)[counter] > before) throw storageExceeded(app, projectSeq);
  return result;
}

/** In bytes; 0 for no limit. */
const storageLimit = ({ config }: App): number => config.quotaStorage * MIB;

const partOf = (isPublic: boolean): number => (isPublic ? PUBLIC_PART : 1);

/** The error if the storage quota is reached, else null. */
function refuseStorage(app: App, projectSeq: number, isPublic: boolean): AppError | null {
  const limit = storageLimit(app) * partOf(isPublic);
  if (limit === 0 || isFarFromStorage(app, projectSeq, "ownBytes", limit)) return null;
  return usageOf(app, projectSeq).ownBytes < limit ? null : storageExceeded(app, projectSeq);
}

/** The error if this number of mails does not fit into the queue, else null. */
function refuseQueue(
  app: App,
  projectSeq: number,
  mails: number,
  isPublic: boolean,
): AppError | null {
  const limit = Math.ceil(app.config.quotaQueuedMails * partOf(isPublic));
  if (limit === 0 || limit - recentUsageOf(app, projectSeq).queuedMails > FAR_MAILS) return null;
  if (mails > limit) return tooManyAtOnce(mails, limit);
  const isWithin = usageOf(app, projectSeq).queuedMails + mails <= limit;
  return isWithin ? null : queueExceeded(app, projectSeq);
}

function isFarFromStorage(app: App, projectSeq: number, counter: Bytes, limit: number): boolean {
  return limit - recentUsageOf(app, projectSeq)[counter] > FAR_BYTES;
}

/** Usage that was read a moment ago, by project. */
const readings = perApp(() => new Map<number, Usage & { readAt: number }>());

/** The usage of a moment ago: it suffices while the project is far below its quotas. */
function recentUsageOf(app: App, projectSeq: number): Usage {
  const now = app.clock.elapsed();
  const known = readings(app).get(projectSeq);
  if (known !== undefined && now - known.readAt < READING_MS) return known;
  if (readings(app).size >= MAX_READINGS) readings(app).clear();
  const read = { ...usageOf(app, projectSeq), readAt: now };
  readings(app).set(projectSeq, read);
  return read;
}

const findUsage = statement<Usage, [number]>(`
  SELECT stored_bytes - received_bytes AS ownBytes, received_bytes AS receivedBytes,
         queued_mails AS queuedMails
  FROM project_usage WHERE project_seq = +?`);

/** Part of a change: the usage with the additions of this transaction. */
function usageOf(app: App, projectSeq: number): Usage {
  const { usage } = app;
  const stored = findUsage(app).get(projectSeq);
  const received = usage.pendingReceivedBytes(projectSeq);
  return {
    ownBytes: (stored?.ownBytes ?? 0) + usage.pendingBytes(projectSeq) - received,
    receivedBytes: (stored?.receivedBytes ?? 0) + received,
    queuedMails: (stored?.queuedMails ?? 0) + usage.pendingQueued(projectSeq),
  };
}

function storageExceeded(app: App, projectSeq: number): AppError {
  warnOperator(app, projectSeq, "--quota-storage");
  return quotaExceeded({
    quota: `${app.config.quotaStorage} MiB of stored data`,
    setting: "--quota-storage",
    retryAfterSeconds: null,
    suggestion: "Delete contacts or other data, or ask the operator to raise the quota.",
  });
}

function queueExceeded(app: App, projectSeq: number): AppError {
  warnOperator(app, projectSeq, "--quota-queued-mails");
  return quotaExceeded({
    quota: `${app.config.quotaQueuedMails} queued mails`,
    setting: "--quota-queued-mails",
    retryAfterSeconds: RETRY_AFTER_SECONDS,
    suggestion: "Wait until some of the queued mails have left, then send fewer at once.",
  });
}

const findId = statement<{ id: string }, [number]>("SELECT id FROM projects WHERE seq = +?");

/** The time of the latest warning, by project and quota. */
const warnings = perApp(() => new Map<string, number>());

/** Logs a warning for the operator, at most one per project, quota and `WARNING_INTERVAL_MS`. */
function warnOperator(app: App, projectSeq: number, setting: string): void {
  const key = `${projectSeq} ${setting}`;
  const now = app.clock.elapsed();
  if (now - (warnings(app).get(key) ?? -Infinity) < WARNING_INTERVAL_MS) return;
  warnings(app).set(key, now);
  const project = findId(app).get(projectSeq)?.id;
  app.log.warn("a project has reached a quota", { project, setting });
}

/** Waiting does not help: these mails would not even fit into an empty queue. */
function tooManyAtOnce(mails: number, limit: number): AppError {
  const message = `${mails} mails exceed the quota of ${limit} queued mails (--quota-queued-mails).`;
  return new AppError(409, "QUOTA_EXCEEDED", message, {
    suggestion: "Send to fewer recipients at once.",
  });
}

type ExceededQuota = {
  /** The quota as a noun with its value, such as `10 imports and bulk actions`. */
  quota: string;
  /** The flag of the setting, such as `--quota-jobs`. */
  setting: string;
  /** Time after which the request may succeed; null if waiting does not help. */
  retryAfterSeconds: number | null;
  /** One sentence with the remedy for the caller. */
  suggestion: string;
};

/** The error of an exceeded quota: 429 if waiting helps, otherwise 409. */
export function quotaExceeded(exceeded: ExceededQuota): AppError {
  const { quota, setting, retryAfterSeconds, suggestion } = exceeded;
  const message = `The project has reached its quota of ${quota} (${setting}).`;
  return new AppError(retryAfterSeconds === null ? 409 : 429, "QUOTA_EXCEEDED", message, {
    suggestion,
    ...(retryAfterSeconds !== null && { headers: { "Retry-After": String(retryAfterSeconds) } }),
  });
}
