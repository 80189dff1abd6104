/**
 * The quotas of a project's stored bytes and of its queued mails. Strangers must not use them up:
 *
 * - The mail that they send to inbound routes does not count against the quota of stored bytes. It
 *   has a share of its own, which is beside the quota, and counts the mail and its event.
 * - What else they can add leaves a tenth of each quota to the project: requests with a public key,
 *   mails of workflows and those that an inbound route forwards, repeated clicks, and subscriptions on the page of a mail.
 *
 * A change that would add to them
 * first checks the counters, which are updated together with the rows (db/usage.ts). A project can
 * therefore exceed its storage quota by at most one request, and never its queue quota. The mails
 * of campaigns are not checked against the queue quota, because the size of their audience limits
 * them.
 *
 * A refusal in a request is an error with code QUOTA_EXCEEDED, and the operator
 * finds a warning in the log.
 */

import type { Db } from "../../db/open.ts";
import type { UsageCounter } from "../../db/usage-counter.ts";
import type { Clock } from "../../lib/clock.ts";
import { AppError } from "../../lib/errors.ts";
import type { Log } from "../../lib/log.ts";

/** The limits of each project; 0 for no limit. */
type QuotaLimits = { storedBytes: number; queuedMails: number };

export type Quotas = ReturnType<typeof createQuotas>;

/** `ownBytes` are the stored bytes without those of received mail. */
type Usage = { ownBytes: number; receivedBytes: number; queuedMails: number };

const MIB = 1024 * 1024;

/** How long a reading of a project's usage suffices while the project is far below a quota. */
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

