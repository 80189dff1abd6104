/**
 * Workflows: graphs of steps that an event starts for a contact. This file connects the parts that
 * run executions. In order:
 *
 * 1. service.ts and graph-changes.ts store a workflow (store.ts) after assemble.ts, validate.ts and
 *    references.ts have checked its graph as a whole; each change of the graph is a new version
 *    (versions.ts).
 * 2. runner.ts reads the event log. For each event it advances the executions that wait for it, then
 *    starts the workflows that it triggers (triggers.ts).
 * 3. advance.ts runs the steps of an execution (run-step.ts, send-email.ts) until it
 *    waits or ends. engine.ts decides which step is next; execution-rows.ts stores the progress.
 * 4. runner.ts also advances executions whose delay or timeout is over.
 * 5. webhook-calls.ts makes the calls of the executions that are at a WEBHOOK step outside of any
 *    transaction, and stores the results.
 * 6. execution-queries.ts shows executions for the API; executions.ts starts and cancels them.
 */

import type { App } from "../../core/app.ts";
import type { Module } from "../module.ts";
import { createReader } from "../../events/reader.ts";
import { announcedRows, createAnnounceExecution } from "./run/announced-rows.ts";
import { createExecutionRows, type Execution } from "./run/execution-rows.ts";
import { createForgetContact } from "./run/forget-contact.ts";
import { createStepSubjects } from "./steps/subjects.ts";
import { createWebhookCalls } from "./steps/webhook-calls.ts";
import { createAdvancer } from "./run/advance.ts";
import { contactExecutionRoutes } from "./contact-routes.ts";
import { countRoutes } from "./count-routes.ts";
import { executionRoutes } from "./execution-routes.ts";
import { createExecutions } from "./executions.ts";
import { graphRoutes } from "./graph-routes.ts";
import type { Graph } from "./graph/graph.ts";
import { type Paths, pathsOf as pathsOfGraph } from "./graph/paths.ts";
import { createRunStep } from "./steps/run-step.ts";
import { createWorkflowRunner } from "./run/runner.ts";
import { createSendEmail, type SendingProject } from "./steps/send-email.ts";
import { createWorkflows, type Workflows } from "./service.ts";
import { workflowRoutes } from "./routes.ts";
import { createWebhookContexts } from "./steps/webhook-context.ts";
import { createUnentered } from "./unentered.ts";
import { createTriggers, type StartableWorkflow } from "./run/triggers.ts";
import { perApp } from "../../lib/per-app.ts";
import { admissionOf } from "../admission.ts";
import { announcements } from "../../events/announcements.ts";
import { contactService } from "../contacts/service.ts";
import { isSenderVerified } from "../domains/domains.ts";
import { eventLog } from "../../events/log.ts";
import { eventsOfContact } from "../../events/contact-events.ts";
import { contactRemoval } from "../contacts/remove.ts";
import { segmentService } from "../segments/service.ts";
import { emailStore } from "../../outbox/enqueue.ts";
import { compiledTemplates } from "../../render/template/cache.ts";
import { flushHits } from "../tracking/tracking.ts";

/** The name under which the position in the event log is stored. */
const READER = "workflows";

type ProjectRow = {
  name: string;
  language: string;
  fromAddress: string | null;
  fromName: string | null;
};

const NO_PROJECT: ProjectRow = { name: "", language: "en", fromAddress: null, fromName: null };

type Parts = ReturnType<typeof partsOf>;

function partsOf(app: App) {
  return {
    ...app,
    app,
    admission: admissionOf(app),
    announcements: announcements(app),
    contacts: contactService(app),
    events: eventLog(app),
    eventsOfContact: eventsOfContact(app),
    isSenderVerified: (projectSeq: number, domain: string) =>
      isSenderVerified(app, projectSeq, domain),
    removal: contactRemoval(app),
    segments: segmentService(app),
    store: emailStore(app),
    templateCache: compiledTemplates(app),
  };
}

export const workflowService = perApp((app: App) => {
  const { allowPrivateAddresses } = app.config;
  return createWorkflows({ ...partsOf(app), allowPrivateAddresses });
});

/** Runs the executions. */
export const workflowRunner = perApp((app: App) =>
  createExecutionRunner({ ...partsOf(app), workflows: workflowService(app) }),
);

