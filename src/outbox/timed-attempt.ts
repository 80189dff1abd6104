/** Attempts mails when the pace allows them, and measures how long each attempt takes. */

import type { Writer } from "../db/writer.ts";
import type { Clock } from "../lib/clock.ts";
import { describeError, type Log } from "../lib/log.ts";
import type { WhenAllowed } from "../protocols/smtp/dispatch.ts";
import type { Attempt, Verdict } from "./attempt.ts";
import type { LeasedMail } from "./lease-rows.ts";
import { Withdrawn } from "./outcome.ts";
import type { Pace } from "./pace.ts";
import type { Prefetch } from "./prefetch.ts";
import type { AttemptResult } from "./record.ts";

const URGENT_PRIORITY = 1;

export type TimedAttemptDeps = {
  attempt: Attempt;
  pace: Pace;
  writer: Pick<Writer, "hasFault">;
  clock: Clock;
  log: Log;
};

/** `onBegin` is called when a mail leaves. */
export function createTimedAttempt(
  deps: TimedAttemptDeps,
  prefetch: Prefetch,
  onBegin: () => void,
) {
  const { pace, writer, clock, log } = deps;
  /** One function for each prepared mail that waits for the pace: withdraws that mail. */
  const waiting = new Set<() => void>();

  return {
    attemptTimed,
    isAnyWaiting: () => waiting.size > 0,
    withdrawWaiting(): void {
      for (const withdraw of waiting) withdraw();
      waiting.clear();
    },
  };

  /**
   * Attempts a mail. It is prepared while its lease is being written, and its transaction begins
   * only when the lease is on disk. The time is measured from the transaction, if there is one.
   */
  async function attemptTimed(mail: LeasedMail, onDisk: Promise<void>): Promise<AttemptResult> {
    let startedAt = clock.now();
    let startedMs = clock.elapsed();
    const reserved = prefetch.reserve();
    const leave: WhenAllowed = async (transact) => {
      await onDisk.catch(throwWithdrawn);
      prefetch.noteLatency(clock.elapsed() - startedMs);
      reserved.stopTimeout();
      const begin = () => {
        reserved.release();
        onBegin();
        startedAt = clock.now();
        startedMs = clock.elapsed();
        return transact();
      };
      return awaitPace(begin, mail.campaignSeq === null ? URGENT_PRIORITY : 0);
    };
    const verdict = await deps.attempt(mail, leave).catch((error: unknown) => defect(mail, error));
    reserved.release();
    const durationMs = Math.round(clock.elapsed() - startedMs);
    return { mail, verdict, startedAt, durationMs, now: clock.now() };
  }

  /** Rejects with `Withdrawn` if this process is about to end before the pace allows the mail. */
  function awaitPace<T>(begin: () => Promise<T>, urgency: number): Promise<T> {
    return new Promise((resolve, reject) => {
      const withdraw = () => reject(new Withdrawn());
      waiting.add(withdraw);
      const task = () => {
        // With a faulty writer the outcome could not be stored, so the mail must not be sent.
        if (waiting.delete(withdraw) && !writer.hasFault()) return begin();
        throw new Withdrawn();
      };
      pace.run(task, urgency).then(resolve, reject);
    });
  }

  /** Logs a defect of this program; the mail is deferred. */
  function defect(mail: LeasedMail, error: unknown): Verdict {
    log.error("an attempt failed unexpectedly", { email: mail.id, error: describeError(error) });
    const reason = "An unexpected error of this server; the log has the details.";
    return { kind: "deferred", class: "infrastructure", reason, conversations: [] };
  }
}

/** For a lease that did not reach the disk: the mail must not be sent without it. */
function throwWithdrawn(): never {
  throw new Withdrawn();
}
