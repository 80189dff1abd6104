/**
 * Counts the contacts of an audience by what decides whether they get mail: their consent, and the
 * suppression of their address. It is one SELECT in a reader. If it takes long, and the caller accepts
 * an estimate, random contacts are counted instead.
 */

import { eq } from "drizzle-orm";
import type { App } from "../../../core/app.ts";
import type { ReadQuery } from "../../../db/queries.ts";
import { contactCounts } from "../../../db/schema/contacts.ts";
import { statement } from "../../../db/statement.ts";
import { bind } from "./bind.ts";
import type { Audience } from "./plan.ts";
import { choosePlan, queryOf, rowsOf } from "./reads.ts";

/** Contacts that are alike. `reason` is why their address is suppressed; null if it is not. */
export type ContactTally = { isSubscribed: boolean; reason: string | null; count: number };
export type Tallies = { tallies: ContactTally[]; isExact: boolean };

/** Longest time for counting if the caller accepts an estimate, in milliseconds. */
const WAIT_MS = 200;
/** Random contacts of an estimate. Fewer are asked if the time is over before. */
const ASKED = 2_000;

export async function tallyAudience(
  app: App,
  audience: Audience,
  counted: "EXACT" | "RECENT",
): Promise<Tallies> {
  const isPartial = counted === "RECENT";
  const isWhole = audience.tests.length === 0;
  const query = isWhole ? suppressedOfAll(audience) : await talliesOf(app, audience);
  const limitMs = isPartial ? WAIT_MS : undefined;
  const { projectSeq } = audience;
  // The estimate is made meanwhile, in another thread. Nothing waits for it if the count is exact.
  const estimating = isPartial ? estimate(app, audience, WAIT_MS) : null;
  estimating?.catch(() => undefined);
  const found = await app.reader.find(projectSeq, { ...query, isPartial }, limitMs);
  if (!found.isComplete) return { tallies: (await estimating) ?? [], isExact: false };
  const tallies = found.rows.map(tallyOf);
  return { tallies: isWhole ? withOthers(app, projectSeq, tallies) : tallies, isExact: true };
}

const IS_SUPPRESSED_BY = bind`LEFT JOIN suppressions AS barred
  ON barred.project_seq = contacts.project_seq AND barred.email = contacts.email`;
const GROUPS = bind`contacts.is_subscribed, barred.reason, count(*)`;

async function talliesOf(app: App, audience: Audience): Promise<ReadQuery> {
  const plan = await choosePlan(app, audience);
  const options = { joins: IS_SUPPRESSED_BY, readsContacts: true };
  return queryOf(bind`SELECT ${GROUPS} ${rowsOf(plan, audience, options)} GROUP BY 1, 2`);
}

/** Without a condition only suppressed contacts are read: the numbers of all are stored. */
function suppressedOfAll({ projectSeq }: Audience): ReadQuery {
  return queryOf(bind`
    SELECT ${GROUPS} FROM suppressions AS barred CROSS JOIN contacts
    WHERE barred.project_seq = ${projectSeq} AND (barred.seq & 255 OR in_time())
      AND contacts.project_seq = barred.project_seq AND contacts.email = barred.email
    GROUP BY 1, 2`);
}

function withOthers({ db }: App, projectSeq: number, suppressed: ContactTally[]): ContactTally[] {
  const match = eq(contactCounts.projectSeq, projectSeq);
  const [row] = db.select().from(contactCounts).where(match).limit(1).all();
  const { total = 0, subscribed = 0 } = row ?? {};
  const others = (isSubscribed: boolean, all: number): ContactTally => {
    const alike = suppressed.filter((each) => each.isSubscribed === isSubscribed);
    const count = alike.reduce((sum, each) => sum - each.count, all);
    return { isSubscribed, reason: null, count: Math.max(0, count) };
  };
  return [...suppressed, others(true, subscribed), others(false, total - subscribed)];
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
    SELECT contacts.is_subscribed, barred.reason
    FROM json_each(${JSON.stringify(asked)}) AS drawn CROSS JOIN contacts ${IS_SUPPRESSED_BY}
    WHERE in_time(drawn.key) AND contacts.seq = (
        SELECT nearest.seq FROM contacts AS nearest
        WHERE nearest.project_seq = ${projectSeq} AND nearest.seq >= drawn.value
        ORDER BY nearest.seq LIMIT 1)
      AND ${audience.where}`);
  const found = await app.reader.find(projectSeq, { ...query, isPartial: true }, limitMs);
  // Where the time was over is the number of contacts that were asked before.
  const scale = total / Math.max(1, found.stoppedAt ?? ASKED);
  const alike = Map.groupBy(found.rows, (row) => JSON.stringify(row));
  return [...alike.values()].flatMap((rows) => {
    const [[isSubscribed, reason] = []] = rows;
    return tallyOf([isSubscribed, reason, Math.round(rows.length * scale)]);
  });
}

function tallyOf([isSubscribed, reason, count]: readonly unknown[]): ContactTally {
  return {
    isSubscribed: isSubscribed === 1,
    reason: typeof reason === "string" ? reason : null,
    count: Number(count),
  };
}
