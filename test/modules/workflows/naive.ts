/**
 * A second implementation of workflows (docs/interface.md#workflows), independent of the engine. It
 * has no database and no clock, and it handles one event after another. Steps that do not wait run
 * at once; time advances only between calls.
 */

import { matchesFilter, meets, type NaiveCondition, type NaiveContact } from "../segments/naive.ts";

type Test = { operator?: string; value?: unknown };

/** The members of the configs of all step types. */
export type NaiveConfig = Test & {
  eventName?: string;
  templateId?: string;
  recipient?: { type: string; email?: string };
  amount?: number;
  unit?: string;
  timeout?: number;
  condition?: NaiveCondition;
  mode?: string;
  field?: string;
  branches?: readonly (Test & { id: string; weight?: number })[];
  days?: readonly string[];
  from?: string;
  to?: string;
  timeZone?: string;
  url?: string;
  method?: string;
  updates?: Readonly<Record<string, unknown>>;
  subscriptionAction?: string;
  reason?: string;
};
export type NaiveStep = { id: string; type: string; config: NaiveConfig };
export type NaiveTransition = { from: string; to: string; branch?: string };
export type NaiveExit = { on: string; eventName?: string };
export type NaiveGraph = {
  steps: readonly NaiveStep[];
  transitions: readonly NaiveTransition[];
  exits?: readonly NaiveExit[];
};

export type NaiveExecution = {
  contact: string;
  graph: NaiveGraph;
  status: "WAITING" | "COMPLETED" | "EXITED" | "FAILED" | "CANCELLED";
  /** The current step; null after the last step. */
  at: string | null;
  context: Record<string, unknown>;
  exitReason: string | null;
  /** The completed steps: id and branch, with `!` if the step was skipped or `x` if it failed. */
  trail: string[];
  /** The end of the current wait; null if it has none. */
  until: number | null;
  /** The event that the current step waits for. */
  awaits: string | null;
};

export type NaiveEvent = {
  contact: string;
  name: string;
  data: Record<string, unknown>;
  at: number;
};

export type NaiveMail = { to: string; template: string };

const UNSUBSCRIBED = "contact.unsubscribed";

const UNIT_MS: Record<string, number> = { minutes: 60e3, hours: 3600e3, days: 86400e3 };

export class NaiveWorkflow {
  graph: NaiveGraph;
  isEnabled = true;
  readonly allowReentry: boolean;
  /** Executions in the order in which they started. */
  readonly executions: NaiveExecution[] = [];
  readonly contacts = new Map<string, NaiveContact>();
  readonly mails: NaiveMail[] = [];
  /** The address of the contact of each webhook call. */
  readonly calls: string[] = [];
  /** Events that the steps have caused, in their order. */
  readonly caused: NaiveEvent[] = [];
  /** The branch of a contact at a SPLIT, which follows from ids that this class does not know. */
  readonly #split: (contact: string, step: NaiveStep) => string;
  /** Ids of marketing templates, which are sent only to subscribed contacts. */
  readonly #marketing: ReadonlySet<string>;

  constructor(
    graph: NaiveGraph,
    options: {
      allowReentry: boolean;
      marketing: ReadonlySet<string>;
      split: (contact: string, step: NaiveStep) => string;
    },
  ) {
    this.#split = options.split;
    this.graph = graph;
    this.allowReentry = options.allowReentry;
    this.#marketing = options.marketing;
  }

  /**
   * Handles an event that was recorded at `at`: ends the waits that were over by then, then the
   * executions with an exit on the event, advances those that wait for it, and starts one if the event
   * triggers the workflow.
   */
  event({ contact, name, data, at }: NaiveEvent, now: number): void {
    this.time(now, at);
    const person = this.contacts.get(contact);
    if (person !== undefined) person.events[name] = at;
    for (const execution of this.#active(contact)) {
      const reason = exitReasonOf(execution.graph, name);
      if (reason === null) continue;
      Object.assign(execution, { status: "EXITED", exitReason: reason, until: null, awaits: null });
    }
    for (const execution of this.#active(contact)) {
      if (execution.awaits !== name) continue;
      Object.assign(execution.context, data);
      this.#leave(execution, null, now);
    }
    const trigger = this.graph.steps.find(({ type }) => type === "TRIGGER");
    if (this.isEnabled && trigger?.config.eventName === name) this.start(contact, data, now);
  }

