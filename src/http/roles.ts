/** The roles of users of the dashboard. */

/** Roles of users in a project, the lowest first. Each role may do what those before it may. */
export const ROLES = ["VIEWER", "EDITOR", "ADMIN", "OWNER"] as const;
export type Role = (typeof ROLES)[number];
/** ANYONE: the route needs no account. USER: it needs a user, who may be a member of no project. */
export type RouteRole = Role | "USER" | "ANYONE";

/** The keyword of an operation that holds its role. */
export const ROLE = "x-role";

/**
 * ANY: API keys and sessions are accepted. SESSION: only users who are signed in are. KEY: sessions
 * are not accepted.
 */
export type RouteAccess = "ANY" | "SESSION" | "KEY";

/** Whether a role may do what the role `least` may. */
export function includesRole(role: Role | null, least: RouteRole): boolean {
  if (least === "ANYONE" || least === "USER") return true;
  return role !== null && ROLES.indexOf(role) >= ROLES.indexOf(least);
}

/**
 * Whether a role may read the body of a mail. The bodies of transactional mail contain links that
 * sign in and reset passwords, so viewers may read only those of marketing mail.
 */
export function mayReadBody(role: Role | null, isMarketing: boolean): boolean {
  return includesRole(role, isMarketing ? "VIEWER" : "EDITOR");
}
