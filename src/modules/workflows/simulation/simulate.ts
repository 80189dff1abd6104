/**
 * Simulates a workflow for one contact in a sandbox: it starts at `startAt`, the events that were added
 * happen at their times, and the clock is moved to `until`. Each simulation begins anew, so it needs no
 * state between two requests.
 */

import { isServiceEvent } from "../../../lib/service-events.ts";
import { recipientLinks } from "../../../render/links.ts";
import type { RequestMails } from "../../../render/request-mails.ts";
import { compiledTemplates } from "../../../render/template/cache.ts";
import { renderWebhookRequest } from "../../../render/webhook-request.ts";
import { type JsonObject, parseData, persistentData, resolvedData } from "../../contacts/data.ts";
import { type ContactRow, contactService, presentContact } from "../../contacts/service.ts";
import type { Contact } from "../../contacts/model.ts";
import { runContentTask } from "../../content-work/tasks.ts";
import type { Occurrence, Progress } from "../run/engine.ts";
import type { Execution } from "../run/execution-rows.ts";
import type { RunStep, StepInput } from "../steps/run-step.ts";
import { occurrenceOfResponse, webhookTemplates } from "../steps/webhook.ts";
import { parseRecordedEvents } from "./recorded-events.ts";
import { createSandbox, type Sandbox, type SandboxInput } from "./sandbox.ts";
import type { StepOutcome } from "./replay-counts.ts";

export type SimulationTask = {
  kind: "simulation";
  sandbox: Omit<SandboxInput, "startAt">;
  contactSeq: number;
  /** JSON: the events of the contact, as rows.ts reads them. */
  events: string;
  startAt: number;
  /** Null: until the executions end or wait for an event. */
  until: number | null;
  /** The name of the event that starts the workflow; null for one that is started by hand. */
  eventName: string | null;
  data: JsonObject;
  occurrences: readonly SimulatedEvent[];
  /** The answers of WEBHOOK steps by their ids; 200 without content for others. */
  answers: Readonly<Record<string, { status: number; body?: unknown }>>;
  /** The number of the mail whose body is in the answer in any case; null for none. */
  mail: number | null;
};

type SimulatedEvent = { at: number; eventName: string; data: JsonObject };

type SimulatedMail = {
  to: string;
  from: { address: string; name: string | null };
  subject: string;
  /** Null if it cannot be rendered, or is left out of a large answer. */
  html: string | null;
  text: string | null;
  suppression: string | null;
  error: string | null;
};

type SimulatedRequest = {
  method: string;
  url: string;
  headers: Record<string, string>;
  body: string | null;
};

type ContactChanges = {
  subscribed: boolean | null;
  /** Members of the data with their new values; null for those that were removed. */
  data: JsonObject;
};

type SimulatedStep = {
  stepId: string;
  type: string;
  outcome: StepOutcome;
  branch: string | null;
  detail: JsonObject | null;
  startedAt: number;
  completedAt: number;
  mail: SimulatedMail | null;
  request: SimulatedRequest | null;
  changes: ContactChanges | null;
};

export type SimulatedExecution = Pick<
  Progress,
  | "status"
  | "stepId"
  | "awaitedEvent"
  | "dueAt"
  | "context"
  | "completedAt"
  | "exitReason"
  | "error"
> & { startedAt: number; steps: SimulatedStep[] };

export type SimulationResult = {
  at: number;
  /** The time at which something happens next; null if only an event can continue it. */
  nextAt: number | null;
  /** True if it was stopped because it has too many steps. */
  isCutShort: boolean;
  contact: Contact;
  executions: SimulatedExecution[];
};

const MAX_STEPS = 500;
/** The approximate limit in octets for mails and requests in an answer. Later ones have no body. */
const MAX_SHOWN_BYTES = 4 * 1024 * 1024;
/** The end of a simulation without `until`. */
const LONGEST_MS = 5 * 366 * 24 * 60 * 60_000;

/** The effects of a step that are not in its row. */
type Observation = {
  mail: Omit<PreparedMail, "row"> | null;
  request: SimulatedRequest | null;
  changes: ContactChanges | null;
};
type PreparedMail = { emailId: string; recipient: ContactRow; isMarketing: boolean; row: MailRow };
type MailRow = {
  to: string;
  subject: string;
  variables: string | null;
  html: string;
  fromAddress: string;
  fromName: string | null;
};

