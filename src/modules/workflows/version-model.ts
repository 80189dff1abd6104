/** The versions of a workflow as the API shows them. */

import { type Static, Type } from "@sinclair/typebox";
import type { workflowVersions } from "../../db/schema/workflows.ts";
import { described, named } from "../../http/documented.ts";
import { Nullable } from "../../http/envelope.ts";
import { EXAMPLE } from "../../http/example-values.ts";
import { HIDDEN_VALUE, seesSecrets } from "../../http/role-views.ts";
import type { Role } from "../../http/roles.ts";
import { Input, OneOf, QueryInteger } from "../../http/validation.ts";
import { isoTime } from "../../lib/clock.ts";
import { VersionAuthor } from "../templates/model.ts";
import { diffGraphs } from "./graph/diff.ts";
import type { Graph } from "./graph/graph.ts";
import { Workflow } from "./model.ts";
import { presentWorkflow, readableBy } from "./present.ts";
import { STEP_TYPES } from "./graph/step-schemas.ts";
import type { WorkflowRow } from "./store.ts";
import { ShownExit } from "./trigger-model.ts";

const MEMBERS = {
  number: Type.Integer(),
  current: Type.Boolean(),
  author: Nullable(VersionAuthor),
  createdAt: Type.String({ format: "date-time" }),
};
const TEXTS = {
  number: "Number of the version; the first one has 1",
  current: "Whether new executions start with it",
  author: "Who made it; null for a version of the time before authors were stored",
  createdAt: "When the graph was changed to it",
};
const SHOWN = {
  number: 2,
  current: true,
  author: { kind: "USER", name: "ada@acme.example" },
  createdAt: EXAMPLE.createdAt,
};

export const WorkflowVersion = named("WorkflowVersion", described(Type.Object(MEMBERS), TEXTS), {
  description: "A version of the graph of a workflow, without the graph",
  example: SHOWN,
});

export type WorkflowVersion = Static<typeof WorkflowVersion>;

const Kind = OneOf(["ADDED", "REMOVED", "CHANGED"]);

const StepDifference = named(
  "WorkflowStepDifference",
  described(
    Type.Object({
      kind: Kind,
      stepId: Type.String(),
      name: Type.String(),
      type: OneOf(STEP_TYPES),
      fields: Type.Array(
        described(
          Type.Object({ field: Type.String(), before: Type.Unknown(), after: Type.Unknown() }),
          {
            field: "Name of the field, such as config.amount",
            before: "Its value before; null if it had none",
            after: "Its value after; null if it has none",
          },
        ),
      ),
    }),
    {
      kind: "How the step differs",
      stepId: "Id of the step",
      name: "Name of the step",
      type: "Type of the step",
      fields: "The fields of a step that was changed",
    },
  ),
  { description: "A step that differs between two versions" },
);

const TransitionDifference = named(
  "WorkflowTransitionDifference",
  described(
    Type.Object({
      kind: Kind,
      from: Type.String(),
      branch: Nullable(Type.String()),
      before: Nullable(Type.String()),
      after: Nullable(Type.String()),
    }),
    {
      kind: "How the transition differs",
      from: "Id of the step that it leaves",
      branch: "The branch of that step; null if it is unconditional",
      before: "Id of the step to which it led; null if it was added",
      after: "Id of the step to which it leads; null if it was removed",
    },
  ),
  { description: "A transition that differs between two versions" },
);

const ExitDifference = named(
  "WorkflowExitDifference",
  described(Type.Object({ kind: OneOf(["ADDED", "REMOVED"]), exit: ShownExit }), {
    kind: "How the exit differs",
    exit: "The exit",
  }),
  { description: "An exit that differs between two versions" },
);

const Differences = named(
  "WorkflowDifferences",
  described(
    Type.Object({
      against: Nullable(Type.Integer()),
      steps: Type.Array(StepDifference),
      transitions: Type.Array(TransitionDifference),
      exits: Type.Array(ExitDifference),
    }),
    {
      against: "Number of the version that it is compared with; null for the oldest that is kept",
      steps: "Steps that differ; positions are not compared",
      transitions: "Transitions that differ",
      exits: "Exits that differ",
    },
  ),
  {
    description: "What differs between two versions",
    example: { against: 1, steps: [], transitions: [], exits: [] },
  },
);

const { trigger, exits, steps, transitions } = Workflow.properties;

export const WorkflowVersionDetails = named(
  "WorkflowVersionDetails",
  described(Type.Object({ ...MEMBERS, trigger, exits, steps, transitions, changes: Differences }), {
    ...TEXTS,
    trigger: "What started executions",
    exits: "What ended an execution early",
    steps: "The steps of the graph",
    transitions: "The transitions between the steps",
    changes: "What differs from another version",
  }),
  {
    description: "A version of the graph of a workflow",
    example: {
      ...SHOWN,
      trigger: { type: "EVENT", eventName: "signed_up" },
      exits: [],
      steps: [],
      transitions: [],
      changes: { against: 1, steps: [], transitions: [], exits: [] },
    },
  },
);
export type WorkflowVersionDetails = Static<typeof WorkflowVersionDetails>;

export const VersionQuery = Input({
  against: Type.Optional(
    QueryInteger({
      minimum: 1,
      maximum: 1_000_000_000,
      description: "Number of the version to compare with; by default the one before",
    }),
  ),
});

type VersionRow = Pick<
  typeof workflowVersions.$inferSelect,
  "seq" | "number" | "authorKind" | "authorName" | "createdAt"
>;
type Version = VersionRow & { graph: Graph };

export function presentListedWorkflowVersion(row: VersionRow, currentSeq: number) {
  const { seq, number, authorKind, authorName, createdAt } = row;
  const author = authorKind === null ? null : { kind: authorKind, name: authorName ?? "" };
  return { number, current: seq === currentSeq, author, createdAt: isoTime(createdAt) };
}

export function presentWorkflowVersion({
  version,
  against,
  workflow,
  role,
}: {
  version: Version;
  against: Version | null;
  workflow: WorkflowRow;
  role: Role | null;
}): WorkflowVersionDetails {
  const { trigger, exits, steps, transitions } = readableBy(
    role,
    presentWorkflow(workflow, version.graph),
  );
  const differences =
    against === null
      ? { steps: [], transitions: [], exits: [] }
      : diffGraphs(against.graph, version.graph);
  const changes = {
    against: against?.number ?? null,
    ...differences,
    steps: seesSecrets(role) ? differences.steps : differences.steps.map(withoutValues),
  };
  return {
    ...presentListedWorkflowVersion(version, workflow.versionSeq),
    trigger,
    exits,
    steps,
    transitions,
    changes,
  };
}

/** Settings of steps may hold credentials and data of contacts. */
function withoutValues<T extends ReturnType<typeof diffGraphs>["steps"][number]>(step: T): T {
  const fields = step.fields.map((change) =>
    change.field.startsWith("config.")
      ? { ...change, before: HIDDEN_VALUE, after: HIDDEN_VALUE }
      : change,
  );
  return { ...step, fields };
}