export const workflowModule = perApp((app: App): Module => {
  const admission = admissionOf(app);
  const workflows = workflowService(app);
  const { runner, calls, executionRows, executions } = workflowRunner(app);
  return {
    name: "workflows",
    routes: [
      workflowRoutes({ admission, workflows }),
      graphRoutes({ admission, graphChanges: workflows.graphChanges }),
      countRoutes({ app, admission, workflows }),
      executionRoutes({ admission, executions }),
      contactExecutionRoutes({ ...partsOf(app), listUnentered: createUnentered(partsOf(app)) }),
    ],
    recurring: [
      { name: "deleted workflows", pattern: "*/10 * * * * *", run: workflows.removeDeleted },
      // A command in another process may have enabled a project.
      { name: "workflow calls", pattern: "47 * * * * *", run: async () => calls.wakeAll() },
    ],
    dueTimes: [executionRows.shift],
    wake(): void {
      runner.wake();
      calls.wakeAll();
    },
    start: runner.start,

    async stop(): Promise<void> {
      try {
        await runner.stop();
      } finally {
        await workflows.stop();
      }
    },
  };
});

/** Connects the parts that run executions. */
function createExecutionRunner(deps: Parts & { workflows: Workflows }) {
  const { db, writer, clock, log, contacts, segments, workflows } = deps;
  const { sqlite } = db;
  const findProject = sqlite.prepare<ProjectRow, [number]>(`
    SELECT name, language, from_address AS fromAddress, from_name AS fromName
    FROM projects WHERE seq = +?`);
  const findCurrent = sqlite.prepare<{ seq: number }, [number]>(
    "SELECT version_seq AS seq FROM workflows WHERE seq = +?",
  );
  const announce = createAnnounceExecution(deps);
  const executionRows = announcedRows(createExecutionRows(db), announce, (workflowSeq) =>
    writer.afterCommit(() => calls.wake([workflowSeq])),
  );
  const pathsByGraph = new WeakMap<Graph, Paths>();

  function pathsOf(versionSeq: number): Paths | null {
    const graph = workflows.graphOf(versionSeq);
    if (graph === null) return null;
    const paths = pathsByGraph.get(graph) ?? pathsOfGraph(graph);
    pathsByGraph.set(graph, paths);
    return paths;
  }

  function projectOf(seq: number): SendingProject {
    const { name, language, fromAddress, fromName } = findProject.get(seq) ?? NO_PROJECT;
    return {
      name,
      language,
      sender: fromAddress === null ? null : { address: fromAddress, name: fromName },
    };
  }

  function triggered(projectSeq: number, eventName: string): StartableWorkflow[] {
    return workflows
      .findTriggered(projectSeq, eventName)
      .map(({ seq, versionSeq, allowReentry }) => ({
        seq,
        projectSeq,
        versionSeq,
        allowReentry: allowReentry === 1,
      }));
  }

  /** Part of a change: an old version is deleted when its last active execution ends. */
  function onExecutionEnd({
    workflowSeq,
    versionSeq,
  }: Pick<Execution, "workflowSeq" | "versionSeq">) {
    if (findCurrent.get(workflowSeq)?.seq === versionSeq) return;
    workflows.dropUnusedVersions(workflowSeq);
  }

  const sendEmail = createSendEmail({
    ...deps,
    projectOf,
    subjects: createStepSubjects({ app: deps.app, executionRows, wake: () => runner.wake() }),
  });
  const runStep = createRunStep({ contacts, segments, sendEmail });
  const advancer = createAdvancer({
    db,
    executionRows,
    contacts,
    pathsOf,
    runStep,
    onExecutionEnd,
    log,
  });
  const triggers = createTriggers({ db, executionRows, pathsOf });
  const calls = createWebhookCalls({
    app: deps.app,
    executionRows,
    advancer,
    pathsOf,
    webhookContextOf: createWebhookContexts({ db, contacts }),
    wake: () => runner.wake(),
  });
  const runner = createWorkflowRunner({
    app: deps.app,
    db,
    executionRows,
    calls,
    clock,
    advancer,
    eventsOfContact: deps.eventsOfContact,
    log,
    reader: createReader({ db, name: READER }),
    triggers,
    triggered,
    flushEvents: () => flushHits(deps.app),
    writer,
  });
  deps.references.register("template", workflows.usersOfTemplate);
  deps.references.register("segment", workflows.usersOfSegment, workflows.checkUsersOfSegments);
  deps.references.register("event", workflows.usersOfEvent);
  deps.removal.onRemove(createForgetContact({ db, clock }));
  // Called within the change that records the event: if it is rolled back, the runner is not woken.
  deps.events.onEvent(() => writer.afterCommit(runner.wake));
  const executions = createExecutions({
    db,
    executionRows,
    clock,
    contacts,
    app: deps.app,
    getWorkflow: workflows.get,
    graphOf: workflows.graphOf,
    announce,
    onExecutionEnd,
    triggers,
    writer,
    wake: runner.wake,
  });
  return { runner, calls, executionRows, executions };
}
