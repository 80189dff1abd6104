/**
 * Finds the workflows that use a template or a segment, which therefore cannot be deleted, and checks
 * the workflows that use a changed segment. A workflow uses what its current graph contains, and what
 * the versions contain with which executions are under way.
 */

import type { Db } from "../../db/open.ts";
import type { CheckedUse, Use } from "../../lib/references.ts";
import type { Graph } from "./graph/graph.ts";
import { type GraphReferences, segmentsOf, templatesOf } from "./graph/references.ts";
import { parseGraph } from "./versions.ts";

type Found = { id: string; name: string; graphs: Graph[] };

export function createUses({ sqlite }: Db, references: Pick<GraphReferences, "segmentErrorsOf">) {
  /** Graphs in use, of workflows of the project, that contain the text. */
  const findHolding = sqlite.prepare<
    { id: string; name: string; graph: string },
    [number, string]
  >(`
    SELECT workflow.id, workflow.name, version.graph
    FROM workflows workflow JOIN workflow_versions version ON version.workflow_seq = workflow.seq
    WHERE workflow.project_seq = +?1 AND workflow.deleted_at IS NULL
      AND instr(version.graph, +?2) > 0
      AND (version.seq = workflow.version_seq
           OR EXISTS (SELECT 1 FROM workflow_executions
                      WHERE version_seq = version.seq AND status IN ('RUNNING', 'WAITING')))`);

  function holding(projectSeq: number, text: string): Found[] {
    const found = new Map<string, Found>();
    for (const { id, name, graph } of findHolding.all(projectSeq, text)) {
      const workflow = found.get(id) ?? { id, name, graphs: [] };
      workflow.graphs.push(parseGraph(graph));
      found.set(id, workflow);
    }
    return [...found.values()];
  }

  function users(projectSeq: number, text: string, isUsing: (graph: Graph) => boolean): Use[] {
    return holding(projectSeq, text)
      .filter(({ graphs }) => graphs.some(isUsing))
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
      holding(projectSeq, '"segment.').map(({ id, name, graphs }) => ({
        kind: "workflow",
        id,
        name,
        errors: graphs
          .filter((graph) => segmentsOf(graph).some((used) => segmentIds.has(used)))
          .flatMap((graph) => references.segmentErrorsOf(projectSeq, graph)),
      })),
  };
}
