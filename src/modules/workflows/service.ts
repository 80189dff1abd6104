/**
 * Creates, reads, changes, deletes and lists workflows. Single steps and transitions are changed in
 * graph-changes.ts; executions are in executions.ts.
 */

import { and, eq, isNull } from "drizzle-orm";
import type { App } from "../../core/app.ts";
import type { Db } from "../../db/open.ts";
import { workflows } from "../../db/schema/workflows.ts";
import type { Change, Writer } from "../../db/writer.ts";
import type { Page } from "../../http/envelope.ts";
import { containsText, smallPage } from "../../http/pagination.ts";
import type { Clock } from "../../lib/clock.ts";
import { copyName } from "../../lib/copy-name.ts";
import { notFound, validationError } from "../../lib/errors.ts";
import { perApp } from "../../lib/per-app.ts";
import type { CheckResult } from "../segments/condition/input.ts";
import { type Segments, segmentService } from "../segments/service.ts";
import { createDeletion } from "./deletion.ts";
import { assemble, impliedStepsOf } from "./graph/assemble.ts";
import type { Graph } from "./graph/graph.ts";
import { createGraphReferences } from "./graph/references.ts";
import { createGraphChanges } from "./graph-changes.ts";
import type { Workflow, WorkflowInput, WorkflowPatch, WorkflowQuery } from "./model.ts";
import { presentWorkflow } from "./present.ts";
import { createWorkflowStore, type WorkflowRow } from "./store.ts";
import { createUses } from "./usage.ts";
import { onRowsRewritten } from "../../lib/cached-rows.ts";
import { createVersions, type GraphAuthor, type StoredVersion } from "./versions.ts";

export type Workflows = ReturnType<typeof createWorkflows>;

export const workflowService = perApp((app: App) =>
  createWorkflows({
    ...app,
    app,
    segments: segmentService(app),
    allowPrivateAddresses: app.config.allowPrivateAddresses,
  }),
);

/** An enabled workflow that an event triggers. */
type Triggered = { seq: number; id: string; versionSeq: number; allowReentry: 0 | 1 };

type Ensure = (row: WorkflowRow) => void;

