/**
 * Keeps the members of tracked segments current: a recurring run reads the changes since the run
 * before and refreshes each segment (`refresh.ts`); the first members of a new or changed segment
 * are recorded at once. The first run of a process evaluates all contacts, so no state has to
 * survive a crash.
 */

import { and, eq, isNull } from "drizzle-orm";
import type { Db } from "../../../db/open.ts";
import { segments } from "../../../db/schema/segments.ts";
import type { Clock } from "../../../lib/clock.ts";
import type { Log } from "../../../lib/log.ts";
import type { ChangeReader, Cursor } from "./changes.ts";
import type { Definitions, SegmentRow } from "../definitions.ts";
import type { Evaluator } from "./evaluate.ts";
import type { Cleanup } from "./cleanup.ts";
import { createRefresh } from "./refresh.ts";

export type Tracking = ReturnType<typeof createTracking>;

export function createTracking(deps: {
  db: Db;
  clock: Clock;
  log: Log;
  changes: ChangeReader;
  definitions: Definitions;
  evaluator: Evaluator;
  cleanUp: Cleanup;
}) {
  const { db, changes, cleanUp } = deps;
  /** Contacts by project whose change is visible neither in their row nor in an event. */
  let touched = new Map<number, number[]>();
  let cursor: Cursor | null = null;
  /** Recordings of first members that are running, by the id of the changed segment. */
  const recordings = new Map<string, Promise<void>>();
  let isStopping = false;
  let lastRun: Promise<void> = Promise.resolve();
  const { refresh, refreshAllFully, noteDefinition } = createRefresh({
    ...deps,
    isStopping: () => isStopping,
  });

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
        await refresh(segment, changed, touchedBefore.get(segment.projectSeq) ?? []);
      }
      cursor = start;
    } catch (error) {
      cursor = null; // The next run evaluates all contacts.
      throw error;
    }
  }

  return {
    /** Starts a run after all earlier ones have finished. It begins with the cleanup. */
    recompute(): Promise<void> {
      lastRun = lastRun.catch(() => undefined).then(run);
      return lastRun;
    },

    /** Starts to record the members of `rows`, which have no baseline after a change of `id`. */
    recordFirstMembers(id: string, rows: readonly SegmentRow[]): void {
      const work = refreshAllFully(rows);
      recordings.set(id, work);
      void work.finally(() => {
        if (recordings.get(id) === work) recordings.delete(id);
      });
    },

    /** Resolves when the members of a new or changed segment are recorded. */
    whenRecorded: async (id: string): Promise<void> => recordings.get(id),

    noteDefinition,

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
