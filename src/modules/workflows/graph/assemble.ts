/**
 * Combines the `trigger`, `steps` and `transitions` of a request with the stored graph. A request
 * may name the trigger event in `trigger`, in a TRIGGER step, or in both if they are equal.
 */

import { isRecord } from "../../../http/validation.ts";
import type { FieldError } from "../../../lib/errors.ts";
import { trimmedEventName } from "../../../lib/event-name.ts";
import type { CheckResult } from "../../segments/condition/input.ts";
import type { Graph } from "./graph.ts";
import { checkGraph, freeId } from "./validate.ts";

type Given = {
  readonly trigger?: unknown;
  readonly steps?: unknown;
  readonly transitions?: unknown;
};

/** Returns the whole graph, or every violation. `current` is null for a new workflow. */
export function assemble(given: Given, current: Graph | null): CheckResult<Graph> {
  const { steps = current?.steps ?? [], transitions = current?.transitions ?? [] } = given;
  if (!Array.isArray(steps) || !Array.isArray(transitions)) {
    return refusedBySchema;
  }
  const own: readonly unknown[] = steps;
  const index = own.findIndex(isTrigger);
  // A request that does not mention the trigger does not change it.
  const keptTrigger = given.trigger === undefined && index === -1 ? triggerOf(current) : null;
  const eventName = eventNameOf(given.trigger) ?? keptTrigger?.config.eventName ?? null;
  if (eventName === null) {
    if (index === -1 && given.trigger !== undefined) return refusedBySchema;
    if (own.length === 0) return { ok: false, errors: [noTrigger] };
    return checkGraph({ steps: own, transitions: leadingIn(own, transitions, given) }, current);
  }
  if (index === -1) return withTrigger(own, transitions, { eventName, keptTrigger });
  const ofStep = eventNameOfStep(own[index]);
  if (given.steps !== undefined && ofStep !== undefined && ofStep !== eventName) {
    return { ok: false, errors: [disagreement(eventName, ofStep)] };
  }
  const agreeing = own.map((step, i) => (i === index ? withEventName(step, eventName) : step));
  return checkGraph({ steps: agreeing, transitions: leadingIn(own, transitions, given) }, current);
}

function triggerOf(graph: Graph | null) {
  const trigger = graph?.steps.find((step) => step.type === "TRIGGER");
  return trigger?.type === "TRIGGER" ? trigger : null;
}

/**
 * A request with transitions and without steps may leave out the transition from the TRIGGER. It is
 * added if only one step can be the first.
 */
function leadingIn(steps: readonly unknown[], transitions: readonly unknown[], given: Given) {
  if (given.steps !== undefined || given.transitions === undefined) return transitions;
  const [trigger] = steps.filter(isTrigger).flatMap((step) => textOf(step, "id"));
  const others = steps.filter((step) => !isTrigger(step)).flatMap((step) => textOf(step, "id"));
  return trigger === undefined ? transitions : withFirstTransition(trigger, others, transitions);
}

function withFirstTransition(
  trigger: string,
  steps: readonly string[],
  transitions: readonly unknown[],
) {
  const hasFirst = transitions.some((edge) => textOf(edge, "from").includes(trigger));
  const reached = new Set(transitions.flatMap((edge) => textOf(edge, "to")));
  const firsts = steps.filter((step) => !reached.has(step));
  const [to] = firsts;
  const isKnown = !hasFirst && to !== undefined && firsts.length === 1;
  return isKnown ? [...transitions, { from: trigger, to }] : transitions;
}

/**
 * Adds the TRIGGER step for a request that has only `trigger`. A transition leads from it to the one
 * step that no other transition leads to.
 */
function withTrigger(
  steps: readonly unknown[],
  transitions: readonly unknown[],
  { eventName, keptTrigger }: { eventName: string; keptTrigger: ReturnType<typeof triggerOf> },
): CheckResult<Graph> {
  const taken = new Set(steps.flatMap((step) => textOf(step, "id")));
  const mentioned = transitions.flatMap((edge) => textOf(edge, "from"));
  const named = keptTrigger?.id ?? "trigger";
  const id = mentioned.includes(named) ? named : freeId(named, taken);
  const made: unknown = keptTrigger ?? {
    id,
    type: "TRIGGER",
    name: "Trigger",
    config: { eventName },
  };
  const trigger = isRecord(made) ? { ...made, id } : made;
  // The TRIGGER is last during the check, so that the indexes of the others are the request's.
  const checked = checkGraph({
    steps: [...steps, trigger],
    transitions: withFirstTransition(id, [...taken], transitions),
  });
  if (!checked.ok) return checked;
  const { steps: all, transitions: checkedTransitions } = checked.value;
  const first = all.filter((step) => step.id === id);
  const others = all.filter((step) => step.id !== id);
  return { ok: true, value: { steps: [...first, ...others], transitions: checkedTransitions } };
}

/** The schema of the request refuses it already, so no second error is reported. */
const refusedBySchema: CheckResult<Graph> = { ok: true, value: { steps: [], transitions: [] } };

const noTrigger: FieldError = {
  field: "trigger",
  message: "is required if no step of type TRIGGER is given",
  code: "required",
};

function disagreement(eventName: string, ofStep: string): FieldError {
  const message = `is "${eventName}", but the step of type TRIGGER names "${ofStep}"`;
  return { field: "trigger.eventName", message, code: "invalid_value" };
}

function eventNameOf(trigger: unknown): string | null {
  if (!isRecord(trigger)) return null;
  const { eventName } = trigger;
  return typeof eventName === "string" ? trimmedEventName(eventName) : null;
}

function isTrigger(step: unknown): boolean {
  return isRecord(step) && step["type"] === "TRIGGER";
}

/** The event name of a TRIGGER step; undefined if only `trigger` names it. */
function eventNameOfStep(step: unknown): string | undefined {
  const config = isRecord(step) ? step["config"] : undefined;
  const eventName = isRecord(config) ? config["eventName"] : undefined;
  return typeof eventName === "string" ? trimmedEventName(eventName) : undefined;
}

function withEventName(step: unknown, eventName: string): unknown {
  if (!isRecord(step)) return step;
  const config = isRecord(step["config"]) ? step["config"] : {};
  const isOther = config["eventName"] !== undefined && typeof config["eventName"] !== "string";
  return isOther ? step : { ...step, config: { ...config, eventName } };
}

function textOf(value: unknown, member: string): string[] {
  const text = isRecord(value) ? value[member] : undefined;
  return typeof text === "string" ? [text] : [];
}
