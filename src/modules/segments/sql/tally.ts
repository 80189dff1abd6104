/**
 * Counts the contacts of an audience by the facts that decide whether they get mail: their consent,
 * their topic and pause, and the suppression of their address. It is one SELECT in a reader. If it
 * takes long, and the caller accepts an estimate, random contacts are counted instead.
 */

import { eq } from "drizzle-orm";
import type { App } from "../../../core/app.ts";
import type { ReadQuery } from "../../../db/queries.ts";
import { contactCounts } from "../../../db/schema/contacts.ts";
import { statement } from "../../../db/statement.ts";
import { hasPaused, isIn, type TopicOfAudience } from "../condition/audience-tests.ts";
import { bind, type Fragment } from "./bind.ts";
import type { Audience } from "./plan.ts";
import { choosePlan, inTimeOf, queryOf, rowsOf } from "./reads.ts";

/**
 * Contacts that are alike. `reason` is why their address is suppressed; null if it is not. `refusal` is
 * why those of them who are subscribed get no marketing mail; absent if they get it.
 */
export type ContactTally = {
  isSubscribed: boolean;
  reason: string | null;
  refusal?: "TOPIC" | "PAUSED";
  count: number;
};
export type Tallies = { tallies: ContactTally[]; isExact: boolean };

/** Longest time for counting if the caller accepts an estimate, in milliseconds. */
const WAIT_MS = 200;
/** Random contacts of an estimate. Fewer are asked if the time is over before. */
const ASKED = 2_000;

export async function tallyAudience(
  app: App,
  audience: Audience,
  counted: "EXACT" | "RECENT",
  topic: TopicOfAudience | null = null,
): Promise<Tallies> {
  const isPartial = counted === "RECENT";
  const isWhole = audience.tests.length === 0;
  const query = isWhole ? exceptionsOfAll(audience, topic) : await talliesOf(app, audience, topic);
  const limitMs = isPartial ? WAIT_MS : undefined;
  const { projectSeq } = audience;
  // The estimate is made meanwhile, in another thread. Nothing waits for it if the count is exact.
  const estimating = isPartial ? estimate(app, audience, WAIT_MS, topic) : null;
  estimating?.catch(() => undefined);
  const found = await app.reader.find(projectSeq, { ...query, isPartial }, limitMs);
  if (!found.isComplete) return { tallies: (await estimating) ?? [], isExact: false };
  const tallies = found.rows.map(tallyOf);
  const all = isWhole ? withOthers(app, projectSeq, tallies, topic) : tallies;
  return { tallies: all, isExact: true };
}

const IS_SUPPRESSED_BY = bind`LEFT JOIN suppressions AS barred
  ON barred.project_seq = contacts.project_seq AND barred.email = contacts.email`;

/** SQL of the columns of a tally but for the number, for a row of `contacts`. */
function alike(audience: Audience, topic: TopicOfAudience | null): Fragment {
  const left = topic === null ? bind`` : bind`WHEN NOT ${isIn(topic)} THEN 'TOPIC'`;
  return bind`contacts.is_subscribed, barred.reason,
    CASE ${left} WHEN ${hasPaused(audience)} THEN 'PAUSED' END`;
}

async function talliesOf(
  app: App,
  audience: Audience,
  topic: TopicOfAudience | null,
): Promise<ReadQuery> {
  const plan = await choosePlan(app, audience);
  const options = { joins: IS_SUPPRESSED_BY, readsContacts: true };
  return queryOf(bind`
    SELECT ${alike(audience, topic)}, count(*) ${rowsOf(plan, audience, options)}
    GROUP BY 1, 2, 3`);
}

/**
 * Without a condition only the contacts are read who differ from most, because the numbers of all
 * are stored: suppressed contacts, contacts who have paused, and contacts whose choice differs from
 * the default of the topic.
 */