function createWorkflows(deps: {
  app: App;
  db: Db;
  writer: Writer;
  clock: Clock;
  segments: Pick<Segments, "conditionErrors">;
  allowPrivateAddresses: boolean;
}) {
  const { app, db, clock } = deps;
  const versions = createVersions({ db, clock });
  onRowsRewritten(app, ["workflow_versions"], versions.forget);
  const references = createGraphReferences(deps);
  const store = createWorkflowStore({ app, db, clock, references, versions });
  const deletion = createDeletion(deps);
  const findTriggered = db.sqlite.prepare<Triggered, [number, string]>(`
    SELECT seq, id, version_seq AS versionSeq, allow_reentry AS allowReentry FROM workflows
    WHERE project_seq = +? AND trigger_event = +? AND is_enabled`);

  return {
    ...createUses(db, references),

    /** Changes of single steps and transitions. */
    graphChanges: createGraphChanges({ store, references }),

    /** Null if the workflow does not exist or was deleted. */
    find: store.find,

    /** Returns the row of a workflow; throws 404 WORKFLOW_NOT_FOUND. */
    get: store.get,

    /** Enabled workflows that an event of this name triggers. */
    findTriggered: (projectSeq: number, eventName: string): readonly Triggered[] =>
      findTriggered.all(projectSeq, eventName),

    /** The graph of a version, which must not be modified; null if the version was deleted. */
    graphOf: versions.graphOf,

    /** Part of the change that ends an execution of an old version. */
    dropUnusedVersions: versions.dropUnused,

    read(projectSeq: number, id: string): Workflow {
      const row = store.get(projectSeq, id);
      return presentWorkflow(row, store.graphOf(row));
    },

    /** Throws a 422 AppError at once if the graph is invalid. */
    create(
      projectSeq: number,
      input: WorkflowInput,
      author: GraphAuthor | null = null,
    ): Change<Workflow> {
      const graph = valueOf(assemble(input, null));
      const { name, description = null, enabled = false, allowReentry = false } = input;
      const impliedSteps = impliedStepsOf(input);
      const settings = {
        name,
        description,
        isEnabled: enabled,
        allowReentry,
        author,
        impliedSteps,
      };
      return () => presentWorkflow(store.insert(projectSeq, settings, graph), graph);
    },

    /** `ensure` may refuse the change of the row as it is. */
    patch(
      projectSeq: number,
      id: string,
      patch: WorkflowPatch,
      { author = null, ensure }: { author?: GraphAuthor | null; ensure?: Ensure } = {},
    ): Change<Workflow> {
      return () => {
        const row = store.get(projectSeq, id);
        ensure?.(row);
        const { name = row.name, description = row.description } = patch;
        const { enabled = row.isEnabled, allowReentry = row.allowReentry } = patch;
        const graph = valueOf(assemble(patch, store.graphOf(row)));
        const impliedSteps = impliedStepsOf(patch);
        const settings = {
          name,
          description,
          isEnabled: enabled,
          allowReentry,
          author,
          impliedSteps,
        };
        return presentWorkflow(store.update(row, settings, graph), graph);
      };
    },

    /** The workflow and the graph that `patch` would store. Stores nothing; throws as `patch` does. */
    draft(
      projectSeq: number,
      id: string,
      patch: WorkflowPatch,
    ): { row: WorkflowRow; graph: Graph } {
      const row = store.get(projectSeq, id);
      const graph = valueOf(assemble(patch, store.graphOf(row)));
      references.ensure(projectSeq, graph, impliedStepsOf(patch));
      return { row, graph };
    },

    /** Part of a change: a disabled copy with the same graph. */
    duplicate(projectSeq: number, id: string, author: GraphAuthor): Workflow {
      const { name, description, allowReentry, ...row } = store.get(projectSeq, id);
      const graph = versions.graphOf(row.versionSeq);
      if (graph === null) throw notFound("WORKFLOW");
      const settings = {
        name: copyName(name),
        description,
        isEnabled: false,
        allowReentry,
        author,
      };
      return presentWorkflow(store.insert(projectSeq, settings, graph), graph);
    },

    /** The graph of the current version of a row, which must not be modified. */
    currentGraph: store.graphOf,

    /** The stored versions without their graphs, newest first. */
    listVersions: versions.list,

    /** The newest version that is stored before this number; null for the oldest one. */
    versionBefore(workflowSeq: number, number: number): (StoredVersion & { graph: Graph }) | null {
      const found = versions.before(workflowSeq, number);
      const graph = found === null ? null : versions.graphOf(found.seq);
      return found === null || graph === null ? null : { ...found, graph };
    },

    /** Throws 404 VERSION_NOT_FOUND for a version that is not stored. */
    version(workflowSeq: number, number: number): StoredVersion & { graph: Graph } {
      const found = versions.find(workflowSeq, number);
      const graph = found === null ? null : versions.graphOf(found.seq);
      if (found === null || graph === null) throw notFound("VERSION");
      return { ...found, graph };
    },

    /**
     * Deletes a workflow. When this resolves, the workflow is not found any more and has no active
     * execution. If it has many ended executions, `removeDeleted` deletes the rest of them later.
     */
    async remove(projectSeq: number, id: string, write: Writer["write"]): Promise<void> {
      const { seq } = store.get(projectSeq, id);
      await deletion.remove(seq, write);
    },

    /** Recurring work: deletes the remaining rows of deleted workflows. */
    removeDeleted: deletion.removeDeleted,

    stop: deletion.stop,

    list: (projectSeq: number, query: WorkflowQuery): Promise<Page<Workflow>> =>
      smallPage(
        app,
        { seq: projectSeq },
        {
          name: "workflows",
          query,
          table: workflows,
          filter: and(
            eq(workflows.projectSeq, projectSeq),
            isNull(workflows.deletedAt),
            query.enabled === undefined
              ? undefined
              : eq(workflows.isEnabled, query.enabled === "true"),
            query.name === undefined ? undefined : containsText(workflows.name, query.name),
          ),
          present: (row) => presentWorkflow(row, store.graphOf(row)),
        },
      ),
  };
}

function valueOf(checked: CheckResult<Graph>): Graph {
  if (!checked.ok) throw validationError(checked.errors);
  return checked.value;
}
