/**
 * Sends the numbers of messages of an inbox to live clients after changes, at most four times a second.
 * One read is under way at a time, so that a later one never overtakes it.
 */

import type { App } from "../../../core/app.ts";
import { describeError } from "../../../lib/log.ts";
import { type Counts, countInbox } from "../messages/numbers.ts";
import type { InboxRow } from "../service.ts";

const INTERVAL_MS = 250;

export type CountsFeed = {
  /** The numbers are sent at once, or when the interval since the last time is over. */
  schedule(): void;
  /** Sends nothing any more. */
  end(): void;
};

/** `lastAt`: when the numbers were sent before, by `clock.elapsed`. */
export function createCountsFeed(
  app: Pick<App, "clock" | "log" | "reader">,
  inbox: Pick<InboxRow, "seq" | "projectSeq">,
  { send, ...sent }: { send: (counts: Counts) => void; lastAt?: number },
): CountsFeed {
  const { clock, log } = app;
  let { lastAt = -Infinity } = sent;
  let cancel: (() => void) | null = null;
  let isReading = false;
  /** Whether something changed while the numbers were read. */
  let isStale = false;
  let isOver = false;

  async function read(): Promise<void> {
    cancel = null;
    lastAt = clock.elapsed();
    isReading = true;
    isStale = false;
    try {
      const counts = await countInbox(app, inbox);
      if (!isOver) send(counts);
    } catch (error) {
      // They are sent after the next change. When the server stops, reads are refused.
      if (!isOver)
        log.warn("the messages of an inbox were not counted", { error: describeError(error) });
    }
    isReading = false;
    if (isStale) schedule();
  }

  function schedule(): void {
    if (isOver || cancel !== null) return;
    if (isReading) {
      isStale = true;
      return;
    }
    const waitMs = lastAt + INTERVAL_MS - clock.elapsed();
    if (waitMs <= 0) void read();
    else cancel = clock.after(waitMs, () => void read());
  }

  return {
    schedule,
    end() {
      isOver = true;
      cancel?.();
      cancel = null;
    },
  };
}
