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
import { type JsonObject, mergeData, parseData } from "../../contacts/data.ts";
import { segmentService } from "../../segments/service.ts";
import { type Graph, triggerOf } from "../graph/graph.ts";
import type { Occurrence } from "../run/engine.ts";
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

const SUBSCRIPTION: Readonly<Record<string, boolean>> = {
  "contact.subscribed": true,
  "contact.unsubscribed": false,
};

const TOPIC: Readonly<Record<string, boolean>> = {
  "contact.topic_subscribed": true,
  "contact.topic_unsubscribed": false,
};
const PAUSE = ["contact.paused", "contact.resumed"];

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
  const states = createContactStates(sandbox, events, task);
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
    const { name, contactSeq, json, at } = event;
    if (at > until) continue;
    if (!isStarted && at >= from) start();
    entries.enterUntil(at);
    sandbox.moveTo(at);
    if (!states.apply(contactSeq, name, json)) continue;
    sandbox.record({ name, contactSeq, json });
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
  return event.name in SUBSCRIPTION && isSame && !isServiceEvent(next.name);
}

/**
 * The state of contacts at the moment of the replay. The rows that were copied have the state of today.
 * A member of the data that an event has brought was absent before the first such event, and a member
 * that the workflow sets was absent before it ran.
 */
function createContactStates(
  sandbox: Sandbox,
  events: readonly RecordedEvent[],
  { graph, contactSeqs }: Pick<ReplayTask, "graph" | "contactSeqs">,
) {
  const { sqlite } = sandbox.app.db;
  const find = sqlite.prepare<{ data: string; isSubscribed: number }, [number]>(
    "SELECT data, is_subscribed AS isSubscribed FROM contacts WHERE seq = +?",
  );
  const setData = sqlite.prepare<unknown, [string, number, number]>(
    "UPDATE contacts SET data = ?, updated_at = ? WHERE seq = +?",
  );
  const setSubscribed = sqlite.prepare<unknown, [number, number, number]>(
    "UPDATE contacts SET is_subscribed = ?, updated_at = ? WHERE seq = +?",
  );
  const choices = createChoices(sandbox);
  const written = namesWrittenBy(graph);
  /** The members of the data of each contact that events have brought. */
  const brought = new Map<number, ReadonlySet<string>>();
  const byContact = Map.groupBy(events, ({ contactSeq }) => contactSeq);
  for (const contactSeq of contactSeqs) {
    const own = byContact.get(contactSeq) ?? [];
    const row = find.get(contactSeq);
    if (row === null) continue;
    const data = parseData(row.data);
    const names = broughtBy(own, data, written);
    brought.set(contactSeq, names);
    const kept = Object.entries(data).filter(([name]) => !names.has(name) && !written.has(name));
    setData.run(JSON.stringify(Object.fromEntries(kept)), sandbox.clock.now(), contactSeq);
    const change = own.find(({ name }) => name in SUBSCRIPTION);
    const isSubscribed = change === undefined ? row.isSubscribed === 1 : !SUBSCRIPTION[change.name];
    setSubscribed.run(Number(isSubscribed), sandbox.clock.now(), contactSeq);
    choices.undo(contactSeq, own);
  }

  return {
    /**
     * Applies an event to its contact. Returns false for an event that does not happen again: the
     * subscription is already as it says, because the workflow itself has changed it.
     */
    apply(contactSeq: number, name: string, json: string | null): boolean {
      const row = find.get(contactSeq);
      if (row === null) return false;
      const isSubscribed = SUBSCRIPTION[name];
      if (isSubscribed !== undefined) {
        if ((row.isSubscribed === 1) === isSubscribed) return false;
        setSubscribed.run(Number(isSubscribed), sandbox.clock.now(), contactSeq);
        return true;
      }
      if (json === null) return true;
      if (isServiceEvent(name)) {
        choices.apply(contactSeq, name, parseData(json));
        return true;
      }
      const names = brought.get(contactSeq);
      const patch = Object.entries(parseData(json)).filter(([member]) => names?.has(member));
      if (patch.length === 0) return true;
      const merged = mergeData(parseData(row.data), Object.fromEntries(patch));
      setData.run(JSON.stringify(merged), sandbox.clock.now(), contactSeq);
      return true;
    },
  };
}

/** The choices of topics and the pauses of contacts, which have events. */
function createChoices({ app, clock }: Sandbox) {
  const { sqlite } = app.db;
  const forget = sqlite.prepare<unknown, [number, string]>(`
    DELETE FROM topic_subscriptions WHERE contact_seq = +?
      AND topic_seq = (SELECT seq FROM topics WHERE id = +?)`);
  const choose = sqlite.prepare<unknown, [number, number, number, string]>(`
    INSERT OR REPLACE INTO topic_subscriptions (topic_seq, contact_seq, is_subscribed, changed_at)
    SELECT seq, +?, +?, +? FROM topics WHERE id = +?`);
  const pause = sqlite.prepare<unknown, [number | null, number]>(
    "UPDATE contacts SET paused_until = ? WHERE seq = +?",
  );
  const textIn = (data: JsonObject, name: string): string => {
    const text = data[name];
    return typeof text === "string" ? text : "";
  };

  return {
    /** Before its first choice, a contact has the default of the topic, and no pause. */
    undo(contactSeq: number, events: readonly RecordedEvent[]): void {
      for (const { name, json } of events) {
        if (json !== null && name in TOPIC)
          forget.run(contactSeq, textIn(parseData(json), "topicId"));
        if (PAUSE.includes(name)) pause.run(null, contactSeq);
      }
    },

    apply(contactSeq: number, name: string, data: JsonObject): void {
      const isIn = TOPIC[name];
      if (isIn !== undefined) {
        choose.run(contactSeq, Number(isIn), clock.now(), textIn(data, "topicId"));
      }
      if (!PAUSE.includes(name)) return;
      const until = Date.parse(textIn(data, "pausedUntil"));
      pause.run(Number.isNaN(until) ? null : until, contactSeq);
    },
  };
}

/**
 * The members that events have stored with the contact: it has them today, or one of the events has
 * removed them, or the workflow may have. A member that was only rendered is not one of them.
 */
function broughtBy(
  events: readonly RecordedEvent[],
  today: JsonObject,
  written: ReadonlySet<string>,
): ReadonlySet<string> {
  const names = new Set<string>();
  for (const { name: event, json } of events) {
    if (json === null || isServiceEvent(event)) continue;
    for (const [name, value] of Object.entries(parseData(json))) {
      if (name in today || value === null || written.has(name)) names.add(name);
    }
  }
  return names;
}

/** The members of the data of contacts that the steps of a graph set or remove. */
function namesWrittenBy({ steps }: Graph): ReadonlySet<string> {
  return new Set(
    steps.flatMap((step) =>
      step.type === "UPDATE_CONTACT" ? Object.keys(step.config.updates ?? {}) : [],
    ),
  );
}
