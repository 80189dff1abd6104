/**
 * Exact counts of audiences. A cached count is valid until anything is written to the database.
 * Audiences that are counted together share one scan over the contacts of their project.
 */

import type { Database } from "bun:sqlite";
import { sha256 } from "../../../lib/crypto.ts";
import { startSlices } from "../../../lib/slices.ts";
import type { Audience } from "./plan.ts";
import { planJointCounts } from "./joint-count.ts";
import { countSlices, isNarrow, type Slices } from "./slices.ts";
import type { FairScheduler } from "../../../lib/slice-queue.ts";
import { scan } from "./scan.ts";

type Count = { version: string; total: Promise<number> };

const MAX_CACHED_COUNTS = 500;

export function createCounts(deps: { sqlite: Database; scheduler: FairScheduler }) {
  const { sqlite, scheduler } = deps;
  const cached = new Map<string, Count>();
  // total_changes() counts changes by this connection, data_version those by other connections.
  const readVersion = sqlite.prepare<{ version: string }, []>(
    "SELECT total_changes() || ':' || data_version AS version FROM pragma_data_version",
  );

  function versionNow(): string {
    return readVersion.get()?.version ?? "";
  }

  /** Scans all slices and adds up their numbers, one total for each audience. */
  async function sum(projectSeq: number, open: () => Slices): Promise<number[]> {
    let totals: number[] = [];
    for await (const found of scan({ sqlite, queue: scheduler.of(projectSeq) }, open)) {
      totals = found.map((number, i) => number + (totals[i] ?? 0));
    }
    return totals;
  }

  /** Counts each audience with a narrow plan in its own scan, and all others in shared scans. */
  async function countEach(
    projectSeq: number,
    audiences: readonly Audience[],
  ): Promise<Map<Audience, number>> {
    const alone = audiences.length === 1 ? audiences : await narrowAmong(projectSeq, audiences);
    const together = planJointCounts(audiences.filter((audience) => !alone.includes(audience)));
    const totals = await Promise.all([
      ...alone.map(async (audience) => {
        const [total = 0] = await sum(projectSeq, () => countSlices(sqlite, audience));
        return [[audience, total] as const];
      }),
      ...together.map(async (count) => {
        const numbers = await sum(projectSeq, () => count.open(sqlite));
        return count.audiences.map((audience, i) => [audience, numbers[i] ?? 0] as const);
      }),
    ]);
    return new Map(totals.flat());
  }

  async function narrowAmong(
    projectSeq: number,
    audiences: readonly Audience[],
  ): Promise<Audience[]> {
    const slices = await startSlices(scheduler.of(projectSeq));
    const found: Audience[] = [];
    for (const audience of audiences) {
      if (isNarrow(sqlite, audience)) found.push(audience);
      if (slices.isOver()) await slices.next();
    }
    return found;
  }

  function start([first, ...others]: [CountRequest, ...CountRequest[]], version: string): void {
    const requests = [first, ...others];
    const audiences = requests.map(({ audience }) => audience);
    const totals = countEach(first.audience.projectSeq, audiences);
    for (const { audience, key } of requests) {
      const total = totals.then((numbers) => numbers.get(audience) ?? 0);
      cacheCount(key, { version, total });
    }
  }

  function cacheCount(key: string, count: Count): void {
    cached.delete(key); // Inserts the key at the end, so the map is in the order of use.
    cached.set(key, count);
    // After a write during the scan, the count is right for its callers, but must not be reused.
    const check = () => {
      if (versionNow() !== count.version && cached.get(key) === count) cached.delete(key);
    };
    count.total.then(check, check);
  }

  function removeOldest(): void {
    for (const oldest of cached.keys()) {
      if (cached.size <= MAX_CACHED_COUNTS) return;
      cached.delete(oldest);
    }
  }

  return {
    /** Returns the exact counts of audiences of one project, in their order. */
    countAll(audiences: readonly Audience[]): Promise<number[]> {
      const version = versionNow();
      const requests = audiences.map((audience) => ({ audience, key: keyOf(audience) }));
      const unknown = new Map(
        requests
          .filter(({ key }) => cached.get(key)?.version !== version)
          .map((one) => [one.key, one] as const),
      );
      const [first, ...others] = unknown.values();
      if (first !== undefined) start([first, ...others], version);
      const totals = requests.map(async ({ key }) => cached.get(key)?.total ?? 0);
      removeOldest();
      return Promise.all(totals);
    },
  };
}

type CountRequest = { audience: Audience; key: string };

/** Relative times are bound as absolute times, so a count is only reused for the same `now`. */
function keyOf({ projectSeq, where }: Audience): string {
  return sha256(JSON.stringify([projectSeq, where.text, where.values.map(String)]));
}
