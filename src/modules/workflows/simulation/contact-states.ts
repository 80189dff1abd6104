/**
 * The state of contacts at the moment of a replay: their data, subscriptions, choices of topics and
 * pauses. The rows that were copied have the state of today. A member of the data that an event has
 * brought was absent before the first such event, and a member that the workflow sets was absent before
 * it ran.
 */

import { isServiceEvent } from "../../../lib/service-events.ts";
import { type JsonObject, mergeData, parseData } from "../../contacts/data.ts";
import type { RecordedEvent } from "./recorded-events.ts";
import type { SandboxApp } from "./sandbox-app.ts";

const SUBSCRIPTION: Readonly<Record<string, boolean>> = {
  "contact.subscribed": true,
  "contact.unsubscribed": false,
};

const TOPIC: Readonly<Record<string, boolean>> = {
  "contact.topic_subscribed": true,
  "contact.topic_unsubscribed": false,
};
const PAUSE = ["contact.paused", "contact.resumed"];

/** True for an event that says whether a contact is subscribed. */
export const isOfSubscription = (name: string): boolean => name in SUBSCRIPTION;

/**
 * Sets each contact to the state before its first event. `written` has the names of the members of the
 * data that a workflow sets.
 */
export function createContactStates(
  sandbox: Pick<SandboxApp, "app" | "clock">,
  events: readonly RecordedEvent[],
  { contactSeqs, written }: { contactSeqs: readonly number[]; written: ReadonlySet<string> },
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
      const merged = JSON.stringify(mergeData(parseData(row.data), Object.fromEntries(patch)));
      if (merged !== row.data) setData.run(merged, sandbox.clock.now(), contactSeq);
      return true;
    },
  };
}

/** The choices of topics and the pauses of contacts, which have events. */
function createChoices({ app, clock }: Pick<SandboxApp, "app" | "clock">) {
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
