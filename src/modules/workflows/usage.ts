/** Finds the workflows that use a template or a segment, which therefore cannot be deleted. */

import type { Db } from "../../db/open.ts";
import type { Use } from "../../lib/references.ts";
import type { Graph } from "./graph/graph.ts";
import { segmentsOf, templatesOf } from "./graph/references.ts";
import { parseGraph } from "./versions.ts";

export function createUses({ sqlite }: Db) {
  /** Workflows of the project whose current graph contains the text. */
  const findHolding = sqlite.prepare<
    { id: string; name: string; graph: string },
    [number, string]
  >(`
    SELECT workflow.id, workflow.name, version.graph
    FROM workflows workflow JOIN workflow_versions version ON version.seq = workflow.version_seq
    WHERE workflow.project_seq = +?1 AND workflow.deleted_at IS NULL
      AND instr(version.graph, +?2) > 0`);

  function users(projectSeq: number, text: string, isUsing: (graph: Graph) => boolean): Use[] {
    return findHolding
      .all(projectSeq, text)
      .filter(({ graph }) => isUsing(parseGraph(graph)))
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
  };
}
