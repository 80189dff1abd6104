/**
 * Exact counts of audiences. A count is used again while nothing at all was written to the
 * database since it began: then it cannot have changed. Audiences that take a walk over all
 * contacts of a project anyway share one.
 */

import type { Database } from "bun:sqlite";
import { sha256 } from "../../lib/crypto.ts";
import type { Audience } from "./plan.ts";
import { countSlices, jointCountSlices, type Slices } from "./slices.ts";
import type { Turns } from "../../lib/turns.ts";
import { walk } from "./walk.ts";

type Count = { version: string; total: Promise<number> };

const MOST_KNOWN = 500;
const MOST_JOINED = 25;

export function createCounts(deps: { sqlite: Database; turns: Turns }) {
  const { sqlite } = deps;
  const known = new Map<string, Count>();
  // What this connection changed, and whether any other did.
  const readVersion = sqlite.prepare<{ version: string }, []>(
    "SELECT total_changes() || ':' || data_version AS version FROM pragma_data_version",
  );

  function versionNow(): string {
    return readVersion.get()?.version ?? "";
  }

  /** Adds up the slices, number by number. */
  async function sum(open: () => Slices): Promise<number[]> {
    let totals: number[] = [];
    for await (const found of walk(deps, open)) {
      totals = found.map((number, i) => number + (totals[i] ?? 0));
    }
    return totals;
  }

  /** Starts the counts of a group in one walk. */
  function start([first, ...others]: Group, version: string): void {
    const totals = sum(() =>
      others.length === 0
        ? countSlices(sqlite, first.audience)
        : jointCountSlices(sqlite, [first.audience, ...others.map(({ audience }) => audience)]),
    );
    [first, ...others].forEach(({ key }, i) => {
      remember(key, { version, total: totals.then((numbers) => numbers[i] ?? 0) });
    });
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
      const unknown = asked.filter(({ key }) => known.get(key)?.version !== version);
      for (const group of groupsOf(unknown)) start(group, version);
      const totals = asked.map(async ({ key }) => known.get(key)?.total ?? 0);
      forgetOldest();
      return Promise.all(totals);
    },
  };
}

type Asked = { audience: Audience; key: string };
type Group = readonly [Asked, ...Asked[]];

/** Those with a narrow plan on their own, the others together. */
function groupsOf(asked: readonly Asked[]): Group[] {
  const groups: [Asked, ...Asked[]][] = [];
  let open: [Asked, ...Asked[]] | null = null;
  for (const one of asked) {
    const isNarrow = one.audience.narrow.length > 0;
    if (!isNarrow && open !== null && open.length < MOST_JOINED) {
      open.push(one);
      continue;
    }
    const group: [Asked, ...Asked[]] = [one];
    groups.push(group);
    if (!isNarrow) open = group;
  }
  return groups;
}

/** Relative times are bound as moments, so they are part of it. */
function keyOf({ projectSeq, where }: Audience): string {
  return sha256(JSON.stringify([projectSeq, where.text, where.values.map(String)]));
}
