/**
 * POST /workflows/{id}/simulation
 * POST /workflows/{id}/backtest
 * GET  /workflows/{id}/backtest
 * POST /workflows/{id}/backtest/cancel
 *
 * None of them writes to the database.
 */

import { inArray } from "drizzle-orm";
import type { App } from "../../../core/app.ts";
import { contacts } from "../../../db/schema/contacts.ts";
import { templates } from "../../../db/schema/templates.ts";
import { BODY_LIMITS, limited } from "../../../http/body-limits.ts";
import { Envelope } from "../../../http/envelope.ts";
import { operations, read } from "../../../http/operations.ts";
import { textFor } from "../../../http/role-views.ts";
import type { Role } from "../../../http/roles.ts";
import { isoTime, isoTimeOrNull } from "../../../lib/clock.ts";
import { Backtest, BacktestInput, LastBacktest } from "./backtest-model.ts";
import { presentRun, type WorkflowRun } from "./backtest-runs.ts";
import { cancelBacktest, findBacktest, startBacktest } from "./backtests.ts";
import { Simulation, SimulationInput } from "./model.ts";
import type { ReplayCounts, StepCount } from "./replay-counts.ts";
import { simulateWorkflow } from "./simulations.ts";

export const simulationOperations = operations(
  "Workflows",
  { parameters: { id: "Id of the workflow" } },
  [
    read("POST /workflows/:id/simulation", {
      id: "simulateWorkflow",
      role: "EDITOR",
      isAudited: false,
      summary: "Show what a workflow would do for one contact",
      description:
        "The steps run with a clock that is moved, on a copy of the contact. Nothing is stored or sent, " +
        "and no webhook is called. Each request begins anew, so the same request has the same answer.",
      body: limited(SimulationInput, BODY_LIMITS.workflow),
      answer: Envelope(Simulation),
      run: (app, { project, actor, params, body }) =>
        simulateWorkflow(app, { project, actor: actor() }, params.id, body),
    }),
    read("POST /workflows/:id/backtest", {
      id: "startBacktest",
      role: "EDITOR",
      isAudited: false,
      summary: "Replay the recorded events of the last days through a workflow",
      description:
        "Counts what the workflow would have done if it had been enabled at the beginning, when no " +
        "contact had entered it. Answers at once; the counts grow while it runs, and a project has one " +
        "backtest at a time. Nothing is stored or sent.",
      body: limited(BacktestInput, BODY_LIMITS.workflow),
      answer: Envelope(Backtest),
      run: (app, { project, role, params, body }) =>
        present(app, role, startBacktest(app, project, params.id, body)),
    }),
    read("GET /workflows/:id/backtest", {
      id: "getBacktest",
      role: "VIEWER",
      scopes: ["READ"],
      summary: "Get the last backtest of a workflow",
      description:
        "It is kept until another one of the project is started, or the server is stopped.",
      answer: Envelope(LastBacktest),
      run(app, { project, role, params }) {
        const state = findBacktest(app, project, params.id);
        return { backtest: state === null ? null : present(app, role, state) };
      },
    }),
    read("POST /workflows/:id/backtest/cancel", {
      id: "cancelBacktest",
      role: "EDITOR",
      isAudited: false,
      summary: "End the backtest of a workflow",
      description: "The counts so far stay. One that has ended is refused with 409. Needs no body.",
      answer: Envelope(Backtest),
      run: (app, { project, role, params }) =>
        present(app, role, cancelBacktest(app, project, params.id)),
    }),
  ],
);

const present = (app: App, role: Role | null, state: WorkflowRun): Backtest => ({
  ...presentRun(state),
  workflowId: state.subjectId,
  result: resultOf(app, role, state.counts),
});

function resultOf(app: App, role: Role | null, counts: ReplayCounts): Backtest["result"] {
  const readable = <T extends { reason: string | null }>(item: T): T =>
    item.reason === null ? item : { ...item, reason: textFor(role, item.reason) };
  return {
    started: sumOf(counts.started),
    days: daysOf(counts),
    steps: stepsOf(counts.steps),
    mails: mailsOf(app, counts),
    endings: counts.endings.map(readable),
    examples: examplesOf(app, counts).map(readable),
  };
}

const sumOf = (items: readonly { count: number }[]): number =>
  items.reduce((sum, { count }) => sum + count, 0);

function daysOf({ started, mails }: ReplayCounts): Backtest["result"]["days"] {
  const days = [...new Set([...started, ...mails].map(({ day }) => day))].toSorted();
  return days.map((day) => ({
    day,
    started: sumOf(started.filter((each) => each.day === day)),
    mails: sumOf(mails.filter((each) => each.day === day)),
  }));
}

function stepsOf(counts: readonly StepCount[]): Backtest["result"]["steps"] {
  return [...Map.groupBy(counts, ({ stepId }) => stepId)].map(([stepId, of]) => {
    const ended = (outcome: StepCount["outcome"]) =>
      sumOf(of.filter((each) => each.outcome === outcome));
    const branches = of.flatMap(({ branch, count }) => (branch === null ? [] : { branch, count }));
    return {
      stepId,
      entered: sumOf(of),
      completed: ended("COMPLETED"),
      skipped: ended("SKIPPED"),
      failed: ended("FAILED"),
      active: ended(null),
      branches,
    };
  });
}

function mailsOf({ db }: App, { mails }: ReplayCounts): Backtest["result"]["mails"] {
  const byTemplate = Map.groupBy(mails, ({ templateId }) => templateId);
  const rows = db
    .select({ id: templates.id, name: templates.name })
    .from(templates)
    .where(inArray(templates.id, [...byTemplate.keys()]))
    .all();
  const names = new Map(rows.map(({ id, name }) => [id, name]));
  return [...byTemplate].map(([templateId, of]) => ({
    templateId,
    templateName: names.get(templateId) ?? null,
    total: sumOf(of),
    suppressed: sumOf(of.filter(({ isSuppressed }) => isSuppressed)),
    days: [...Map.groupBy(of, ({ day }) => day)]
      .map(([day, items]) => ({ day, count: sumOf(items) }))
      .toSorted((a, b) => (a.day < b.day ? -1 : 1)),
  }));
}

function examplesOf({ db }: App, { examples }: ReplayCounts): Backtest["result"]["examples"] {
  const rows = db
    .select({ seq: contacts.seq, id: contacts.id, email: contacts.email })
    .from(contacts)
    .where(
      inArray(
        contacts.seq,
        examples.map(({ contactSeq }) => contactSeq),
      ),
    )
    .all();
  const known = new Map(rows.map((row) => [row.seq, row]));
  return examples.map(({ contactSeq, stepId, steps, startedAt, completedAt, ...rest }) => ({
    ...rest,
    contactId: known.get(contactSeq)?.id ?? null,
    contactEmail: known.get(contactSeq)?.email ?? null,
    currentStepId: stepId,
    startedAt: isoTime(startedAt),
    completedAt: isoTimeOrNull(completedAt),
    steps: steps.map((step) => ({
      ...step,
      startedAt: isoTime(step.startedAt),
      completedAt: isoTime(step.completedAt),
    })),
  }));
}