export async function simulate(task: SimulationTask): Promise<SimulationResult> {
  const history = parseRecordedEvents(task.events);
  const earlier = history.filter(({ at }) => at <= task.startAt);
  const startAt = Math.min(task.startAt, earlier[0]?.at ?? task.startAt);
  const observations = createObservations();
  const sandbox: Sandbox = createSandbox(
    { ...task.sandbox, startAt },
    {
      answerCall: (execution) => answerCall(sandbox, execution, task, observations),
      around: (runStep) => observed(runStep, observations, () => sandbox),
    },
  );
  try {
    const isCutShort = await sandbox.app.writer.write(() => {
      sandbox.setWorkflow(false);
      for (const event of earlier) {
        sandbox.moveTo(event.at);
        sandbox.record(event);
      }
      return run(sandbox, task);
    });
    return await resultOf(sandbox, task, observations, isCutShort);
  } finally {
    sandbox.close();
  }
}

/** Part of a change: returns true if the simulation was cut short. */
function run(sandbox: Sandbox, task: SimulationTask): boolean {
  const until = task.until ?? task.startAt + LONGEST_MS;
  const countSteps = sandbox.app.db.sqlite.prepare<{ n: number }, []>(
    "SELECT count(*) AS n FROM workflow_execution_steps",
  );
  const isEnough = () => (countSteps.get()?.n ?? 0) >= MAX_STEPS;
  sandbox.moveTo(task.startAt);
  sandbox.skipEvents();
  const workflow = sandbox.setWorkflow(true);
  start(sandbox, task, workflow.id);
  sandbox.settle();
  const occurrences = task.occurrences.toSorted((a, b) => a.at - b.at);
  for (const { at, eventName, data } of occurrences) {
    if (at > until) break;
    sandbox.moveTo(at, isEnough);
    if (isEnough()) return true;
    happen(sandbox, task.contactSeq, { eventName, data });
    sandbox.settle();
  }
  if (task.until === null) {
    for (let at = sandbox.nextDueAt(); at !== null && at <= until; at = sandbox.nextDueAt()) {
      if (isEnough()) return true;
      sandbox.moveTo(at, isEnough);
    }
    return false;
  }
  sandbox.moveTo(until, isEnough);
  return isEnough();
}

function start(sandbox: Sandbox, task: SimulationTask, workflowId: string): void {
  const { eventName, data, contactSeq } = task;
  if (eventName !== null) return happen(sandbox, contactSeq, { eventName, data });
  const {
    seq,
    projectSeq,
    versionSeq,
    isEnabled: _,
    allowReentry,
  } = sandbox.workflows.get(task.sandbox.projectSeq, workflowId);
  const now = sandbox.clock.now();
  sandbox.parts.triggers.startManually(
    { seq, projectSeq, versionSeq, allowReentry },
    { contactSeq, context: data, now },
  );
}

/** Part of a change: an event happens as if it was tracked, or as the service records it. */
function happen(
  sandbox: Sandbox,
  contactSeq: number,
  { eventName, data }: { eventName: string; data: JsonObject },
): void {
  const contacts = contactService(sandbox.app);
  const contact = contacts.findBySeq(contactSeq);
  if (contact === null) throw new Error("a simulation has no contact");
  const { projectSeq, email } = contact;
  const upsert = (subscribed: boolean | undefined, changed: JsonObject | undefined) =>
    contacts.upsert({ projectSeq, email, subscribed, defaultSubscribed: false, data: changed });
  if (eventName === "contact.subscribed" || eventName === "contact.unsubscribed") {
    upsert(eventName === "contact.subscribed", undefined);
    return;
  }
  if (!isServiceEvent(eventName)) upsert(undefined, persistentData(data));
  sandbox.record({ name: eventName, contactSeq, json: JSON.stringify(resolvedData(data)) });
}

type Observations = ReturnType<typeof createObservations>;

/** The observations of each execution and step, in their order. */
function createObservations() {
  const lists = new Map<string, Observation[]>();
  const keyOf = (executionSeq: number, stepId: string) => `${executionSeq} ${stepId}`;
  return {
    add(executionSeq: number, stepId: string, observation: Partial<Observation>): void {
      const key = keyOf(executionSeq, stepId);
      const list = lists.get(key) ?? [];
      lists.set(key, [...list, { mail: null, request: null, changes: null, ...observation }]);
    },
    take(executionSeq: number, stepId: string): Observation | null {
      return lists.get(keyOf(executionSeq, stepId))?.shift() ?? null;
    },
  };
}

