/**
 * Saved views: names for the filters of lists in the dashboard. In order: a member saves the query
 * string of a list under a name; the list shows the member's own views and the shared ones of pages
 * that the member may open; the author shares, changes or deletes the view, and an admin may do so
 * with shared ones. When a member is removed, private views are deleted and shared views stay. The
 * views of a disabled user or project stay, because both can be enabled again.
 */

import { and, eq, inArray, or, type SQL } from "drizzle-orm";
import type { App } from "../../core/app.ts";
import { savedViews } from "../../db/schema/views.ts";
import { statement } from "../../db/statement.ts";
import { sessionRequired } from "../../http/admission-errors.ts";
import { BODY_LIMITS, limited } from "../../http/body-limits.ts";
import { Envelope, ListEnvelope, NoContent, type Page } from "../../http/envelope.ts";
import { operations, read, write } from "../../http/operations.ts";
import { containsText, countRows, smallPage } from "../../http/pagination.ts";
import { includesRole, type Role, ROLES } from "../../http/roles.ts";
import { isoTime } from "../../lib/clock.ts";
import { AppError, notFound, validationError } from "../../lib/errors.ts";
import { newId } from "../../lib/id.ts";
import { accountService } from "../accounts/service.ts";
import type { Noun } from "../module.ts";
import { SavedView, SavedViewInput, SavedViewPatch, SavedViewQuery } from "./model.ts";
import { checkQuery, PAGE_RULES, VIEW_PAGES, type ViewPage } from "./pages.ts";

const viewOperations = operations(
  "Saved views",
  { parameters: { id: "Id of the saved view" }, access: "SESSION" },
  [
    read("GET /views", {
      id: "listSavedViews",
      role: "VIEWER",
      summary: "List saved views",
      description:
        "The caller's own views and those that others share, newest first. Views of pages that " +
        "the caller's role may not open are left out.",
      query: SavedViewQuery,
      answer: ListEnvelope(SavedView),
      run: (app, { project, query, ...call }) => listViews(app, project, callerOf(call), query),
    }),
    write("POST /views", {
      id: "createSavedView",
      role: "VIEWER",
      summary: "Save a view",
      description:
        "403 if the role may not open the page, or is VIEWER and `isShared` is true. 409 with the " +
        "code CONFLICT if the caller has a view of this name on the page. 409 with the code " +
        "QUOTA_EXCEEDED if the caller has 100 views in the project, or the project has 1,000.",
      isIdempotent: true,
      links: { updateSavedView: { id: "/data/id" }, deleteSavedView: { id: "/data/id" } },
      body: limited(SavedViewInput, BODY_LIMITS.settings),
      answer: Envelope(SavedView),
      status: 201,
      run: (app, { project, body, ...call }) => createView(app, project.seq, callerOf(call), body),
    }),
    write("PATCH /views/:id", {
      id: "updateSavedView",
      role: "VIEWER",
      summary: "Rename, change or share a view",
      description:
        "The author may change everything; an admin may change name and query of a shared view. " +
        "A shared view needs the role EDITOR. 409 with the code CONFLICT if the author has another " +
        "view of this name on the page.",
      body: limited(SavedViewPatch, BODY_LIMITS.settings),
      answer: Envelope(SavedView),
      run(app, { project, params, body, ...call }) {
        const caller = callerOf(call);
        return updateView(app, findView(app, project.seq, params.id, caller), {
          caller,
          patch: body,
        });
      },
    }),
    write("DELETE /views/:id", {
      id: "deleteSavedView",
      role: "VIEWER",
      summary: "Delete a view",
      description: "The author may delete the view, and an admin may if it is shared.",
      isWithinQuota: false,
      answer: NoContent,
      run(app, { project, params, ...call }) {
        const caller = callerOf(call);
        const view = findView(app, project.seq, params.id, caller);
        requireOwnership(caller, view);
        app.db.delete(savedViews).where(eq(savedViews.seq, view.seq)).run();
      },
    }),
  ],
);

export const viewNoun: Noun = {
  name: "views",
  operations: viewOperations,
  connect: (app) =>
    accountService(app).members.onRemove((...member) => deletePrivateViews(app, ...member)),
};

type ViewRow = typeof savedViews.$inferSelect;

/** The user who sends the request, with the role in the project. */
type Caller = { userSeq: number; role: Role };

function callerOf({ user, role }: { user: { seq: number } | null; role: Role | null }): Caller {
  if (user === null || role === null) throw sessionRequired();
  return { userSeq: user.seq, role };
}

function listViews(
  app: App,
  project: { seq: number },
  caller: Caller,
  { page, name, ...query }: SavedViewQuery,
): Promise<Page<SavedView>> {
  return smallPage(app, project, {
    name: `views:${caller.userSeq}:${page ?? ""}:${name ?? ""}`,
    query,
    table: savedViews,
    filter: and(
      eq(savedViews.projectSeq, project.seq),
      isVisibleTo(caller),
      page === undefined ? undefined : eq(savedViews.page, page),
      name === undefined ? undefined : containsText(savedViews.name, name),
    ),
    present: (row) => present(app, row, caller),
  });
}

/** The condition on the views that a member sees: own and shared ones of pages that the role opens. */
function isVisibleTo({ userSeq, role }: Caller): SQL | undefined {
  const pages = VIEW_PAGES.filter((page) => includesRole(role, PAGE_RULES[page].role));
  return and(
    or(eq(savedViews.userSeq, userSeq), eq(savedViews.isShared, true)),
    inArray(savedViews.page, pages),
  );
}

/** Throws 404 if the caller does not see the view. */
function findView({ db }: App, projectSeq: number, id: string, caller: Caller): ViewRow {
  const match = and(eq(savedViews.id, id), isInProject(projectSeq), isVisibleTo(caller));
  const row = db.select().from(savedViews).where(match).limit(1).get();
  if (row === undefined) throw notFound("VIEW");
  return row;
}

