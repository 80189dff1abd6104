/**
 * Runs a step within a change. Steps that wait are not run (engine.ts), and the calls of WEBHOOK
 * steps are made outside of any change (webhook-calls.ts).
 */

import { type JsonObject, parseData } from "../../contacts/data.ts";
import type { Filter } from "../../segments/condition/filter.ts";
import type { Segments } from "../../segments/service.ts";
import type { Condition } from "../../segments/condition/condition.ts";
import type { Incomparable } from "../../segments/condition/comparable.ts";
import { problemSentence, problemsOf } from "../../segments/condition/problems.ts";
import { type StepFilter, parseStepCondition, evaluateContextFilters } from "./step-condition.ts";
import type { ConditionConfig, ShortCondition, Step, TimeWindow } from "../graph/graph.ts";
import { AppError } from "../../../lib/errors.ts";
import type { ContactRow, Contacts } from "../../contacts/service.ts";
import type { Postponed, StepResult, WindowClosed } from "../run/engine.ts";
import { splitBranch } from "./split.ts";
import { windowOpensAt, zoneOfWindow } from "./time-window.ts";
import type { createSendEmail } from "./send-email.ts";

/** The execution and the contact that a step runs for. */
export type StepInput = {
  projectSeq: number;
  workflowSeq: number;
  executionSeq: number;
  contact: ContactRow;
  context: JsonObject;
  /** The time at which the execution reached the step; earlier than `now` if the step was postponed. */
  stepStartedAt: number;
  now: number;
};

export type RunStep = (step: Step, input: StepInput) => StepResult | Postponed | WindowClosed;

export function createRunStep(deps: {
  contacts: Pick<Contacts, "upsert">;
  segments: Pick<Segments, "audiences" | "audienceOfCondition">;
  sendEmail: ReturnType<typeof createSendEmail>;
  workflowIdOf: (workflowSeq: number) => string;
}): RunStep {
  const chooseBranch = createChooseBranch(deps.segments);

  function updateContact(
    { config }: Extract<Step, { type: "UPDATE_CONTACT" }>,
    { projectSeq, contact }: StepInput,
  ): StepResult {
    const { updates, subscriptionAction } = config;
    deps.contacts.upsert({
      projectSeq,
      email: contact.email,
      subscribed: subscriptionAction === undefined ? undefined : subscriptionAction === "subscribe",
      defaultSubscribed: false,
      data: updates,
    });
    return { outcome: "COMPLETED" };
  }

  function condition(
    { config }: Extract<Step, { type: "CONDITION" }>,
    { projectSeq, contact, context, now }: StepInput,
  ): StepResult {
    const subject = { projectSeq, contactSeq: contact.seq, context, now };
    return { outcome: "COMPLETED", branch: chooseBranch(config, subject) };
  }

  function timeWindow(config: TimeWindow, { contact, now }: StepInput): StepResult | WindowClosed {
    const opensAt = windowOpensAt(config, zoneOfWindow(config, parseData(contact.data)), now);
    if (opensAt <= now) return { outcome: "COMPLETED" };
    return { outcome: "WINDOW_CLOSED", until: opensAt };
  }

  function split(
    { id: stepId, config }: Extract<Step, { type: "SPLIT" }>,
    { contact, workflowSeq }: StepInput,
  ): StepResult {
    const workflowId = deps.workflowIdOf(workflowSeq);
    const branch = splitBranch(config.branches, { contactId: contact.id, workflowId, stepId });
    return { outcome: "COMPLETED", branch };
  }

  function run(step: Step, input: StepInput): StepResult | Postponed | WindowClosed {
    switch (step.type) {
      case "TRIGGER":
        return { outcome: "COMPLETED" };
      case "EXIT":
        return { outcome: "COMPLETED", exit: { reason: step.config.reason ?? null } };
      case "CONDITION":
        return condition(step, input);
      case "UPDATE_CONTACT":
        return updateContact(step, input);
      case "SEND_EMAIL":
        return deps.sendEmail(step, input);
      case "TIME_WINDOW":
        return timeWindow(step.config, input);
      case "SPLIT":
        return split(step, input);
      case "DELAY":
      case "WAIT_FOR_EVENT":
      case "WEBHOOK":
        throw new Error(`a ${step.type} step cannot be run`);
    }
  }

  return (step, input) => {
    try {
      return run(step, input);
    } catch (error) {
      // Errors that a caller of the API would get as well, such as a segment that was deleted.
      if (error instanceof AppError && error.status < 500) {
        return { outcome: "FAILED", error: error.message };
      }
      throw error;
    }
  };
}

/** Neither branch is right if a comparison, which an earlier version stored, cannot be made. */
function ensureComparable({ groups }: Condition<StepFilter>): void {
  for (const { filters, conditions } of groups) {
    for (const { test, wire } of filters) {
      const problem = test.kind === "field" ? test.problem : undefined;
      if (problem !== undefined) throw incomparable({ ...problem, field: wire.field });
    }
    if (conditions !== null) ensureComparable(conditions);
  }
}

function incomparable(problem: Incomparable): AppError {
  return new AppError(409, "INVALID_STATE", problemSentence(problem));
}

type Subject = {
  projectSeq: number;
  contactSeq: number;
  context: JsonObject;
  now: number;
};

type ChooseBranch = (config: ConditionConfig, subject: Subject) => string;

/**
 * Chooses the branch of a CONDITION. All filters are compiled to SQL like those of segments: filters
 * on the contact are evaluated for this one contact, filters on the context for its JSON. Throws
 * AppError if a filter refers to a segment that was deleted.
 */
function createChooseBranch(
  segments: Pick<Segments, "audiences" | "audienceOfCondition">,
): ChooseBranch {
  const conditions = new WeakMap<object, Condition<StepFilter>>();

  function meets(config: { condition: unknown } | ShortCondition, subject: Subject): boolean {
    const { projectSeq, contactSeq, context, now } = subject;
    const holds = ({ test }: Filter) =>
      test.kind === "field" && segments.audiences.holdsForData(test, context, { projectSeq, now });
    const condition = read(config);
    ensureComparable(condition);
    const remaining = evaluateContextFilters(condition, holds);
    if (typeof remaining === "boolean") return remaining;
    const audience = segments.audienceOfCondition(projectSeq, remaining);
    const [problem] = problemsOf(audience.tests);
    if (problem !== undefined) throw incomparable(problem);
    return segments.audiences.matching(audience, [contactSeq]).length > 0;
  }

  /** Stored graphs are immutable, so a parsed condition stays valid. */
  function read(config: { condition: unknown } | ShortCondition): Condition<StepFilter> {
    const known = conditions.get(config) ?? parseStepCondition(config, "config");
    conditions.set(config, known);
    return known;
  }

  return (config, subject) => {
    if (!("branches" in config)) return meets(config, subject) ? "yes" : "no";
    const { field, branches } = config;
    const match = branches.find(({ operator, value, unit }) =>
      meets({ field, operator, value, unit }, subject),
    );
    return match?.id ?? "default";
  };
}