/** Notes the recipient of each mail, and the changes of the contact. */
function observed(runStep: RunStep, observations: Observations, sandboxOf: () => Sandbox): RunStep {
  return (step, input) => {
    const result = runStep(step, input);
    if (result.outcome === "POSTPONED" || result.outcome === "WINDOW_CLOSED") return result;
    const contacts = contactService(sandboxOf().app);
    const { executionSeq, contact } = input;
    const after = contacts.findBySeq(contact.seq) ?? contact;
    const emailId = result.detail?.["emailId"];
    observations.add(executionSeq, step.id, {
      mail: typeof emailId === "string" ? mailOf(sandboxOf(), emailId, input) : null,
      changes: step.type === "UPDATE_CONTACT" ? changesBetween(contact, after) : null,
    });
    return result;
  };
}

function mailOf(sandbox: Sandbox, emailId: string, { contact }: StepInput): Observation["mail"] {
  const row = sandbox.app.db.sqlite
    .query<{ contactSeq: number | null; isMarketing: number }, [string]>(
      `SELECT emails.contact_seq AS contactSeq, messages.is_marketing AS isMarketing
       FROM emails JOIN messages ON messages.seq = emails.message_seq WHERE emails.id = ?`,
    )
    .get(emailId);
  const { contactSeq = null, isMarketing = 0 } = row ?? {};
  const other = contactSeq === null ? null : contactService(sandbox.app).findBySeq(contactSeq);
  return { emailId, recipient: other ?? contact, isMarketing: isMarketing === 1 };
}

function changesBetween(before: ContactRow, after: ContactRow): ContactChanges {
  const [old, data] = [parseData(before.data), parseData(after.data)];
  const set = Object.entries(data).filter(
    ([name, value]) => JSON.stringify(old[name]) !== JSON.stringify(value),
  );
  const removed = Object.keys(old).filter((name) => !(name in data));
  const isSame = before.isSubscribed === after.isSubscribed;
  return {
    subscribed: isSame ? null : after.isSubscribed,
    data: Object.fromEntries([...set, ...removed.map((name) => [name, null])]),
  };
}

/** Notes the request of a call, and answers it as the task says. */
function answerCall(
  { app, parts }: Sandbox,
  execution: Execution,
  { answers }: SimulationTask,
  observations: Observations,
): Occurrence {
  const { versionSeq, progress } = execution;
  const step = parts.pathsOf(versionSeq)?.step(progress.stepId ?? "") ?? null;
  const context = parts.webhookContextOf(execution);
  if (step?.type !== "WEBHOOK" || context === null) {
    return { kind: "done", result: { outcome: "FAILED", error: "There is nothing to call." } };
  }
  const templates = webhookTemplates(step, context);
  const rendered = renderWebhookRequest(templates, compiledTemplates(app));
  if (!rendered.ok) {
    return { kind: "done", result: { outcome: "FAILED", error: rendered.reason } };
  }
  const { url, headers, body = null } = rendered.request;
  // The tries after the first one repeat the request.
  if (progress.tries === 0) {
    const request = { method: templates.method, url, headers, body };
    observations.add(execution.seq, step.id, { request });
  }
  const answer = answers[step.id] ?? { status: 200 };
  const response = {
    status: answer.status,
    headers: new Headers(answer.body === undefined ? {} : { "content-type": "application/json" }),
    body: new TextEncoder().encode(answer.body === undefined ? "" : JSON.stringify(answer.body)),
    isTruncated: false,
  };
  const moment = { context: progress.context, now: app.clock.now(), random: app.random() };
  return occurrenceOfResponse(response, moment);
}

