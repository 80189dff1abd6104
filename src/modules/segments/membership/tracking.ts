/**
 * Decides when tracked segments are evaluated:
 *
 * 1. Every run evaluates the contacts that changed or had an event that the condition tests.
 * 2. If time alone can change the members (`within 30 days`), all contacts are evaluated every few
 *    minutes.
 * 3. If tracking was switched on or the condition was changed, all contacts are evaluated once.
 *    This records no events, because entry and exit events report changes of contacts, not of
 *    conditions.
 *
 * The first run of a process evaluates all contacts, so no state has to survive a crash.
 */

import { and, eq, isNull } from "drizzle-orm";
import type { Db } from "../../../db/open.ts";
import { segments } from "../../../db/schema/segments.ts";
import { isStorageRefusal } from "../../../db/refusal.ts";
import type { Clock } from "../../../lib/clock.ts";
import { describeError, type Log } from "../../../lib/log.ts";
import type { ChangeReader, Changes, Cursor } from "./changes.ts";
import type { Definitions, SegmentRow } from "../definitions.ts";
import { dependsOn } from "../condition/dependencies.ts";
import type { Evaluator, TrackedSegment } from "./evaluate.ts";
import type { Cleanup } from "./cleanup.ts";

export type Tracking = ReturnType<typeof createTracking>;

/**
 * Interval of full evaluations if time alone can change the members. With a run every ten seconds,
 * entries and exits are recorded within five minutes.
 */
const RELATIVE_INTERVAL_MS = 4 * 60_000;
/** Interval of full evaluations of other segments: a safeguard against a missed change. */
const SAFEGUARD_INTERVAL_MS = 60 * 60_000;

export function createTracking(deps: {
  db: Db;
  clock: Clock;
  log: Log;
  changes: ChangeReader;
  definitions: Definitions;
  evaluator: Evaluator;
  cleanUp: Cleanup;
}) {
  const { db, clock, log, changes, definitions, evaluator, cleanUp } = deps;
  /** Start of the last full evaluation by `segments.seq`, in monotonic milliseconds. */
  const completeAt = new Map<number, number>();
  /** Number of definition changes by project; a condition resolved before a change is outdated. */
  const generations = new Map<number, number>();
  /** Contacts by project whose change is visible neither in their row nor in an event. */
  let touched = new Map<number, number[]>();
  let cursor: Cursor | null = null;
  /** Recordings of first members that are running, by the id of the changed segment. */
  const recordings = new Map<string, Promise<void>>();
  let isStopping = false;
  let lastRun: Promise<void> = Promise.resolve();

  function trackedSegments(): SegmentRow[] {
    const isTracked = and(eq(segments.type, "DYNAMIC"), eq(segments.trackMembership, true));
    return db
      .select()
      .from(segments)
      .where(and(isTracked, isNull(segments.deletedAt)))
      .all();
  }

  async function run(): Promise<void> {
    await cleanUp(() => isStopping);
    const start = changes.now();
    const touchedBefore = touched;
    touched = new Map();
    const tracked = trackedSegments();
    try {
      const found = cursor === null ? null : await changes.since(cursor, projectsOf(tracked));
      for (const segment of tracked) {
        if (isStopping) return;
        const changed = found?.get(segment.projectSeq) ?? null;
        await evaluateSegment(segment, changed, touchedBefore.get(segment.projectSeq) ?? []);
      }
      cursor = start;
    } catch (error) {
      cursor = null; // The next run evaluates all contacts.
      throw error;
    }
  }

  /**
   * Evaluates one segment. A failure must not prevent the evaluation of the other segments; the
   * next run then evaluates all contacts for this segment.
   */
  async function evaluateSegment(
    segment: SegmentRow,
    changed: Changes | null,
    touchedSeqs: readonly number[],
  ): Promise<void> {
    try {
      const tracked = resolveTracked(segment);
      const { isRelative, eventNames } = dependsOn(tracked.condition);
      const intervalMs = isRelative ? RELATIVE_INTERVAL_MS : SAFEGUARD_INTERVAL_MS;
      if (changed === null || isDue(segment, intervalMs)) {
        await evaluateAll(tracked);
        return;
      }
      const withEvents = [...eventNames].flatMap((name) => [...(changed.events.get(name) ?? [])]);
      const seqs = new Set([...changed.contacts, ...withEvents, ...touchedSeqs]);
      if (!(await evaluator.evaluateContacts(tracked, [...seqs]))) completeAt.delete(segment.seq);
    } catch (error) {
      if (isStorageRefusal(error)) throw error;
      completeAt.delete(segment.seq);
      log.error("a segment was not evaluated", {
        segment: segment.id,
        error: describeError(error),
      });
    }
  }

  function isDue({ seq, baselineAt }: SegmentRow, intervalMs: number): boolean {
    const lastMs = completeAt.get(seq) ?? -Infinity;
    return baselineAt === null || clock.elapsed() - lastMs >= intervalMs;
  }

  async function evaluateAll(tracked: TrackedSegment): Promise<void> {
    const startedAt = clock.elapsed();
    if (await evaluator.evaluateAll(tracked)) completeAt.set(tracked.segment.seq, startedAt);
  }

  /** Records the members of segments. After a failure, the next run records them. */
  async function recordAll(rows: readonly SegmentRow[]): Promise<void> {
    try {
      for (const row of rows) await evaluateAll(resolveTracked(row));
    } catch (error) {
      log.error("members of a segment were not recorded", { error: describeError(error) });
    }
  }

  function resolveTracked(segment: SegmentRow): TrackedSegment {
    const generation = generations.get(segment.projectSeq);
    return {
      segment,
      condition: definitions.resolve(segment),
      isCurrent: () => !isStopping && generations.get(segment.projectSeq) === generation,
    };
  }

  return {
    /** Starts a run after all earlier ones have finished. It begins with the cleanup. */
    recompute(): Promise<void> {
      lastRun = lastRun.catch(() => undefined).then(run);
      return lastRun;
    },

    /** Starts to record the members of `rows`, which have no baseline after a change of `id`. */
    recordFirstMembers(id: string, rows: readonly SegmentRow[]): void {
      const work = recordAll(rows);
      recordings.set(id, work);
      void work.finally(() => {
        if (recordings.get(id) === work) recordings.delete(id);
      });
    },

    /** Resolves when the members of a new or changed segment are recorded. */
    whenRecorded: async (id: string): Promise<void> => recordings.get(id),

    /** Runs inside a change of a definition; stops evaluations with the old definition. */
    noteDefinition(projectSeq: number): void {
      generations.set(projectSeq, (generations.get(projectSeq) ?? 0) + 1);
    },

    /** Notes contacts that entered or left a STATIC segment; other segments may refer to it. */
    touch(projectSeq: number, contactSeqs: readonly number[]): void {
      touched.set(projectSeq, [...(touched.get(projectSeq) ?? []), ...contactSeqs]);
    },

    /** Resolves when all running evaluations have ended. */
    async stop(): Promise<void> {
      isStopping = true;
      await Promise.all([lastRun.catch(() => undefined), ...recordings.values()]);
    },
  };
}

function projectsOf(tracked: readonly SegmentRow[]): Set<number> {
  return new Set(tracked.map(({ projectSeq }) => projectSeq));
}
