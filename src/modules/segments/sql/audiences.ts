/** Counts, pages and scans of audiences of any size, in slices that leave the event loop free. */

import type { Database, Statement } from "bun:sqlite";
import { inArray } from "drizzle-orm";
import type { Db } from "../../../db/open.ts";
import { contacts } from "../../../db/schema/contacts.ts";
import type { JsonObject } from "../../contacts/data.ts";
import type { Context, FieldTest } from "../condition/field-test.ts";
import { bind, type Bound } from "./bind.ts";
import { createCount } from "./counts.ts";
import type { Audience } from "./plan.ts";
import { memberSlices } from "./slices.ts";
import type { FairScheduler } from "../../../lib/slice-queue.ts";
import { scan } from "./scan.ts";

type ContactRow = typeof contacts.$inferSelect;
const MAX_CACHED_STATEMENTS = 50;

export type Audiences = ReturnType<typeof createAudiences>;

export function createAudiences({ db, scheduler }: { db: Db; scheduler: FairScheduler }) {
  const statements = createStatementCache(db.sqlite);
  const depsOf = ({ projectSeq }: Audience) => ({
    sqlite: db.sqlite,
    queue: scheduler.queueOf(projectSeq),
  });

  return {
    /** Returns the exact number of contacts. */
    count: createCount({ sqlite: db.sqlite, scheduler }),

    /** Returns up to `limit` contacts, newest first; only older ones than `beforeSeq` if given. */
    async page(
      audience: Audience,
      { beforeSeq, limit }: { beforeSeq: number | null; limit: number },
    ): Promise<ContactRow[]> {
      const found: number[] = [];
      const open = () => memberSlices(db.sqlite, audience, "descending");
      const from = beforeSeq === null ? undefined : beforeSeq - 1;
      for await (const seqs of scan(depsOf(audience), open, from)) {
        found.push(...seqs);
        if (found.length >= limit) break;
      }
      return rowsOf(db, found.slice(0, limit));
    },

    /**
     * Yields the `contacts.seq` of all contacts in ascending order, one slice at a time. `afterSeq`
     * continues an earlier scan. The consumer may wait between two slices.
     */
    async *members(audience: Audience, afterSeq = 0): AsyncGenerator<number[]> {
      const open = () => memberSlices(db.sqlite, audience, "ascending");
      for await (const seqs of scan(depsOf(audience), open, afterSeq + 1)) {
        if (seqs.length > 0) yield seqs;
      }
    },

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

function rowsOf(db: Db, seqs: readonly number[]): ContactRow[] {
  const rows = db
    .select()
    .from(contacts)
    .where(inArray(contacts.seq, [...seqs]))
    .all();
  const bySeq = new Map(rows.map((row) => [row.seq, row]));
  return seqs.flatMap((seq) => bySeq.get(seq) ?? []);
}
