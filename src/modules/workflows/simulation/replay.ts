/**
 * Replays the recorded events of some contacts in a sandbox, and counts the entries and steps that a
 * workflow would have had since `from`. In order:
 *
 * 1. Each contact gets the state that it had before its first event: `initial` undoes the changes of
 *    later events and of the workflow itself.
 * 2. The events are recorded in the order of the log, each at its time. Events before `from` only set
 *    the state of their contacts, because the workflow may not start yet.
 * 3. The executions, steps and mails in the sandbox are counted.
 */

import { isServiceEvent } from "../../../lib/service-events.ts";
import { segmentService } from "../../segments/service.ts";
import { type Graph, triggerOf } from "../graph/graph.ts";
import type { Occurrence } from "../run/engine.ts";
import { createContactStates, isOfSubscription } from "./contact-states.ts";
import { createSandbox, type Sandbox, type SandboxInput } from "./sandbox.ts";
import { parseRecordedEvents, type RecordedEvent } from "./recorded-events.ts";
import { countReplay, type ReplayCounts } from "./replay-counts.ts";

export type ReplayTask = {
  kind: "replay";
  /** The times at which a schedule starts the workflow, in their order. */
  entryTimes: readonly number[];
  /** The contacts that are replayed. */
  contactSeqs: readonly number[];
  sandbox: Omit<SandboxInput, "startAt">;
  graph: Graph;
  /** JSON: the `RecordedEvent` of the contacts in any order. */
  events: string;
  from: number;
  until: number;
};

/** The answer of a webhook is not in the log. */
const CALLED: Occurrence = {
  kind: "done",
  result: { outcome: "COMPLETED", removeFromContext: "webhook" },
};

export async function replay(task: ReplayTask): Promise<ReplayCounts> {
  const events = parseRecordedEvents(task.events);
  const startAt = Math.min(task.from, events[0]?.at ?? task.from);
  const sandbox = createSandbox({ ...task.sandbox, startAt }, { answerCall: () => CALLED });
  try {
    await sandbox.app.writer.write(() => run(sandbox, events, task));
    return countReplay(sandbox.app.db.sqlite);
  } finally {
    sandbox.close();
  }
}

function run(sandbox: Sandbox, events: readonly RecordedEvent[], task: ReplayTask): void {
  const { from, until } = task;
  const states = createContactStates(sandbox, events, {
    contactSeqs: task.contactSeqs,
    written: namesWrittenBy(task.graph),
  });
  sandbox.setWorkflow(false);
  let isStarted = false;
  const start = () => {
    isStarted = true;
    sandbox.moveTo(from);
    sandbox.skipEvents();
    sandbox.setWorkflow(true);
  };
  const entries = createEntries(sandbox, task);
  for (const [i, event] of events.entries()) {
    const { name, contactSeq, json, at, emailSeq } = event;
    if (at > until) continue;
    if (!isStarted && at >= from) start();
    entries.enterUntil(at);
    sandbox.moveTo(at);
    if (!states.apply(contactSeq, name, json)) continue;
    sandbox.record({ name, contactSeq, json, emailSeq });
    const next = events[i + 1];
    const isOneRequest = next !== undefined && isSubscriptionOf(event, next);
    // Both were committed together, so the engine saw the data of the second event with the first one.
    if (isOneRequest) states.apply(contactSeq, next.name, next.json);
    else if (isStarted) sandbox.settle();
  }
  if (!isStarted) start();
  entries.enterUntil(until);
  sandbox.moveTo(until);
  sandbox.settle();
}

/** Contacts whose membership is tested by one statement. */
const ENTERING_AT_ONCE = 200;

/** Lets the contacts of a schedule enter: those that are in its segment at each of its times. */
function createEntries(sandbox: Sandbox, { graph, entryTimes, contactSeqs, ...task }: ReplayTask) {
  const { projectSeq, workflowId } = task.sandbox;
  const { app, clock, parts, workflows } = sandbox;
  const trigger = triggerOf(graph);
  const segmentId = "segmentId" in trigger ? trigger.segmentId : null;
  const findCreated = app.db.sqlite.prepare<{ seq: number }, [string, number]>(`
    SELECT contacts.seq FROM json_each(?) AS asked CROSS JOIN contacts
    WHERE contacts.seq = asked.value AND contacts.created_at <= +? ORDER BY contacts.seq`);
  let next = 0;

  function membersAmong(seqs: readonly number[]): number[] {
    const created = findCreated.all(JSON.stringify(seqs), clock.now()).map(({ seq }) => seq);
    if (segmentId === null) return created;
    const segments = segmentService(app);
    return segments.audiences.matching(segments.audienceOf(projectSeq, segmentId), created);
  }

  function enter(): void {
    const { seq, versionSeq, allowReentry } = workflows.get(projectSeq, workflowId);
    const workflow = { seq, projectSeq, versionSeq, allowReentry };
    for (let at = 0; at < contactSeqs.length; at += ENTERING_AT_ONCE) {
      for (const contactSeq of membersAmong(contactSeqs.slice(at, at + ENTERING_AT_ONCE))) {
        const now = clock.now();
        parts.triggers.startManually(workflow, { contactSeq, context: {}, now });
      }
      sandbox.settle();
    }
  }

  return {
    /** Part of a change: the times of the schedule until `at` come. */
    enterUntil(at: number): void {
      for (let time = entryTimes[next]; time !== undefined && time <= at; time = entryTimes[next]) {
        next++;
        sandbox.moveTo(time);
        sandbox.settle();
        enter();
      }
    },
  };
}

/** True if the request that tracked `next` has also changed the subscription: `event`. */
function isSubscriptionOf(event: RecordedEvent, next: RecordedEvent): boolean {
  const isSame = next.contactSeq === event.contactSeq && next.at === event.at;
  return isOfSubscription(event.name) && isSame && !isServiceEvent(next.name);
}

/** The members of the data of contacts that the steps of a graph set or remove. */
function namesWrittenBy({ steps }: Graph): ReadonlySet<string> {
  return new Set(
    steps.flatMap((step) =>
      step.type === "UPDATE_CONTACT" ? Object.keys(step.config.updates ?? {}) : [],
    ),
  );
}
