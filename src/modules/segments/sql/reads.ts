/** The SELECTs of audiences that run in readers (db/reader.ts). */

import type { App } from "../../../core/app.ts";
import { inTimeBy, type ReadQuery } from "../../../db/queries.ts";
import { bind, type Fragment } from "./bind.ts";
import type { Audience, Plan } from "./plan.ts";

/** Largest number of rows counted to compare plans; counting them takes a millisecond per plan. */
const ESTIMATE_LIMIT = 50_000;
/** Largest number of plans compared. */
const MAX_ESTIMATES = 8;

export const inTimeOf = ({ key }: Pick<Plan, "key">): Fragment => ({
  text: inTimeBy(key.text),
  values: [],
});

export const queryOf = ({ text, values }: Fragment): ReadQuery => ({ sql: text, values });

/** Returns the plan with the fewest rows, of which up to `ESTIMATE_LIMIT` in each index are counted. */
export async function choosePlan(
  { reader }: App,
  { whole, narrow: all, projectSeq }: Audience,
): Promise<Plan> {
  const narrow = all.slice(0, MAX_ESTIMATES);
  const [first] = narrow;
  if (first === undefined || narrow.length === 1) return first ?? whole;
  const counts = narrow.map(
    (plan) => bind`
      SELECT count(*) AS n FROM (
        SELECT 1 FROM ${plan.from} WHERE ${plan.stretch} AND ${inTimeOf(plan)} LIMIT ${ESTIMATE_LIMIT})`,
  );
  const query = counts.reduce((one, other) => bind`${one} UNION ALL ${other}`);
  const { rows } = await reader.find(projectSeq, queryOf(query));
  const numbers = rows.map(([count]) => Number(count));
  return narrow[numbers.indexOf(Math.min(...numbers))] ?? whole;
}

/**
 * `FROM` and `WHERE` of a SELECT of an audience. It joins the contacts if the plan or the SELECT needs
 * them; CROSS JOIN keeps SQLite from changing the order of the tables. `joins` are further tables.
 */
export function rowsOf(
  plan: Plan,
  { projectSeq }: Audience,
  { joins = bind``, readsContacts = false }: { joins?: Fragment; readsContacts?: boolean } = {},
): Fragment {
  const { from, key, stretch, filter, rest, isJoined } = plan;
  const isOfContacts = key.text === "contacts.seq";
  const where = bind`WHERE ${stretch} AND ${inTimeOf(plan)} AND ${filter}`;
  return isOfContacts || !(isJoined || readsContacts)
    ? bind`FROM ${from} ${joins} ${where} AND ${rest}`
    : bind`FROM ${from} CROSS JOIN contacts ${joins} ${where}
        AND contacts.seq = ${key} AND +contacts.project_seq = ${projectSeq} AND ${rest}`;
}
