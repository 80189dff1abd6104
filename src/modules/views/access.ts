/** Decides what a member may do with a saved view. */

import { includesRole, type Role, ROLES } from "../../http/roles.ts";
import { AppError } from "../../lib/errors.ts";
import type { SavedViewPatch } from "./model.ts";
import { PAGE_RULES, VIEW_PAGES, type ViewPage } from "./pages.ts";

/** The user who sends the request, with the role in the project. */
export type Caller = { userSeq: number; role: Role };

type Owned = { userSeq: number; isShared: boolean };

/** The pages that a role may open. */
export const pagesOf = (role: Role): ViewPage[] =>
  VIEW_PAGES.filter((page) => includesRole(role, PAGE_RULES[page].role));

/** Throws 403 if the role may not open the page. */
export function requirePage({ role }: Caller, page: ViewPage): void {
  const least = PAGE_RULES[page].role;
  if (!includesRole(role, least)) throw forbidden(`The page ${page} needs the role ${least}`, role);
}

/** Throws 403 if the caller may not share views. */
export function requireSharing({ role }: Caller): void {
  if (!includesRole(role, "EDITOR")) throw forbidden("A shared view needs the role EDITOR", role);
}

/** Throws 403 if the caller may not delete the view, or change its name or query. */
export function requireOwnership(caller: Caller, view: Owned): void {
  if (view.isShared) requireSharing(caller);
  if (view.userSeq === caller.userSeq || includesRole(caller.role, "ADMIN")) return;
  throw forbidden("The view of another member needs the role ADMIN", caller.role);
}

/** Throws 403 if the caller may not make these changes. */
export function requireChange(caller: Caller, view: Owned, { isShared }: SavedViewPatch): void {
  requireOwnership(caller, view);
  if (isShared === undefined || isShared === view.isShared) return;
  requireSharing(caller);
  if (view.userSeq === caller.userSeq) return;
  throw new AppError(403, "FORBIDDEN", "Only the author of a view may stop sharing it.", {
    suggestion: "An admin may delete the view.",
  });
}

function forbidden(rule: string, role: Role): AppError {
  return new AppError(403, "FORBIDDEN", `${rule}, and your role is ${role}.`, {
    suggestion: `Ask a member with a higher role; the roles are ${ROLES.join(", ")}.`,
  });
}
