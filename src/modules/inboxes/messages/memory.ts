/**
 * Limits the memory that arriving messages take. Raw messages fill SQLite's page cache and are hardly
 * ever read again, so the cache is small while messages arrive; later, searches use the whole of it.
 */

import { createGarbage } from "../../../lib/garbage.ts";
import type { App } from "../../../core/app.ts";
import { perApp } from "../../../lib/per-app.ts";

/** Size of the cache while messages arrive: 4 MiB. Negative numbers are KiB. */
const LIMIT = -4 * 1024;
/** The default of SQLite. */
const DEFAULT = -2000;
/** Time without a message after which the limit ends. */
const IDLE_MS = 2_000;
/** Bytes of large messages after which the garbage collector runs. Most of them are freed at once. */
const COLLECT_AFTER_BYTES = 64 * 1024 * 1024;

export const arrivalMemory = perApp(createArrivalMemory);

function createArrivalMemory({ db, clock }: App) {
  const { sqlite } = db;
  const row = sqlite.query<{ cache_size: number }, []>("PRAGMA cache_size").get();
  const usual = row?.cache_size ?? DEFAULT;
  const garbage = createGarbage({ clock, collectAfterBytes: COLLECT_AFTER_BYTES });
  let isLimited = false;
  let lastMs = 0;

  return {
    /** A message of this size has arrived. */
    noteArrival(bytes: number): void {
      garbage.add(bytes);
      lastMs = clock.elapsed();
      if (isLimited) return;
      isLimited = true;
      sqlite.run(`PRAGMA cache_size = ${LIMIT}`);
    },

    /** Ends the limit if no message has arrived for some time. Called every few seconds. */
    async endIfIdle(): Promise<void> {
      if (!isLimited || clock.elapsed() - lastMs < IDLE_MS) return;
      isLimited = false;
      sqlite.run(`PRAGMA cache_size = ${usual}`);
    },
  };
}
