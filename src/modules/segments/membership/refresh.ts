/**
 * Refreshes the stored members of tracked segments, from the contacts that changed or from all
 * contacts:
 *
 * 1. Every refresh evaluates the contacts that changed or had an event that the condition tests.
 * 2. If time alone can change the members (`within 30 days`), all contacts are evaluated every few
 *    minutes.
 * 3. If tracking was switched on or the condition was changed, all contacts are evaluated once.
 *    This records no events, because entry and exit events report changes of contacts, not of
 *    conditions.
 */

import { isEndOfReads } from "../../../db/reader.ts";
import { isStorageRefusal } from "../../../db/refusal.ts";
import type { Clock } from "../../../lib/clock.ts";
import { describeError, type Log } from "../../../lib/log.ts";
import { dependsOn } from "../condition/dependencies.ts";
import type { Definitions, SegmentRow } from "../definitions.ts";
import type { Changes } from "./changes.ts";
import type { Evaluator, TrackedSegment } from "./evaluate.ts";

/**
 * Interval of full refreshes if time alone can change the members. With a run every ten seconds,
 * entries and exits are recorded within five minutes.
 */
const RELATIVE_INTERVAL_MS = 4 * 60_000;
/** Interval of full refreshes of other segments: a safeguard against a missed change. */
const SAFEGUARD_INTERVAL_MS = 60 * 60_000;

export function createRefresh(deps: {
  clock: Clock;
  log: Log;
  definitions: Pick<Definitions, "resolve">;
  evaluator: Evaluator;
  isStopping: () => boolean;
}) {
  const { clock, log, definitions, evaluator, isStopping } = deps;
  /** Start of the last full refresh by `segments.seq`, in monotonic milliseconds. */
  const refreshedAt = new Map<number, number>();
  /** Number of definition changes by project; a condition resolved before a change is outdated. */
  const generations = new Map<number, number>();

  function resolveTracked(segment: SegmentRow): TrackedSegment {
    const generation = generations.get(segment.projectSeq);
    return {
      segment,
      condition: definitions.resolve(segment),
      isCurrent: () => !isStopping() && generations.get(segment.projectSeq) === generation,
    };
  }

  function isFullDue({ seq, baselineAt }: SegmentRow, intervalMs: number): boolean {
    const lastMs = refreshedAt.get(seq) ?? -Infinity;
    return baselineAt === null || clock.elapsed() - lastMs >= intervalMs;
  }

  async function refreshFully(tracked: TrackedSegment): Promise<void> {
    const startedAt = clock.elapsed();
    if (await evaluator.evaluateAll(tracked)) refreshedAt.set(tracked.segment.seq, startedAt);
  }

  return {
    /**
     * Refreshes one segment after `changed`, or from all contacts if that is null. A failure must
     * not prevent the refresh of other segments; the next run then evaluates all contacts for it.
     */
    async refresh(
      segment: SegmentRow,
      changed: Changes | null,
      touchedSeqs: readonly number[],
    ): Promise<void> {
      try {
        const tracked = resolveTracked(segment);
        const { isRelative, eventNames } = dependsOn(tracked.condition);
        const intervalMs = isRelative ? RELATIVE_INTERVAL_MS : SAFEGUARD_INTERVAL_MS;
        if (changed === null || isFullDue(segment, intervalMs)) {
          await refreshFully(tracked);
          return;
        }
        const withEvents = [...eventNames].flatMap((name) => [...(changed.events.get(name) ?? [])]);
        const seqs = new Set([...changed.contacts, ...withEvents, ...touchedSeqs]);
        const isDone = await evaluator.evaluateContacts(tracked, [...seqs]);
        if (!isDone) refreshedAt.delete(segment.seq);
      } catch (error) {
        if (isStorageRefusal(error)) throw error;
        refreshedAt.delete(segment.seq);
        log.error("a segment was not evaluated", {
          segment: segment.id,
          error: describeError(error),
        });
      }
    },

    /** Refreshes segments from all contacts. After a failure, the next run does it. */
    async refreshAllFully(rows: readonly SegmentRow[]): Promise<void> {
      try {
        for (const row of rows) await refreshFully(resolveTracked(row));
      } catch (error) {
        if (isEndOfReads(error)) return;
        log.error("members of a segment were not recorded", { error: describeError(error) });
      }
    },

    /** Runs inside a change of a definition; stops refreshes with the old definition. */
    noteDefinition(projectSeq: number): void {
      generations.set(projectSeq, (generations.get(projectSeq) ?? 0) + 1);
    },
  };
}
