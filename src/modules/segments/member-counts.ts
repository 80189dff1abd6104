/**
 * The number of members of each segment. A single segment is counted exactly unless the caller asks
 * for a recent count. A list counts its segments as well, one after another; for a segment that is
 * not counted after 200 ms, it has the stored count with its time. The counting continues in the
 * background, with pauses, and stores the results.
 */

import { and, eq, isNull } from "drizzle-orm";
import type { Db } from "../../db/open.ts";
import { isEndOfReads } from "../../db/reader.ts";
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
const LIST_WAIT_MS = 200;
/** Pause of a project's background counting after each count, as a multiple of its duration. */
const PAUSE_FACTOR = 4;
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
  const { clock, log, definitions } = deps;
  const queues = createOwnerQueues(1);
  /** Counts for lists that are not ready yet, by segment and condition. */
  const running = new Map<string, Promise<MemberCount>>();
  const background = new Set<Promise<void>>();
  const pauses = createPauses(clock);
  const store = createStore(deps);
  let isStopping = false;

  async function count(row: SegmentRow): Promise<MemberCount> {
    const at = clock.now();
    return { total: await deps.count(definitions.segmentAudience(row)), at };
  }

  /**
   * Counts the segment after those of its project that were asked for before; one without a stored
   * count is the next. If the list does not wait for the count any more, a pause follows.
   */
  function startCounting(row: SegmentRow, isListWaiting: () => boolean): Promise<MemberCount> {
    const key = `${row.seq} ${row.condition}`;
    const known = running.get(key);
    if (known !== undefined) return known;
    const { promise: counted, resolve, reject } = Promise.withResolvers<MemberCount>();
    const task = async () => {
      if (isStopping) throw new Error("the service is stopping");
      const startedMs = clock.elapsed();
      const result = count(row).finally(() => running.delete(key));
      resolve(result);
      await result;
      if (!isListWaiting()) await pauses.pause(PAUSE_FACTOR * (clock.elapsed() - startedMs));
    };
    running.set(key, counted);
    const priority = storedCount(row) === null ? 1 : 0;
    queues.run(row.projectSeq, task, priority).catch((error: unknown) => {
      running.delete(key);
      reject(error);
    });
    const work = storeWhenCounted(row, counted).finally(() => background.delete(work));
    background.add(work);
    return counted;
  }

  async function storeWhenCounted(row: SegmentRow, counted: Promise<MemberCount>): Promise<void> {
    try {
      await store(row, await counted);
    } catch (error) {
      if (isStopping || isEndOfReads(error)) return;
      log.warn("the number of members of a segment was not stored", {
        segment: row.id,
        error: describeError(error),
      });
    }
  }

  /**
   * Returns segments of a project with their counts. Segments without a stored count are counted
   * first, because the list has to wait for them.
   */
  async function countAll(rows: readonly SegmentRow[]): Promise<[SegmentRow, MemberCount][]> {
    let isWaiting = true;
    const isListWaiting = () => isWaiting;
    const { promise: isLate, resolve } = Promise.withResolvers<void>();
    const cancelTimer = clock.after(LIST_WAIT_MS, () => {
      isWaiting = false;
      resolve();
    });
    for (const row of rows) {
      if (storedCount(row) === null) void startCounting(row, isListWaiting);
    }
    try {
      return await Promise.all(
        rows.map(async (row): Promise<[SegmentRow, MemberCount]> => {
          const counted = startCounting(row, isListWaiting);
          const known = storedCount(row);
          const late = isLate.then(() => known ?? counted);
          return [row, await Promise.race([counted, late])];
        }),
      );
    } finally {
      cancelTimer();
    }
  }

  return {
    count,
    countAll,

    /** The count of a segment as in a list. */
    async recent(row: SegmentRow): Promise<MemberCount> {
      const [found] = await countAll([row]);
      return found?.[1] ?? count(row);
    },

    /** Resolves when no segment is being counted for a list. */
    async stop(): Promise<void> {
      isStopping = true;
      pauses.stop();
      await Promise.all(background);
    },
  };
}

/** Stores a count, unless the condition of the segment was changed meanwhile. */
function createStore({
  db,
  writer,
}: {
  db: Db;
  writer: Writer;
}): (row: SegmentRow, count: MemberCount) => Promise<void> {
  return async (row, { total, at }) => {
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
  };
}

/** Pauses that `stop` ends; after it there are no more. */
function createPauses(clock: Clock) {
  const ends = new Set<() => void>();
  let isStopped = false;
  return {
    async pause(durationMs: number): Promise<void> {
      if (durationMs === 0 || isStopped) return;
      const { promise: isOver, resolve } = Promise.withResolvers<void>();
      const cancelTimer = clock.after(durationMs, resolve);
      ends.add(resolve);
      await isOver;
      ends.delete(resolve);
      cancelTimer();
    },

    stop(): void {
      isStopped = true;
      for (const end of ends) end();
    },
  };
}

function storedCount({ memberCount, memberCountedAt }: SegmentRow): MemberCount | null {
  if (memberCount === null || memberCountedAt === null) return null;
  return { total: memberCount, at: memberCountedAt };
}
