/**
 * Workflows: graphs of steps that an event, a schedule or a request starts for contacts. This file connects the parts that
 * run executions. In order:
 *
 * 1. service.ts and graph-changes.ts store a workflow (store.ts) after assemble.ts, validate.ts and
 *    references.ts have checked its graph as a whole; each change of the graph is a new version
 *    (versions.ts).
 * 2. runner.ts reads the event log. For each event it advances the executions that wait for it, then
 *    starts the workflows that it triggers (triggers.ts).
 * 3. advance.ts runs the steps of an execution (run-step.ts, send-email.ts) until it
 *    waits or ends. engine.ts decides which step is next; execution-rows.ts stores the progress.
 * 4. entry-runner.ts lets the contacts of a segment enter, at the times of a schedule or by hand.
 * 5. runner.ts also advances executions whose delay or timeout is over.
 * 6. webhook-calls.ts makes the calls of the executions that are at a WEBHOOK step outside of any
 *    transaction, and stores the results.
 * 7. execution-queries.ts shows executions for the API; executions.ts starts and cancels them.
 */

import type { App } from "../../core/app.ts";
import { operationRoutes } from "../../http/operations.ts";
import type { Module } from "../module.ts";
import { simulationOperations } from "./simulation/operations.ts";
import { segmentBacktestOperations } from "./simulation/segment-operations.ts";
import { closeSandboxes } from "./simulation/threads.ts";
import { announcedRows, createAnnounceExecution } from "./run/announced-rows.ts";
import { createExecutionRows } from "./run/execution-rows.ts";
import { createEngineParts } from "./run/parts.ts";
import { createForgetContact } from "./run/forget-contact.ts";
import { createStepSubjects } from "./steps/subjects.ts";
import { createWebhookCalls } from "./steps/webhook-calls.ts";
import { contactExecutionRoutes } from "./contact-routes.ts";
import { countRoutes } from "./count-routes.ts";
import { entryOperations } from "./entry-operations.ts";
import { createEntryRunner } from "./entry-runner.ts";
import { executionRoutes } from "./execution-routes.ts";
import { createExecutions } from "./executions.ts";
import { graphRoutes } from "./graph-routes.ts";
import { createWorkflowRunner } from "./run/runner.ts";
import { workflowService, type Workflows } from "./service.ts";
import { singleWorkflowOperations } from "./workflow-operations.ts";
import { seriesOperations } from "./series-operations.ts";
import { workflowRoutes } from "./routes.ts";
import { createUnentered } from "./unentered.ts";
import { perApp } from "../../lib/per-app.ts";
import { admissionOf } from "../admission.ts";
import { announcements } from "../../events/announcements.ts";
import { contactService } from "../contacts/service.ts";
import { eventLog } from "../../events/log.ts";
import { contactRemoval } from "../contacts/remove.ts";
import { segmentService } from "../segments/service.ts";
import { flushHits } from "../tracking/tracking.ts";

type Parts = ReturnType<typeof partsOf>;

function partsOf(app: App) {
  return {
    ...app,
    app,
    admission: admissionOf(app),
    announcements: announcements(app),
    contacts: contactService(app),
    events: eventLog(app),
    removal: contactRemoval(app),
    segments: segmentService(app),
  };
}

/** Runs the executions. */
export const workflowRunner = perApp((app: App) =>
  createExecutionRunner({ ...partsOf(app), workflows: workflowService(app) }),
);

export const workflowModule = perApp((app: App): Module => {
  const admission = admissionOf(app);
  const workflows = workflowService(app);
  const { runner, calls, entries, executionRows, executions } = workflowRunner(app);
  function wakeWaiting(): void {
    calls.wakeAll();
    entries.wake();
  }
  return {
    name: "workflows",
    routes: [
      workflowRoutes({ admission, workflows }),
      graphRoutes({ admission, graphChanges: workflows.graphChanges }),
      operationRoutes(app, admission, singleWorkflowOperations),
      operationRoutes(app, admission, entryOperations),
      operationRoutes(app, admission, seriesOperations),
      countRoutes({ app, admission, workflows }),
      executionRoutes({ admission, executions }),
      operationRoutes(app, admission, simulationOperations),
      operationRoutes(app, admission, segmentBacktestOperations),
      contactExecutionRoutes({ ...partsOf(app), listUnentered: createUnentered(partsOf(app)) }),
    ],
    recurring: [
      { name: "deleted workflows", pattern: "*/10 * * * * *", run: workflows.removeDeleted },
      // A command in another process may have enabled a project.
      { name: "workflow calls", pattern: "47 * * * * *", run: async () => wakeWaiting() },
    ],
    dueTimes: [executionRows.shift, entries.planAgain],
    wake(): void {
      runner.wake();
      wakeWaiting();
    },
    async start(): Promise<void> {
      await runner.start();
      entries.start();
    },
    endRequests: () => closeSandboxes(app),

    async stop(): Promise<void> {
      try {
        await entries.stop();
        await runner.stop();
      } finally {
        await workflows.stop();
      }
    },
  };
});

/** Connects the parts that run executions. */
function createExecutionRunner(deps: Parts & { workflows: Workflows }) {
  const { app, db, writer, clock, log, contacts, workflows } = deps;
  const announce = createAnnounceExecution(deps);
  const executionRows = announcedRows(createExecutionRows(db), announce, (workflowSeq) =>
    writer.afterCommit(() => calls.wake([workflowSeq])),
  );
  const parts = createEngineParts({
    app,
    executionRows,
    workflows,
    subjects: createStepSubjects({ app, executionRows, wake: () => runner.wake() }),
  });
  const { advancer, pathsOf, triggers, onExecutionEnd, webhookContextOf } = parts;
  const calls = createWebhookCalls({
    app,
    executionRows,
    advancer,
    pathsOf,
    webhookContextOf,
    wake: () => runner.wake(),
  });
  const runner = createWorkflowRunner({
    ...parts,
    app,
    db,
    calls,
    log,
    flushEvents: () => flushHits(app),
    writer,
  });
  deps.references.register("template", workflows.usersOfTemplate);
  deps.references.register("segment", workflows.usersOfSegment, workflows.checkUsersOfSegments);
  deps.references.register("topic", workflows.usersOfTopic);
  deps.references.register("event", workflows.usersOfEvent);
  deps.removal.onRemove(createForgetContact({ db, clock }));
  const executions = createExecutions({
    db,
    executionRows,
    clock,
    contacts,
    app,
    getWorkflow: workflows.get,
    graphOf: workflows.graphOf,
    announce,
    onExecutionEnd,
    triggers,
    writer,
    wake: runner.wake,
  });
  const entries = createEntryRunner({
    app,
    triggers,
    graphOf: workflows.graphOf,
    announce,
    wakeExecutions: runner.wake,
  });
  return { runner, calls, entries, executionRows, executions };
}
