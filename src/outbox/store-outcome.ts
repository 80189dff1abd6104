/** Stores the outcome of an attempt, however long the storage refuses it, and reports it in the log. */

import { isStorageRefusal } from "../db/refusal.ts";
import { createSharedChanges } from "../db/shared-changes.ts";
import { STORAGE_PAUSE_MS, writeResult } from "../db/write-result.ts";
import type { Writer } from "../db/writer.ts";
import type { Clock } from "../lib/clock.ts";
import { describeError, type Log } from "../lib/log.ts";
import type { Verdict } from "./attempt.ts";
import type { LeaseQueue } from "./lease.ts";
import { type AttemptResult, busyOf, type RecordOutcome } from "./record.ts";

export type StoreOutcomeDeps = {
  queue: Pick<LeaseQueue, "noteWaiting">;
  settle: RecordOutcome;
  writer: Writer;
  clock: Clock;
  log: Log;
  /** The address of the page of a captured mail, for the log. */
  pageOf: (mail: { projectSeq: number; id: string }) => string;
};

/** `isRunning` is false once the process stops; then the storage is not tried again. */
export function createStoreOutcome(deps: StoreOutcomeDeps, isRunning: () => boolean) {
  const { queue, clock, log } = deps;
  /** Outcomes that arrive together are stored together. */
  const changes = createSharedChanges(deps.writer);
  /** Number of stored outcomes since the start, by kind. */
  const counts = new Map<string, number>();
  return { settle, counts };

  /**
   * Stores the outcome, and tries again for as long as the storage refuses, because the mail was
   * sent. `done` is called with false if it could not be stored; the lease then stays until this
   * process ends.
   */
  function settle(settlement: AttemptResult, done: (isStored: boolean) => void): void {
    const endedMs = clock.elapsed();
    // The time is computed again for each try, because the clock may have been set meanwhile.
    const change = () => {
      settlement.now = clock.now() - Math.round(clock.elapsed() - endedMs);
      return deps.settle(settlement);
    };
    const resolve = (isOurs: boolean) => {
      noteStored(settlement, isOurs);
      done(true);
    };
    changes.add(change, {
      resolve,
      reject(error) {
        logUnsettled(settlement, error);
        if (isRunning() && isStorageRefusal(error)) void tryAgain(change, { resolve, done });
        else done(false);
      },
    });
  }

  async function tryAgain(
    change: () => boolean,
    { resolve, done }: { resolve: (isOurs: boolean) => void; done: (isStored: boolean) => void },
  ): Promise<void> {
    await new Promise<void>((end) => clock.after(STORAGE_PAUSE_MS, end));
    const stored = await writeResult({ writer: changes, clock }, change, {
      isStopping: () => !isRunning(),
      error: () => {},
    });
    if (stored.isStored) resolve(stored.value);
    else done(false);
  }

  function noteStored(settlement: AttemptResult, isOurs: boolean): void {
    noteWaiting(settlement);
    report(settlement, isOurs);
  }

  function noteWaiting({ verdict }: AttemptResult): void {
    const busy = busyOf(verdict);
    if (busy !== null && busy.waitList !== null)
      queue.noteWaiting(busy.waitList, clock.now() + busy.retryAfterMs);
  }

  function logUnsettled({ mail, verdict }: AttemptResult, error: unknown): void {
    log.error("an outcome could not be stored", {
      email: mail.id,
      outcome: verdict.kind,
      willTryAgain: isRunning() && isStorageRefusal(error),
      error: describeError(error),
    });
  }

  function report({ mail, verdict, durationMs }: AttemptResult, isOurs: boolean): void {
    const fields = {
      email: mail.id,
      attempt: mail.attempts,
      outcome: verdict.kind,
      ms: durationMs,
      ...(verdict.kind === "accepted" ? {} : { reason: verdict.reason }),
    };
    counts.set(verdict.kind, (counts.get(verdict.kind) ?? 0) + 1);
    if (!isOurs) log.warn("the outcome came after its lease was lost", fields);
    else if (needsOperator(verdict))
      log.warn("delivery needs attention", { ...fields, see: deps.pageOf(mail) });
    else log.debug("delivery", fields);
    const isCaptured = verdict.kind === "accepted" && verdict.captured !== undefined;
    if (!isOurs || !isCaptured) return;
    const { to, subject } = mail;
    log.info("a mail was captured", { to, subject, see: deps.pageOf(mail) });
  }
}

/** True for failures that the operator has to fix, not the recipient (docs/delivery.md#R2). */
function needsOperator(verdict: Verdict): boolean {
  if (!("class" in verdict)) return false;
  return ["reputation", "authentication", "infrastructure"].includes(verdict.class);
}
