/**
 * A request's `trigger`, `steps` and `transitions` put together with the graph that is there. The
 * trigger may be told by `trigger`, by a TRIGGER step or by both, which must agree then.
 */

import { isRecord } from "../../http/validation.ts";
import type { FieldError } from "../../lib/errors.ts";
import { trimmedEventName } from "../../lib/event-name.ts";
import type { Checked } from "../segments/input.ts";
import type { Graph } from "./graph.ts";
import { checkGraph, freeId } from "./validate.ts";

type Given = {
  readonly trigger?: unknown;
  readonly steps?: unknown;
  readonly transitions?: unknown;
};

/** The whole graph, or every violation; `current` is null where there is none yet. */
export function assemble(given: Given, current: Graph | null): Checked<Graph> {
  const { steps = current?.steps ?? [], transitions = current?.transitions ?? [] } = given;
  if (!Array.isArray(steps) || !Array.isArray(transitions)) {
    return saidAlready;
  }
  const own: readonly unknown[] = steps;
  const index = own.findIndex(isTrigger);
  // A change that does not mention the trigger leaves it as it is.
  const kept = given.trigger === undefined && index === -1 ? triggerOf(current) : null;
  const eventName = eventNameOf(given.trigger) ?? kept?.config.eventName ?? null;
  if (eventName === null) {
    if (index === -1 && given.trigger !== undefined) return saidAlready;
    if (own.length === 0) return { ok: false, errors: [noTrigger] };
    return checkGraph({ steps: own, transitions: leadingIn(own, transitions, given) }, current);
  }
  if (index === -1) return withTrigger(own, transitions, { eventName, kept });
  const told = toldBy(own[index]);
  if (given.steps !== undefined && told !== undefined && told !== eventName) {
    return { ok: false, errors: [disagreement(eventName, told)] };
  }
  const agreeing = own.map((step, i) => (i === index ? triggeredBy(step, eventName) : step));
  return checkGraph({ steps: agreeing, transitions: leadingIn(own, transitions, given) }, current);
}

function triggerOf(graph: Graph | null) {
  const trigger = graph?.steps.find((step) => step.type === "TRIGGER");
  return trigger?.type === "TRIGGER" ? trigger : null;
}

/**
 * New transitions for the steps that are there need not tell the way from the TRIGGER, where only one
 * step can be the first.
 */
function leadingIn(steps: readonly unknown[], transitions: readonly unknown[], given: Given) {
  if (given.steps !== undefined || given.transitions === undefined) return transitions;
  const [trigger] = steps.filter(isTrigger).flatMap((step) => textOf(step, "id"));
  const others = steps.filter((step) => !isTrigger(step)).flatMap((step) => textOf(step, "id"));
  return trigger === undefined ? transitions : withFirstWay(trigger, others, transitions);
}

function withFirstWay(trigger: string, steps: readonly string[], transitions: readonly unknown[]) {
  const hasWay = transitions.some((edge) => textOf(edge, "from").includes(trigger));
  const reached = new Set(transitions.flatMap((edge) => textOf(edge, "to")));
  const firsts = steps.filter((step) => !reached.has(step));
  const [to] = firsts;
  const isKnown = !hasWay && to !== undefined && firsts.length === 1;
  return isKnown ? [...transitions, { from: trigger, to }] : transitions;
}

/** Only `trigger` was given: the TRIGGER is made, and leads to the one step that nothing leads to. */
function withTrigger(
  steps: readonly unknown[],
  transitions: readonly unknown[],
  { eventName, kept }: { eventName: string; kept: ReturnType<typeof triggerOf> },
): Checked<Graph> {
  const taken = new Set(steps.flatMap((step) => textOf(step, "id")));
  const mentioned = transitions.flatMap((edge) => textOf(edge, "from"));
  const named = kept?.id ?? "trigger";
  const id = mentioned.includes(named) ? named : freeId(named, taken);
  const made: unknown = kept ?? { id, type: "TRIGGER", name: "Trigger", config: { eventName } };
  const trigger = isRecord(made) ? { ...made, id } : made;
  // Last while it is checked: the places of the others are those of the request.
  const checked = checkGraph({
    steps: [...steps, trigger],
    transitions: withFirstWay(id, [...taken], transitions),
  });
  if (!checked.ok) return checked;
  const { steps: all, transitions: ways } = checked.value;
  const first = all.filter((step) => step.id === id);
  const others = all.filter((step) => step.id !== id);
  return { ok: true, value: { steps: [...first, ...others], transitions: ways } };
}

/** The request is refused by its schema; there is no more to say. */
const saidAlready: Checked<Graph> = { ok: true, value: { steps: [], transitions: [] } };

const noTrigger: FieldError = {
  field: "trigger",
  message: "is required where no step of type TRIGGER is given",
  code: "required",
};

function disagreement(eventName: string, told: string): FieldError {
  const message = `is "${eventName}", but the step of type TRIGGER names "${told}"`;
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

/** The event name of a TRIGGER step; undefined where it leaves that to `trigger`. */
function toldBy(step: unknown): string | undefined {
  const config = isRecord(step) ? step["config"] : undefined;
  const eventName = isRecord(config) ? config["eventName"] : undefined;
  return typeof eventName === "string" ? trimmedEventName(eventName) : undefined;
}

function triggeredBy(step: unknown, eventName: string): unknown {
  if (!isRecord(step)) return step;
  const config = isRecord(step["config"]) ? step["config"] : {};
  const isOther = config["eventName"] !== undefined && typeof config["eventName"] !== "string";
  return isOther ? step : { ...step, config: { ...config, eventName } };
}

function textOf(value: unknown, member: string): string[] {
  const text = isRecord(value) ? value[member] : undefined;
  return typeof text === "string" ? [text] : [];
}
