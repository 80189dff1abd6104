/**
 * Searches the messages of an inbox, newest first, in slices that let other work run.
 *
 * 1. syntax.ts parses a query, compile.ts turns it into SQL.
 * 2. The trigram index names the messages that may match; their texts are then compared. Without a
 *    term of three characters, all messages of the inbox are compared.
 * 3. A body of more than 4 KiB is not in the index as a whole. Such messages are compared in a scan
 *    of their own, one after the other.
 *
 * A step compares a limited number of messages, so its time is bounded.
 */

import type { SQLQueryBindings } from "bun:sqlite";
import type { Db } from "../../../db/open.ts";
import type { FairScheduler } from "../../../lib/slice-queue.ts";
import { NO_OWNER } from "../../../db/reader.ts";
import { startSlices } from "../../../lib/slices.ts";
import { parseTags } from "../messages/record.ts";
import { type CompiledSearch, compileQuery, type Sql } from "./compile.ts";
import { foldText } from "./fold.ts";
import { mayContain } from "./signature.ts";
import type { SearchQuery } from "./syntax.ts";
import { createTags } from "./tags.ts";

export type Match = { seq: number; isRead: boolean };

type SearchBounds = {
  /** Only messages that arrived before the message with this `seq`. */
  before?: number;
  /** Only messages that arrived after it. */
  after?: number;
  /** Most matches; all without it. */
  limit?: number;
};

/** Messages of one step of a query with one term. */
const STEP_MESSAGES = 2048;
/** Fewest messages of the first step. With a limit, further steps are often not needed. */
const FIRST_STEP_MESSAGES = 64;
/** Messages with long bodies of one step: their signatures have some KiB each. */
const STEP_LONG_MESSAGES = 256;

/** Columns: seq, is_read, whether the conditions hold, whether the body is longer than its part in the index,
 * and its signature. */
type Candidate = [seq: number, isRead: number, holds: number, isLong: number, signature: unknown];

/** `firstStep` and `step` are the numbers of messages of the first step and the largest one. */
type Scan = {
  sql: Sql;
  bounds: { before: number; after: number };
  firstStep: number;
  step: number;
};

export type Search = ReturnType<typeof createSearch>;

export function createSearch(deps: { db: Db; scheduler: FairScheduler }) {
  const { sqlite } = deps.db;
  const texts = sqlite.prepare<{ text: string; rest: Uint8Array }, [number]>(
    "SELECT text, rest FROM inbox_texts WHERE message_seq = +?",
  );
  const tags = createTags(sqlite);

  function compile(inboxSeq: number, query: SearchQuery): CompiledSearch {
    return compileQuery(query, (tag) =>
      tags
        .listsOf(inboxSeq)
        .filter((list) => parseTags(list).some((each) => foldText(each) === tag)),
    );
  }

  /** Whether a message with a longer body matches the terms on text. */
  function matchesWhole(seq: number, terms: CompiledSearch["texts"]): boolean {
    const row = texts.get(seq);
    if (row === null) return false;
    const rest = Bun.zstdDecompressSync(row.rest);
    return terms.every(
      ({ value, isNegated }) => (row.text.includes(value) || rest.includes(value)) !== isNegated,
    );
  }

  /** Calls `add` with each candidate, newest first, until it returns false. */
  async function run(
    { sql, bounds, firstStep, step }: Scan,
    slices: Awaited<ReturnType<typeof startSlices>>,
    add: (candidate: Candidate) => boolean,
  ): Promise<void> {
    const statement = sqlite.prepare<unknown, SQLQueryBindings[]>(sql.sql);
    try {
      let { before } = bounds;
      for (let size = Math.min(firstStep, step); ; size = Math.min(2 * size, step)) {
        const rows = statement.values(...sql.values, before, bounds.after, size);
        for (const row of rows) {
          const [seq = 0, isRead = 0, holds = 0, isLong = 0] = row.slice(0, 4).map(Number);
          if (!add([seq, isRead, holds, isLong, row[4]])) return;
          if (slices.isOver()) await slices.next();
        }
        const last = rows.at(-1);
        if (last === undefined || rows.length < size) return;
        before = Number(last[0]);
      }
    } finally {
      statement.finalize();
    }
  }

  return {
    /** All matches, newest first. */
    async find(
      inboxSeq: number,
      query: SearchQuery,
      { before = Number.MAX_SAFE_INTEGER, after = 0, limit = Infinity }: SearchBounds = {},
    ): Promise<Match[]> {
      if (limit <= 0) return [];
      const slices = await startSlices(deps.scheduler.queueOf(NO_OWNER));
      const compiled = compile(inboxSeq, query);
      const found = new Map<number, boolean>();
      const step = Math.max(1, Math.ceil(STEP_MESSAGES / Math.max(1, query.terms.length / 4)));
      const { match, texts: terms } = compiled;
      const hasNegated = terms.some((term) => term.isNegated);
      const firstStep = Math.max(FIRST_STEP_MESSAGES, 2 * limit);
      const main = {
        sql: mainScan(inboxSeq, compiled),
        bounds: { before, after },
        firstStep,
        step,
      };
      await run(main, slices, ([seq, isRead, holds, isLong]) => {
        const isCertain = isLong === 0 || (match !== null && !hasNegated);
        if (holds === 1 && (isCertain || matchesWhole(seq, terms))) found.set(seq, isRead === 1);
        return found.size < limit;
      });
      if (match !== null && terms.some((term) => !term.isNegated)) {
        // With the limit reached, only newer messages than the last match can still be added.
        const oldest = found.size < limit ? after : Math.max(after, Math.min(...found.keys()));
        const long = {
          sql: longScan(inboxSeq, compiled),
          bounds: { before, after: oldest },
          firstStep,
          step: Math.min(step, STEP_LONG_MESSAGES),
        };
        await run(long, slices, ([seq, isRead, holds, , signature]) => {
          if (holds === 0 || found.has(seq) || !mayMatch(signature, terms)) return true;
          if (!matchesWhole(seq, terms)) return true;
          found.set(seq, isRead === 1);
          return found.size < 2 * limit;
        });
      }
      const matches = [...found].map(([seq, isRead]) => ({ seq, isRead }));
      return matches.sort((a, b) => b.seq - a.seq).slice(0, limit);
    },

    tags: tags.names,
    tagCounts: tags.counts,
  };
}

