/** Simulations: the path of one contact through a workflow. Nothing is stored or sent. */

import type { App } from "../../../core/app.ts";
import { statement } from "../../../db/statement.ts";
import type { Project } from "../../../http/admission.ts";
import type { RequestActor } from "../../../http/admitted-writes.ts";
import { isoTime, isoTimeOrNull } from "../../../lib/clock.ts";
import { fieldError } from "../../../lib/errors.ts";
import { newId } from "../../../lib/id.ts";
import { normalizedAddress } from "../../../http/formats.ts";
import { documentOwner, keepDocument } from "../../template-editor/drafts.ts";
import { getContact } from "../../contacts/service.ts";
import { serializeData } from "../../contacts/data.ts";
import { triggerEventOf, triggerOf } from "../graph/graph.ts";
import { isContextTooLarge } from "../run/engine.ts";
import type { WorkflowRow } from "../store.ts";
import { checkedDraft, sandboxOf } from "./backtests.ts";
import type { Simulation, SimulationInput } from "./model.ts";
import { needsOf } from "./needs.ts";
import { readContactEvents, readContactRows, readProjectRows } from "./rows.ts";
import type { TableRows } from "./sandbox-app.ts";
import type { SimulatedExecution } from "./simulate.ts";
import { runSimulation } from "./threads.ts";

/** No contact of the project has it. */
const SAMPLE_SEQ = 2 ** 40;
const SAMPLE_EMAIL = "ada@example.com";
const LONGEST_MS = 5 * 366 * 24 * 60 * 60_000;

const findEntered = statement<{ found: number }, [number, number]>(`
  SELECT EXISTS (SELECT 1 FROM workflow_executions
                 WHERE contact_seq = +? AND workflow_seq = +?) AS found`);

export async function simulateWorkflow(
  app: App,
  { project, actor }: { project: Project; actor: RequestActor },
  workflowId: string,
  input: SimulationInput,
): Promise<Simulation> {
  const { workflow: patch = {}, data = {}, answers = {} } = input;
  if (input.contactId !== undefined && input.sample !== undefined) {
    throw fieldError("sample", "invalid_value", "must not be given together with contactId");
  }
  const times = timesOf(app, input);
  if (isContextTooLarge(data))
    throw fieldError("data", "too_big", "must take at most 64 KiB as JSON");
  const { row, graph } = checkedDraft(app, project, workflowId, patch);
  const needs = needsOf(app, project.seq, graph);
  const contact = contactOf(app, project, input);
  const of = { projectSeq: project.seq, workflowSeq: 0 };
  const seqs = contact.row === null ? [contact.seq] : [];
  const [shared, own, { events }] = await Promise.all([
    readProjectRows(app, row, needs),
    readContactRows(app, project.seq, seqs, needs),
    readContactEvents(app, of, seqs, [...needs.eventNames]),
  ]);
  const sample = contact.row === null ? [] : [contact.row];
  const result = await runSimulation(app, project.seq, {
    kind: "simulation",
    sandbox: sandboxOf(app, row, { patch, tables: [...sample, ...shared, ...own] }),
    contactSeq: contact.seq,
    events,
    ...times,
    eventName: triggerEventOf(triggerOf(graph)),
    data,
    answers,
    mail: input.mail ?? null,
  });
  const { at, nextAt, isCutShort, executions } = result;
  const names = new Map(graph.steps.map(({ id, name }) => [id, name]));
  return {
    startAt: isoTime(times.startAt),
    at: isoTime(at),
    nextAt: isoTimeOrNull(nextAt),
    isCutShort,
    hindrance: hindranceOf(
      app,
      { ...row, allowReentry: patch.allowReentry ?? row.allowReentry },
      contact,
    ),
    documentUrl: documentOf(app, documentOwner(project, actor), executions, input.mail),
    contact: result.contact,
    executions: executions.map((execution) => present(execution, names)),
  };
}

