/**
 * Finds the workflows that use a template, a segment or an event, which therefore cannot be deleted,
 * and checks the workflows that use a changed segment. A workflow uses the content of its current
 * graph, and of the versions in which executions are under way, except for their TRIGGER: new
 * executions start with the current graph.
 */

import type { Db } from "../../db/open.ts";
import type { CheckedUse, Use } from "../../lib/references.ts";
import { findTopic } from "../topics/choices.ts";
import type { Graph } from "./graph/graph.ts";
import {
  awaitedEventsOf,
  type GraphReferences,
  namedSegments,
  segmentsOf,
  templatesOf,
} from "./graph/references.ts";
import { parseGraph } from "./versions.ts";

type Row = { id: string; name: string; triggerEvent: string; isCurrent: 0 | 1; graph: string };
type Found = Omit<Row, "graph" | "isCurrent"> & {
  graphs: Graph[];
  /** The graph that new executions start with; null if it is not among `graphs`. */
  current: Graph | null;
};

export function createUses(db: Db, references: Pick<GraphReferences, "segmentErrorsOf">) {
  /** Graphs in use, of workflows of the project, that contain the text. */
  const findHolding = db.sqlite.prepare<Row, [number, string]>(`
    SELECT workflow.id, workflow.name, workflow.trigger_event AS triggerEvent,
           version.seq = workflow.version_seq AS isCurrent, version.graph
    FROM workflows workflow JOIN workflow_versions version ON version.workflow_seq = workflow.seq
    WHERE workflow.project_seq = +?1 AND workflow.deleted_at IS NULL
      AND instr(version.graph, +?2) > 0
      AND (version.seq = workflow.version_seq
           OR EXISTS (SELECT 1 FROM workflow_executions
                      WHERE version_seq = version.seq AND status IN ('RUNNING', 'WAITING')))`);

  function holding(projectSeq: number, text: string): Found[] {
    const found = new Map<string, Found>();
    for (const { graph: json, isCurrent, ...row } of findHolding.all(projectSeq, text)) {
      const workflow = found.get(row.id) ?? { ...row, graphs: [], current: null };
      const graph = parseGraph(json);
      workflow.graphs.push(graph);
      if (isCurrent === 1) workflow.current = graph;
      found.set(row.id, workflow);
    }
    return [...found.values()];
  }

  function users(projectSeq: number, text: string, isUsing: (found: Found) => boolean): Use[] {
    return holding(projectSeq, text)
      .filter(isUsing)
      .map(({ id, name }) => ({ kind: "workflow", id, name }));
  }

  /** Workflows with an exit on an event, which may be that of a segment that the graph names by id. */
  const findExitUsers = db.sqlite.prepare<{ id: string; name: string }, [number, string]>(`
    SELECT workflow.id, workflow.name
    FROM workflow_exits AS exit
    JOIN workflow_versions AS version ON version.seq = exit.version_seq
    JOIN workflows AS workflow ON workflow.seq = version.workflow_seq
    WHERE exit.project_seq = +? AND exit.event_name = +? AND workflow.deleted_at IS NULL`);

  return {
    /** The workflows that send a template. */
    usersOfTemplate: (projectSeq: number, templateId: string): Use[] =>
      users(projectSeq, JSON.stringify(templateId), ({ graphs }) =>
        graphs.some((graph) => templatesOf(graph).includes(templateId)),
      ),

    /** The workflows with a condition, a schedule or an exit on a segment. */
    usersOfSegment: (projectSeq: number, segmentId: string): Use[] =>
      once([
        ...users(projectSeq, JSON.stringify(`segment.${segmentId}`), ({ graphs }) =>
          graphs.some((graph) => segmentsOf(graph).includes(segmentId)),
        ),
        ...users(projectSeq, JSON.stringify(segmentId), ({ graphs, current }) =>
          graphs.some((graph) =>
            namedSegments(graph).some(
              ({ id, isTracked }) => id === segmentId && (isTracked || graph === current),
            ),
          ),
        ),
      ]),

    /** The workflows with a condition on a topic. */
    usersOfTopic(projectSeq: number, topicId: string): Use[] {
      const topic = findTopic({ db }, projectSeq, topicId);
      return topic === null
        ? []
        : users(projectSeq, JSON.stringify(`topic.${topic.key}`), () => true);
    },

    /** The workflows that an event starts, and those whose executions wait for it. */
    usersOfEvent: (projectSeq: number, eventName: string): Use[] =>
      once([
        ...users(
          projectSeq,
          JSON.stringify(eventName),
          ({ triggerEvent, graphs }) =>
            triggerEvent === eventName ||
            graphs.some((graph) => awaitedEventsOf(graph).includes(eventName)),
        ),
        ...findExitUsers
          .all(projectSeq, eventName)
          .map(({ id, name }): Use => ({ kind: "workflow", id, name })),
      ]),

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

const once = (uses: readonly Use[]): Use[] => [
  ...new Map(uses.map((use) => [use.id, use])).values(),
];