const isInProject = (projectSeq: number) => eq(savedViews.projectSeq, projectSeq);

/** Throws 403, 409 or 422 as the operation says. */
function createView(
  app: App,
  projectSeq: number,
  caller: Caller,
  { page, isShared = false, ...input }: SavedViewInput,
): SavedView {
  requirePage(caller, page);
  if (isShared) requireSharing(caller);
  const query = validQuery(page, input.query);
  const now = app.clock.now();
  const { userSeq } = caller;
  const fields = { projectSeq, userSeq, page, name: input.name.trim(), query, isShared };
  requireBelowLimit(app, projectSeq, userSeq);
  requireFreeName(app, fields);
  const row = { ...fields, id: newId(now), createdAt: now, updatedAt: now };
  return present(app, app.db.insert(savedViews).values(row).returning().get(), caller);
}

/** Throws 403, 409 or 422 as the operation says. */
function updateView(
  app: App,
  row: ViewRow,
  { caller, patch }: { caller: Caller; patch: SavedViewPatch },
): SavedView {
  requireChange(caller, row, patch);
  const name = patch.name?.trim() ?? row.name;
  const query = patch.query === undefined ? row.query : validQuery(pageOf(row), patch.query);
  const isShared = patch.isShared ?? row.isShared;
  if (name !== row.name) requireFreeName(app, { ...row, name });
  const changed = app.db
    .update(savedViews)
    .set({ name, query, isShared, updatedAt: app.clock.now() })
    .where(eq(savedViews.seq, row.seq))
    .returning()
    .get();
  return present(app, changed ?? row, caller);
}

/** Part of a change: deletes the views that only a removed member could see. */
function deletePrivateViews({ db }: App, projectSeq: number, userSeq: number): void {
  const ofMember = and(isInProject(projectSeq), eq(savedViews.userSeq, userSeq));
  db.delete(savedViews)
    .where(and(ofMember, eq(savedViews.isShared, false)))
    .run();
}

/** Most views of a user in a project. */
const MAX_OF_USER = 100;
/** Most views of a project, so that a list reads a bounded number of rows. */
const MAX_OF_PROJECT = 1_000;

function requireBelowLimit({ db }: App, projectSeq: number, userSeq: number): void {
  const ofProject = isInProject(projectSeq);
  const own = and(ofProject, eq(savedViews.userSeq, userSeq));
  if (countRows(db, savedViews, own) >= MAX_OF_USER) throw tooMany("You have", MAX_OF_USER);
  if (countRows(db, savedViews, ofProject) >= MAX_OF_PROJECT) {
    throw tooMany("There are", MAX_OF_PROJECT);
  }
}

/** Throws 409 if the author has another view of the name on the page. */
function requireFreeName(
  { db }: App,
  { projectSeq, userSeq, page, name }: Pick<ViewRow, "projectSeq" | "userSeq" | "page" | "name">,
): void {
  const match = and(
    isInProject(projectSeq),
    eq(savedViews.userSeq, userSeq),
    eq(savedViews.page, page),
    eq(savedViews.name, name),
  );
  if (countRows(db, savedViews, match) > 0) throw nameTaken(name);
}

/** The page of a row that `isVisibleTo` found. */
function pageOf(row: ViewRow): ViewPage {
  const page = VIEW_PAGES.find((known) => known === row.page);
  if (page === undefined) throw new Error(`The view ${row.id} is of the unknown page ${row.page}.`);
  return page;
}

const findAuthor = statement<{ name: string | null }, [number]>(
  "SELECT name FROM users WHERE seq = +?",
);

function present(app: App, row: ViewRow, { userSeq }: Caller): SavedView {
  const { id, name, query, isShared } = row;
  return {
    id,
    page: pageOf(row),
    name,
    query,
    isShared,
    isOwn: row.userSeq === userSeq,
    author: findAuthor(app).get(row.userSeq)?.name || null,
    createdAt: isoTime(row.createdAt),
    updatedAt: isoTime(row.updatedAt),
  };
}

/** Throws 403 if the role may not open the page. */
function requirePage({ role }: Caller, page: ViewPage): void {
  const least = PAGE_RULES[page].role;
  if (!includesRole(role, least)) throw forbidden(`The page ${page} needs the role ${least}`, role);
}

/** Throws 403 if the caller may not share views. */
function requireSharing({ role }: Caller): void {
  if (!includesRole(role, "EDITOR")) throw forbidden("A shared view needs the role EDITOR", role);
}

/** Throws 403 if the caller may not delete the view, or change its name or query. */
function requireOwnership(caller: Caller, view: ViewRow): void {
  if (view.isShared) requireSharing(caller);
  if (view.userSeq === caller.userSeq || includesRole(caller.role, "ADMIN")) return;
  throw forbidden("The view of another member needs the role ADMIN", caller.role);
}

/** Throws 403 if the caller may not make these changes. */
function requireChange(caller: Caller, view: ViewRow, { isShared }: SavedViewPatch): void {
  requireOwnership(caller, view);
  if (isShared === undefined || isShared === view.isShared) return;
  requireSharing(caller);
  if (view.userSeq === caller.userSeq) return;
  throw new AppError(403, "FORBIDDEN", "Only the author of a view may stop sharing it.", {
    suggestion: "An admin may delete the view.",
  });
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

function forbidden(rule: string, role: Role): AppError {
  return new AppError(403, "FORBIDDEN", `${rule}, and your role is ${role}.`, {
    suggestion: `Ask a member with a higher role; the roles are ${ROLES.join(", ")}.`,
  });
}