  /** Returns false if the contact may not enter. */
  start(contact: string, context: Record<string, unknown>, now: number): boolean {
    const earlier = this.executions.filter((execution) => execution.contact === contact);
    const mayEnter = this.allowReentry
      ? earlier.every(({ status }) => status !== "WAITING")
      : earlier.length === 0;
    if (!mayEnter) return false;
    const { graph } = this;
    const trigger = graph.steps.find(({ type }) => type === "TRIGGER");
    if (trigger === undefined) throw new Error("no trigger");
    const execution: NaiveExecution = {
      contact,
      graph,
      status: "WAITING",
      at: trigger.id,
      context: { ...context },
      exitReason: null,
      trail: [],
      until: null,
      awaits: null,
    };
    this.executions.push(execution);
    this.#leave(execution, null, now);
    return true;
  }

  /** Ends every wait whose time was over at `until`; the next step begins now. */
  time(now: number, until = now): void {
    for (const execution of this.executions) {
      while (execution.status === "WAITING" && (execution.until ?? Infinity) <= until) {
        const isTimeout = execution.awaits !== null;
        if (stepOf(execution)?.type === "TIME_WINDOW") this.#enter(execution, now);
        else this.#leave(execution, isTimeout ? "timeout" : null, now);
      }
    }
  }

  cancel(execution: NaiveExecution): void {
    if (execution.status === "WAITING") execution.status = "CANCELLED";
  }

  /** Deletes the contact and cancels its executions. */
  deleteContact(contact: string): void {
    for (const execution of this.#active(contact)) this.cancel(execution);
    this.contacts.delete(contact);
  }

  #active(contact: string): NaiveExecution[] {
    return this.executions.filter((e) => e.contact === contact && e.status === "WAITING");
  }

