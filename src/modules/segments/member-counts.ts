/**
 * The number of members of each segment. A single segment is always counted exactly. A list counts
 * its segments as well, one after another; for a segment that is not counted after a second, it has
 * the stored count with its time. The counting continues in the background and stores the result.
 */

import { and, eq, isNull } from "drizzle-orm";
import type { Db } from "../../db/open.ts";
import { segments } from "../../db/schema/segments.ts";
import type { Writer } from "../../db/writer.ts";
import type { Clock } from "../../lib/clock.ts";
import { describeError, type Log } from "../../lib/log.ts";
import { createOwnerQueues } from "../../lib/owner-queues.ts";
import type { Definitions, SegmentRow } from "./definitions.ts";
import type { Audience } from "./sql/plan.ts";

/** `at` is when the counting began, in milliseconds since the epoch. */
export type MemberCount = { total: number; at: number };

/** Longest time that a list waits for counts if older ones are stored, in milliseconds. */
const LIST_WAIT_MS = 1000;
/** A stored count that is still right is written again at this age, in milliseconds. */
const RENEWAL_MS = 10 * 60_000;

export function createMemberCounts(deps: {
  db: Db;
  writer: Writer;
  clock: Clock;
  log: Log;
  definitions: Pick<Definitions, "segmentAudience">;
  count: (audience: Audience) => Promise<number>;
}) {
  const { db, writer, clock, log, definitions } = deps;
  const queues = createOwnerQueues(1);
  /** Counts for lists that are not ready yet, by segment and condition. */
  const running = new Map<string, Promise<MemberCount>>();
  const background = new Set<Promise<void>>();
  let isStopping = false;

  async function count(row: SegmentRow): Promise<MemberCount> {
    const at = clock.now();
    return { total: await deps.count(definitions.segmentAudience(row)), at };
  }

  /** Stores the count, unless the condition of the segment was changed meanwhile. */
  async function store(row: SegmentRow, { total, at }: MemberCount): Promise<void> {
    const old = storedCount(row);
    if (old?.total === total && at - old.at < RENEWAL_MS) return;
    const { seq, condition } = row;
    const isSame =
      condition === null ? isNull(segments.condition) : eq(segments.condition, condition);
    await writer.write(() =>
      db
        .update(segments)
        .set({ memberCount: total, memberCountedAt: at })
        .where(and(eq(segments.seq, seq), isSame))
        .run(),
    );
  }

  /** Counts the segment after those of its project that were asked for before. */
  function startCounting(row: SegmentRow): Promise<MemberCount> {
    const key = `${row.seq} ${row.condition}`;
    const known = running.get(key);
    if (known !== undefined) return known;
    const counted = queues
      .run(row.projectSeq, () => {
        if (isStopping) throw new Error("the service is stopping");
        return count(row);
      })
      .finally(() => running.delete(key));
    running.set(key, counted);
    const work = storeWhenCounted(row, counted).finally(() => background.delete(work));
    background.add(work);
    return counted;
  }

  async function storeWhenCounted(row: SegmentRow, counted: Promise<MemberCount>): Promise<void> {
    try {
      await store(row, await counted);
    } catch (error) {
      if (isStopping) return;
      log.warn("the number of members of a segment was not stored", {
        segment: row.id,
        error: describeError(error),
      });
    }
  }

  return {
    count,

    /**
     * Returns segments of a project with their counts. Segments without a stored count are counted
     * first, because the list has to wait for them.
     */
    async countAll(rows: readonly SegmentRow[]): Promise<[SegmentRow, MemberCount][]> {
      for (const row of rows) if (storedCount(row) === null) void startCounting(row);
      const { promise: isLate, resolve } = Promise.withResolvers<void>();
      const cancelTimer = clock.after(LIST_WAIT_MS, resolve);
      try {
        return await Promise.all(
          rows.map(async (row): Promise<[SegmentRow, MemberCount]> => {
            const counted = startCounting(row);
            const known = storedCount(row);
            const late = isLate.then(() => known ?? counted);
            return [row, await Promise.race([counted, late])];
          }),
        );
      } finally {
        cancelTimer();
      }
    },

    /** Resolves when no segment is being counted for a list. */
    async stop(): Promise<void> {
      isStopping = true;
      await Promise.all(background);
    },
  };
}

function storedCount({ memberCount, memberCountedAt }: SegmentRow): MemberCount | null {
  if (memberCount === null || memberCountedAt === null) return null;
  return { total: memberCount, at: memberCountedAt };
}
