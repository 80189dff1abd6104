/**
 * Combines the `trigger`, `steps`, `transitions` and `exits` of a request with the stored graph. A
 * request may describe the trigger in `trigger`, in a TRIGGER step, or in both if they are equal.
 */

import { isRecord, MAX_ERRORS } from "../../../http/validation.ts";
import type { FieldError } from "../../../lib/errors.ts";
import type { CheckResult } from "../../segments/condition/input.ts";
import { readExits, readTrigger } from "./config-trigger.ts";
import { type Exit, type Graph, type TriggerConfig, triggerEventOf } from "./graph.ts";
import { checkGraph, freeId } from "./validate.ts";

type Given = {
  readonly trigger?: unknown;
  readonly steps?: unknown;
  readonly transitions?: unknown;
  readonly exits?: unknown;
};

/** Returns the whole graph, or every violation. `current` is null for a new workflow. */
export function assemble(given: Given, current: Graph | null): CheckResult<Graph> {
  const errors: FieldError[] = [];
  const trigger =
    given.trigger === undefined ? null : readTrigger(given.trigger, "trigger", errors);
  const exits = given.exits === undefined ? current?.exits : readExits(given.exits, errors);
  // The graph is checked as well, so that one response reports the violations of both.
  const isTriggerFaulty = given.trigger !== undefined && trigger === null;
  const graph = assembleGraph(
    { ...given, trigger: isTriggerFaulty ? STAND_IN : trigger, exits: exits ?? [] },
    current,
  );
  if (graph.ok && errors.length === 0) return graph;
  return { ok: false, errors: [...errors, ...(graph.ok ? [] : graph.errors)].slice(0, MAX_ERRORS) };
}

/**
 * The number of first steps of the assembled graph that the request did not list: the TRIGGER, if only
 * `trigger` or the stored graph describes it.
 */
export const impliedStepsOf = ({ steps }: Given): number =>
  Array.isArray(steps) && !steps.some(isTrigger) ? 1 : 0;

/** Takes the place of a faulty trigger; such a graph is never stored. */
const STAND_IN: TriggerConfig = { type: "MANUAL" };

type Parts = Pick<Given, "steps" | "transitions"> & {
  trigger: TriggerConfig | null;
  exits: readonly Exit[];
};

function assembleGraph(given: Parts, current: Graph | null): CheckResult<Graph> {
  const { steps = current?.steps ?? [], transitions = current?.transitions ?? [], exits } = given;
  if (!Array.isArray(steps) || !Array.isArray(transitions)) {
    return refusedBySchema;
  }
  const own: readonly unknown[] = steps;
  const index = own.findIndex(isTrigger);
  // A request that does not mention the trigger does not change it.
  const keptTrigger = given.trigger === null && index === -1 ? keptTriggerOf(current) : null;
  const trigger = given.trigger ?? keptTrigger?.config ?? null;
  if (trigger === null) {
    if (own.length === 0) return { ok: false, errors: [noTrigger] };
    const led = leadingIn(own, transitions, given);
    return checkGraph({ steps: own, transitions: led, exits }, current);
  }
  if (index === -1) return withTrigger(own, transitions, { trigger, keptTrigger, exits });
  const ofStep = given.steps === undefined ? null : configOfStep(own[index]);
  if (ofStep !== null && trigger !== STAND_IN && !isSame(ofStep, trigger)) {
    return { ok: false, errors: [disagreement(trigger, ofStep)] };
  }
  const isReplaced = given.steps === undefined;
  const agreeing = own.map((step, i) =>
    i === index ? withConfig(step, trigger, isReplaced) : step,
  );
  const led = leadingIn(own, transitions, given);
  return checkGraph({ steps: agreeing, transitions: led, exits }, current);
}

function keptTriggerOf(graph: Graph | null) {
  const trigger = graph?.steps.find((step) => step.type === "TRIGGER");
  return trigger?.type === "TRIGGER" ? trigger : null;
}

/**
 * A request with transitions and without steps may leave out the transition from the TRIGGER. It is
 * added if only one step can be the first.
 */
function leadingIn(
  steps: readonly unknown[],
  transitions: readonly unknown[],
  given: Pick<Given, "steps" | "transitions">,
) {
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
  rest: {
    trigger: TriggerConfig;
    keptTrigger: ReturnType<typeof keptTriggerOf>;
    exits: readonly Exit[];
  },
): CheckResult<Graph> {
  const { trigger: config, keptTrigger, exits } = rest;
  const taken = new Set(steps.flatMap((step) => textOf(step, "id")));
  const mentioned = transitions.flatMap((edge) => textOf(edge, "from"));
  const named = keptTrigger?.id ?? "trigger";
  const id = mentioned.includes(named) ? named : freeId(named, taken);
  const made: unknown = keptTrigger ?? {
    id,
    type: "TRIGGER",
    name: "Trigger",
    config,
  };
  const trigger = isRecord(made) ? { ...made, id } : made;
  // The TRIGGER is last during the check, so that the indexes of the others are the request's.
  const checked = checkGraph({
    steps: [...steps, trigger],
    transitions: withFirstTransition(id, [...taken], transitions),
    exits,
  });
  if (!checked.ok) return checked;
  const { steps: all, ...others } = checked.value;
  const first = all.filter((step) => step.id === id);
  const later = all.filter((step) => step.id !== id);
  return { ok: true, value: { ...others, steps: [...first, ...later] } };
}

/** The schema of the request refuses it already, so no second error is reported. */
const refusedBySchema: CheckResult<Graph> = { ok: true, value: { steps: [], transitions: [] } };

const noTrigger: FieldError = {
  field: "trigger",
  message: "is required if no step of type TRIGGER is given",
  code: "required",
};

function disagreement(given: TriggerConfig, ofStep: TriggerConfig): FieldError {
  const [named, namedByStep] = [triggerEventOf(given), triggerEventOf(ofStep)];
  const code = "invalid_value";
  if (named === null || namedByStep === null) {
    const message = "differs from the config of the step of type TRIGGER";
    return { field: "trigger", message, code };
  }
  const message = `is "${named}", but the step of type TRIGGER names "${namedByStep}"`;
  return { field: "trigger.eventName", message, code };
}

/** Both were read, so equal configs have equal members in the same order. */
const isSame = (one: TriggerConfig, other: TriggerConfig): boolean =>
  JSON.stringify(one) === JSON.stringify(other);

function isTrigger(step: unknown): boolean {
  return isRecord(step) && step["type"] === "TRIGGER";
}

/** The config of a TRIGGER step; null if only `trigger` describes it, or if it is faulty. */
function configOfStep(step: unknown): TriggerConfig | null {
  const config = isRecord(step) ? step["config"] : undefined;
  return isRecord(config) && !isEmpty(config) ? readTrigger(config, "config", []) : null;
}

/** Gives the TRIGGER its config, unless the request describes it, with a fault or without. */
function withConfig(step: unknown, trigger: TriggerConfig, isReplaced: boolean): unknown {
  if (!isRecord(step)) return step;
  const { config } = step;
  const isAbsent = !isRecord(config) || isEmpty(config);
  return isReplaced || isAbsent ? { ...step, config: trigger } : step;
}

const isEmpty = (config: Readonly<Record<string, unknown>>): boolean =>
  config["eventName"] === undefined && config["type"] === undefined;

function textOf(value: unknown, member: string): string[] {
  const text = isRecord(value) ? value[member] : undefined;
  return typeof text === "string" ? [text] : [];
}
