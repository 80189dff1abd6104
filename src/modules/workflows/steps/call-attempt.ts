/**
 * Renders and makes one leased webhook call, outside of any change. Then a change stores its result if
 * the lease is still the same.
 */

import type { App } from "../../../core/app.ts";
import { writeResult } from "../../../db/write-result.ts";
import type { Writer } from "../../../db/writer.ts";
import type { Clock } from "../../../lib/clock.ts";
import { describeError, type Log } from "../../../lib/log.ts";
import type { FetchGuarded } from "../../../protocols/fetch-guarded/fetch-guarded.ts";
import { AppError } from "../../../lib/errors.ts";
import { renderWebhook } from "../../content-work/content-work.ts";
import { FetchRefused } from "../../../protocols/fetch-guarded/refusal.ts";
import type { Advancer } from "../run/advance.ts";
import type { Occurrence } from "../run/engine.ts";
import type { ExecutionRows } from "../run/execution-rows.ts";
import { isLeased, type LeasedCall } from "./call-lease.ts";
import { occurrenceOfRefusal, occurrenceOfResponse } from "./webhook.ts";

export type CallAttemptDeps = {
  app: App;
  executionRows: ExecutionRows;
  advancer: Advancer;
  fetchGuarded: FetchGuarded;
  writer: Writer;
  clock: Clock;
  log: Log;
  random: () => number;
};

/** Resolves when the result is stored. If the signal is aborted, the next process repeats the call. */
type CallAttempt = (call: LeasedCall, signal: AbortSignal) => Promise<void>;

export function createCallAttempt(deps: CallAttemptDeps): CallAttempt {
  const { executionRows, advancer, clock, log, random } = deps;

  /** Resolves to null if the signal was aborted. */
  async function makeCall(
    { execution, templates }: LeasedCall,
    signal: AbortSignal,
  ): Promise<Occurrence | null> {
    try {
      const rendered = await renderWebhook(deps.app, execution.projectSeq, templates);
      if (!rendered.ok) {
        return { kind: "done", result: { outcome: "FAILED", error: rendered.reason } };
      }
      const { url, ...rest } = rendered.request;
      const { method } = templates;
      const response = await deps.fetchGuarded(url, { method, ...rest, signal });
      const { context } = execution.progress;
      return occurrenceOfResponse(response, { context, now: clock.now(), random: random() });
    } catch (error) {
      if (signal.aborted) return null;
      if (error instanceof FetchRefused) return occurrenceOfRefusal(error, random());
      if (error instanceof AppError) {
        return { kind: "callFailed", reason: error.message, retryAfterMs: null, random: random() };
      }
      const fields = { execution: execution.id, error: describeError(error) };
      log.error("a webhook of a workflow failed unexpectedly", fields);
      const reason = "An unexpected error of the server; the log contains its details.";
      return { kind: "callFailed", reason, retryAfterMs: null, random: random() };
    }
  }

  /** Stores the result of a call; repeats this until the storage accepts it. */
  async function storeResult(
    { execution: { id, seq }, token }: LeasedCall,
    occurrence: Occurrence,
    signal: AbortSignal,
  ): Promise<void> {
    await writeResult(
      deps,
      () => {
        const execution = executionRows.find(seq);
        if (execution === null || !isLeased(execution, token)) return;
        advancer.advance(execution, { occurrence, now: clock.now(), hasTime: () => false });
      },
      {
        isStopping: () => signal.aborted,
        // After a defect of this program, the call is repeated when its lease ends.
        error: (error) =>
          log.error("the result of a webhook call could not be stored", {
            execution: id,
            error: describeError(error),
          }),
      },
    );
  }

  return async (call, signal) => {
    const occurrence = await makeCall(call, signal);
    if (occurrence !== null) await storeResult(call, occurrence, signal);
  };
}
