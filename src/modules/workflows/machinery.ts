/** Puts the parts together that run executions. */

import type { Db } from "../../db/open.ts";
import type { Writer } from "../../db/writer.ts";
import type { Cursors } from "../../http/pagination.ts";
import type { Clock } from "../../lib/clock.ts";
import type { FetchGuarded } from "../../lib/fetch-guarded/fetch-guarded.ts";
import type { Log } from "../../lib/log.ts";
import type { TemplateCache } from "../../mail/template-cache.ts";
import type { Contacts } from "../contacts/service.ts";
import type { EmailStore } from "../emails/store.ts";
import type { EventsOfContact } from "../events/of-contact.ts";
import { createReader } from "../events/reader.ts";
import type { Events } from "../events/service.ts";
import type { Segments } from "../segments/service.ts";
import type { Suppressions } from "../suppressions/service.ts";
import type { Templates } from "../templates/service.ts";
import { createAgenda, type Execution } from "./agenda.ts";
import { createCalls } from "./calls.ts";
import { createChooseBranch } from "./conditions.ts";
import { createDrive } from "./drive.ts";
import { createExecutions } from "./executions.ts";
import type { Graph } from "./graph.ts";
import { type Paths, pathsOf as pathsOfGraph } from "./paths.ts";
import { createPerform } from "./perform.ts";
import { createWorkflowRunner } from "./runner.ts";
import { createSendEmail, type SendingProject } from "./send-email.ts";
import type { Workflows } from "./service.ts";
import { createSituations } from "./situations.ts";
import { createStarts, type Startable } from "./starts.ts";

/** Its place in the log is kept under this name. */
const READER = "workflows";

type ProjectRow = { name: string; fromAddress: string | null; fromName: string | null };

const NO_PROJECT: ProjectRow = { name: "", fromAddress: null, fromName: null };

export type MachineryDeps = {
  db: Db;
  writer: Writer;
  clock: Clock;
  log: Log;
  cursors: Cursors;
  contacts: Contacts;
  events: Events;
  eventsOfContact: EventsOfContact;
  segments: Segments;
  store: EmailStore;
  suppressions: Suppressions;
  templateCache: TemplateCache;
  templates: Templates;
  workflows: Workflows;
  fetchGuarded: FetchGuarded;
  isSenderVerified: (projectSeq: number, domain: string) => boolean;
  random: () => number;
  /** Calls of one project at once; 0 for no limit but a fair share. */
  mostCallsOfProject: number;
  settleFacts: () => Promise<void>;
  wakeDispatcher: () => void;
  url: string;
  linkKey: Uint8Array;
};

export function createMachinery(deps: MachineryDeps) {
  const { db, writer, clock, log, contacts, segments, workflows, templateCache } = deps;
  const { sqlite } = db;
  const findProject = sqlite.prepare<ProjectRow, [number]>(`
    SELECT name, from_address AS fromAddress, from_name AS fromName
    FROM projects WHERE seq = +?`);
  const findCurrent = sqlite.prepare<{ seq: number }, [number]>(
    "SELECT version_seq AS seq FROM workflows WHERE seq = +?",
  );
  const agenda = createAgenda(db);
  const known = new WeakMap<Graph, Paths>();

  function pathsOf(versionSeq: number): Paths | null {
    const graph = workflows.graphOf(versionSeq);
    if (graph === null) return null;
    const paths = known.get(graph) ?? pathsOfGraph(graph);
    known.set(graph, paths);
    return paths;
  }

  function projectOf(seq: number): SendingProject {
    const { name, fromAddress, fromName } = findProject.get(seq) ?? NO_PROJECT;
    return { name, sender: fromAddress === null ? null : { address: fromAddress, name: fromName } };
  }

  function triggered(projectSeq: number, eventName: string): Startable[] {
    return workflows
      .findTriggered(projectSeq, eventName)
      .map(({ seq, versionSeq, allowReentry }) => ({
        seq,
        projectSeq,
        versionSeq,
        allowReentry: allowReentry === 1,
      }));
  }

  /** Part of a change: a version that was replaced is kept as long as it is needed. */
  function noteEnd({ workflowSeq, versionSeq }: Pick<Execution, "workflowSeq" | "versionSeq">) {
    if (findCurrent.get(workflowSeq)?.seq === versionSeq) return;
    workflows.dropUnusedVersions(workflowSeq);
  }

  const sendEmail = createSendEmail({
    ...deps,
    projectOf,
    wake: deps.wakeDispatcher,
  });
  const chooseBranch = createChooseBranch({ segments });
  const perform = createPerform({ chooseBranch, contacts, sendEmail });
  const drive = createDrive({ db, agenda, contacts, pathsOf, perform, noteEnd, log });
  const starts = createStarts({ db, agenda, pathsOf });
  const situationOf = createSituations({ db, contacts });
  const { fetchGuarded, random } = deps;
  const calls = createCalls({
    agenda,
    drive,
    pathsOf,
    situationOf,
    templateCache,
    fetchGuarded,
    writer,
    clock,
    log,
    random,
    mostCallsOfProject: deps.mostCallsOfProject,
    wake: () => runner.wake(),
  });
  const runner = createWorkflowRunner({
    db,
    agenda,
    calls,
    clock,
    drive,
    eventsOfContact: deps.eventsOfContact,
    log,
    reader: createReader({ db, name: READER }),
    starts,
    triggered,
    settleFacts: deps.settleFacts,
    writer,
  });
  // Part of the change that writes the fact: nobody is woken for what was not written.
  deps.events.onFact(() => writer.afterCommit(runner.wake));
  const executions = createExecutions({
    db,
    agenda,
    clock,
    contacts,
    cursors: deps.cursors,
    getWorkflow: workflows.get,
    graphOf: workflows.graphOf,
    noteEnd,
    starts,
    writer,
    wake: runner.wake,
  });
  return { runner, executions };
}