export function createQuotas(deps: {
  db: Db;
  usage: Pick<UsageCounter, "pendingBytes" | "pendingReceivedBytes" | "pendingQueued">;
  clock: Clock;
  log: Log;
  limits: QuotaLimits;
}) {
  const { limits, usage } = deps;
  const find = deps.db.sqlite.prepare<Usage, [number]>(`
    SELECT stored_bytes - received_bytes AS ownBytes, received_bytes AS receivedBytes,
           queued_mails AS queuedMails
    FROM project_usage WHERE project_seq = +?`);
  const warnOperator = createWarnings(deps);

  /** Usage that was read a moment ago, by project. */
  const readings = new Map<number, Usage & { readAt: number }>();

  /** Part of a change: the usage with what this transaction added. */
  function usageOf(projectSeq: number): Usage {
    const stored = find.get(projectSeq) ?? { ownBytes: 0, receivedBytes: 0, queuedMails: 0 };
    const received = usage.pendingReceivedBytes(projectSeq);
    return {
      ownBytes: stored.ownBytes + usage.pendingBytes(projectSeq) - received,
      receivedBytes: stored.receivedBytes + received,
      queuedMails: stored.queuedMails + usage.pendingQueued(projectSeq),
    };
  }

  /** The usage of a moment ago: it suffices while the project is far below its quotas. */
  function recentUsageOf(projectSeq: number): Usage {
    const now = deps.clock.elapsed();
    const known = readings.get(projectSeq);
    if (known !== undefined && now - known.readAt < READING_MS) return known;
    if (readings.size >= MAX_READINGS) readings.clear();
    const read = { ...usageOf(projectSeq), readAt: now };
    readings.set(projectSeq, read);
    return read;
  }

  function isFar(projectSeq: number, counter: Bytes, limit: number): boolean {
    return limit - recentUsageOf(projectSeq)[counter] > FAR_BYTES;
  }

  function isFarFromQueue(projectSeq: number, limit: number): boolean {
    return limit - recentUsageOf(projectSeq).queuedMails > FAR_MAILS;
  }

  function storageExceeded(projectSeq: number): AppError {
    warnOperator(projectSeq, "--quota-storage");
    return quotaExceeded({
      quota: `${limits.storedBytes / MIB} MiB of stored data`,
      setting: "--quota-storage",
      retryAfterSeconds: null,
      suggestion: "Delete contacts or other data, or ask the operator to raise the quota.",
    });
  }

  function queueExceeded(projectSeq: number): AppError {
    warnOperator(projectSeq, "--quota-queued-mails");
    return quotaExceeded({
      quota: `${limits.queuedMails} queued mails`,
      setting: "--quota-queued-mails",
      retryAfterSeconds: RETRY_AFTER_SECONDS,
      suggestion: "Wait until some of the queued mails have left, then send fewer at once.",
    });
  }

  /** The error if this number of mails does not fit into the queue, else null. */
  function refuseQueue(projectSeq: number, mails: number, isPublic = false): AppError | null {
    const limit = Math.ceil(limits.queuedMails * partOf(isPublic));
    if (limit === 0 || isFarFromQueue(projectSeq, limit)) return null;
    if (mails > limit) return tooManyAtOnce(mails, limit);
    const isWithin = usageOf(projectSeq).queuedMails + mails <= limit;
    return isWithin ? null : queueExceeded(projectSeq);
  }

  /** The error if the storage quota is reached, else null. */
  function refuseStorage(projectSeq: number, isPublic = false): AppError | null {
    const limit = limits.storedBytes * partOf(isPublic);
    if (limit === 0 || isFar(projectSeq, "ownBytes", limit)) return null;
    return usageOf(projectSeq).ownBytes < limit ? null : storageExceeded(projectSeq);
  }

  /** Undoes a change that adds to a counter which has reached its limit. */
  function runWithin<T>(
    { projectSeq, counter, limit }: { projectSeq: number; counter: Bytes; limit: number },
    change: () => T,
  ): T {
    if (limit === 0 || isFar(projectSeq, counter, limit)) return change();
    const before = usageOf(projectSeq)[counter];
    const result = change();
    if (before < limit) return result;
    if (usageOf(projectSeq)[counter] > before) throw storageExceeded(projectSeq);
    return result;
  }

  return {
    /**
     * Throws 409 if the storage quota is reached, or the part of it that strangers may fill. Call it
     * inside the change that stores data.
     */
    ensureStorage(projectSeq: number, isPublic = false): void {
      const refusal = refuseStorage(projectSeq, isPublic);
      if (refusal !== null) throw refusal;
    },

    /** Part of a change: whether strangers may add what is not important. */
    hasRoomForStrangers: (projectSeq: number): boolean => refuseStorage(projectSeq, true) === null,

    /**
     * Throws 429 if the mails do not fit into the project's queue, or into the part of it that
     * strangers may fill. Call it inside the change that queues them.
     */
    ensureQueue(projectSeq: number, mails: number, isPublic = false): void {
      const refusal = refuseQueue(projectSeq, mails, isPublic);
      if (refusal !== null) throw refusal;
    },

    /**
     * The error for one more mail of a workflow, or null. It waits and tries again later. Strangers
     * start workflows, with a public key or by clicks.
     */
    refuseMail: (projectSeq: number): AppError | null =>
      refuseStorage(projectSeq, true) ?? refuseQueue(projectSeq, 1, true),

    /**
     * Runs `change` inside a change. If the storage quota was already reached and `change` stored
     * more than it removed, throws 409, so that it is rolled back. Requests with a public key leave
     * a tenth of the quota to those with a secret key.
     */
    runWithinStorage<T>(projectSeq: number, change: () => T, isPublic = false): T {
      const limit = limits.storedBytes * partOf(isPublic);
      return runWithin({ projectSeq, counter: "ownBytes", limit }, change);
    },

    /** The same for what mail to inbound routes stores, and its share. */
    runWithinReceived<T>(projectSeq: number, change: () => T): T {
      const limit = limits.storedBytes * RECEIVED_PART;
      return runWithin({ projectSeq, counter: "receivedBytes", limit }, change);
    },
  };
}

type Bytes = "ownBytes" | "receivedBytes";

const partOf = (isPublic: boolean): number => (isPublic ? PUBLIC_PART : 1);

/** Logs a warning for the operator, at most one per project, quota and `WARNING_INTERVAL_MS`. */
function createWarnings({ db, clock, log }: { db: Db; clock: Clock; log: Log }) {
  const findId = db.sqlite.prepare<{ id: string }, [number]>(
    "SELECT id FROM projects WHERE seq = +?",
  );
  const warnedAt = new Map<string, number>();
  return (projectSeq: number, setting: string): void => {
    const key = `${projectSeq} ${setting}`;
    const now = clock.elapsed();
    if (now - (warnedAt.get(key) ?? -Infinity) < WARNING_INTERVAL_MS) return;
    warnedAt.set(key, now);
    log.warn("a project has reached a quota", { project: findId.get(projectSeq)?.id, setting });
  };
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
  /** One sentence that says what the caller can do. */
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