  /** Completes the current step and enters the step at the branch. */
  #leave(execution: NaiveExecution, branch: string | null, now: number, mark = ""): void {
    execution.trail.push(`${execution.at}${branch === null ? "" : `:${branch}`}${mark}`);
    execution.until = null;
    execution.awaits = null;
    const transition = execution.graph.transitions.find(
      ({ from, branch: name = null }) => from === execution.at && name === branch,
    );
    execution.at = transition?.to ?? null;
    if (transition === undefined) execution.status = "COMPLETED";
    else this.#enter(execution, now);
  }

  #enter(execution: NaiveExecution, now: number): void {
    const step = stepOf(execution);
    if (step === undefined) throw new Error(`no step ${execution.at}`);
    const { config } = step;
    switch (step.type) {
      case "DELAY":
        execution.until = now + (config.amount ?? 0) * (UNIT_MS[config.unit ?? ""] ?? 0);
        return;
      case "WAIT_FOR_EVENT":
        execution.awaits = config.eventName ?? "";
        if (config.timeout !== undefined) execution.until = now + config.timeout * 1000;
        return;
      case "EXIT":
        execution.trail.push(step.id);
        execution.status = "EXITED";
        execution.exitReason = config.reason ?? null;
        return;
      case "TIME_WINDOW":
        execution.until = opensAt(config, now);
        if (execution.until === now) this.#leave(execution, null, now);
        return;
      case "SPLIT":
        this.#leave(execution, this.#split(execution.contact, step), now);
        return;
      case "SEND_EMAIL":
        this.#leave(execution, null, now, this.#mail(execution, config) ? "" : "!");
        return;
      case "CONDITION":
        this.#leave(execution, this.#branch(execution, config, now), now);
        return;
      case "UPDATE_CONTACT":
        this.#update(execution, config, now);
        this.#leave(execution, null, now);
        return;
      case "WEBHOOK":
        this.calls.push(execution.contact);
        if (config.url?.includes("/fails") === true) {
          execution.trail.push(`${step.id}x`);
          execution.status = "FAILED";
        } else {
          this.#leave(execution, null, now);
        }
        return;
    }
    throw new Error(step.type);
  }

  /** Sends a mail; returns false if the contact is not subscribed to marketing mail. */
  #mail({ contact }: NaiveExecution, config: NaiveConfig): boolean {
    const { templateId: template = "", recipient } = config;
    const isWanted = this.#person(contact).subscribed || !this.#marketing.has(template);
    if (isWanted) this.mails.push({ to: recipient?.email ?? contact, template });
    return isWanted;
  }

  #update({ contact }: NaiveExecution, config: NaiveConfig, now: number): void {
    const person = this.#person(contact);
    Object.assign(person.data, config.updates);
    for (const [key, value] of Object.entries(person.data)) {
      if (value === null) delete person.data[key];
    }
    const { subscriptionAction } = config;
    if (subscriptionAction === "unsubscribe" && person.subscribed)
      this.caused.push({ contact, name: UNSUBSCRIBED, data: {}, at: now });
    if (subscriptionAction !== undefined) person.subscribed = subscriptionAction === "subscribe";
    person.updatedAt = now;
  }

  #branch(execution: NaiveExecution, config: NaiveConfig, now: number): string {
    const { condition, field = "", branches } = config;
    const person = this.#person(execution.contact);
    const world = { now, dynamic: {} };
    // The naive filters of segments read the context as a member of the contact's data.
    const subject = { ...person, data: { ...person.data, context: execution.context } };
    if (condition !== undefined) return meets(world, subject, inData(condition)) ? "yes" : "no";
    const holds = ({ operator = "", value }: Test) =>
      matchesFilter(world, subject, { field: nameInData(field), operator, value });
    if (branches === undefined) return holds(config) ? "yes" : "no";
    return branches.find(holds)?.id ?? "default";
  }

  #person(contact: string): NaiveContact {
    const person = this.contacts.get(contact);
    if (person === undefined) throw new Error(`no contact ${contact}`);
    return person;
  }
}

const stepOf = ({ graph, at }: NaiveExecution) => graph.steps.find(({ id }) => id === at);

function exitReasonOf({ exits = [] }: NaiveGraph, event: string): string | null {
  for (const { on, eventName } of exits) {
    if (on === "EVENT" && eventName === event) return `The event "${event}" happened.`;
    if (on === "UNSUBSCRIBED" && event === UNSUBSCRIBED) return "The contact unsubscribed.";
  }
  return null;
}

const WEEK = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];

/** Looks at each minute. */
function opensAt({ days = [], from = "", to = "" }: NaiveConfig, now: number): number {
  const isOpen = (at: number) => {
    const clock = new Date(at).toISOString().slice(11, 16);
    const isOn = (time: number) => days.includes(WEEK[new Date(time).getUTCDay()] ?? "");
    if (from < to) return isOn(at) && clock >= from && clock < to;
    return (isOn(at) && clock >= from) || (isOn(at - 86400e3) && clock < to);
  };
  if (isOpen(now)) return now;
  let at = Math.ceil((now + 1) / 60e3) * 60e3;
  while (!isOpen(at)) at += 60e3;
  return at;
}

function nameInData(field: string): string {
  return field.startsWith("context.") ? `data.${field}` : field;
}

function inData({ logic, groups }: NaiveCondition): NaiveCondition {
  return {
    logic,
    groups: groups.map(({ filters, conditions }) => ({
      filters: filters.map((filter) => ({ ...filter, field: nameInData(filter.field) })),
      ...(conditions === undefined ? {} : { conditions: inData(conditions) }),
    })),
  };
}
