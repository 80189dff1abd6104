/**
 * The quotas of a project's stored bytes and of its queued mails. A change that would add to them
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

type Usage = { storedBytes: number; queuedMails: number };

const MIB = 1024 * 1024;

/** How long a reading of a project's usage suffices while the project is far below a quota. */
const READING_MS = 1000;
const MAX_READINGS = 10_000;
/** A project that is farther below its quotas than this cannot reach them within READING_MS. */
const FAR_BYTES = 1024 * MIB;
const FAR_MAILS = 100_000;
/** Part of the stored bytes up to which strangers can fill a project with a public key. */
const PUBLIC_PART = 0.9;

/** The queue empties continuously, so the exact time when a mail fits again is not known. */
const RETRY_AFTER_SECONDS = 60;
/** Shortest time between two log entries about the same project and quota. */
const WARNING_INTERVAL_MS = 10 * 60_000;

export function createQuotas(deps: {
  db: Db;
  usage: Pick<UsageCounter, "pendingBytes" | "pendingQueued">;
  clock: Clock;
  log: Log;
  limits: QuotaLimits;
}) {
  const { limits, usage } = deps;
  const find = deps.db.sqlite.prepare<Usage, [number]>(`
    SELECT stored_bytes AS storedBytes, queued_mails AS queuedMails
    FROM project_usage WHERE project_seq = +?`);
  const warnOperator = createWarnings(deps);

  /** Usage that was read a moment ago, by project. */
  const readings = new Map<number, Usage & { readAt: number }>();

  /** Part of a change: the usage with what this transaction added. */
  function usageOf(projectSeq: number): Usage {
    const stored = find.get(projectSeq) ?? { storedBytes: 0, queuedMails: 0 };
    return {
      storedBytes: stored.storedBytes + usage.pendingBytes(projectSeq),
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

  function isFarFromStorage(projectSeq: number, limit = limits.storedBytes): boolean {
    const { storedBytes } = recentUsageOf(projectSeq);
    return limit - storedBytes > FAR_BYTES;
  }

  function isFarFromQueue(projectSeq: number): boolean {
    const { queuedMails } = recentUsageOf(projectSeq);
    return limits.queuedMails - queuedMails > FAR_MAILS;
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
  function refuseQueue(projectSeq: number, mails: number): AppError | null {
    if (limits.queuedMails === 0 || isFarFromQueue(projectSeq)) return null;
    if (mails > limits.queuedMails) return tooManyAtOnce(mails, limits.queuedMails);
    const isWithin = usageOf(projectSeq).queuedMails + mails <= limits.queuedMails;
    return isWithin ? null : queueExceeded(projectSeq);
  }

  /** The error if the storage quota is reached, else null. */
  function refuseStorage(projectSeq: number): AppError | null {
    if (limits.storedBytes === 0 || isFarFromStorage(projectSeq)) return null;
    const isWithin = usageOf(projectSeq).storedBytes < limits.storedBytes;
    return isWithin ? null : storageExceeded(projectSeq);
  }

  return {
    /** Throws 409 if the storage quota is reached. Call it inside the change that stores data. */
    ensureStorage(projectSeq: number): void {
      const refusal = refuseStorage(projectSeq);
      if (refusal !== null) throw refusal;
    },

    /**
     * Throws 429 if the mails do not fit into the project's queue. Call it inside the change that
     * queues them.
     */
    ensureQueue(projectSeq: number, mails: number): void {
      const refusal = refuseQueue(projectSeq, mails);
      if (refusal !== null) throw refusal;
    },

    /** The error for one more mail, or null; for callers that wait and try again later. */
    refuseMail: (projectSeq: number): AppError | null =>
      refuseStorage(projectSeq) ?? refuseQueue(projectSeq, 1),

    /**
     * Runs `change` inside a change. If the storage quota was already reached and `change` stored
     * more than it removed, throws 409, so that it is rolled back. Requests with a public key leave
     * a tenth of the quota to those with a secret key.
     */
    runWithinStorage<T>(projectSeq: number, change: () => T, isPublic = false): T {
      const limit = limits.storedBytes * (isPublic ? PUBLIC_PART : 1);
      if (limit === 0 || isFarFromStorage(projectSeq, limit)) return change();
      const before = usageOf(projectSeq).storedBytes;
      const result = change();
      if (before < limit) return result;
      if (usageOf(projectSeq).storedBytes > before) throw storageExceeded(projectSeq);
      return result;
    },
  };
}

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
