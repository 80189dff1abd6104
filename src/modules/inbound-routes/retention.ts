/**
 * Removes received mails after 30 days, or earlier if the project says so, a few in each change, so that
 * other work is not delayed.
 */

import type { App } from "../../core/app.ts";
import { projectPeriods, RECEIVED_DAYS } from "../project-retention.ts";
import type { RemoveReceived } from "./removal.ts";
import type { ReceivedRows, RemovableMail } from "./rows.ts";

const DAY_MS = 24 * 60 * 60_000;
/** Mails of one change: each may have 25 pieces of a MiB. */
const STEP_MAILS = 5;

export function createReceivedRetention(
  deps: Pick<App, "db" | "writer" | "clock"> & {
    rows: Pick<ReceivedRows, "old" | "oldestOfProject">;
    remove: RemoveReceived;
  },
) {
  const { rows, remove, writer, clock } = deps;
  let isRunning = false;

  async function removeAll(next: () => RemovableMail[]): Promise<void> {
    for (let old = next(); old.length > 0; old = next()) {
      const found = old;
      await writer.write(() => found.forEach(remove));
    }
  }

  async function removeOld(): Promise<void> {
    const daysAgo = (days: number) => clock.now() - days * DAY_MS;
    await removeAll(() => rows.old(daysAgo(RECEIVED_DAYS), STEP_MAILS));
    for (const { projectSeq, days } of projectPeriods(deps, "retainReceived")) {
      await removeAll(() =>
        rows
          .oldestOfProject(projectSeq, STEP_MAILS)
          .filter(({ receivedAt }) => receivedAt < daysAgo(days)),
      );
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
