/**
 * The lists of Resend: newest first, `limit` items after or before the item with an id. An id takes
 * the place of our cursor, so a page is found by the index of the project and `seq`.
 */

import { type Static, Type } from "@sinclair/typebox";
import { and, asc, desc, eq, gt, lt, type SQL } from "drizzle-orm";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import type { App } from "../../core/app.ts";
import { toRow } from "../../http/pagination.ts";
import { QueryInteger } from "../../http/validation.ts";
import { fieldError } from "../../lib/errors.ts";

const DEFAULT_LIMIT = 20;

const Id = Type.Optional(Type.String({ minLength: 1, maxLength: 64 }));
export const ResendPageQuery = Type.Object(
  {
    limit: Type.Optional(
      QueryInteger({ minimum: 1, maximum: 100, description: "Page size, default 20" }),
    ),
    after: Id,
    before: Id,
  },
  { additionalProperties: false },
);
export type ResendPageQuery = Static<typeof ResendPageQuery>;

type ResendList<Item> = { object: "list"; has_more: boolean; data: Item[] };

/** Suppressions have no id but their address. */
type Listed = SQLiteTable & { seq: SQLiteColumn; $inferSelect: { seq: number } } & (
    { id: SQLiteColumn } | { email: SQLiteColumn }
  );

type Source<Table> = {
  table: Table;
  /** Selects the rows of the list; it names the project. */
  filter: SQL | undefined;
};

/** One page of a table, each row as `present` shows it. */
export function resendPage<Table extends Listed, Item>(
  app: App,
  query: ResendPageQuery,
  { present, ...source }: Source<Table> & { present: (row: Table["$inferSelect"]) => Item },
): ResendList<Item> {
  const { rows, hasMore } = resendRows(app, query, source);
  return resendList(rows.map(present), hasMore);
}

/** The rows of one page and whether there are more in its direction. */
export function resendRows<Table extends Listed>(
  app: App,
  query: ResendPageQuery,
  { table, filter }: Source<Table>,
): { rows: Table["$inferSelect"][]; hasMore: boolean } {
  const { after, before } = onlyOne(query);
  const limit = resendLimit(query);
  const isBackward = before !== undefined;
  const seq = isBackward
    ? seqOf(app, table, { filter, name: "before", id: before })
    : after === undefined
      ? null
      : seqOf(app, table, { filter, name: "after", id: after });
  const bound = seq === null ? undefined : isBackward ? gt(table.seq, seq) : lt(table.seq, seq);
  const found = app.db
    .select()
    .from<SQLiteTable>(table)
    .where(and(filter, bound))
    .orderBy(isBackward ? asc(table.seq) : desc(table.seq))
    .limit(limit + 1)
    .values()
    .map((values) => toRow(table, values));
  const rows = found.slice(0, limit);
  return { rows: isBackward ? rows.toReversed() : rows, hasMore: found.length > limit };
}

export const resendLimit = ({ limit }: ResendPageQuery): number =>
  limit === undefined ? DEFAULT_LIMIT : Number(limit);

export const resendList = <Item>(data: Item[], hasMore: boolean): ResendList<Item> => ({
  object: "list",
  has_more: hasMore,
  data,
});

/** The page of items that are at hand, in their order. Throws 422 for an id that is not among them. */
export function pageOf<Item extends { id: string }>(
  items: readonly Item[],
  query: ResendPageQuery,
): ResendList<Item> {
  const limit = resendLimit(query);
  const { after, before } = onlyOne(query);
  if (before !== undefined) {
    const end = indexOf(items, "before", before);
    const begin = Math.max(0, end - limit);
    return resendList(items.slice(begin, end), begin > 0);
  }
  const begin = after === undefined ? 0 : indexOf(items, "after", after) + 1;
  return resendList(items.slice(begin, begin + limit), items.length > begin + limit);
}

function indexOf(items: readonly { id: string }[], name: string, id: string): number {
  const index = items.findIndex((item) => item.id === id);
  if (index === -1) throw notInList(name);
  return index;
}

function onlyOne(query: ResendPageQuery): ResendPageQuery {
  if (query.after === undefined || query.before === undefined) return query;
  throw fieldError("before", "invalid_value", "must be left out if after is given");
}

/** Throws 422 for an id that is not in the list. */
function seqOf(
  app: App,
  table: Listed,
  { filter, name, id }: { filter: SQL | undefined; name: string; id: string },
): number {
  const [row] = app.db
    .select({ seq: table.seq })
    .from<SQLiteTable>(table)
    .where(and(filter, eq("id" in table ? table.id : table.email, id)))
    .limit(1)
    .values();
  if (row !== undefined) return Number(row[0]);
  throw notInList(name);
}

const notInList = (name: string) =>
  fieldError(name, "unknown_reference", "is not the id of an item of this list");
