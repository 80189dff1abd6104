/** Checks the references of a graph: its templates and segments exist, its hosts are public. */

import type { Db } from "../../../db/open.ts";
import { type FieldError, validationError } from "../../../lib/errors.ts";
import type { Condition } from "../../segments/condition/condition.ts";
import type { Filter } from "../../segments/condition/filter.ts";
import { referencesOf } from "../../segments/condition/references.ts";
import type { Segments } from "../../segments/service.ts";
import { parseStepCondition, contactPart } from "../steps/step-condition.ts";
import { isPrivateTarget } from "./config-webhook.ts";
import { type Graph, type Step, triggerOf } from "./graph.ts";

export type GraphReferences = ReturnType<typeof createGraphReferences>;

export function createGraphReferences(deps: {
  db: Db;
  segments: Pick<Segments, "conditionErrors">;
  allowPrivateAddresses: boolean;
}) {
  const { db, segments, allowPrivateAddresses } = deps;
  const findTemplate = db.sqlite.prepare<{ one: number }, [number, string]>(
    "SELECT 1 AS one FROM templates WHERE id = +?2 AND project_seq = +?1",
  );

  const findSegment = db.sqlite.prepare<{ isTracked: 0 | 1 }, [number, string]>(`
    SELECT track_membership AS isTracked FROM segments
    WHERE id = +?2 AND project_seq = +?1 AND deleted_at IS NULL`);

  function templateErrors(projectSeq: number, step: Step): FieldError[] {
    if (step.type !== "SEND_EMAIL") return [];
    if (findTemplate.get(projectSeq, step.config.templateId) !== null) return [];
    const message = "names no template of this project";
    return [{ field: "config.templateId", message, code: "unknown_reference" }];
  }

  /** Errors of the segments that the trigger and the exits of a graph name. */
  function namedSegmentErrors(projectSeq: number, graph: Graph): FieldError[] {
    const message = "names no segment of this project";
    return namedSegments(graph).flatMap(({ id, field, isTracked }): FieldError[] => {
      const found = findSegment.get(projectSeq, id);
      if (found === null) return [{ field, message, code: "unknown_reference" }];
      if (!isTracked || found.isTracked === 1) return [];
      const untracked = `names a segment without events: set its trackMembership to true first`;
      return [{ field, message: untracked, code: "invalid_value" }];
    });
  }

  function segmentErrors(projectSeq: number, step: Step): FieldError[] {
    return conditionsOf(step, "config").flatMap((condition) =>
      segments.conditionErrors(projectSeq, condition),
    );
  }

  function hostErrors(step: Step): FieldError[] {
    if (step.type !== "WEBHOOK" || allowPrivateAddresses) return [];
    if (!isPrivateTarget(step.config.url)) return [];
    const message = "must not name a private, loopback or link-local address";
    return [{ field: "config.url", message, code: "invalid_value" }];
  }

  function errorsOf(projectSeq: number, graph: Graph, impliedSteps = 0): FieldError[] {
    const errorsOfStep = (step: Step) => [
      ...templateErrors(projectSeq, step),
      ...segmentErrors(projectSeq, step),
      ...hostErrors(step),
    ];
    return [
      ...namedSegmentErrors(projectSeq, graph),
      ...stepErrors(graph, errorsOfStep, impliedSteps),
    ];
  }

  return {
    /** Part of a change: returns the references that are invalid. */
    errorsOf,

    /** Part of a change: returns the references to segments that are invalid. */
    segmentErrorsOf: (projectSeq: number, graph: Graph): FieldError[] =>
      stepErrors(graph, (step) => segmentErrors(projectSeq, step)),

    /**
     * Part of a change: throws a 422 AppError if a reference is invalid. `impliedSteps` is the number of
     * first steps that the request did not list (assemble.ts).
     */
    ensure(projectSeq: number, graph: Graph, impliedSteps = 0): void {
      const errors = errorsOf(projectSeq, graph, impliedSteps);
      if (errors.length > 0) throw validationError(errors);
    },
  };
}

/** The errors of all steps; each names its step. An implied TRIGGER has no errors of its own. */
function stepErrors(
  { steps }: Graph,
  check: (step: Step) => FieldError[],
  impliedSteps = 0,
): FieldError[] {
  return steps.flatMap((step, i) =>
    check(step).map(({ field, message, code }) => ({
      field: `steps.${i - impliedSteps}.${field}`,
      message: `${message}, in step "${step.name}" (${step.id})`,
      code,
    })),
  );
}

/** Ids of the templates that a graph sends. */
export function templatesOf({ steps }: Graph): string[] {
  return steps.flatMap((step) => (step.type === "SEND_EMAIL" ? [step.config.templateId] : []));
}

/** Names of the events for which executions of a graph wait. */
export function awaitedEventsOf({ steps }: Graph): string[] {
  return steps.flatMap((step) => (step.type === "WAIT_FOR_EVENT" ? [step.config.eventName] : []));
}

/** Ids of the segments in the conditions of a graph. */
export function segmentsOf({ steps }: Graph): string[] {
  return steps.flatMap((step) => conditionsOf(step, "config").flatMap(referencesOf));
}

type NamedSegment = { id: string; field: string; isTracked: boolean };

/** The segments that the trigger and the exits name. An exit needs the events of its segment. */
export function namedSegments(graph: Graph): NamedSegment[] {
  const trigger = triggerOf(graph);
  const { exits = [] } = graph;
  return [
    ...("segmentId" in trigger && trigger.segmentId !== null
      ? [{ id: trigger.segmentId, field: "trigger.segmentId", isTracked: false }]
      : []),
    ...exits.flatMap((exit, i) =>
      exit.on === "SEGMENT_LEFT"
        ? [{ id: exit.segmentId, field: `exits.${i}.segmentId`, isTracked: true }]
        : [],
    ),
  ];
}

/** The conditions of a checked step without their filters on the context. `at` is for messages. */
export function conditionsOf(step: Step, at: string): Condition<Filter>[] {
  if (step.type !== "CONDITION") return [];
  const { config } = step;
  if (!("branches" in config)) return [contactPart(parseStepCondition(config, at))];
  const { field, branches } = config;
  return branches.map((branch, i) =>
    contactPart(parseStepCondition({ ...branch, field }, `${at}.branches.${i}`)),
  );
}
