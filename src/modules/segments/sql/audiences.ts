/** Counts, pages and members of audiences of any size, which readers find (db/reader.ts). */

import type { Database, Statement } from "bun:sqlite";
import type { App } from "../../../core/app.ts";
import { statement } from "../../../db/statement.ts";
import { contacts } from "../../../db/schema/contacts.ts";
import { toRow } from "../../../http/pagination.ts";
import type { JsonObject } from "../../contacts/data.ts";
import type { Context, FieldTest } from "../condition/field-test.ts";
import { bind, type Bound } from "./bind.ts";
import type { Audience } from "./plan.ts";
import { choosePlan, inTimeOf, queryOf, rowsOf } from "./reads.ts";

type ContactRow = typeof contacts.$inferSelect;
type Bounds = { beforeSeq: number | null; limit: number };

/** Longest time for reading all contacts of an audience. */
const LIMIT_MS = 20_000;
/** Contacts at which one read of the members looks; half as many after a read that took too long. */
const SCANNED_AT_ONCE = 4_000;
const SCAN_MS = 1_000;
const MAX_CACHED_STATEMENTS = 50;

export type Audiences = ReturnType<typeof createAudiences>;

export function createAudiences(app: App) {
  const statements = createStatementCache(app.db.sqlite);

  return {
    /** Returns the exact number of contacts. */
    async count(audience: Audience, limitMs = LIMIT_MS): Promise<number> {
      const plan = await choosePlan(app, audience);
      const query = queryOf(bind`SELECT count(*) ${rowsOf(plan, audience)}`);
      const { rows } = await app.reader.find(audience.projectSeq, query, limitMs);
      return Number(rows[0]?.[0]);
    },

    /** Returns up to `limit` contacts, newest first; only older ones than `beforeSeq` if given. */
    page: async (audience: Audience, bounds: Bounds): Promise<ContactRow[]> =>
      (await readPage(app, audience, bounds)).rows,

    /** The same with the number of all contacts. */
    async pageWithTotal(audience: Audience, bounds: Bounds) {
      const { rows, total } = await readPage(app, audience, { ...bounds, hasTotal: true });
      return { rows, total: Number(total) };
    },

    /** The newest contacts and the number of all; null for what takes longer than `limitMs`. */
    async sample(audience: Audience, limit: number, limitMs: number) {
      const options = { beforeSeq: null, limit, hasTotal: true, isPartial: true, limitMs };
      const { rows, isComplete, total } = await readPage(app, audience, options);
      return { rows: isComplete ? rows : null, total };
    },

    /**
     * Yields the `contacts.seq` of all contacts in ascending order, some thousand at a time. `afterSeq`
     * continues an earlier scan. Each contact is evaluated when it is read; those created after the
     * start are left out. The consumer may wait between two results.
     */
    members: (audience: Audience, afterSeq = 0) => readMembers(app, audience, afterSeq),

    /**
     * Returns those of `seqs` that belong to the audience now. It runs in one statement inside a
     * change, so `seqs` must have at most a few hundred entries.
     */
    matching({ projectSeq, where }: Audience, seqs: readonly number[]): number[] {
      const { text, values } = bind`
        SELECT contacts.seq FROM json_each(${JSON.stringify(seqs)}) AS asked
        CROSS JOIN contacts
        WHERE contacts.seq = asked.value AND +contacts.project_seq = ${projectSeq} AND ${where}`;
      return statements
        .of(text)
        .values(...values)
        .map(([seq]) => Number(seq));
    },

    /** Whether a test on data holds for `data`, as if it were the data of a contact. */
    holdsForData(test: FieldTest, data: JsonObject, context: Context): boolean {
      const { text, values } = bind`
        SELECT (${test.where(context)}) IS TRUE
        FROM (SELECT ${JSON.stringify(data)} AS data) AS contacts`;
      return statements.of(text).values(...values)[0]?.[0] === 1;
    },
  };
}

/** With `isPartial`, what is not found within the time is null; without it, the read fails then. */
type PageOptions = Bounds & { hasTotal?: boolean; isPartial?: boolean; limitMs?: number };

async function readPage(
  app: App,
  audience: Audience,
  { beforeSeq, limit, hasTotal = false, isPartial = false, limitMs = LIMIT_MS }: PageOptions,
) {
  const plan = await choosePlan(app, audience);
  const { key } = plan;
  const before = beforeSeq === null ? bind`` : bind`AND ${key} < ${beforeSeq}`;
  const page = queryOf(bind`
    SELECT contacts.* ${rowsOf(plan, audience, { readsContacts: true })} ${before}
    ORDER BY ${key} DESC LIMIT ${limit}`);
  const total = {
    ...queryOf(bind`SELECT count(*) ${rowsOf(plan, audience)}`),
    unlessFewerThan: beforeSeq === null ? limit : 0,
  };
  const query = { ...page, isPartial, ...(hasTotal && { total }) };
  const found = await app.reader.find(audience.projectSeq, query, limitMs);
  const rows = found.rows.map((values) => toRow(contacts, values));
  return { rows, isComplete: found.isComplete, total: found.total };
}

async function* readMembers(
  app: App,
  audience: Audience,
  afterSeq: number,
): AsyncGenerator<number[]> {
  const { projectSeq } = audience;
  const newest = newestContact(app).get()?.seq ?? 0;
  const plan = await choosePlan(app, audience);
  const { from, key, stretch } = plan;
  let size = SCANNED_AT_ONCE;
  for (let after = afterSeq; after < newest;) {
    const ends = queryOf(bind`
      SELECT ${key} FROM ${from} WHERE ${stretch} AND ${key} > ${after} AND ${inTimeOf(plan)}
      ORDER BY ${key} LIMIT 1 OFFSET ${size - 1}`);
    const [end] = (await app.reader.find(projectSeq, ends)).rows;
    const last = end === undefined ? newest : Math.min(newest, Number(end[0]));
    const members = queryOf(bind`
      SELECT ${key} ${rowsOf(plan, audience)} AND ${key} > ${after} AND ${key} <= ${last}
      ORDER BY ${key}`);
    const found =
      size === 1
        ? await app.reader.find(projectSeq, members)
        : await app.reader.find(projectSeq, { ...members, isPartial: true }, SCAN_MS);
    if (!found.isComplete) {
      size = Math.ceil(size / 2);
      continue;
    }
    if (found.rows.length > 0) yield found.rows.map(([seq]) => Number(seq));
    after = last;
    size = Math.min(2 * size, SCANNED_AT_ONCE);
  }
}

const newestContact = statement<{ seq: number | null }, []>("SELECT max(seq) AS seq FROM contacts");

/** Cache of prepared statements; the least recently used one is removed first. */
function createStatementCache(sqlite: Database) {
  const cached = new Map<string, Statement<unknown, Bound[]>>();
  return {
    of(text: string): Statement<unknown, Bound[]> {
      const statement = cached.get(text) ?? sqlite.prepare<unknown, Bound[]>(text);
      cached.delete(text);
      cached.set(text, statement);
      // The map iterates in the order of insertion, so the least recently used statement is first.
      for (const [oldest, unused] of cached) {
        if (cached.size <= MAX_CACHED_STATEMENTS) break;
        cached.delete(oldest);
        unused.finalize();
      }
      return statement;
    },
  };
}
