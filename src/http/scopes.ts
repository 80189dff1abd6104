/**
 * The scopes of keys. An operation declares the scopes that may call it (`scopes` of
 * documented.ts); one that declares none needs a key for everything, so a new route is closed to
 * all other keys.
 *
 * | scope      | may call                                                                          |
 * | ---------- | --------------------------------------------------------------------------------- |
 * | EVERYTHING | all operations that accept keys                                                   |
 * | SEND       | `POST /v1/send`, and SMTP submission                                              |
 * | READ       | what a viewer may read, without secrets, and the messages of inboxes              |
 * | CONTACTS   | contacts, their imports, segments and suppressions, `/v1/track` and `/v1/verify`  |
 */

import type { KEY_SCOPES } from "../db/schema/projects.ts";
import { AppError } from "../lib/errors.ts";
import type { Role } from "./roles.ts";

export type KeyScope = (typeof KEY_SCOPES)[number];
/** A scope that an operation may name. */
export type DeclaredScope = Exclude<KeyScope, "EVERYTHING">;

/** The keyword of an operation that holds its scopes. */
export const SCOPES = "x-scopes";

/** The role that decides what a key sees in the data (role-views.ts). */
export const ROLE_OF_SCOPE: Readonly<Record<KeyScope, Role>> = {
  EVERYTHING: "ADMIN",
  SEND: "EDITOR",
  READ: "VIEWER",
  CONTACTS: "EDITOR",
};

/**
 * The role that decides what is seen of the events and executions of a contact. A key for contacts may
 * not read events and received mail by themselves, so it sees of them what viewers see.
 */
export const roleForHistory = (role: Role | null, scope: KeyScope | null): Role | null =>
  scope === "CONTACTS" ? "VIEWER" : role;

/** Throws 403 unless an operation with these scopes accepts a key with this one. */
export function requireScope(scope: KeyScope, allowed: readonly DeclaredScope[]): void {
  if (scope === "EVERYTHING" || allowed.includes(scope)) return;
  const needed = [...allowed, "EVERYTHING"].join(" or ");
  throw new AppError(
    403,
    "SCOPE_REQUIRED",
    `This needs a key with the scope ${needed}, and the scope of this key is ${scope}.`,
    { suggestion: "Create a key with this scope in the dashboard: the scope of a key is fixed." },
  );
}
