/** Counts the contacts who are in a topic and are subscribed to marketing mail at all. */

import { eq } from "drizzle-orm";
import type { App } from "../../core/app.ts";
import { inTimeBy } from "../../db/queries.ts";
import { contactCounts } from "../../db/schema/contacts.ts";
import type { TopicRow } from "./choices.ts";

/** Longest time for counting, in milliseconds: a million choices take about half a second. */
const LIMIT_MS = 2_000;

/** The number of contacts in a topic; null if counting took too long. */
export type Subscribers = (topic: TopicRow) => number | null;

const CHOICES = `
  SELECT chosen.topic_seq, chosen.is_subscribed, count(*)
  FROM topics CROSS JOIN topic_subscriptions AS chosen CROSS JOIN contacts
  WHERE topics.project_seq = ? AND chosen.topic_seq = topics.seq
    AND ${inTimeBy("chosen.contact_seq")}
    AND contacts.seq = chosen.contact_seq AND contacts.is_subscribed
  GROUP BY 1, 2`;

/** Reads the choices of all topics of a project; who has made none is the rest of its contacts. */
export async function countSubscribers(app: App, projectSeq: number): Promise<Subscribers> {
  const query = { sql: CHOICES, values: [projectSeq], isPartial: true };
  const { rows, isComplete } = await app.reader.find(projectSeq, query, LIMIT_MS);
  const all = subscribedContacts(app, projectSeq);
  return ({ seq, defaultState }) => {
    if (!isComplete) return null;
    const chosen = (isSubscribed: number) =>
      Number(rows.find((row) => row[0] === seq && row[1] === isSubscribed)?.[2] ?? 0);
    return defaultState === "SUBSCRIBED" ? Math.max(0, all - chosen(0)) : chosen(1);
  };
}

/** The numbers of subscribers of new topics, for which no contact has chosen yet. */
export function subscribersWithoutChoices(app: App, projectSeq: number): Subscribers {
  const all = subscribedContacts(app, projectSeq);
  return ({ defaultState }) => (defaultState === "SUBSCRIBED" ? all : 0);
}

function subscribedContacts({ db }: App, projectSeq: number): number {
  const match = eq(contactCounts.projectSeq, projectSeq);
  return db.select().from(contactCounts).where(match).limit(1).get()?.subscribed ?? 0;
}
