/**
 * Searches the messages of an inbox, newest first, in readers.
 *
 * 1. syntax.ts parses a query, compile.ts turns it into SQL.
 * 2. The trigram index names the messages that may match; their texts are then compared. Without a
 *    term of three characters, all messages of the inbox are compared.
 * 3. The newest messages may not be in the index yet (index-rows.ts), and a body of more than 4 KiB is
 *    not in it as a whole. Such messages are compared by SELECTs of their own.
 */

import type { App } from "../../../core/app.ts";
import { NO_OWNER } from "../../../db/reader.ts";
import { statement } from "../../../db/statement.ts";
import { parseTags } from "../messages/record.ts";
import { allHold, type CompiledSearch, compileQuery, type Sql } from "./compile.ts";
import { foldText } from "./fold.ts";
import { indexedUpTo } from "./index-rows.ts";
import type { SearchQuery } from "./syntax.ts";
import { readTags } from "./tags.ts";

export type Match = { seq: number; isRead: boolean };

type Reads = Pick<App, "db" | "reader">;

type SearchBounds = {
  /** Only messages that arrived before the message with this `seq`. */
  before?: number;
  /** Only messages that arrived after it. */
  after?: number;
  /** Most matches; all without it. */
  limit?: number;
};

const NEWEST = Number.MAX_SAFE_INTEGER;

/** All matches, newest first. */
export async function findMessages(
  app: Reads,
  inboxSeq: number,
  query: SearchQuery,
  { before = NEWEST, after = 0, limit = NEWEST }: SearchBounds = {},
): Promise<Match[]> {
  if (limit <= 0) return [];
  const found: Match[] = [];
  for (const select of await selectsOf(app, inboxSeq, query)) {
    // With the limit reached, only newer messages than the last match can still be added.
    const oldest = found.length < limit ? after : Math.max(after, found.at(-1)?.seq ?? 0);
    const { rows } = await app.reader.find(ownerOf(app, inboxSeq), {
      sql: `SELECT m.seq, m.is_read ${select.sql} AND ${select.key} < +? AND ${select.key} > +?
        ORDER BY ${select.key} DESC LIMIT +?`,
      values: [...select.values, before, oldest, limit],
    });
    found.push(...rows.map(([seq, isRead]) => ({ seq: Number(seq), isRead: isRead === 1 })));
  }
  return found.sort((a, b) => b.seq - a.seq).slice(0, limit);
}

export async function countMessages(
  app: Reads,
  inboxSeq: number,
  query: SearchQuery,
): Promise<number> {
  let total = 0;
  for (const { sql, values } of await selectsOf(app, inboxSeq, query)) {
    const counted = { sql: `SELECT count(*) ${sql}`, values };
    const { rows } = await app.reader.find(ownerOf(app, inboxSeq), counted);
    total += Number(rows[0]?.[0]);
  }
  return total;
}

const findProject = statement<{ projectSeq: number }, [number]>(
  "SELECT project_seq AS projectSeq FROM inboxes WHERE seq = +?",
);
const ownerOf = (app: Reads, inboxSeq: number): number =>
  findProject(app).get(inboxSeq)?.projectSeq ?? NO_OWNER;

/** `FROM` and `WHERE` of a search, which are in the order of the column `key`. */
type Select = Sql & { key: string };

/** Up to three SELECTs, which have no message in common. */
async function selectsOf(app: Reads, inboxSeq: number, query: SearchQuery): Promise<Select[]> {
  const hasTag = query.terms.some(({ filter }) => filter.kind === "tag");
  const lists = hasTag ? [...(await readTags(app, ownerOf(app, inboxSeq), inboxSeq)).keys()] : [];
  const compiled = compileQuery(query, (tag) =>
    lists.filter((list) => parseTags(list).some((each) => foldText(each) === tag)),
  );
  const { match, conditions, text, texts, usesTexts } = compiled;
  const isInInbox = {
    sql: `WHERE in_time() AND m.inbox_seq = +? AND m.state <> 'ARRIVING' AND ${conditions.sql}`,
    values: [inboxSeq, ...conditions.values],
  };
  if (match === null) {
    const join = usesTexts ? "LEFT JOIN inbox_texts t ON t.message_seq = m.seq" : "";
    const source = { sql: `FROM inbox_messages m ${join}`, values: [] };
    const whole = usesTexts ? [wholeText(compiled)] : [];
    return [{ ...joined(source, isInInbox, ...whole), key: "m.seq" }];
  }
  // The index may pass further messages before a reader runs; then these are still compared here.
  const upTo = indexedUpTo(app);
  const newest = {
    sql: "FROM inbox_messages m CROSS JOIN inbox_texts t ON t.message_seq = m.seq",
    values: [],
  };
  const isOutside = { sql: "AND m.seq > +?", values: [upTo] };
  const outside = { ...joined(newest, isInInbox, isOutside, wholeText(compiled)), key: "m.seq" };
  const isIndexed = { sql: "AND m.seq <= +?", values: [upTo] };
  const byIndex = {
    sql: `FROM inbox_search CROSS JOIN inbox_messages m ON m.seq = inbox_search.rowid
      CROSS JOIN inbox_texts t ON t.message_seq = inbox_search.rowid`,
    values: [],
  };
  const isFound = { sql: "AND inbox_search MATCH ?", values: [match] };
  const key = "inbox_search.rowid";
  // Without such a term, the index has all words that must be found.
  if (texts.every(({ isNegated }) => isNegated)) {
    return [
      outside,
      { ...joined(byIndex, isInInbox, isFound, isIndexed, wholeText(compiled)), key },
    ];
  }
  const isShort = { sql: `AND t.is_long = 0 AND ${text.sql}`, values: text.values };
  const long = {
    sql: `FROM inbox_texts t INDEXED BY inbox_texts_long
      CROSS JOIN inbox_messages m ON m.seq = t.message_seq`,
    values: [],
  };
  const isLong = { sql: "AND t.is_long = 1 AND", values: [] };
  return [
    outside,
    { ...joined(byIndex, isInInbox, isFound, isIndexed, isShort), key },
    { ...joined(long, isInInbox, isIndexed, isLong, longText(compiled)), key: "t.message_seq" },
  ];
}

/** The terms on text, compared with the whole text of a message. */
function wholeText(compiled: CompiledSearch): Sql {
  const long = longText(compiled);
  const { text } = compiled;
  return {
    sql: `AND CASE WHEN t.is_long THEN ${long.sql} ELSE ${text.sql} END`,
    values: [...long.values, ...text.values],
  };
}

/** The same for a body that is longer than its part in the index. The signatures exclude most of them. */
function longText({ texts }: CompiledSearch): Sql {
  const tests = texts.map(({ value, isNegated }) => {
    const has = "(instr(t.text, ?) > 0 OR zip_has(t.rest, ?))";
    return isNegated
      ? { sql: `NOT ${has}`, values: [value, value] }
      : { sql: `(may_have(t.signature, ?) AND ${has})`, values: [value, value, value] };
  });
  return allHold(tests);
}

const joined = (...parts: readonly Sql[]): Sql => ({
  sql: parts.map(({ sql }) => sql).join(" "),
  values: parts.flatMap(({ values }) => values),
});
