/** Exact counts of audiences. A cached count is valid until anything is written to the database. */

import type { Database } from "bun:sqlite";
import { sha256 } from "../../../lib/crypto.ts";
import type { FairScheduler } from "../../../lib/slice-queue.ts";
import type { Audience } from "./plan.ts";
import { scan } from "./scan.ts";
import { countSlices } from "./slices.ts";

type Count = { version: string; total: Promise<number> };

const MAX_CACHED_COUNTS = 500;

/** Returns a function that counts the contacts of an audience. */
export function createCount(deps: { sqlite: Database; scheduler: FairScheduler }) {
  const { sqlite, scheduler } = deps;
  const cached = new Map<string, Count>();
  // total_changes() counts changes by this connection, data_version those by other connections.
  const readVersion = sqlite.prepare<{ version: string }, []>(
    "SELECT total_changes() || ':' || data_version AS version FROM pragma_data_version",
  );

  function versionNow(): string {
    return readVersion.get()?.version ?? "";
  }

  async function scanAll(audience: Audience): Promise<number> {
    let total = 0;
    const queue = scheduler.queueOf(audience.projectSeq);
    for await (const [found = 0] of scan({ sqlite, queue }, () => countSlices(sqlite, audience))) {
      total += found;
    }
    return total;
  }

  function cacheCount(key: string, count: Count): void {
    cached.delete(key); // Inserts the key at the end, so the map is in the order of use.
    cached.set(key, count);
    // After a write during the scan, the count is right for its callers, but must not be reused.
    const check = () => {
      if (versionNow() !== count.version && cached.get(key) === count) cached.delete(key);
    };
    count.total.then(check, check);
    for (const oldest of cached.keys()) {
      if (cached.size <= MAX_CACHED_COUNTS) return;
      cached.delete(oldest);
    }
  }

  return (audience: Audience): Promise<number> => {
    const key = keyOf(audience);
    const version = versionNow();
    const known = cached.get(key);
    if (known?.version === version) return known.total;
    const total = scanAll(audience);
    cacheCount(key, { version, total });
    return total;
  };
}

/** Relative times are bound as absolute times, so a count is only reused for the same `now`. */
function keyOf({ projectSeq, where }: Audience): string {
  return sha256(JSON.stringify([projectSeq, where.text, where.values.map(String)]));
}
