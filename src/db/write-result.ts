/** Stores results that must not be lost, because the work behind them cannot be undone. */

import type { Clock } from "../lib/clock.ts";
import { isStorageRefusal } from "./refusal.ts";
import type { Change, Sync, Writer } from "./writer.ts";

/** Delay after the storage refused a write (disk full, for example) before the next try. */
export const STORAGE_PAUSE_MS = 1000;

type WriteResult<T> = { isStored: true; value: T } | { isStored: false };

/**
 * Runs the change, and repeats it for as long as the storage refuses writes. Any other error is a
 * defect, which a further try cannot fix. `isStopping` is read after a failed try.
 */
export async function writeResult<T>(
  { writer, clock }: { writer: Pick<Writer, "write">; clock: Clock },
  change: Change<Sync<T>>,
  on: { isStopping: () => boolean; error: (error: unknown, tries: number) => void },
): Promise<WriteResult<T>> {
  for (let tries = 1; ; tries++) {
    try {
      return { isStored: true, value: await writer.write<T>(change) };
    } catch (error) {
      on.error(error, tries);
      if (on.isStopping() || !isStorageRefusal(error)) return { isStored: false };
      await new Promise<void>((resolve) => clock.after(STORAGE_PAUSE_MS, resolve));
    }
  }
}
