/**
 * Runs the workflows of the demonstration in memory: each execution takes its steps until it ends or
 * waits beyond the end of the demonstration. Its mails are returned, and written later in the order
 * of all mails.
 */

import { type Random, uuidAt } from "../random.ts";
import type { Journal } from "./journal.ts";
import { countBefore, DAY_MS, type Person } from "./people.ts";
import type { WorkflowText } from "./workflow-texts.ts";

export type StoredWorkflow = {
  seq: number;
  versionSeq: number;
  createdAt: number;
  text: WorkflowText;
};

export type WorkflowMail = {
  id: string;
  at: number;
  person: Person;
  executionSeq: number;
  /** Key of its template. */
  template: string;
  /** The completed step that sends it. */
  step: CompletedStep;
};

type Status = "RUNNING" | "WAITING" | "COMPLETED" | "EXITED" | "FAILED" | "CANCELLED";
type Outcome = "COMPLETED" | "SKIPPED" | "FAILED";

type CompletedStep = {
  id: string;
  type: string;
  outcome: Outcome;
  branch: string | null;
  detail: object | null;
  startedAt: number;
  completedAt: number;
};

export type Execution = {
  seq: number;
  workflow: StoredWorkflow;
  person: Person;
  startedAt: number;
  context: object;
  status: Status;
  stepId: string | null;
  stepStartedAt: number;
  tries: number;
  dueAt: number | null;
  dueFor: "TIME" | "CALL" | null;
  awaitedEvent: string | null;
  completedAt: number | null;
  exitReason: string | null;
  error: string | null;
  steps: CompletedStep[];
  mails: WorkflowMail[];
};

type Deps = { random: Random; journal: Journal; untilMs: number };

type RunOptions = Deps & {
  people: readonly Person[];
  /** Size of the demonstration; 1 is 12,000 contacts. */
  scale: number;
  /** Share of the new contacts that enter a workflow, at most 1. */
  sample: number;
};

const TRIGGER = "trigger";
const UNITS = { minutes: 60_000, hours: 60 * 60_000, days: DAY_MS } as const;
const EVENTS_OF_MAIL = "email.";

/** Runs all executions of all workflows, in the order of their start. */
export function runWorkflows(
  workflows: readonly StoredWorkflow[],
  options: RunOptions,
): Execution[] {
  const { random, journal } = options;
  const starts = workflows.flatMap((workflow) => startsOf(workflow, options));
  starts.sort((a, b) => a.at - b.at);
  /** Contacts by workflow that may not start now: until when their execution is active. */
  const busyUntil = new Map<string, number>();
  const executions: Execution[] = [];
  for (const { at, workflow, person } of starts) {
    const key = `${workflow.seq}:${person.seq}`;
    const context = contextOf(workflow, random);
    journal.add({ at, name: workflow.text.event, contactSeq: person.seq, data: context });
    if ((busyUntil.get(key) ?? 0) > at) continue;
    const execution = run({ workflow, person, at, context, seq: executions.length + 1 }, options);
    executions.push(execution);
    const isOnce = !workflow.text.allowReentry;
    busyUntil.set(key, isOnce ? Infinity : (execution.completedAt ?? Infinity));
  }
  return executions;
}

type Start = { at: number; workflow: StoredWorkflow; person: Person };

function startsOf(
  workflow: StoredWorkflow,
  { random, people, scale, sample, untilMs }: RunOptions,
): Start[] {
  const { createdAt, text } = workflow;
  if (text.event === "account.created") {
    return people
      .slice(countBefore(people, createdAt))
      .filter(() => sample === 1 || random.integer(1_000_000) < sample * 1_000_000)
      .map((person) => ({ at: person.createdAt, workflow, person }));
  }
  const days = (untilMs - createdAt) / DAY_MS;
  const count = Math.ceil((text.perYear * scale * days) / 365);
  return Array.from({ length: count }, () => {
    const at = createdAt + 1 + random.integer(untilMs - createdAt - 60_000);
    const registered = countBefore(people, at);
    const person = people[random.integer(Math.max(1, registered))];
    if (person === undefined) throw new Error("nobody has registered");
    return { at, workflow, person };
  });
}

function contextOf({ text }: StoredWorkflow, random: Random): object {
  if (text.event === "account.created")
    return { source: random.pick(["shop", "website", "event"]) };
  const order = `HB-${100_000 + random.integer(900_000)}`;
  const total = `£${(4 + random.integer(9_000) / 100).toFixed(2)}`;
  return text.event.startsWith("reader.") ? {} : { order, total };
}

type Given = { workflow: StoredWorkflow; person: Person; at: number; context: object; seq: number };

