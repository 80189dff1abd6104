/**
 * Plunk's lists: those in numbered pages, `{data, total, page, pageSize, totalPages}`, and those whose
 * one answer has what our list has in several pages.
 */

import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { and, asc, count, desc, or, type SQL } from "drizzle-orm";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import type { App } from "../../core/app.ts";
import { asQuery, containsText, inTime, toRow } from "../../http/pagination.ts";
import { numberIn, OrderQuery, pageSizeIn } from "./shapes.ts";

const MAX_PAGE = 1_000_000;

/** `limit` counts as `pageSize`, because Plunk's MCP server sends it. */
export const NumberedQuery = Type.Object({
  page: Type.Optional(Type.String()),
  pageSize: Type.Optional(Type.String()),
  limit: Type.Optional(Type.String()),
});

/** The parameters of a list that is searched and sorted. */
export const ListParameters = {
  ...NumberedQuery.properties,
  ...OrderQuery,
  search: Type.Optional(Type.String({ maxLength: 255 })),
};

/** The numbers of a page; 422 for a text that is no number, or below 1. */
export function numbersIn(query: Static<typeof NumberedQuery>): {
  page: number;
  pageSize: number;
} {
  return {
    page: numberIn("page", query.page, { otherwise: 1, maximum: MAX_PAGE }),
    pageSize:
      query.pageSize === undefined
        ? pageSizeIn("limit", query.limit)
        : pageSizeIn("pageSize", query.pageSize),
  };
}

/** A page as Plunk shows it. */
export function shownPage<T>(data: T[], total: number, numbers: ReturnType<typeof numbersIn>) {
  return { data, total, ...numbers, totalPages: Math.ceil(total / numbers.pageSize) };
}

/** The members of a page beside its items. */
export const PAGE_NUMBERS = {
  total: Type.Integer(),
  page: Type.Integer(),
  pageSize: Type.Integer(),
  totalPages: Type.Integer(),
};

export const NumberedPage = <T extends TSchema>(item: T) =>
  Type.Object({
    data: Type.Array(item),
    ...PAGE_NUMBERS,
  });

type Listed = SQLiteTable & {
  seq: SQLiteColumn;
  name?: SQLiteColumn;
  createdAt?: SQLiteColumn;
  updatedAt?: SQLiteColumn;
  $inferSelect: { seq: number };
};

/**
 * One page of the rows that match a filter and have the searched text in one of the columns, and the
 * number of all of them. It reads in a thread, because searching, sorting and counting look at many
 * rows.
 */
export async function numberedPage<Table extends Listed, Item>(
  app: App,
  project: { seq: number },
  {
    query,
    table,
    filter,
    searched = [],
    present,
  }: {
    query: Static<typeof NumberedQuery> & { sort?: string; dir?: string; search?: string };
    table: Table;
    filter: SQL | undefined;
    /** The columns that the parameter `search` looks into. */
    searched?: readonly SQLiteColumn[];
    present: (row: Table["$inferSelect"]) => Item;
  },
) {
  const numbers = numbersIn(query);
  const { page, pageSize } = numbers;
  const { search = "" } = query;
  const found = search === "" ? [] : searched.map((column) => containsText(column, search));
  const where = and(inTime(table), filter, or(...found));
  const rows = app.db
    .select()
    .from<SQLiteTable>(table)
    .where(where)
    .orderBy(...orderOf(table, query))
    .limit(pageSize)
    .offset((page - 1) * pageSize);
  const total = app.db.select({ total: count() }).from<SQLiteTable>(table).where(where);
  const unlessFewerThan = page === 1 ? pageSize : 0;
  const read = await app.reader.find(project.seq, {
    ...asQuery(rows),
    total: { ...asQuery(total), unlessFewerThan },
  });
  const data = read.rows.map((values) => present(toRow(table, values)));
  return shownPage(data, Number(read.total), numbers);
}

/**
 * Reads the pages of one of our lists one after the other, until the caller stops or the list ends.
 * `read` adds the cursor that it gets to its query.
 */
export async function* readPages<Page extends { nextCursor: string | null }>(
  read: (position: { cursor?: string }) => Promise<Page>,
): AsyncGenerator<Page> {
  let page = await read({});
  yield page;
  while (page.nextCursor !== null) {
    page = await read({ cursor: page.nextCursor });
    yield page;
  }
}

/** Newest first, unless the query names one of Plunk's columns. */
function orderOf(table: Listed, { sort, dir }: { sort?: string; dir?: string }): SQL[] {
  const direction = dir === "asc" ? asc : desc;
  const { seq, name, createdAt, updatedAt } = table;
  const column = sort === "name" ? name : sort === "updatedAt" ? updatedAt : createdAt;
  return column === undefined ? [direction(seq)] : [direction(column), direction(seq)];
}
