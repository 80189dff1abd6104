/** Pages of the saved views that a member sees, newest first. */

import { and, eq, inArray, or, type SQL } from "drizzle-orm";
import type { Db } from "../../db/open.ts";
import { users } from "../../db/schema/accounts.ts";
import { savedViews } from "../../db/schema/views.ts";
import type { Page } from "../../http/envelope.ts";
import { containsText, type ListPage, newestRows } from "../../http/pagination.ts";
import { isoTime } from "../../lib/clock.ts";
import { type Caller, pagesOf } from "./access.ts";
import type { SavedView, SavedViewQuery } from "./model.ts";
import { VIEW_PAGES, type ViewPage } from "./pages.ts";

export type ViewRow = typeof savedViews.$inferSelect;

export function createViewList({ db, listPage }: { db: Db; listPage: ListPage }) {
  return (
    projectSeq: number,
    caller: Caller,
    request: SavedViewQuery,
  ): Promise<Page<SavedView>> => {
    const { page, name, ...query } = request;
    const filter = and(
      eq(savedViews.projectSeq, projectSeq),
      visibleTo(caller),
      page === undefined ? undefined : eq(savedViews.page, page),
      name === undefined ? undefined : containsText(savedViews.name, name),
    );
    const scope = `${projectSeq}:views:${caller.userSeq}:${page ?? ""}:${name ?? ""}`;
    return listPage(
      { scope, query },
      newestRows(db, { table: savedViews, filter, select: db.select().from(savedViews) }),
      (rows) => {
        const authors = authorsOf(db, rows);
        return rows.map((row) => present(row, caller, authors));
      },
    );
  };
}

/** The condition on the views that a member sees: own and shared ones of pages that the role opens. */
export function visibleTo({ userSeq, role }: Caller): SQL | undefined {
  return and(
    or(eq(savedViews.userSeq, userSeq), eq(savedViews.isShared, true)),
    inArray(savedViews.page, pagesOf(role)),
  );
}

/** One view as the API shows it. */
export const presentView = (db: Db, row: ViewRow, caller: Caller): SavedView =>
  present(row, caller, authorsOf(db, [row]));

/** The page of a row that `visibleTo` found. */
export function pageOf(row: ViewRow): ViewPage {
  const page = VIEW_PAGES.find((known) => known === row.page);
  if (page === undefined) throw new Error(`The view ${row.id} is of the unknown page ${row.page}.`);
  return page;
}

type Authors = ReadonlyMap<number, string>;

/** The names of the authors by the `seq` of the user. */
function authorsOf(db: Db, rows: readonly ViewRow[]): Authors {
  const seqs = [...new Set(rows.map(({ userSeq }) => userSeq))];
  const found = db
    .select({ seq: users.seq, name: users.name })
    .from(users)
    .where(inArray(users.seq, seqs))
    .all();
  return new Map(found.map(({ seq, name }) => [seq, name]));
}

function present(row: ViewRow, { userSeq }: Caller, authors: Authors): SavedView {
  const { id, name, query, isShared } = row;
  return {
    id,
    page: pageOf(row),
    name,
    query,
    isShared,
    isOwn: row.userSeq === userSeq,
    author: authors.get(row.userSeq) || null,
    createdAt: isoTime(row.createdAt),
    updatedAt: isoTime(row.updatedAt),
  };
}