function run({ workflow, person, at, context, seq }: Given, deps: Deps): Execution {
  const execution: Execution = {
    seq,
    workflow,
    person,
    startedAt: at,
    context,
    status: "RUNNING",
    stepId: TRIGGER,
    stepStartedAt: at,
    tries: 0,
    dueAt: null,
    dueFor: null,
    awaitedEvent: null,
    completedAt: null,
    exitReason: null,
    error: null,
    steps: [],
    mails: [],
  };
  const { steps, transitions } = workflow.text;
  complete(execution, { type: "TRIGGER", at, branch: null, detail: null });
  execution.stepId = steps[0]?.id ?? null;
  while (execution.status === "RUNNING" && execution.dueFor === null) {
    const step = steps.find(({ id }) => id === execution.stepId);
    if (step === undefined) {
      execution.status = "COMPLETED";
      execution.stepId = null;
      execution.completedAt = execution.stepStartedAt;
      break;
    }
    const branch = take(execution, step, deps);
    if (execution.status !== "RUNNING" || execution.dueFor !== null) break;
    const next = transitions.find(
      (edge) => edge.from === step.id && (edge.branch ?? null) === branch,
    );
    execution.stepId = next?.to ?? null;
  }
  return execution;
}

type Done = { type: string; at: number; branch: string | null; detail: object | null };

function complete(execution: Execution, done: Done, outcome: Outcome = "COMPLETED"): CompletedStep {
  const { type, at, branch, detail } = done;
  const { stepId, stepStartedAt: startedAt } = execution;
  const step: CompletedStep = {
    id: stepId ?? "",
    type,
    outcome,
    branch,
    detail,
    startedAt,
    completedAt: at,
  };
  execution.steps.push(step);
  execution.stepStartedAt = at;
  return step;
}

type Step = WorkflowText["steps"][number];

/** Takes one step, or lets the execution wait at it; returns the branch. */
function take(execution: Execution, { type, config }: Step, deps: Deps): string | null {
  const { random, untilMs } = deps;
  const { person, stepStartedAt: at } = execution;
  const done = (rest: Partial<Done>) =>
    complete(execution, { type, at, branch: null, detail: null, ...rest });
  switch (type) {
    case "SEND_EMAIL": {
      const id = uuidAt(at, random);
      const template = String(config["templateId"]);
      const step = done({ detail: { emailId: id } });
      execution.mails.push({ id, at, person, executionSeq: execution.seq, template, step });
      return null;
    }
    case "DELAY": {
      const unit = config["unit"];
      const unitMs = unit === "minutes" || unit === "hours" || unit === "days" ? UNITS[unit] : 0;
      const dueAt = at + Number(config["amount"]) * unitMs;
      if (dueAt > untilMs) Object.assign(execution, { status: "WAITING", dueAt, dueFor: "TIME" });
      else done({ at: dueAt });
      return null;
    }
    case "WAIT_FOR_EVENT":
      return awaitEvent(execution, config, deps);
    case "CONDITION": {
      const branch = person.plan === config["value"] ? "yes" : "no";
      done({ branch });
      return branch;
    }
    case "WEBHOOK":
      callWebhook(execution, deps);
      return null;
    case "EXIT":
      done({});
      execution.status = "EXITED";
      execution.exitReason = String(config["reason"]);
      execution.completedAt = at;
      return null;
    default:
      done({});
      return null;
  }
}

function awaitEvent(execution: Execution, config: Step["config"], deps: Deps): string | null {
  const { random, journal, untilMs } = deps;
  const { person, stepStartedAt } = execution;
  const eventName = String(config["eventName"]);
  const timeoutMs = Number(config["timeout"]) * 1000;
  const comesAt = stepStartedAt + 60_000 + random.integer(timeoutMs - 60_000);
  const comes = random.integer(100) < 42 && comesAt < untilMs;
  const dueAt = stepStartedAt + timeoutMs + 1;
  if (!comes && dueAt > untilMs) {
    const waiting = { status: "WAITING", dueAt, dueFor: "TIME", awaitedEvent: eventName };
    Object.assign(execution, waiting);
    return null;
  }
  const type = "WAIT_FOR_EVENT";
  if (!comes) {
    complete(execution, { type, at: dueAt, branch: "timeout", detail: null });
    return "timeout";
  }
  const isOfMail = eventName.startsWith(EVENTS_OF_MAIL);
  // Events of mails come from the mails themselves.
  if (!isOfMail)
    journal.add({ at: comesAt, name: eventName, contactSeq: person.seq, data: execution.context });
  complete(execution, { type, at: comesAt, branch: null, detail: { event: eventName } });
  return null;
}

function callWebhook(execution: Execution, { random, untilMs }: Deps): void {
  const { stepStartedAt } = execution;
  const at = stepStartedAt + 120 + random.integer(900);
  const dice = random.integer(100);
  if (stepStartedAt > untilMs - DAY_MS / 3 && dice < 30) {
    const error = "The receiver answered 503 Service Unavailable.";
    const dueAt = untilMs + (1 + random.integer(40)) * 60_000;
    Object.assign(execution, { dueFor: "CALL", dueAt, tries: 2, error });
    return;
  }
  if (dice < 4) {
    const error = "The receiver answered 422 Unprocessable Entity.";
    const detail = { status: 422, body: '{"message":"unknown reader"}', error };
    complete(execution, { type: "WEBHOOK", at, branch: null, detail }, "FAILED");
    Object.assign(execution, { status: "FAILED", error, completedAt: at });
    return;
  }
  const detail = { status: 200, body: '{"ok":true}' };
  complete(execution, { type: "WEBHOOK", at, branch: null, detail });
}
