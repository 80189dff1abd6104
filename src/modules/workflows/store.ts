/**
 * The rows of workflows and the graphs of their current versions. Every function that writes here is
 * part of a change. It throws a 422 AppError if a new graph names a template or segment that does not
 * exist, or a host that is not public.
 */

import { and, eq, isNull } from "drizzle-orm";
import { bound } from "../../db/bound.ts";
import type { Db } from "../../db/open.ts";
import { workflows } from "../../db/schema/workflows.ts";
import type { Clock } from "../../lib/clock.ts";
import { notFound } from "../../lib/errors.ts";
import { newId } from "../../lib/id.ts";
import type { Graph } from "./graph/graph.ts";
import type { GraphReferences } from "./graph/references.ts";
import type { Versions } from "./versions.ts";

export type WorkflowRow = typeof workflows.$inferSelect;
export type WorkflowStore = ReturnType<typeof createWorkflowStore>;

/** The columns that a request sets directly. */
type Settings = Pick<WorkflowRow, "name" | "description" | "isEnabled" | "allowReentry">;

export function createWorkflowStore(deps: {
  db: Db;
  clock: Clock;
  references: GraphReferences;
  versions: Versions;
}) {
  const { db, clock, references, versions } = deps;
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

  /** Stores a graph that differs from the current one as a new version; returns the version. */
  function replaceGraph(row: WorkflowRow, graph: Graph): number {
    if (JSON.stringify(graph) === JSON.stringify(graphOf(row))) return row.versionSeq;
    references.ensure(row.projectSeq, graph);
    return versions.store(row.seq, graph);
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

    insert(projectSeq: number, settings: Settings, graph: Graph): WorkflowRow {
      references.ensure(projectSeq, graph);
      const now = clock.now();
      const row = db
        .insert(workflows)
        .values({
          ...settings,
          id: newId(now),
          projectSeq,
          triggerEvent: triggerEventOf(graph),
          versionSeq: 0,
          createdAt: now,
          updatedAt: now,
        })
        .returning()
        .get();
      const versionSeq = versions.store(row.seq, graph);
      db.update(workflows).set({ versionSeq }).where(eq(workflows.seq, row.seq)).run();
      return { ...row, versionSeq };
    },

    update(row: WorkflowRow, settings: Partial<Settings>, graph: Graph): WorkflowRow {
      const versionSeq = replaceGraph(row, graph);
      const triggerEvent = triggerEventOf(graph);
      const updated = db
        .update(workflows)
        .set({ ...settings, versionSeq, triggerEvent, updatedAt: clock.now() })
        .where(eq(workflows.seq, row.seq))
        .returning()
        .get();
      versions.dropUnused(row.seq);
      return updated;
    },
  };
}

function triggerEventOf({ steps }: Graph): string {
  for (const step of steps) if (step.type === "TRIGGER") return step.config.eventName;
  throw new Error("a graph without a TRIGGER passed its check");
}
