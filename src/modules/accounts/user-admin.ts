/** Changes of users by owners, each with its entry in the audit log, and the list of all users. */

import { and, eq, isNotNull, isNull, or, type SQL, sql } from "drizzle-orm";
import type { App } from "../../core/app.ts";
import { NO_OWNER } from "../../db/reader.ts";
import { type MemberRole, users } from "../../db/schema/accounts.ts";
import type { SessionUser } from "../../http/session-access.ts";
import { newestPage } from "../../http/pagination.ts";
import { isoTime, isoTimeOrNull } from "../../lib/clock.ts";
import { AppError } from "../../lib/errors.ts";
import { storedAddress } from "../../protocols/mime/address.ts";
import { findProject, membershipsOf } from "../projects.ts";
import { factorsOf } from "./second-factors.ts";
import { accountService } from "./service.ts";
import type { Client } from "./sessions.ts";
import { actorOf } from "./sign-in.ts";
import type { UserQuery } from "./user-model.ts";
import type { UserRow } from "./users.ts";

/** The owner who makes a change. */
type By = { owner: SessionUser; client: Client };

const hasTotp = sql`EXISTS (SELECT 1 FROM totp_secrets t
  WHERE t.user_seq = "users"."seq" AND t.confirmed_at IS NOT NULL)`;
const hasPasskey = sql`EXISTS (SELECT 1 FROM passkeys p WHERE p.user_seq = "users"."seq")`;

const FILTERS: Readonly<Record<string, SQL | undefined>> = {
  owner: eq(users.isOwner, true),
  member: eq(users.isOwner, false),
  enabled: isNull(users.disabledAt),
  disabled: isNotNull(users.disabledAt),
  on: or(hasTotp, hasPasskey),
  off: sql`NOT (${hasTotp} OR ${hasPasskey})`,
};

/** A page of the users that match all given filters, the newest first. */
export function listUsers(app: App, { q = "", role, state, factor, ...query }: UserQuery) {
  const words = q.toLowerCase().trim();
  const text =
    words === ""
      ? undefined
      : sql`(instr("users"."email", ${words}) > 0 OR instr(lower("users"."name"), ${words}) > 0)`;
  const filters = [role, state, factor].map((name) =>
    name === undefined ? undefined : FILTERS[name],
  );
  return newestPage(
    app,
    { seq: NO_OWNER },
    {
      name: "users",
      query,
      table: users,
      filter: and(text, ...filters),
      present: (row) => presentUserRow(app, row),
    },
  );
}

/** A user as owners see it. */
function presentUserRow(app: App, user: UserRow) {
  const { id, email, name, isOwner, createdAt } = user;
  const { sessions } = accountService(app);
  return {
    id,
    email,
    name,
    isOwner,
    isDisabled: user.disabledAt !== null,
    isProven: user.unprovenProjectSeq === null,
    hasPassword: user.passwordDigest !== null,
    hasSecondFactor: factorsOf(app, user.seq).isOn,
    sessions: sessions.list(user.seq).length,
    createdAt: isoTime(createdAt),
    lastSignInAt: isoTimeOrNull(user.lastSignInAt),
    lastSeenAt: isoTimeOrNull(sessions.lastSeenAt(user.seq)),
    projects: membershipsOf(app, user.seq).map((one) => ({
      id: one.id,
      name: one.name,
      role: one.role,
    })),
  };
}

type NewUser = {
  email: string;
  name?: string | undefined;
  isOwner?: boolean | undefined;
  member?: { project: string; role: MemberRole } | undefined;
};

/** Part of a change: creates a user, and the link with which the user signs in for the first time. */
export function addUser(app: App, given: NewUser, by: By) {
  const { users: rows, members, record } = accountService(app);
  const email = storedAddress(given.email);
  const { isOwner = false, member } = given;
  const user = rows.create({
    email,
    name: given.name ?? "",
    passwordDigest: null,
    isOwner: false,
  })();
  if (member !== undefined) {
    const project = findProject(app, member.project);
    if (project === null) throw noSuchProject();
    members.put(project.seq, user.seq, member.role);
  }
  const fields = Object.keys(given).filter((field) => field !== "isOwner");
  record({ ...entryOf("create", user, by), fields });
  // An entry of its own, so that the log shows who has made an owner.
  if (isOwner) changeUser(app, user.id, { isOwner }, by);
  return { user: presentUserRow(app, rows.get(user.id)), ...issueLink(app, user) };
}

/** Part of a change: changes the name, the ownership or the state of a user. */
export function changeUser(
  app: App,
  id: string,
  given: { name?: string; isOwner?: boolean; isDisabled?: boolean },
  by: By,
): void {
  const accounts = accountService(app);
  const found = accounts.users.get(id);
  const { name, isOwner, isDisabled } = given;
  const isOnlyState = isDisabled !== undefined && Object.keys(given).length === 1;
  const verb = isOnlyState ? (isDisabled ? "disable" : "enable") : "update";
  const entry = { ...entryOf(verb, found, by), fields: isOnlyState ? [] : Object.keys(given) };
  accounts.recordChange(entry, () => {
    if (name !== undefined) accounts.users.set(found.seq, { name })();
    if (isOwner !== undefined) accounts.users.setOwner(found, isOwner)();
    // The row as it is now: the owner may be the last one who is enabled.
    if (isDisabled !== undefined) accounts.setDisabled(accounts.users.get(id), isDisabled);
  });
}

/** Part of a change: a link that signs the user in once, for the owner to pass on. */
export function linkForUser(app: App, id: string, by: By) {
  const accounts = accountService(app);
  const found = accounts.users.get(id);
  if (found.disabledAt !== null) throw userIsDisabled();
  const user = accounts.prove(found);
  accounts.record(entryOf("link", user, by));
  return issueLink(app, user);
}

/** Part of a change: ends all sessions of a user. */
export function endSessionsOfUser(app: App, id: string, by: By): void {
  const { users: rows, sessions, record } = accountService(app);
  const user = rows.get(id);
  sessions.endOthers(user.seq, null);
  record(entryOf("sign-out", user, by));
}

/** Part of a change: removes the second factor of another user, who has lost it. */
export function resetFactorOfUser(app: App, id: string, by: By): void {
  const accounts = accountService(app);
  const user = accounts.users.get(id);
  // A stolen session of an owner must not get rid of the factor that the owner still has.
  if (user.seq === by.owner.seq) throw ownFactor();
  accounts.record(entryOf("reset-second-factor", user, by));
  accounts.resetFactors(user);
}

function issueLink(app: App, user: UserRow) {
  const { row, text } = accountService(app).tokens.issue({ kind: "LINK", userSeq: user.seq })();
  return { link: `${app.url}/app/link#${text}`, expiresAt: isoTime(row.expiresAt) };
}

const entryOf = (verb: string, user: UserRow, { owner, client }: By) => ({
  actor: actorOf(owner),
  projectSeq: null,
  action: `user.${verb}`,
  objectType: "user",
  objectId: user.id,
  address: client.address,
});

function noSuchProject(): AppError {
  return new AppError(404, "PROJECT_NOT_FOUND", "There is no such project.", {
    suggestion: "Choose another project.",
  });
}

function userIsDisabled(): AppError {
  return new AppError(409, "INVALID_STATE", "The user is disabled, so a link would not sign in.", {
    suggestion: "Enable the user first.",
  });
}

function ownFactor(): AppError {
  return new AppError(
    409,
    "CONFLICT",
    "Your own second factor is turned off on your account page.",
    {
      suggestion: "If you have lost it, another owner or mailstead user reset-second-factor helps.",
    },
  );
}
