/**
 * The quotas of what a project keeps: bytes of its data, and mails that wait in the queue. Both are
 * asked in the change that would add to them, by counters that are kept with the rows (db/usage.ts).
 * So a project exceeds its storage by one request at most, and never its queue. Campaigns are not
 * held to the quota of queued mails: their audience bounds them.
 */

import type { Db } from "../../db/open.ts";
import type { UsageCounter } from "../../db/usage-counter.ts";
import type { Clock } from "../../lib/clock.ts";
import type { AppError } from "../../lib/errors.ts";
import type { Log } from "../../lib/log.ts";
import { quotaExceeded } from "./exceeded.ts";

/** 0: no limit. */
export type QuotaLimits = { storedBytes: number; queuedMails: number };

export type Quotas = ReturnType<typeof createQuotas>;

type Usage = { storedBytes: number; queuedMails: number };

const MIB = 1024 * 1024;
/** Mails leave all the time; when there are slots again is not known. */
const RETRY_AFTER_SECONDS = 60;
/** The operator is told of each project and quota at most so often. */
const TOLD_EVERY_MS = 10 * 60_000;

export function createQuotas(deps: {
  db: Db;
  usage: Pick<UsageCounter, "added">;
  clock: Clock;
  log: Log;
  limits: QuotaLimits;
}) {
  const { limits, usage } = deps;
  const find = deps.db.sqlite.prepare<Usage, [number]>(`
    SELECT stored_bytes AS storedBytes, queued_mails AS queuedMails
    FROM project_usage WHERE project_seq = +?`);
  const tell = createTeller(deps);

  const usageOf = (projectSeq: number): Usage =>
    find.get(projectSeq) ?? { storedBytes: 0, queuedMails: 0 };

  function storageExceeded(projectSeq: number): AppError {
    tell(projectSeq, "--quota-storage");
    return quotaExceeded({
      quota: `${limits.storedBytes / MIB} MiB of stored data`,
      setting: "--quota-storage",
      retryAfterSeconds: null,
      suggestion: "Delete contacts or other data, or ask the operator to raise the quota.",
    });
  }

  function queueExceeded(projectSeq: number): AppError {
    tell(projectSeq, "--quota-queued-mails");
    return quotaExceeded({
      quota: `${limits.queuedMails} queued mails`,
      setting: "--quota-queued-mails",
      retryAfterSeconds: RETRY_AFTER_SECONDS,
      suggestion: "Wait until some of the queued mails have left, then send fewer at once.",
    });
  }

  /** Null where so many more mails may be queued. */
  function refuseQueue(projectSeq: number, mails: number): AppError | null {
    if (limits.queuedMails === 0) return null;
    const isWithin = usageOf(projectSeq).queuedMails + mails <= limits.queuedMails;
    return isWithin ? null : queueExceeded(projectSeq);
  }

  /** Null where more may be stored. */
  function refuseStorage(projectSeq: number): AppError | null {
    if (limits.storedBytes === 0) return null;
    const isWithin = usageOf(projectSeq).storedBytes < limits.storedBytes;
    return isWithin ? null : storageExceeded(projectSeq);
  }

  return {
    /** Part of a change that stores something: 409 where the storage of the project is used up. */
    ensureStorage(projectSeq: number): void {
      const refusal = refuseStorage(projectSeq);
      if (refusal !== null) throw refusal;
    },

    /** Part of a change that queues mails: 429 where the queue of the project has no place for them. */
    ensureQueue(projectSeq: number, mails: number): void {
      const refusal = refuseQueue(projectSeq, mails);
      if (refusal !== null) throw refusal;
    },

    /** The same for a mail that waits where there is no place: why it has to, or null. */
    refuseMail: (projectSeq: number): AppError | null =>
      refuseStorage(projectSeq) ?? refuseQueue(projectSeq, 1),

    /**
     * Runs a part of a change. Where the storage of the project is used up, it is undone with 409 if
     * it stored more than it removed.
     */
    storing<T>(projectSeq: number, change: () => T): T {
      if (limits.storedBytes === 0) return change();
      const before = usageOf(projectSeq).storedBytes;
      const addedBefore = usage.added();
      const result = change();
      if (before < limits.storedBytes) return result;
      const grewBy = usageOf(projectSeq).storedBytes - before + usage.added() - addedBefore;
      if (grewBy > 0) throw storageExceeded(projectSeq);
      return result;
    },
  };
}

/** Tells the operator, but not of every refusal. */
function createTeller({ db, clock, log }: { db: Db; clock: Clock; log: Log }) {
  const findId = db.sqlite.prepare<{ id: string }, [number]>(
    "SELECT id FROM projects WHERE seq = +?",
  );
  const told = new Map<string, number>();
  return (projectSeq: number, setting: string): void => {
    const key = `${projectSeq} ${setting}`;
    const now = clock.elapsed();
    if (now - (told.get(key) ?? -Infinity) < TOLD_EVERY_MS) return;
    told.set(key, now);
    log.warn("a project has reached a quota", { project: findId.get(projectSeq)?.id, setting });
  };
}
