/**
 * Exact counts of audiences. A count is used again while nothing at all was written to the
 * database since it began: then it cannot have changed. Audiences that are
 * asked for together share one walk over the contacts of their project.
 */

import type { Database } from "bun:sqlite";
import { sha256 } from "../../lib/crypto.ts";
import { startSlices } from "../../lib/slices.ts";
import type { Audience } from "./plan.ts";
import { planJointCounts } from "./joint-count.ts";
import { countSlices, isNarrow, type Slices } from "./slices.ts";
import type { FairTurns } from "../../lib/turns.ts";
import { walk } from "./walk.ts";

type Count = { version: string; total: Promise<number> };

const MOST_KNOWN = 500;

export function createCounts(deps: { sqlite: Database; turns: FairTurns }) {
  const { sqlite, turns } = deps;
  const known = new Map<string, Count>();
  // What this connection changed, and whether any other did.
  const readVersion = sqlite.prepare<{ version: string }, []>(
    "SELECT total_changes() || ':' || data_version AS version FROM pragma_data_version",
  );

  function versionNow(): string {
    return readVersion.get()?.version ?? "";
  }

  /** Adds up the slices, number by number. */
  async function sum(projectSeq: number, open: () => Slices): Promise<number[]> {
    let totals: number[] = [];
    for await (const found of walk({ sqlite, turns: turns.of(projectSeq) }, open)) {
      totals = found.map((number, i) => number + (totals[i] ?? 0));
    }
    return totals;
  }

  /** Those that few rows are visited for on their own, the others together. */
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
    const slices = await startSlices(turns.of(projectSeq));
    const found: Audience[] = [];
    for (const audience of audiences) {
      if (isNarrow(sqlite, audience)) found.push(audience);
      if (slices.isOver()) await slices.next();
    }
    return found;
  }

  function start([first, ...others]: [Asked, ...Asked[]], version: string): void {
    const asked = [first, ...others];
    const audiences = asked.map(({ audience }) => audience);
    const totals = countEach(first.audience.projectSeq, audiences);
    for (const { audience, key } of asked) {
      const total = totals.then((numbers) => numbers.get(audience) ?? 0);
      remember(key, { version, total });
    }
  }

  function remember(key: string, count: Count): void {
    known.delete(key); // Inserted last again: the order of the map is that of use.
    known.set(key, count);
    // A write came in between: true for those who asked before it, and for nobody else.
    const check = () => {
      if (versionNow() !== count.version && known.get(key) === count) known.delete(key);
    };
    count.total.then(check, check);
  }

  function forgetOldest(): void {
    for (const oldest of known.keys()) {
      if (known.size <= MOST_KNOWN) return;
      known.delete(oldest);
    }
  }

  return {
    /** Exactly how many there are of each, in their order; all of one project. */
    countAll(audiences: readonly Audience[]): Promise<number[]> {
      const version = versionNow();
      const asked = audiences.map((audience) => ({ audience, key: keyOf(audience) }));
      const unknown = new Map(
        asked
          .filter(({ key }) => known.get(key)?.version !== version)
          .map((one) => [one.key, one] as const),
      );
      const [first, ...others] = unknown.values();
      if (first !== undefined) start([first, ...others], version);
      const totals = asked.map(async ({ key }) => known.get(key)?.total ?? 0);
      forgetOldest();
      return Promise.all(totals);
    },
  };
}

type Asked = { audience: Audience; key: string };

/** Relative times are bound as moments, so they are part of it. */
function keyOf({ projectSeq, where }: Audience): string {
  return sha256(JSON.stringify([projectSeq, where.text, where.values.map(String)]));
}
