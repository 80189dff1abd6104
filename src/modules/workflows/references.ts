/** What a graph refers to: templates, segments and hosts. They are there, or it is refused. */

import type { Db } from "../../db/open.ts";
import { AppError, type FieldError, validationError } from "../../lib/errors.ts";
import type { Condition } from "../segments/condition.ts";
import type { Filter } from "../segments/filter.ts";
import { referencesOf } from "../segments/references.ts";
import type { Segments } from "../segments/service.ts";
import { askedCondition, contactPart } from "./asked.ts";
import { isPrivateTarget } from "./config-webhook.ts";
import type { Graph, Step } from "./graph.ts";

export type References = ReturnType<typeof createReferences>;

export function createReferences(deps: {
  db: Db;
  segments: Pick<Segments, "ensureResolvable">;
  allowPrivateAddresses: boolean;
}) {
  const { db, segments, allowPrivateAddresses } = deps;
  const findTemplate = db.sqlite.prepare<{ one: number }, [number, string]>(
    "SELECT 1 AS one FROM templates WHERE id = +?2 AND project_seq = +?1",
  );

  function templateErrors(projectSeq: number, step: Step): FieldError[] {
    if (step.type !== "SEND_EMAIL") return [];
    if (findTemplate.get(projectSeq, step.config.templateId) !== null) return [];
    const message = "names no template of this project";
    return [{ field: "config.templateId", message, code: "unknown_reference" }];
  }

  function segmentErrors(projectSeq: number, step: Step): FieldError[] {
    return conditionsOf(step, "config").flatMap((condition) =>
      refusalOf(() => segments.ensureResolvable(projectSeq, condition)),
    );
  }

  function hostErrors(step: Step): FieldError[] {
    if (step.type !== "WEBHOOK" || allowPrivateAddresses) return [];
    if (!isPrivateTarget(step.config.url)) return [];
    const message = "must not lead to a private, loopback or link-local address";
    return [{ field: "config.url", message, code: "invalid_value" }];
  }

  function errorsOf(projectSeq: number, { steps }: Graph): FieldError[] {
    return steps.flatMap((step, i) =>
      [
        ...templateErrors(projectSeq, step),
        ...segmentErrors(projectSeq, step),
        ...hostErrors(step),
      ].map(({ field, message, code }) => ({
        field: `steps.${i}.${field}`,
        message: `${message}, in step "${step.name}" (${step.id})`,
        code,
      })),
    );
  }

  return {
    /** What a graph refers to that is not there, or must not be called. Part of a change. */
    errorsOf,

    /** The same where it is refused then; 422. */
    ensure(projectSeq: number, graph: Graph): void {
      const errors = errorsOf(projectSeq, graph);
      if (errors.length > 0) throw validationError(errors);
    },
  };
}

/** Ids of the templates that a graph sends. */
export function templatesOf({ steps }: Graph): string[] {
  return steps.flatMap((step) => (step.type === "SEND_EMAIL" ? [step.config.templateId] : []));
}

/** Ids of the segments that a graph asks about. */
export function segmentsOf({ steps }: Graph): string[] {
  return steps.flatMap((step) => conditionsOf(step, "config").flatMap(referencesOf));
}

/** The conditions of a checked step, as far as they are asked of the contact, as if it stood at `at`. */
function conditionsOf(step: Step, at: string): Condition<Filter>[] {
  if (step.type !== "CONDITION") return [];
  const { config } = step;
  if (!("branches" in config)) return [contactPart(askedCondition(config, at))];
  const { field, branches } = config;
  return branches.map((branch, i) =>
    contactPart(askedCondition({ ...branch, field }, `${at}.branches.${i}`)),
  );
}

/** What a check refuses, as values: other steps may be wrong as well. */
function refusalOf(check: () => void): readonly FieldError[] {
  try {
    check();
    return [];
  } catch (error) {
    if (error instanceof AppError && error.errors !== undefined) return error.errors;
    throw error;
  }
}
