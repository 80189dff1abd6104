/**
 * Lists in pages (docs/specification.md#s4.9), newest first unless a list says otherwise. Each list
 * of the API calls `listPage` with a function that reads the rows of one page; `newestRows` makes
 * this function for a table.
 */

import { type Static, Type } from "@sinclair/typebox";
import { and, count, desc, getTableColumns, getTableName, lt, sql, type SQL } from "drizzle-orm";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import type { App } from "../core/app.ts";
import type { Db } from "../db/open.ts";
import { inTimeBy, type ReadQuery, type Value } from "../db/queries.ts";
import { deriveKey } from "../lib/crypto.ts";
import { perApp } from "../lib/per-app.ts";
import { createCursors, type Cursors } from "./cursor.ts";
import type { Page } from "./envelope.ts";
import { Input, QueryInteger } from "./validation.ts";

export const PageQuery = Input({
  limit: Type.Optional(
    QueryInteger({ minimum: 1, maximum: 100, description: "Page size, default 20" }),
  ),
  cursor: Type.Optional(Type.String({ description: "The nextCursor of the previous page" })),
});
export type PageQuery = Static<typeof PageQuery>;

const DEFAULT_LIMIT = 20;

/** `after` is the position of the last row shown: its sort keys, in the sort order of the list. */
export type PageRequest = { limit: number; after: readonly number[] | null };

type PositionOf<Row> = (row: Row) => readonly number[];

/** The rows that were read for a page, the exact number of rows of the list, and their positions. */
export type PageRows<Row, Total = number> = {
  rows: readonly Row[];
  total: Total;
  positionOf: PositionOf<Row>;
  /** Set if the reading stopped early; the next page then begins after this position. */
  stoppedAt?: readonly number[] | null;
};

/** Names the project and the list for which a cursor is valid, and the query of the request. */
type ListQuery = { scope: string; query: PageQuery };

/**
 * Returns one page of a list. Throws 422 for a cursor that was not issued for this list.
 *
 * `read` reads the first `limit` rows after the position `after`. This limit is one row more than
 * the page shows, which tells if another page follows. `present` shows the rows of the page as the
 * API does.
 */
type ListPage = <Row, Item, Total extends number | null = number>(
  list: ListQuery,
  read: (request: PageRequest) => PageRows<Row, Total> | Promise<PageRows<Row, Total>>,
  present: (rows: readonly Row[]) => Item[] | Promise<Item[]>,
) => Promise<Page<Item, Total>>;

export function createListPage(cursors: Cursors): ListPage {
  return async ({ scope, query }, read, present) => {
    const limit = query.limit === undefined ? DEFAULT_LIMIT : Number(query.limit);
    const after = query.cursor === undefined ? null : cursors.open(scope, query.cursor);
    const found = await read({ limit: limit + 1, after });
    const shown = found.rows.slice(0, limit);
    const next = positionAfter(found, limit);
    return {
      items: await present(shown),
      nextCursor: next === null ? null : cursors.issue(scope, next),
      hasMore: next !== null,
      total: found.total,
    };
  };
}

/** `listPage(app)(list, read, present)`: its cursors are signed with the secret of the installation. */
export const listPage = perApp((app: App) =>
  createListPage(createCursors(deriveKey(app.secret, "cursors"))),
);

type NewestList<Table extends PagedTable, Item> = {
  /** Names the list in its cursors. */
  name: string;
  query: PageQuery;
  table: Table;
  filter: SQL | undefined;
  /** Null if the row is not shown, because something that belongs to it was deleted meanwhile. */
  present: (row: Table["$inferSelect"]) => Item | null;
};

/**
 * One page of the rows that match a filter, newest first, and the number of all of them. It reads in
 * a thread, because searching and counting look at many rows.
 */
export function newestPage<Table extends PagedTable, Item>(
  app: App,
  project: { seq: number },
  { name, query, table, filter, present }: NewestList<Table, Item>,
): Promise<Page<Item>> {
  return listPage(app)(
    { scope: `${project.seq}:${name}`, query },
    async (request) => {
      const { page, total } = pageAndTotal(app, table, and(inTime(table), filter), request);
      const unlessFewerThan = request.after === null ? request.limit : 0;
      const found = await app.reader.find(project.seq, {
        ...asQuery(page),
        total: { ...asQuery(total), unlessFewerThan },
      });
      const rows = found.rows.map((values) => toRow(table, values));
      return { rows, total: Number(found.total), positionOf: bySeq };
    },
    (rows) => rows.map(present).filter((item) => item !== null),
  );
}

/** A row with the number of rows up to its end. */
type Placed<Table extends PagedTable> = { row: Table["$inferSelect"]; end: number };

/**
 * The same in another order. A cursor is the number of rows before it, because the values by which the
 * rows are sorted may change: a row may be shown twice or not at all if others move meanwhile.
 */
export function sortedPage<Table extends PagedTable, Item>(
  app: App,
  project: { seq: number },
  {
    name,
    query,
    table,
    filter,
    order,
    present,
  }: Omit<NewestList<Table, Item>, "present"> & {
    order: SQL[];
    present: (row: Table["$inferSelect"]) => Item;
  },
): Promise<Page<Item>> {
  return listPage(app)(
    { scope: `${project.seq}:${name}:sorted`, query },
    async ({ limit, after }): Promise<PageRows<Placed<Table>>> => {
      const [before = 0] = after ?? [];
      const where = and(inTime(table), filter);
      const rows = app.db
        .select()
        .from<SQLiteTable>(table)
        .where(where)
        .orderBy(...order);
      const total = app.db.select({ total: count() }).from<SQLiteTable>(table).where(where);
      const unlessFewerThan = before === 0 ? limit : 0;
      const found = await app.reader.find(project.seq, {
        ...asQuery(rows.limit(limit).offset(before)),
        total: { ...asQuery(total), unlessFewerThan },
      });
      return {
        rows: found.rows.map((values, i) => ({ row: toRow(table, values), end: before + i + 1 })),
        total: Number(found.total),
        positionOf: ({ end }) => [end],
      };
    },
    (rows) => rows.map(({ row }) => present(row)),
  );
}