function mayMatch(signature: unknown, terms: CompiledSearch["texts"]): boolean {
  if (!(signature instanceof Uint8Array)) return true;
  return terms.every(({ value, isNegated }) => isNegated || mayContain(signature, value));
}

/** `inboxSeq` is the first value. The condition leaves out messages that are arriving. */
const result = (holds: string, isLong: string) =>
  `m.seq, m.is_read, (m.inbox_seq = +? AND m.state <> 'ARRIVING' AND ${holds}), ${isLong}`;

function mainScan(inboxSeq: number, { match, conditions, text, usesTexts }: CompiledSearch): Sql {
  if (match !== null) {
    const sql = `
      SELECT ${result(`${conditions.sql} AND ${text.sql}`, "t.is_long")}
      FROM (SELECT rowid AS seq FROM inbox_search
            WHERE inbox_search MATCH ? AND rowid < +? AND rowid > +? ORDER BY rowid DESC LIMIT +?) s
      CROSS JOIN inbox_messages m ON m.seq = s.seq
      CROSS JOIN inbox_texts t ON t.message_seq = s.seq ORDER BY s.seq DESC`;
    return { sql, values: [inboxSeq, ...conditions.values, ...text.values, match] };
  }
  const holds = usesTexts ? `${conditions.sql} AND (t.is_long OR ${text.sql})` : conditions.sql;
  const sql = `
    SELECT ${result(holds, usesTexts ? "ifnull(t.is_long, 0)" : "0")}
    FROM (SELECT seq FROM inbox_messages
          WHERE inbox_seq = +? AND seq < +? AND seq > +? ORDER BY seq DESC LIMIT +?) s
    CROSS JOIN inbox_messages m ON m.seq = s.seq
    ${usesTexts ? "LEFT JOIN inbox_texts t ON t.message_seq = s.seq" : ""} ORDER BY s.seq DESC`;
  return { sql, values: [inboxSeq, ...conditions.values, ...text.values, inboxSeq] };
}

/** The messages with a body that is longer than its part in the index,
 * and its signature. */
function longScan(inboxSeq: number, { conditions }: CompiledSearch): Sql {
  const sql = `
    SELECT ${result(conditions.sql, "1")}, t.signature
    FROM (SELECT message_seq AS seq FROM inbox_texts INDEXED BY inbox_texts_long
          WHERE is_long = 1 AND message_seq < +? AND message_seq > +?
          ORDER BY message_seq DESC LIMIT +?) s
    CROSS JOIN inbox_messages m ON m.seq = s.seq
    CROSS JOIN inbox_texts t ON t.message_seq = s.seq ORDER BY s.seq DESC`;
  return { sql, values: [inboxSeq, ...conditions.values] };
}
