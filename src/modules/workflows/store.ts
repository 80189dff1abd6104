/**
 * The rows of workflows and the graphs of their current versions. Every function that writes here is
 * part of a change. It throws a 422 AppError if a new graph names a template or segment that does not
 * exist, or a host that is not public.
 */

import { and, eq, isNull } from "drizzle-orm";
import type { App } from "../../core/app.ts";
import { bound } from "../../db/bound.ts";
import type { Db } from "../../db/open.ts";
import { workflows } from "../../db/schema/workflows.ts";
import type { Clock } from "../../lib/clock.ts";
import { notFound } from "../../lib/errors.ts";
import { newId } from "../../lib/id.ts";
import { nextTime } from "./cron.ts";
import { announceEntries, cancelEntryRuns } from "./entry-runs.ts";
import { type Graph, triggerEventOf, triggerOf } from "./graph/graph.ts";
import type { GraphReferences } from "./graph/references.ts";
import type { GraphAuthor, Versions } from "./versions.ts";

export type WorkflowRow = typeof workflows.$inferSelect;
export type WorkflowStore = ReturnType<typeof createWorkflowStore>;

/** The columns that a request sets directly. */
type Settings = Pick<WorkflowRow, "name" | "description" | "isEnabled" | "allowReentry">;

/** The author of a new version, and how many of its first steps the request implied (assemble.ts). */
type Authored = { author?: GraphAuthor | null; impliedSteps?: number };

export function createWorkflowStore(deps: {
  app: App;
  db: Db;
  clock: Clock;
  references: GraphReferences;
  versions: Versions;
}) {
  const { app, db, clock, references, versions } = deps;
  const findById = db
    .select()
    .from(workflows)
    .where(
      and(
        eq(workflows.id, bound("id")),
        eq(workflows.projectSeq, bound("projectSeq")),
        isNull(workflows.deletedAt),
      ),
    )
    .limit(1)
    .prepare();

  function graphOf(row: WorkflowRow): Graph {
    const graph = versions.graphOf(row.versionSeq);
    if (graph === null) throw new Error(`the graph of workflow ${row.id} does not exist`);
    return graph;
  }

  /** A change of something else neither repeats nor skips a time of the schedule that has come. */
  function isSameSchedule(row: WorkflowRow, graph: Graph, isEnabled: boolean): boolean {
    if (!isEnabled || row.nextEntryAt === null) return false;
    return JSON.stringify(triggerOf(graph)) === JSON.stringify(triggerOf(graphOf(row)));
  }

  /** Stores a graph that differs from the current one as a new version; returns the version. */
  function replaceGraph(
    row: WorkflowRow,
    graph: Graph,
    { author = null, impliedSteps = 0 }: Authored,
  ): number {
    if (JSON.stringify(graph) === JSON.stringify(graphOf(row))) return row.versionSeq;
    references.ensure(row.projectSeq, graph, impliedSteps);
    return versions.store(row, graph, author);
  }

  return {
    /** Null if the workflow does not exist or was deleted. */
    find: (projectSeq: number, id: string): WorkflowRow | null =>
      findById.get({ projectSeq, id }) ?? null,

    /** Throws 404 WORKFLOW_NOT_FOUND. */
    get(projectSeq: number, id: string): WorkflowRow {
      const workflow = findById.get({ projectSeq, id });
      if (workflow === undefined) throw notFound("WORKFLOW");
      return workflow;
    },

    /** The graph of the current version, which must not be modified. */
    graphOf,

    insert(
      projectSeq: number,
      { author = null, impliedSteps = 0, ...settings }: Settings & Authored,
      graph: Graph,
    ): WorkflowRow {
      references.ensure(projectSeq, graph, impliedSteps);
      const now = clock.now();
      const row = db
        .insert(workflows)
        .values({
          ...settings,
          id: newId(now),
          projectSeq,
          ...triggerColumns(graph, settings.isEnabled, now),
          versionSeq: 0,
          createdAt: now,
          updatedAt: now,
        })
        .returning()
        .get();
      const versionSeq = versions.store(row, graph, author);
      announceEntries(app);
      db.update(workflows).set({ versionSeq }).where(eq(workflows.seq, row.seq)).run();
      return { ...row, versionSeq };
    },

    update(
      row: WorkflowRow,
      { author = null, impliedSteps = 0, ...settings }: Partial<Settings> & Authored,
      graph: Graph,
    ): WorkflowRow {
      const versionSeq = replaceGraph(row, graph, { author, impliedSteps });
      const now = clock.now();
      const { isEnabled = row.isEnabled } = settings;
      const updated = db
        .update(workflows)
        .set({
          ...settings,
          ...triggerColumns(graph, isEnabled, now),
          ...(isSameSchedule(row, graph, isEnabled) ? { nextEntryAt: row.nextEntryAt } : {}),
          versionSeq,
          revision: isChanged(row, { ...settings, versionSeq }) ? row.revision + 1 : row.revision,
          updatedAt: now,
        })
        .where(eq(workflows.seq, row.seq))
        .returning()
        .get();
      versions.dropUnused(row.seq);
      if (!isEnabled) cancelEntryRuns(app, row.seq, "The workflow was disabled.");
      announceEntries(app);
      return updated;
    },
  };
}

function isChanged(row: WorkflowRow, given: Partial<WorkflowRow>): boolean {
  const after = { ...row, ...given };
  return REVISED.some((name) => after[name] !== row[name]);
}

/** The columns whose change is a new revision. */
const REVISED = [
  "name",
  "description",
  "isEnabled",
  "allowReentry",
  "versionSeq",
] as const satisfies readonly (keyof WorkflowRow)[];

/** The columns that follow from the trigger; the next time of a schedule counts from `now`. */
function triggerColumns(graph: Graph, isEnabled: boolean, now: number) {
  const trigger = triggerOf(graph);
  const isScheduled = isEnabled && "cron" in trigger;
  return {
    triggerType: "type" in trigger ? trigger.type : ("EVENT" as const),
    triggerEvent: triggerEventOf(trigger) ?? "",
    nextEntryAt: isScheduled ? nextTime(trigger, now) : null,
  };
}
