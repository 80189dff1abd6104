/** Stores workflows: creates, reads, changes, deletes and lists them. Executions are in executions.ts. */

import { and, eq, isNull } from "drizzle-orm";
import { bound } from "../../db/bound.ts";
import type { Db } from "../../db/open.ts";
import { workflows } from "../../db/schema/workflows.ts";
import type { Change, Writer } from "../../db/writer.ts";
import type { Page } from "../../http/envelope.ts";
import { type ListPage, newestRows } from "../../http/pagination.ts";
import { type Clock, isoTime } from "../../lib/clock.ts";
import { notFound, summaryOf, validationError } from "../../lib/errors.ts";
import { newId } from "../../lib/id.ts";
import type { CheckResult } from "../segments/condition/input.ts";
import type { Segments } from "../segments/service.ts";
import { assemble } from "./graph/assemble.ts";
import { createDeletion } from "./deletion.ts";
import {
  addStep,
  addTransition,
  conflict,
  type Draft,
  type Edit,
  fieldOf,
  patchStep,
  patchTransition,
  removeStep,
  removeTransition,
} from "./graph/edits.ts";
import type { Graph } from "./graph/graph.ts";
import type {
  StepAddition,
  StepPatch,
  TransitionPatch,
  Workflow,
  WorkflowInput,
  WorkflowPatch,
  WorkflowQuery,
} from "./model.ts";
import type { TransitionInput } from "./step-model.ts";
import { createGraphReferences } from "./graph/references.ts";
import { createUses } from "./usage.ts";
import { checkGraph } from "./graph/validate.ts";
import { createVersions } from "./versions.ts";

export type WorkflowRow = typeof workflows.$inferSelect;
export type Workflows = ReturnType<typeof createWorkflows>;

/** An enabled workflow that an event triggers. */
type Triggered = { seq: number; id: string; versionSeq: number; allowReentry: 0 | 1 };

