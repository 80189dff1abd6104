/**
 * The parts that start and advance executions: for the runner of the server, and for a sandbox
 * (simulation/sandbox.ts), in which the same code runs with a clock that is moved.
 */

import type { App } from "../../../core/app.ts";
import type { Db } from "../../../db/open.ts";
import { createReader } from "../../../events/reader.ts";
import { eventLog } from "../../../events/log.ts";
import { eventsOfContact } from "../../../events/contact-events.ts";
import { emailStore } from "../../../outbox/enqueue.ts";
import { contactService } from "../../contacts/service.ts";
import { isSenderVerified } from "../../domains/domains.ts";
import { segmentService } from "../../segments/service.ts";
import type { Graph } from "../graph/graph.ts";
import { type Paths, pathsOf as pathsOfGraph } from "../graph/paths.ts";
import type { Workflows } from "../service.ts";
import { createRunStep, type RunStep } from "../steps/run-step.ts";
import { createSendEmail, type SendingProject } from "../steps/send-email.ts";
import type { StepSubjects } from "../steps/subjects.ts";
import { createWebhookContexts } from "../steps/webhook-context.ts";
import { createAdvancer } from "./advance.ts";
import type { Execution, ExecutionRows } from "./execution-rows.ts";
import { createTriggers, type StartableWorkflow } from "./triggers.ts";

/** The name under which the position in the event log is stored. */
const READER = "workflows";

type ProjectRow = {
  name: string;
  language: string;
  fromAddress: string | null;
  fromName: string | null;
};

const NO_PROJECT: ProjectRow = { name: "", language: "en", fromAddress: null, fromName: null };

export function createEngineParts(deps: {
  app: App;
  executionRows: ExecutionRows;
  workflows: Pick<Workflows, "graphOf" | "findTriggered" | "dropUnusedVersions">;
  subjects: StepSubjects;
  /** Is called around each step that runs. */
  around?: (runStep: RunStep) => RunStep;
}) {
  const { app, executionRows, workflows, subjects, around = (runStep) => runStep } = deps;
  const { db, clock, log } = app;
  const { sqlite } = db;
  const contacts = contactService(app);
  const projectOf = createProjectFinder(db);
  const findCurrent = sqlite.prepare<{ seq: number }, [number]>(
    "SELECT version_seq AS seq FROM workflows WHERE seq = +?",
  );
  const findId = sqlite.prepare<{ id: string }, [number]>(
    "SELECT id FROM workflows WHERE seq = +?",
  );
  const pathsByGraph = new WeakMap<Graph, Paths>();

  function pathsOf(versionSeq: number): Paths | null {
    const graph = workflows.graphOf(versionSeq);
    if (graph === null) return null;
    const paths = pathsByGraph.get(graph) ?? pathsOfGraph(graph);
    pathsByGraph.set(graph, paths);
    return paths;
  }

  /** The id of the workflow of an execution, without which no execution exists. */
  function workflowIdOf(seq: number): string {
    const found = findId.get(seq);
    if (found === null) throw new Error("an execution has no workflow");
    return found.id;
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
    app,
    contacts,
    events: eventLog(app),
    store: emailStore(app),
    subjects,
    isSenderVerified: (projectSeq, domain) => isSenderVerified(app, projectSeq, domain),
    projectOf,
    url: app.url,
    linkKey: app.linkKey,
  });
  const segments = segmentService(app);
  const runStep = around(createRunStep({ contacts, segments, sendEmail, workflowIdOf }));
  const advancer = createAdvancer({
    db,
    executionRows,
    contacts,
    pathsOf,
    runStep,
    onExecutionEnd,
    log,
  });
  return {
    executionRows,
    advancer,
    clock,
    eventsOfContact: eventsOfContact(app),
    onExecutionEnd,
    pathsOf,
    reader: createReader({ db, name: READER }),
    triggered,
    triggers: createTriggers({ db, executionRows, pathsOf }),
    webhookContextOf: createWebhookContexts({ db, contacts }),
  };
}

function createProjectFinder({ sqlite }: Pick<Db, "sqlite">) {
  const find = sqlite.prepare<ProjectRow, [number]>(`
    SELECT name, language, from_address AS fromAddress, from_name AS fromName
    FROM projects WHERE seq = +?`);
  return (seq: number): SendingProject => {
    const { name, language, fromAddress, fromName } = find.get(seq) ?? NO_PROJECT;
    const sender = fromAddress === null ? null : { address: fromAddress, name: fromName };
    return { name, language, sender };
  };
}
