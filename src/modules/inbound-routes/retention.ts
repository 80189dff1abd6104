/** Removes received mails after 30 days, a few in each change, so that other work is not delayed. */

import type { Writer } from "../../db/writer.ts";
import type { Clock } from "../../lib/clock.ts";
import type { RemoveReceived } from "./removal.ts";
import type { ReceivedRows } from "./rows.ts";

const KEPT_MS = 30 * 24 * 60 * 60_000;
/** Mails of one change: each may have 25 pieces of a MiB. */
const STEP_MAILS = 5;

export function createReceivedRetention(deps: {
  rows: Pick<ReceivedRows, "old">;
  remove: RemoveReceived;
  writer: Pick<Writer, "write">;
  clock: Pick<Clock, "now">;
}) {
  const { rows, remove, writer, clock } = deps;
  let isRunning = false;

  async function removeOld(): Promise<void> {
    for (;;) {
      const old = rows.old(clock.now() - KEPT_MS, STEP_MAILS);
      if (old.length === 0) return;
      await writer.write(() => old.forEach(remove));
    }
  }

  return {
    async run(): Promise<void> {
      if (isRunning) return;
      isRunning = true;
      await removeOld().finally(() => (isRunning = false));
    },
  };
}