export function createWorkflows(deps: {
  db: Db;
  writer: Writer;
  clock: Clock;
  listPage: ListPage;
  segments: Pick<Segments, "ensureResolvable">;
  allowPrivateAddresses: boolean;
}) {
  const { db, writer, clock, listPage, segments, allowPrivateAddresses } = deps;
  const versions = createVersions({ db, clock });
  const references = createGraphReferences({ db, segments, allowPrivateAddresses });
  const deletion = createDeletion({ db, writer, clock });
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
  const findTriggered = db.sqlite.prepare<Triggered, [number, string]>(`
    SELECT seq, id, version_seq AS versionSeq, allow_reentry AS allowReentry FROM workflows
    WHERE project_seq = +? AND trigger_event = +? AND is_enabled`);

  function get(projectSeq: number, id: string): WorkflowRow {
    const workflow = findById.get({ projectSeq, id });
    if (workflow === undefined) throw notFound("WORKFLOW");
    return workflow;
  }

  function graphOf(row: WorkflowRow): Graph {
    const graph = versions.graphOf(row.versionSeq);
    if (graph === null) throw new Error(`the graph of workflow ${row.id} does not exist`);
    return graph;
  }

  /** Part of a change: stores a graph that differs from the current one as a new version. */
  function replaceGraph(row: WorkflowRow, graph: Graph): Pick<WorkflowRow, "versionSeq"> {
    if (JSON.stringify(graph) === JSON.stringify(graphOf(row))) return row;
    references.ensure(row.projectSeq, graph);
    return { versionSeq: versions.store(row.seq, graph) };
  }

  function update(
    row: WorkflowRow,
    columns: Partial<typeof workflows.$inferInsert>,
    graph: Graph,
  ): Workflow {
    const { versionSeq } = replaceGraph(row, graph);
    const updated = db
      .update(workflows)
      .set({ ...columns, versionSeq, triggerEvent: eventOf(graph), updatedAt: clock.now() })
      .where(eq(workflows.seq, row.seq))
      .returning()
      .get();
    versions.dropUnused(row.seq);
    return present(updated, graph);
  }

  /** Changes a step or transition. Errors have the field names of the request. */
  function edit(projectSeq: number, id: string, make: (graph: Graph) => Edit): Change<Workflow> {
    return () => {
      const row = get(projectSeq, id);
      const graph = graphOf(row);
      const made = make(graph);
      const checked = checkGraph(made.draft, graph);
      const errors = checked.ok ? references.errorsOf(projectSeq, checked.value) : checked.errors;
      if (checked.ok && errors.length === 0) return update(row, {}, checked.value);
      throw validationError(errors.map((e) => ({ ...e, field: fieldOf(e.field, made) })));
    };
  }

  /** Deletes a step or transition; 409 if the remaining graph is invalid. */
  function removal(projectSeq: number, id: string, make: (graph: Graph) => Draft): Change<void> {
    return () => {
      const row = get(projectSeq, id);
      const graph = graphOf(row);
      const checked = checkGraph(make(graph), graph);
      if (!checked.ok)
        throw conflict(`The workflow would not be valid: ${summaryOf(checked.errors)}.`);
      update(row, {}, checked.value);
    };
  }

  return {
    ...createUses(db),

    /** Returns the row of a workflow; throws 404 WORKFLOW_NOT_FOUND. */
    get,

    /** Enabled workflows that an event of this name triggers. */
    findTriggered: (projectSeq: number, eventName: string): readonly Triggered[] =>
      findTriggered.all(projectSeq, eventName),

    /** The graph of a version, which must not be modified; null if the version was deleted. */
    graphOf: versions.graphOf,

    /** Part of the change that ends an execution of an old version. */
    dropUnusedVersions: versions.dropUnused,

    read(projectSeq: number, id: string): Workflow {
      const row = get(projectSeq, id);
      return present(row, graphOf(row));
    },

    /** Throws a 422 AppError at once if the graph is invalid. */
    create(projectSeq: number, input: WorkflowInput): Change<Workflow> {
      const graph = valueOf(assemble(input, null));
      return () => {
        references.ensure(projectSeq, graph);
        const { name, description = null, enabled = false, allowReentry = false } = input;
        const now = clock.now();
        const row = db
          .insert(workflows)
          .values({
            id: newId(now),
            projectSeq,
            name,
            description,
            isEnabled: enabled,
            allowReentry,
            triggerEvent: eventOf(graph),
            versionSeq: 0,
            createdAt: now,
            updatedAt: now,
          })
          .returning()
          .get();
        const versionSeq = versions.store(row.seq, graph);
        db.update(workflows).set({ versionSeq }).where(eq(workflows.seq, row.seq)).run();
        return present(row, graph);
      };
    },

    patch(projectSeq: number, id: string, patch: WorkflowPatch): Change<Workflow> {
      return () => {
        const row = get(projectSeq, id);
        const { name = row.name, description = row.description } = patch;
        const { enabled = row.isEnabled, allowReentry = row.allowReentry } = patch;
        const graph = valueOf(assemble(patch, graphOf(row)));
        return update(row, { name, description, isEnabled: enabled, allowReentry }, graph);
      };
    },

    addStep: (projectSeq: number, id: string, addition: StepAddition) =>
      edit(projectSeq, id, (graph) => addStep(graph, addition)),

    patchStep: (projectSeq: number, id: string, { stepId, patch }: StepChange) =>
      edit(projectSeq, id, (graph) => patchStep(graph, stepId, patch)),

    removeStep: (projectSeq: number, id: string, stepId: string) =>
      removal(projectSeq, id, (graph) => removeStep(graph, stepId)),

    addTransition: (projectSeq: number, id: string, input: TransitionInput) =>
      edit(projectSeq, id, (graph) => addTransition(graph, input)),

    patchTransition: (projectSeq: number, id: string, { transitionId, patch }: TransitionChange) =>
      edit(projectSeq, id, (graph) => patchTransition(graph, transitionId, patch)),

    removeTransition: (projectSeq: number, id: string, transitionId: string) =>
      removal(projectSeq, id, (graph) => removeTransition(graph, transitionId)),

    /**
     * Deletes a workflow. When this resolves, the workflow is not found any more and has no active
     * execution. If it has many ended executions, `removeDeleted` deletes the rest of them later.
     */
    async remove(projectSeq: number, id: string): Promise<void> {
      const { seq } = get(projectSeq, id);
      await deletion.remove(seq);
    },

    /** Recurring work: deletes the remaining rows of deleted workflows. */
    removeDeleted: deletion.removeDeleted,

    stop: deletion.stop,

    list: (projectSeq: number, query: WorkflowQuery): Promise<Page<Workflow>> =>
      listPage(
        { scope: `${projectSeq}:workflows`, query },
        newestRows(db, {
          table: workflows,
          filter: and(
            eq(workflows.projectSeq, projectSeq),
            isNull(workflows.deletedAt),
            query.enabled === undefined
              ? undefined
              : eq(workflows.isEnabled, query.enabled === "true"),
          ),
          select: db.select().from(workflows),
        }),
        (rows) => rows.map((row) => present(row, graphOf(row))),
      ),
  };
}

type StepChange = { stepId: string; patch: StepPatch };
type TransitionChange = { transitionId: string; patch: TransitionPatch };

function valueOf(checked: CheckResult<Graph>): Graph {
  if (!checked.ok) throw validationError(checked.errors);
  return checked.value;
}

function eventOf({ steps }: Graph): string {
  for (const step of steps) if (step.type === "TRIGGER") return step.config.eventName;
  throw new Error("a graph without a TRIGGER passed its check");
}

function present(row: WorkflowRow, graph: Graph): Workflow {
  const { id, name, description, isEnabled, allowReentry } = row;
  return {
    id,
    name,
    description,
    enabled: isEnabled,
    trigger: { type: "EVENT", eventName: eventOf(graph) },
    allowReentry,
    steps: graph.steps.map((step) => ({ ...step, config: { ...step.config } })),
    transitions: graph.transitions.map(({ id: transitionId, from, to, branch = null }) => ({
      id: transitionId,
      from,
      to,
      branch,
    })),
    createdAt: isoTime(row.createdAt),
    updatedAt: isoTime(row.updatedAt),
  };
}