async function resultOf(
  sandbox: Sandbox,
  task: SimulationTask,
  observations: Observations,
  isCutShort: boolean,
): Promise<SimulationResult> {
  const contact = contactService(sandbox.app).findBySeq(task.contactSeq);
  if (contact === null) throw new Error("a simulation has no contact");
  const seqs = sandbox.app.db.sqlite
    .query<{ seq: number }, []>("SELECT seq FROM workflow_executions ORDER BY seq")
    .all();
  const executions: SimulatedExecution[] = [];
  let mails = 0;
  let shownBytes = 0;
  for (const { seq } of seqs) {
    const execution = sandbox.parts.executionRows.find(seq);
    if (execution === null) continue;
    const steps: SimulatedStep[] = [];
    for (const row of stepsOf(sandbox, seq)) {
      const observation = observations.take(seq, row.stepId);
      const prepared = observation?.mail ?? null;
      const hasRoom = shownBytes < MAX_SHOWN_BYTES;
      const isAsked = prepared !== null && mails++ === task.mail;
      const mail =
        prepared === null ? null : await showMail(sandbox, prepared, row, hasRoom || isAsked);
      const { request: called = null, changes = null } = observation ?? {};
      const request = hasRoom || called === null ? called : { ...called, body: null };
      const bodies = [mail?.html, mail?.text, request?.body];
      shownBytes += bodies.reduce((sum, body) => sum + 2 * (body?.length ?? 0), 0);
      steps.push({ ...row, mail, request, changes });
    }
    const { status, stepId, awaitedEvent, dueAt, context, completedAt, exitReason, error } =
      execution.progress;
    const progress = { status, stepId, awaitedEvent, dueAt, context, completedAt };
    const { startedAt } = execution;
    executions.push({ ...progress, exitReason, error, startedAt, steps });
  }
  return {
    at: sandbox.clock.now(),
    nextAt: sandbox.nextDueAt(),
    isCutShort,
    contact: presentContact(contact),
    executions,
  };
}

type StepRow = Omit<SimulatedStep, "mail" | "request" | "changes">;

function stepsOf(sandbox: Sandbox, executionSeq: number): StepRow[] {
  return sandbox.app.db.sqlite
    .query<Omit<StepRow, "detail"> & { detail: string | null }, [number]>(
      `SELECT step_id AS stepId, type, outcome, branch, detail, started_at AS startedAt,
              completed_at AS completedAt
       FROM workflow_execution_steps WHERE execution_seq = ? ORDER BY number`,
    )
    .all(executionSeq)
    .map((row) => ({ ...row, detail: row.detail === null ? null : parseData(row.detail) }));
}

const MAIL = `
  SELECT emails.to_address AS "to", emails.subject, emails.variables, messages.html,
         messages.from_address AS fromAddress, messages.from_name AS fromName
  FROM emails JOIN messages ON messages.seq = emails.message_seq WHERE emails.id = ?`;

/** The mail as its recipient would see it, with the data that the contact had at its step. */
async function showMail(
  { app }: Sandbox,
  { emailId, recipient, isMarketing }: Omit<PreparedMail, "row">,
  { detail }: StepRow,
  isRendered: boolean,
): Promise<SimulatedMail | null> {
  const row = app.db.sqlite.query<MailRow, [string]>(MAIL).get(emailId);
  if (row === null) return null;
  const { to, fromAddress: address, fromName: name, html: body, variables } = row;
  const suppressed = detail?.["suppressed"];
  const suppression = typeof suppressed === "string" ? suppressed : null;
  const shown = { to, from: { address, name }, subject: row.subject, suppression };
  if (!isRendered) return { ...shown, html: null, text: null, error: null };
  const project = projectOf(app.db.sqlite, recipient.projectSeq);
  const data = variables ?? recipient.data;
  const links = recipientLinks(app.url, app.linkKey, emailId);
  const mails: RequestMails = {
    source: { subject: "-", body },
    given: { subject: false, body: false },
    isLenient: true,
    project,
    recipients: [{ id: recipient.id, email: recipient.email, data, links }],
  };
  const preview = { kind: "preview" as const, mails, emailId, isMarketing, utm: null };
  const result = await runContentTask(preview);
  if (result.kind !== "preview" || result.mail === null) {
    const [error] = result.kind === "preview" ? result.errors : [];
    const reason = `The ${error?.field ?? "body"} ${error?.message ?? "cannot be rendered"}.`;
    return { ...shown, html: null, text: null, error: reason };
  }
  return { ...shown, html: result.mail.html, text: result.mail.text, error: null };
}

type Language = { name: string; language: string };

function projectOf(sqlite: Sandbox["app"]["db"]["sqlite"], seq: number): Language {
  const find = "SELECT name, language FROM projects WHERE seq = ?";
  return sqlite.query<Language, [number]>(find).get(seq) ?? { name: "", language: "en" };
}
