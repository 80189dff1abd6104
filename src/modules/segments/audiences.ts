/** Counts, pages and walks over audiences, whatever their size, leaving the event loop free. */

import type { Database, Statement } from "bun:sqlite";
import { inArray } from "drizzle-orm";
import type { Db } from "../../db/open.ts";
import { contacts } from "../../db/schema/contacts.ts";
import { bind, type Bound } from "./bind.ts";
import { createCounts } from "./counts.ts";
import type { Audience } from "./plan.ts";
import { memberSlices } from "./slices.ts";
import type { FairTurns } from "../../lib/turns.ts";
import { walk } from "./walk.ts";

export type ContactRow = typeof contacts.$inferSelect;
const MOST_STATEMENTS = 50;

export type Audiences = ReturnType<typeof createAudiences>;

export function createAudiences({ db, turns }: { db: Db; turns: FairTurns }) {
  const counts = createCounts({ sqlite: db.sqlite, turns });
  const statements = createStatements(db.sqlite);
  const depsOf = ({ projectSeq }: Audience) => ({ sqlite: db.sqlite, turns: turns.of(projectSeq) });

  return {
    /** Exactly how many there are. */
    async count(audience: Audience): Promise<number> {
      const [total = 0] = await counts.countAll([audience]);
      return total;
    },

    /** The same for several audiences of one project, in their order. */
    countAll: counts.countAll,

    /** Newest first: up to `limit` contacts, those before `beforeSeq` if it is given. */
    async page(
      audience: Audience,
      { beforeSeq, limit }: { beforeSeq: number | null; limit: number },
    ): Promise<ContactRow[]> {
      const found: number[] = [];
      const open = () => memberSlices(db.sqlite, audience, "descending");
      const from = beforeSeq === null ? undefined : beforeSeq - 1;
      for await (const seqs of walk(depsOf(audience), open, from)) {
        found.push(...seqs);
        if (found.length >= limit) break;
      }
      return rowsOf(db, found.slice(0, limit));
    },

    /**
     * Everybody, as `contacts.seq` in ascending order, a slice at a time. `afterSeq` goes on where
     * an earlier walk stopped. The consumer may wait between slices.
     */
    async *members(audience: Audience, afterSeq = 0): AsyncGenerator<number[]> {
      const open = () => memberSlices(db.sqlite, audience, "ascending");
      for await (const seqs of walk(depsOf(audience), open, afterSeq + 1)) {
        if (seqs.length > 0) yield seqs;
      }
    },

    /** Which of some contacts belong, right now; for use within a change. At most a few hundred. */
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
  };
}

/** Statements of conditions that were asked lately; the one asked longest ago goes first. */
function createStatements(sqlite: Database) {
  const kept = new Map<string, Statement<unknown, Bound[]>>();
  return {
    of(text: string): Statement<unknown, Bound[]> {
      const statement = kept.get(text) ?? sqlite.prepare<unknown, Bound[]>(text);
      kept.delete(text);
      kept.set(text, statement);
      for (const [oldest, unused] of kept) {
        if (kept.size <= MOST_STATEMENTS) break;
        kept.delete(oldest);
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
