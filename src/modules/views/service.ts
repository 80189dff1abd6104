/**
 * Saved views: names for the filters of lists in the dashboard. In order: a member saves the query
 * string of a list under a name; `list` returns the member's own views and the shared ones of pages
 * that the member may open; the author shares, changes or deletes the view, and an admin may do so
 * with shared ones. When a member is removed, private views are deleted and shared views stay. The
 * views of a disabled user or project stay, because both can be enabled again.
 */

import { and, eq } from "drizzle-orm";
import type { Db } from "../../db/open.ts";
import { savedViews } from "../../db/schema/views.ts";
import type { Change } from "../../db/writer.ts";
import { countRows, type ListPage } from "../../http/pagination.ts";
import type { Clock } from "../../lib/clock.ts";
import { AppError, notFound, validationError } from "../../lib/errors.ts";
import { newId } from "../../lib/id.ts";
import {
  type Caller,
  requireChange,
  requireOwnership,
  requirePage,
  requireSharing,
} from "./access.ts";
import { createViewList, pageOf, presentView, visibleTo, type ViewRow } from "./list.ts";
import type { SavedView, SavedViewInput, SavedViewPatch } from "./model.ts";
import type { ViewPage } from "./pages.ts";
import { checkQuery } from "./query.ts";

export type SavedViews = ReturnType<typeof createSavedViews>;

/** Most views of a user in a project. */
const MAX_OF_USER = 100;
/** Most views of a project, so that a list reads a bounded number of rows. */
const MAX_OF_PROJECT = 1_000;

export function createSavedViews({
  db,
  clock,
  listPage,
}: {
  db: Db;
  clock: Pick<Clock, "now">;
  listPage: ListPage;
}) {
  const inProject = (projectSeq: number) => eq(savedViews.projectSeq, projectSeq);

  /** Throws 404 if the caller does not see the view. */
  function get(projectSeq: number, id: string, caller: Caller): ViewRow {
    const match = and(eq(savedViews.id, id), inProject(projectSeq), visibleTo(caller));
    const row = db.select().from(savedViews).where(match).limit(1).get();
    if (row === undefined) throw notFound("VIEW");
    return row;
  }

  /** Throws 409 if the author has another view of the name on the page. */
  function requireFreeName(view: Pick<ViewRow, "projectSeq" | "userSeq" | "page" | "name">): void {
    const match = and(
      inProject(view.projectSeq),
      eq(savedViews.userSeq, view.userSeq),
      eq(savedViews.page, view.page),
      eq(savedViews.name, view.name),
    );
    if (countRows(db, savedViews, match) > 0) throw nameTaken(view.name);
  }

  function requireBelowLimit(projectSeq: number, userSeq: number): void {
    const own = and(inProject(projectSeq), eq(savedViews.userSeq, userSeq));
    if (countRows(db, savedViews, own) >= MAX_OF_USER) throw tooMany("You have", MAX_OF_USER);
    if (countRows(db, savedViews, inProject(projectSeq)) >= MAX_OF_PROJECT) {
      throw tooMany("There are", MAX_OF_PROJECT);
    }
  }

  return {
    list: createViewList({ db, listPage }),

    /** Throws 403, 409 or 422 as the operation says. */
    create(projectSeq: number, caller: Caller, input: SavedViewInput): Change<SavedView> {
      const { page, isShared = false } = input;
      requirePage(caller, page);
      if (isShared) requireSharing(caller);
      const query = validQuery(page, input.query);
      return () => {
        const now = clock.now();
        const { userSeq } = caller;
        const fields = { projectSeq, userSeq, page, name: input.name.trim(), query, isShared };
        requireBelowLimit(projectSeq, userSeq);
        requireFreeName(fields);
        const row = { ...fields, id: newId(now), createdAt: now, updatedAt: now };
        return presentView(db, db.insert(savedViews).values(row).returning().get(), caller);
      };
    },

    /** Throws 404 if the caller does not see the view, else 403, 409 or 422. */
    patch(
      projectSeq: number,
      id: string,
      { caller, patch }: { caller: Caller; patch: SavedViewPatch },
    ): Change<SavedView> {
      return () => {
        const row = get(projectSeq, id, caller);
        requireChange(caller, row, patch);
        const name = patch.name?.trim() ?? row.name;
        const query = patch.query === undefined ? row.query : validQuery(pageOf(row), patch.query);
        const isShared = patch.isShared ?? row.isShared;
        if (name !== row.name) requireFreeName({ ...row, name });
        const changed = db
          .update(savedViews)
          .set({ name, query, isShared, updatedAt: clock.now() })
          .where(eq(savedViews.seq, row.seq))
          .returning()
          .get();
        return presentView(db, changed ?? row, caller);
      };
    },

    /** Throws 404 if the caller does not see the view, and 403 if the caller may not delete it. */
    remove(projectSeq: number, id: string, caller: Caller): Change<void> {
      return () => {
        const row = get(projectSeq, id, caller);
        requireOwnership(caller, row);
        db.delete(savedViews).where(eq(savedViews.seq, row.seq)).run();
      };
    },

    /** Part of a change: deletes the views that only a removed member could see. */
    forget(projectSeq: number, userSeq: number): void {
      db.delete(savedViews)
        .where(
          and(
            inProject(projectSeq),
            eq(savedViews.userSeq, userSeq),
            eq(savedViews.isShared, false),
          ),
        )
        .run();
    },
  };
}

function validQuery(page: ViewPage, text: string): string {
  const checked = checkQuery(page, text);
  if (!checked.ok) throw validationError([checked.error]);
  return checked.query;
}

function nameTaken(name: string): AppError {
  return new AppError(409, "CONFLICT", `A view with the name "${name}" exists on this page.`, {
    suggestion: "Choose another name, or change the view that has it.",
  });
}

function tooMany(holder: string, limit: number): AppError {
  const message = `${holder} ${limit} saved views in this project, which is the limit.`;
  return new AppError(409, "QUOTA_EXCEEDED", message, {
    suggestion: "Delete a view that is no longer needed.",
  });
}
