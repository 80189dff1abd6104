/** Sends a test to each target at once, for the page System and for `mailstead alert test`. */

import type { App } from "../../core/app.ts";
import { newId } from "../../lib/id.ts";
import { testMessage } from "./messages.ts";
import type { AlertTests } from "./model.ts";
import { alertTargets, type AlertTarget, type TargetResult } from "./targets.ts";

/** Longest time for which the answer waits. A mail server may take longer and still accept the test. */
const LIMIT_MS = 45_000;

export async function testTargets(app: App): Promise<AlertTests> {
  const message = testMessage(newId(app.clock.now()), app.clock.now());
  const targets = await Promise.all(
    alertTargets(app).map(async (target) => {
      const startedMs = app.clock.elapsed();
      const { isDelivered, reply } = await within(app, target, target.send(message));
      const durationMs = Math.round(app.clock.elapsed() - startedMs);
      return { kind: target.kind, label: target.label, isDelivered, reply, durationMs };
    }),
  );
  return { targets };
}

function within(
  { clock, log }: App,
  { kind }: AlertTarget,
  sending: Promise<TargetResult>,
): Promise<TargetResult> {
  const { promise, resolve } = Promise.withResolvers<TargetResult>();
  const reply = `No answer within ${LIMIT_MS / 1_000} seconds.`;
  const cancel = clock.after(LIMIT_MS, () =>
    resolve({ isDelivered: false, isFinal: false, reply }),
  );
  // After the limit, the failure is not shown anywhere else.
  sending.catch((error: unknown) =>
    log.error("a test of an alert failed", { kind, error: String(error) }),
  );
  return Promise.race([sending, promise]).finally(cancel);
}
