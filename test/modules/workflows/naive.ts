/**
 * What workflows do, written down a second time (interface decision I): one contact after another,
 * one event after another, no database, no clock of its own. Knows nothing of the engine. Whatever
 * needs no waiting is done at once; time only moves between calls.
 */

import { meets, type NaiveCondition, type NaiveContact, passes } from "../segments/naive.ts";

type Test = { operator?: string; value?: unknown };

/** All members that any type of step has. */
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
  branches?: readonly (Test & { id: string })[];
  url?: string;
  method?: string;
  updates?: Readonly<Record<string, unknown>>;
  subscriptionAction?: string;
  reason?: string;
};
export type NaiveStep = { id: string; type: string; config: NaiveConfig };
export type NaiveWay = { from: string; to: string; branch?: string };
export type NaiveGraph = { steps: readonly NaiveStep[]; transitions: readonly NaiveWay[] };

export type NaiveExecution = {
  contact: string;
  graph: NaiveGraph;
  status: "WAITING" | "COMPLETED" | "EXITED" | "FAILED" | "CANCELLED";
  /** The step that it is at; null at the end of a way. */
  at: string | null;
  context: Record<string, unknown>;
  exitReason: string | null;
  /** Each completed step: id and branch, and `!` where it was skipped or `x` where it failed. */
  trail: string[];
  /** When the present wait ends; null if it does not by itself. */
  until: number | null;
  /** The event that it waits for. */
  awaits: string | null;
};

export type NaiveEvent = {
  contact: string;
  name: string;
  data: Record<string, unknown>;
  at: number;
};

export type NaiveMail = { to: string; template: string };

const UNIT_MS: Record<string, number> = { minutes: 60e3, hours: 3600e3, days: 86400e3 };

export class NaiveWorkflow {
  graph: NaiveGraph;
  isEnabled = true;
  readonly allowReentry: boolean;
  /** In the order in which they started. */
  readonly executions: NaiveExecution[] = [];
  readonly contacts = new Map<string, NaiveContact>();
  readonly mails: NaiveMail[] = [];
  /** Addresses of contacts, once per call of a webhook. */
  readonly calls: string[] = [];
  /** Ids of templates that only subscribed contacts get. */
  readonly #marketing: ReadonlySet<string>;

  constructor(
    graph: NaiveGraph,
    options: { allowReentry: boolean; marketing: ReadonlySet<string> },
  ) {
    this.graph = graph;
    this.allowReentry = options.allowReentry;
    this.#marketing = options.marketing;
  }

  /**
   * An event of a contact that happened at `at` and is looked at now: wakes what waits for it, then
   * starts what it triggers. Waits that were over by then ended first.
   */
  event({ contact, name, data, at }: NaiveEvent, now: number): void {
    this.time(now, at);
    const person = this.contacts.get(contact);
    if (person !== undefined) person.events[name] = at;
    for (const execution of this.#active(contact)) {
      if (execution.awaits !== name) continue;
      Object.assign(execution.context, data);
      this.#leave(execution, null, now);
    }
    const trigger = this.graph.steps.find(({ type }) => type === "TRIGGER");
    if (this.isEnabled && trigger?.config.eventName === name) this.start(contact, data, now);
  }

  /** False where the contact may not enter (again). */
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

  /** Ends every wait whose time was over at `until`; what comes after it begins now. */
  time(now: number, until = now): void {
    for (const execution of this.executions) {
      while (execution.status === "WAITING" && (execution.until ?? Infinity) <= until) {
        const isTimeout = execution.awaits !== null;
        this.#leave(execution, isTimeout ? "timeout" : null, now);
      }
    }
  }

  cancel(execution: NaiveExecution): void {
    if (execution.status === "WAITING") execution.status = "CANCELLED";
  }

  /** The contact is deleted. */
  forget(contact: string): void {
    for (const execution of this.#active(contact)) this.cancel(execution);
    this.contacts.delete(contact);
  }

  #active(contact: string): NaiveExecution[] {
    return this.executions.filter((e) => e.contact === contact && e.status === "WAITING");
  }

  /** The present step is done: on by its branch, and through all that needs no waiting. */
  #leave(execution: NaiveExecution, branch: string | null, now: number, mark = ""): void {
    execution.trail.push(`${execution.at}${branch === null ? "" : `:${branch}`}${mark}`);
    execution.until = null;
    execution.awaits = null;
    const way = execution.graph.transitions.find(
      ({ from, branch: name = null }) => from === execution.at && name === branch,
    );
    execution.at = way?.to ?? null;
    if (way === undefined) execution.status = "COMPLETED";
    else this.#enter(execution, now);
  }

  #enter(execution: NaiveExecution, now: number): void {
    const step = execution.graph.steps.find(({ id }) => id === execution.at);
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

  /** False where the contact does not want such mail. */
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
    if (subscriptionAction !== undefined) person.subscribed = subscriptionAction === "subscribe";
    person.updatedAt = now;
  }

  #branch(execution: NaiveExecution, config: NaiveConfig, now: number): string {
    const { condition, field = "", branches } = config;
    const person = this.#person(execution.contact);
    const world = { now, dynamic: {} };
    // The context as if it were a member of the contact's data.
    const asked = { ...person, data: { ...person.data, context: execution.context } };
    if (condition !== undefined) return meets(world, asked, inData(condition)) ? "yes" : "no";
    const holds = ({ operator = "", value }: Test) =>
      passes(world, asked, { field: nameInData(field), operator, value });
    if (branches === undefined) return holds(config) ? "yes" : "no";
    return branches.find(holds)?.id ?? "default";
  }

  #person(contact: string): NaiveContact {
    const person = this.contacts.get(contact);
    if (person === undefined) throw new Error(`no contact ${contact}`);
    return person;
  }
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
