/**
 * Finds the workflows that use a template or a segment, which therefore cannot be deleted, and checks
 * the workflows that use a changed segment.
 */

import type { Db } from "../../db/open.ts";
import type { CheckedUse, Use } from "../../lib/references.ts";
import type { Graph } from "./graph/graph.ts";
import { type GraphReferences, segmentsOf, templatesOf } from "./graph/references.ts";
import { parseGraph } from "./versions.ts";

type Found = { id: string; name: string; graph: Graph };

export function createUses({ sqlite }: Db, references: Pick<GraphReferences, "segmentErrorsOf">) {
  /** Workflows of the project whose current graph contains the text. */
  const findHolding = sqlite.prepare<
    { id: string; name: string; graph: string },
    [number, string]
  >(`
    SELECT workflow.id, workflow.name, version.graph
    FROM workflows workflow JOIN workflow_versions version ON version.seq = workflow.version_seq
    WHERE workflow.project_seq = +?1 AND workflow.deleted_at IS NULL
      AND instr(version.graph, +?2) > 0`);

  function holding(projectSeq: number, text: string): Found[] {
    return findHolding
      .all(projectSeq, text)
      .map(({ id, name, graph }) => ({ id, name, graph: parseGraph(graph) }));
  }

  function users(projectSeq: number, text: string, isUsing: (graph: Graph) => boolean): Use[] {
    return holding(projectSeq, text)
      .filter(({ graph }) => isUsing(graph))
      .map(({ id, name }) => ({ kind: "workflow", id, name }));
  }

  return {
    /** The workflows that send a template. */
    usersOfTemplate: (projectSeq: number, templateId: string): Use[] =>
      users(projectSeq, JSON.stringify(templateId), (graph) =>
        templatesOf(graph).includes(templateId),
      ),

    /** The workflows with a condition on a segment. */
    usersOfSegment: (projectSeq: number, segmentId: string): Use[] =>
      users(projectSeq, JSON.stringify(`segment.${segmentId}`), (graph) =>
        segmentsOf(graph).includes(segmentId),
      ),

    /** Part of a change: checks the workflows with a condition that refers to these segments. */
    checkUsersOfSegments: (projectSeq: number, segmentIds: ReadonlySet<string>): CheckedUse[] =>
      holding(projectSeq, '"segment.')
        .filter(({ graph }) => segmentsOf(graph).some((used) => segmentIds.has(used)))
        .map(({ id, name, graph }) => ({
          kind: "workflow",
          id,
          name,
          errors: references.segmentErrorsOf(projectSeq, graph),
        })),
  };
}
