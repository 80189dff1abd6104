/**
 * Exact counts of audiences. A count is used again while nothing at all was written to the
 * database since it began: then it cannot have changed.
 */

import type { Database } from "bun:sqlite";
import { sha256 } from "../../lib/crypto.ts";
import type { Audience } from "./plan.ts";
import type { Turns } from "./turns.ts";
import { walk } from "./walk.ts";

type Known = { version: string; count: Promise<number> };

const MOST_KNOWN = 500;

export function createCounts(deps: { sqlite: Database; turns: Turns }) {
  const known = new Map<string, Known>();
  // What this connection changed, and whether any other did.
  const readVersion = deps.sqlite.prepare<{ version: string }, []>(
    "SELECT total_changes() || ':' || data_version AS version FROM pragma_data_version",
  );

  function versionNow(): string {
    return readVersion.get()?.version ?? "";
  }

  async function countAnew(audience: Audience): Promise<number> {
    let total = 0;
    const options = { yields: "count", order: "ascending" } as const;
    for await (const [found = 0] of walk(deps, audience, options)) total += found;
    return total;
  }

  function forgetOldest(): void {
    for (const key of known.keys()) {
      if (known.size <= MOST_KNOWN) return;
      known.delete(key);
    }
  }

  return {
    async count(audience: Audience): Promise<number> {
      const key = keyOf(audience);
      const version = versionNow();
      const earlier = known.get(key);
      if (earlier?.version === version) return earlier.count;
      const fresh = { version, count: countAnew(audience) };
      known.delete(key); // Inserted last again: the order of the map is that of use.
      known.set(key, fresh);
      forgetOldest();
      try {
        return await fresh.count;
      } finally {
        // A write came in between: true for this caller, who had asked before, and for no other.
        if (versionNow() !== version && known.get(key) === fresh) known.delete(key);
      }
    },
  };
}

/** Relative times are bound as moments, so they are part of it. */
function keyOf({ projectSeq, where }: Audience): string {
  return sha256(JSON.stringify([projectSeq, where.text, where.values.map(String)]));
}
