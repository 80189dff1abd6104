/**
 * When tracked DYNAMIC segments are judged anew:
 *
 * 1. Contacts that changed, or had events that a segment asks for: at every run.
 * 2. Everybody, where time alone changes the answer (`within 30 days`): every few minutes.
 * 3. Everybody, once, where a segment is new to tracking or its condition became another one. That
 *    writes no events: they tell that a contact changed, not that a definition did.
 *
 * The first run of a process looks at everybody, so nothing else has to survive a crash.
 */

import { and, eq, isNull } from "drizzle-orm";
import type { Db } from "../../db/open.ts";
import { segments } from "../../db/schema/segments.ts";
import { isStorageRefusal } from "../../db/refusal.ts";
import type { Clock } from "../../lib/clock.ts";
import { describeError, type Log } from "../../lib/log.ts";
import type { ChangeReader, Changes, Cursor } from "./changes.ts";
import type { Definitions, SegmentRow } from "./definitions.ts";
import { dependsOn } from "./dependencies.ts";
import type { Case, Judge } from "./judge.ts";
import type { Sweep } from "./sweep.ts";

export type Tracking = ReturnType<typeof createTracking>;

/** With a run every ten seconds, that is well within five minutes. */
const RELATIVE_MS = 4 * 60_000;
/** For the rest this is a safeguard: changes are read from the log and from dates. */
const ANY_MS = 60 * 60_000;

export function createTracking(deps: {
  db: Db;
  clock: Clock;
  log: Log;
  changes: ChangeReader;
  definitions: Definitions;
  judge: Judge;
  sweep: Sweep;
}) {
  const { db, clock, log, changes, definitions, judge, sweep } = deps;
  /** When everybody was last judged, by `segments.seq`, in monotonic milliseconds. */
  const completeAt = new Map<number, number>();
  /** Changes of definitions, by project: what was resolved before one is out of date. */
  const generations = new Map<number, number>();
  /** Contacts that changed in a way that neither their row nor an event tells, by project. */
  let touched = new Map<number, number[]>();
  let cursor: Cursor | null = null;
  /** Under way, by the id of the segment that was changed. */
  const establishing = new Map<string, Promise<void>>();
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
    await sweep(() => isStopping);
    const start = changes.now();
    const noted = touched;
    touched = new Map();
    const tracked = trackedSegments();
    try {
      const found = cursor === null ? null : await changes.since(cursor, projectsOf(tracked));
      for (const segment of tracked) {
        if (isStopping) return;
        const changed = found?.get(segment.projectSeq) ?? null;
        await judgeSegment(segment, changed, noted.get(segment.projectSeq) ?? []);
      }
      cursor = start;
    } catch (error) {
      cursor = null; // The next run looks at everybody.
      throw error;
    }
  }

  /** One that fails must not keep the others from being judged; it comes again with everybody. */
  async function judgeSegment(
    segment: SegmentRow,
    changed: Changes | null,
    noted: readonly number[],
  ): Promise<void> {
    try {
      const trial = caseOf(segment);
      const { isRelative, eventNames } = dependsOn(trial.condition);
      if (changed === null || isDue(segment, isRelative ? RELATIVE_MS : ANY_MS)) {
        await judgeEverybody(trial);
        return;
      }
      const withEvents = [...eventNames].flatMap((name) => [...(changed.events.get(name) ?? [])]);
      const seqs = new Set([...changed.contacts, ...withEvents, ...noted]);
      if (!(await judge.some(trial, [...seqs]))) completeAt.delete(segment.seq);
    } catch (error) {
      if (isStorageRefusal(error)) throw error;
      completeAt.delete(segment.seq);
      log.error("a segment was not judged", { segment: segment.id, error: describeError(error) });
    }
  }

  function isDue({ seq, baselineAt }: SegmentRow, intervalMs: number): boolean {
    const lastMs = completeAt.get(seq) ?? -Infinity;
    return baselineAt === null || clock.elapsed() - lastMs >= intervalMs;
  }

  async function judgeEverybody(trial: Case): Promise<void> {
    const startedAt = clock.elapsed();
    if (await judge.everybody(trial)) completeAt.set(trial.segment.seq, startedAt);
  }

  /** What fails here is done by the next run. */
  async function establishAll(rows: readonly SegmentRow[]): Promise<void> {
    try {
      for (const row of rows) await judgeEverybody(caseOf(row));
    } catch (error) {
      log.error("members of a segment were not recorded", { error: describeError(error) });
    }
  }

  function caseOf(segment: SegmentRow): Case {
    const generation = generations.get(segment.projectSeq);
    return {
      segment,
      condition: definitions.resolve(segment),
      isCurrent: () => !isStopping && generations.get(segment.projectSeq) === generation,
    };
  }

  return {
    /** One run, after those that were asked for before; what deleted segments left goes first. */
    recompute(): Promise<void> {
      lastRun = lastRun.catch(() => undefined).then(run);
      return lastRun;
    },

    /** Starts to record the members of segments without a baseline, because `id` was changed. */
    establish(id: string, rows: readonly SegmentRow[]): void {
      const work = establishAll(rows);
      establishing.set(id, work);
      void work.finally(() => {
        if (establishing.get(id) === work) establishing.delete(id);
      });
    },

    /** Resolves when the members of a segment that was just made or changed are recorded. */
    established: async (id: string): Promise<void> => establishing.get(id),

    /** Part of a change of definitions. */
    noteDefinition(projectSeq: number): void {
      generations.set(projectSeq, (generations.get(projectSeq) ?? 0) + 1);
    },

    /** Contacts that came to or left a STATIC segment, which others may refer to. */
    touch(projectSeq: number, contactSeqs: readonly number[]): void {
      touched.set(projectSeq, [...(touched.get(projectSeq) ?? []), ...contactSeqs]);
    },

    /** Resolves when nothing is written any more. */
    async stop(): Promise<void> {
      isStopping = true;
      await Promise.all([lastRun.catch(() => undefined), ...establishing.values()]);
    },
  };
}

function projectsOf(tracked: readonly SegmentRow[]): Set<number> {
  return new Set(tracked.map(({ projectSeq }) => projectSeq));
}