function timesOf({ clock }: App, { startAt: given, until, events = [] }: SimulationInput) {
  const startAt = given === undefined ? clock.now() : Date.parse(given);
  const end = until === undefined ? null : Date.parse(until);
  if (end !== null && end < startAt) {
    throw fieldError("until", "too_small", "must not be before startAt");
  }
  if ((end ?? startAt) > startAt + LONGEST_MS) {
    throw fieldError("until", "too_big", "must be at most five years after startAt");
  }
  const occurrences = events.map(({ at, eventName, data = {} }, i) => {
    const time = Date.parse(at);
    const field = `events.${i}.at`;
    if (time < startAt) throw fieldError(field, "too_small", "must not be before startAt");
    if (time > startAt + LONGEST_MS) {
      throw fieldError(field, "too_big", "must be at most five years after startAt");
    }
    return { at: time, eventName, data };
  });
  return { startAt, until: end, occurrences };
}

/** `row` is given for a contact that does not exist. */
type SimulatedContact = { seq: number; row: TableRows | null };

function contactOf(
  app: App,
  project: Project,
  { contactId, sample = {} }: SimulationInput,
): SimulatedContact {
  if (contactId !== undefined) {
    return { seq: getContact(app, project.seq, contactId).seq, row: null };
  }
  const { email = SAMPLE_EMAIL, subscribed = true, data = {} } = sample;
  const now = app.clock.now();
  const values = {
    seq: SAMPLE_SEQ,
    id: newId(now),
    project_seq: project.seq,
    email: normalizedAddress(email),
    is_subscribed: Number(subscribed),
    data: serializeData(data),
    created_at: now,
    updated_at: now,
  };
  const rows = JSON.stringify([Object.values(values)]);
  return { seq: values.seq, row: { table: "contacts", columns: Object.keys(values), rows } };
}

function hindranceOf(
  app: App,
  { seq, allowReentry }: WorkflowRow,
  contact: SimulatedContact,
): string | null {
  if (allowReentry || contact.row !== null) return null;
  if (findEntered(app).get(contact.seq, seq)?.found !== 1) return null;
  return "This contact has entered this workflow before, and re-entry is not allowed.";
}

function present(
  { steps, stepId, awaitedEvent, dueAt, ...execution }: SimulatedExecution,
  names: ReadonlyMap<string, string>,
): Simulation["executions"][number] {
  const { status, startedAt, completedAt, exitReason, error, context } = execution;
  const isActive = completedAt === null && stepId !== null;
  return {
    status,
    startedAt: isoTime(startedAt),
    completedAt: isoTimeOrNull(completedAt),
    exitReason,
    error: isActive ? null : error,
    context: { ...context },
    waiting: isActive
      ? { stepId, eventName: awaitedEvent, until: isoTimeOrNull(dueAt), reason: error }
      : null,
    steps: steps.map(({ mail, detail, changes, ...step }) => ({
      ...step,
      name: names.get(step.stepId) ?? null,
      detail: detail === null ? null : { ...detail },
      startedAt: isoTime(step.startedAt),
      completedAt: isoTime(step.completedAt),
      mail: mail === null ? null : presentMail(mail),
      changes: changes === null ? null : { ...changes, data: { ...changes.data } },
    })),
  };
}

/** Keeps the asked mail as a document for a frame. */
function documentOf(
  app: App,
  owner: string,
  executions: readonly SimulatedExecution[],
  number: number | undefined,
): string | null {
  if (number === undefined) return null;
  const mails = executions.flatMap(({ steps }) => steps.flatMap(({ mail }) => mail ?? []));
  const { html = null, text = null } = mails[number] ?? {};
  return html === null ? null : keepDocument(app, owner, { html, text: text ?? "" });
}

type Mail = NonNullable<SimulatedExecution["steps"][number]["mail"]>;

const presentMail = ({ from, suppression, ...mail }: Mail) => ({
  ...mail,
  from: from.address,
  fromName: from.name,
  suppressed: suppression,
});