/** The same for a table in which a project has few rows. It reads at once, so no search delays it. */
export function smallPage<Table extends PagedTable, Item>(
  app: App,
  project: { seq: number },
  { name, query, table, filter, present }: NewestList<Table, Item>,
): Promise<Page<Item>> {
  return listPage(app)(
    { scope: `${project.seq}:${name}`, query },
    (request) => {
      const { page, total } = pageAndTotal(app, table, filter, request);
      const rows = page.values().map((values) => toRow(table, values));
      return { rows, total: total.get()?.total ?? 0, positionOf: bySeq };
    },
    (rows) => rows.map(present).filter((item) => item !== null),
  );
}

function pageAndTotal(
  { db }: App,
  table: PagedTable,
  filter: SQL | undefined,
  request: PageRequest,
) {
  const page = db
    .select()
    .from<SQLiteTable>(table)
    .where(and(filter, lt(table.seq, seqBound(request))))
    .orderBy(desc(table.seq))
    .limit(request.limit);
  return { page, total: db.select({ total: count() }).from<SQLiteTable>(table).where(filter) };
}

/** `inTimeBy` for the query builder. */
export const inTime = (table: PagedTable): SQL =>
  sql.raw(inTimeBy(`"${getTableName(table)}"."seq"`));

/** A query of the builder. */
export function asQuery(built: { toSQL(): { sql: string; params: unknown[] } }): ReadQuery {
  const { sql: text, params } = built.toSQL();
  return { sql: text, values: params.map(toValue) };
}

function toValue(value: unknown): Value {
  if (value === null || typeof value === "string" || typeof value === "number") return value;
  if (value instanceof Uint8Array) return value;
  throw new Error(`a query cannot have a value of the type ${typeof value}`);
}

type PagedTable = SQLiteTable & { seq: SQLiteColumn; $inferSelect: { seq: number } };

/** A row with the names and types of the schema; `values` are those of all columns in their order. */
export function toRow<Table extends SQLiteTable>(
  table: Table,
  values: unknown[],
): Table["$inferSelect"] {
  const row: Record<string, unknown> = {};
  columnsOf(table).forEach(([name, column], i) => {
    const value = values[i];
    row[name] = value === null ? null : column.mapFromDriverValue(value);
  });
  return row;
}

const known = new WeakMap<SQLiteTable, [string, SQLiteColumn][]>();

function columnsOf(table: SQLiteTable): [string, SQLiteColumn][] {
  let columns = known.get(table);
  if (columns === undefined) known.set(table, (columns = Object.entries(getTableColumns(table))));
  return columns;
}

/** The position after which the next page begins; null if there is no other page. */
function positionAfter<Row>(
  { rows, positionOf, stoppedAt = null }: PageRows<Row, unknown>,
  limit: number,
): readonly number[] | null {
  const last = rows[limit - 1];
  return rows.length > limit && last !== undefined ? positionOf(last) : stoppedAt;
}

/** A query without conditions, order and limit, as `db.select().from(table)` returns it. */
type RowsOf<Row> = {
  where(filter: SQL | undefined): {
    orderBy(order: SQL): { limit(rows: number): { all(): Row[] } };
  };
};

/**
 * Returns the `read` function of a list: the rows of a table that match a filter, newest first. The
 * position of a row is its `seq`. `total` replaces the count of the rows if a counter is stored.
 */
export function newestRows<Row extends { seq: number }>(
  db: Db,
  list: {
    table: SQLiteTable & { seq: SQLiteColumn };
    filter: SQL | undefined;
    select: RowsOf<Row>;
    total?: () => number;
  },
): (request: PageRequest) => PageRows<Row> {
  const { table, filter, select, total = () => countRows(db, table, filter) } = list;
  return ({ limit, after }) => {
    const [before] = after ?? [];
    const rows = select
      .where(and(filter, before === undefined ? undefined : lt(table.seq, before)))
      .orderBy(desc(table.seq))
      .limit(limit)
      .all();
    return { rows, total: total(), positionOf: bySeq };
  };
}

/** The exact number of rows of a table that match a filter. */
export function countRows(db: Db, table: SQLiteTable, filter: SQL | undefined): number {
  return db.select({ total: count() }).from(table).where(filter).all()[0]?.total ?? 0;
}

/** A condition on a column of text. SQLite compares letters of ASCII without regard to case. */
export function containsText(column: SQLiteColumn, text: string): SQL {
  const pattern = `%${text.replace(/[\\%_]/g, "\\$&")}%`;
  return sql`${column} LIKE ${pattern} ESCAPE '\\'`;
}

/** In a list that is sorted by `seq` alone: the `seq` of each row of the page is below this. */
export function seqBound({ after }: PageRequest): number {
  return after?.[0] ?? Number.MAX_SAFE_INTEGER;
}

/** The position of a row in a list that is sorted by `seq` alone, newest first. */
export const bySeq = (row: { seq: number }): readonly number[] => [row.seq];