function exceptionsOfAll(audience: Audience, topic: TopicOfAudience | null): ReadQuery {
  const { projectSeq, now } = audience;
  const chosen =
    topic === null
      ? bind``
      : bind`UNION SELECT chosen.contact_seq FROM topic_subscriptions AS chosen
          WHERE chosen.topic_seq = ${topic.seq}
            AND chosen.is_subscribed = ${Number(topic.defaultState === "UNSUBSCRIBED")}
            AND ${inTimeOf({ key: bind`chosen.contact_seq` })}`;
  return queryOf(bind`
    SELECT ${alike(audience, topic)}, count(*)
    FROM (
      SELECT contacts.seq FROM suppressions CROSS JOIN contacts
      WHERE suppressions.project_seq = ${projectSeq} AND (suppressions.seq & 255 OR in_time())
        AND contacts.project_seq = suppressions.project_seq AND contacts.email = suppressions.email
      UNION SELECT paused.seq FROM contacts AS paused INDEXED BY contacts_paused
      WHERE paused.project_seq = ${projectSeq} AND paused.paused_until > ${now}
        AND ${inTimeOf({ key: bind`paused.seq` })}
      ${chosen}) AS exception
    CROSS JOIN contacts ${IS_SUPPRESSED_BY}
    WHERE ${inTimeOf({ key: bind`exception.seq` })} AND contacts.seq = exception.seq
    GROUP BY 1, 2, 3`);
}

function withOthers(
  { db }: App,
  projectSeq: number,
  exceptions: ContactTally[],
  topic: TopicOfAudience | null,
): ContactTally[] {
  const match = eq(contactCounts.projectSeq, projectSeq);
  const [row] = db.select().from(contactCounts).where(match).limit(1).all();
  const { total = 0, subscribed = 0 } = row ?? {};
  const others = (isSubscribed: boolean, all: number): ContactTally => {
    const counted = exceptions.filter((each) => each.isSubscribed === isSubscribed);
    const count = counted.reduce((sum, each) => sum - each.count, all);
    const left = topic?.defaultState === "UNSUBSCRIBED" ? { refusal: "TOPIC" as const } : {};
    return { isSubscribed, reason: null, ...left, count: Math.max(0, count) };
  };
  return [...exceptions, others(true, subscribed), others(false, total - subscribed)];
}

const findRange = statement<
  { first: number | null; last: number | null; total: number | null },
  [number, number, number]
>(`
  SELECT (SELECT min(seq) FROM contacts WHERE project_seq = +?) AS first,
         (SELECT max(seq) FROM contacts WHERE project_seq = +?) AS last,
         (SELECT total FROM contact_counts WHERE project_seq = +?) AS total`);

/**
 * The contacts of an audience, from the part of random contacts that belongs to it. If the pages of
 * these contacts are not in memory, each takes a read of the disk, and fewer are asked in the time.
 */
export async function estimate(
  app: App,
  audience: Audience,
  limitMs: number,
  topic: TopicOfAudience | null = null,
): Promise<ContactTally[]> {
  const { projectSeq } = audience;
  const range = findRange(app).get(projectSeq, projectSeq, projectSeq);
  const { first = null, last = null, total = null } = range ?? {};
  if (first === null || last === null || total === null) return [];
  const asked = Array.from(
    { length: ASKED },
    () => first + Math.floor(app.random() * (last - first + 1)),
  );
  const query = queryOf(bind`
    SELECT ${alike(audience, topic)}
    FROM json_each(${JSON.stringify(asked)}) AS drawn CROSS JOIN contacts ${IS_SUPPRESSED_BY}
    WHERE in_time(drawn.key) AND contacts.seq = (
        SELECT nearest.seq FROM contacts AS nearest
        WHERE nearest.project_seq = ${projectSeq} AND nearest.seq >= drawn.value
        ORDER BY nearest.seq LIMIT 1)
      AND ${audience.where}`);
  const found = await app.reader.find(projectSeq, { ...query, isPartial: true }, limitMs);
  // The position is the number of contacts that were tested before the time was over.
  const scale = total / Math.max(1, found.stoppedAt ?? ASKED);
  const groups = Map.groupBy(found.rows, (row) => JSON.stringify(row));
  return [...groups.values()].flatMap((rows) => {
    const [[isSubscribed, reason, refusal] = []] = rows;
    return tallyOf([isSubscribed, reason, refusal, Math.round(rows.length * scale)]);
  });
}

function tallyOf([isSubscribed, reason, refusal, count]: readonly unknown[]): ContactTally {
  return {
    isSubscribed: isSubscribed === 1,
    reason: typeof reason === "string" ? reason : null,
    ...(refusal === "TOPIC" || refusal === "PAUSED" ? { refusal } : {}),
    count: Number(count),
  };
}
