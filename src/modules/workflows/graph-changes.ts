/**
 * Changes of one step or transition of a workflow. Each method returns a change: it edits a draft of
 * the graph (graph/edits.ts), checks the whole draft and stores it as a new version.
 */

import type { Change } from "../../db/writer.ts";
import { summaryOf, validationError } from "../../lib/errors.ts";
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
import type { GraphReferences } from "./graph/references.ts";
import { checkGraph } from "./graph/validate.ts";
import type { StepAddition, StepPatch, TransitionPatch, Workflow } from "./model.ts";
import { presentWorkflow } from "./present.ts";
import type { TransitionInput } from "./step-model.ts";
import type { WorkflowStore } from "./store.ts";
import type { GraphAuthor } from "./versions.ts";

export type GraphChanges = ReturnType<typeof createGraphChanges>;

/** An edit: the function that changes the graph, and its author. */
type Made<T> = { author: GraphAuthor; make: (graph: Graph) => T };
type StepChange = { stepId: string; patch: StepPatch };
type TransitionChange = { transitionId: string; patch: TransitionPatch };

export function createGraphChanges(deps: { store: WorkflowStore; references: GraphReferences }) {
  const { store, references } = deps;

  /** Adds or changes a step or transition. Errors have the field names of the request. */
  function edit(projectSeq: number, id: string, { author, make }: Made<Edit>): Change<Workflow> {
    return () => {
      const row = store.get(projectSeq, id);
      const graph = store.graphOf(row);
      const made = make(graph);
      const checked = checkGraph(made.draft, graph);
      const errors = checked.ok ? references.errorsOf(projectSeq, checked.value) : checked.errors;
      if (checked.ok && errors.length === 0) {
        return presentWorkflow(store.update(row, { author }, checked.value), checked.value);
      }
      throw validationError(errors.map((e) => ({ ...e, field: fieldOf(e.field, made) })));
    };
  }

  /** Deletes a step or transition; 409 if the remaining graph is invalid. */
  function removal(projectSeq: number, id: string, { author, make }: Made<Draft>): Change<void> {
    return () => {
      const row = store.get(projectSeq, id);
      const graph = store.graphOf(row);
      const checked = checkGraph(make(graph), graph);
      if (!checked.ok)
        throw conflict(`The workflow would not be valid: ${summaryOf(checked.errors)}.`);
      store.update(row, { author }, checked.value);
    };
  }

  return {
    addStep: (projectSeq: number, id: string, addition: StepAddition, author: GraphAuthor) =>
      edit(projectSeq, id, { author, make: (graph) => addStep(graph, addition) }),

    patchStep: (
      projectSeq: number,
      id: string,
      { stepId, patch }: StepChange,
      author: GraphAuthor,
    ) => edit(projectSeq, id, { author, make: (graph) => patchStep(graph, stepId, patch) }),

    removeStep: (projectSeq: number, id: string, stepId: string, author: GraphAuthor) =>
      removal(projectSeq, id, { author, make: (graph) => removeStep(graph, stepId) }),

    addTransition: (projectSeq: number, id: string, input: TransitionInput, author: GraphAuthor) =>
      edit(projectSeq, id, { author, make: (graph) => addTransition(graph, input) }),

    patchTransition: (
      projectSeq: number,
      id: string,
      { transitionId, patch }: TransitionChange,
      author: GraphAuthor,
    ) =>
      edit(projectSeq, id, {
        author,
        make: (graph) => patchTransition(graph, transitionId, patch),
      }),

    removeTransition: (projectSeq: number, id: string, transitionId: string, author: GraphAuthor) =>
      removal(projectSeq, id, { author, make: (graph) => removeTransition(graph, transitionId) }),
  };
}
