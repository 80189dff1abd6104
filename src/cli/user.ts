/** The commands `mailstead user add`, `link`, `list`, `disable`, `enable` and `reset-second-factor`. */

import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { MEMBER_ROLES, type MemberRole } from "../db/schema/accounts.ts";
import type { SettingName } from "../config/settings.ts";
import { isoTime, isoTimeOrNull } from "../lib/clock.ts";
import { AppError } from "../lib/errors.ts";
import type { AuditEntry } from "../modules/accounts/audit.ts";
import { factorsOf } from "../modules/accounts/second-factors.ts";
import { createPasswords, requireGoodPassword } from "../modules/accounts/passwords.ts";
import type { UserRow } from "../modules/accounts/users.ts";
import { membershipsOf } from "../modules/projects.ts";
import { parseAddress } from "../protocols/mime/address.ts";
import { type Command, type Input, UsageError } from "./command.ts";
import {
  LINK_SETTINGS,
  print,
  STORE_SETTINGS,
  type Store,
  withNewStore,
  withStore,
} from "./store.ts";

/** The base of the printed link. */
const USER_SETTINGS: readonly SettingName[] = [...STORE_SETTINGS, ...LINK_SETTINGS];
const EMAIL_ARGUMENT = { name: "EMAIL", help: "Address of the user" } as const;

export const userAdd: Command = {
  name: "user add",
  summary: "Add a user of the dashboard, or give a user a role; prints a sign-in link",
  details:
    "An owner may do everything in all projects. Other users need a role in a project: an ADMIN\n" +
    "manages keys, domains, webhooks and the team, an EDITOR sends, and a VIEWER reads.\n" +
    "The link works once and for an hour. The user then sets a password on the account page.\n" +
    "If the account was made with a link that an admin of a project was shown, its password\n" +
    "and its sessions end, and the address counts as proven.",
  positionals: [EMAIL_ARGUMENT],
  flags: [
    { name: "owner", help: "Make the user an owner of the installation" },
    { name: "project", placeholder: "ID|NAME", help: "Project in which the user gets a role" },
    { name: "role", placeholder: MEMBER_ROLES.join("|"), help: "Role in the project" },
    { name: "name", placeholder: "TEXT", help: "Name of the user" },
    {
      name: "password-file",
      placeholder: "FILE",
      help: "File with a password for the user, or - for standard input, instead of a sign-in link",
    },
  ],
  settings: USER_SETTINGS,
  run: async (input) => {
    const email = emailIn(input);
    const isOwner = input.flags["owner"] !== undefined;
    const role = roleIn(input.flags);
    const passwordDigest = await passwordDigestIn(input, email);
    return withNewStore(input, async (store) => {
      const { writer, accounts, project } = store;
      const projectSeq = role === null ? null : project().seq;
      const { user, token } = await writer.write(() => {
        const name = input.flags["name"];
        const user = addUser(store, { email, name, isOwner, passwordDigest });
        if (projectSeq !== null && role !== null) {
          accounts.members.put(projectSeq, user.seq, role);
        }
        accounts.record(entryOf("add", user, { projectSeq, fields: isOwner ? ["isOwner"] : [] }));
        return { user, token: passwordDigest === null ? accounts.createLink(user.seq) : null };
      });
      const link = token === null ? null : linkOf(store, token);
      const what = user.isOwner ? "is an owner" : "is a user";
      return print(
        input,
        { user: present(store, user), link },
        link === null
          ? `${email} ${what}, with the password of the file.`
          : `${email} ${what}. To sign in, once within an hour, open:\n${link}`,
      );
    });
  },
};

export const userLink: Command = {
  name: "user link",
  summary: "Print a link that signs a user in, once and within an hour",
  details: "It also helps after a lost password: the user may then set a new one.",
  positionals: [EMAIL_ARGUMENT],
  flags: [],
  settings: USER_SETTINGS,
  run: (input) =>
    withStore(input, async (store) => {
      const found = store.accounts.users.getByEmail(emailIn(input));
      if (found.disabledAt !== null) {
        throw new UsageError(`${found.email} is disabled: run mailstead user enable first`);
      }
      const { user, token } = await store.writer.write(() => {
        const user = store.accounts.prove(found);
        store.accounts.record(entryOf("link", user));
        return { user, token: store.accounts.createLink(user.seq) };
      });
      const link = linkOf(store, token);
      return print(input, { user: present(store, user), link }, link);
    }),
};

export const userList: Command = {
  name: "user list",
  summary: "List the users of the dashboard",
  positionals: [],
  flags: [],
  settings: STORE_SETTINGS,
  run: (input) =>
    withStore(input, async (store) => {
      const all = store.accounts.users.list();
      const lines = all.map((user) => lineFor(present(store, user)));
      const human =
        lines.join("\n") || "There is no user yet. Add one: mailstead user add EMAIL --owner";
      return print(input, { users: all.map((user) => present(store, user)) }, human);
    }),
};

export const userDisable = disabledCommand("disable", true);
export const userEnable = disabledCommand("enable", false);

export const userResetSecondFactor: Command = {
  name: "user reset-second-factor",
  summary: "Remove the second factor of a user who has lost it, and end the sessions",
  details:
    "The authenticator app, the passkeys and the recovery codes of the user stop working. The next\n" +
    "sign-in needs the password or a link only, unless --require-second-factor asks for a new one.",
  positionals: [EMAIL_ARGUMENT],
  flags: [],
  settings: STORE_SETTINGS,
  run: (input) =>
    withStore(input, async (store) => {
      const { accounts, writer } = store;
      const user = accounts.users.getByEmail(emailIn(input));
      const hadFactor = await writer.write(() => {
        accounts.record(entryOf("reset-second-factor", user));
        return accounts.resetFactors(user);
      });
      const human = hadFactor
        ? `${user.email} has no second factor any more. All sessions of the user have ended.`
        : `${user.email} had no second factor. All sessions of the user have ended.`;
      return print(input, { user: present(store, user), hadSecondFactor: hadFactor }, human);
    }),
};

function disabledCommand(verb: "disable" | "enable", isDisabled: boolean): Command {
  return {
    name: `user ${verb}`,
    summary: isDisabled
      ? "End the sessions of a user and refuse new ones"
      : "Let a user sign in again",
    positionals: [EMAIL_ARGUMENT],
    flags: [],
    settings: STORE_SETTINGS,
    run: (input) =>
      withStore(input, async (store) => {
        const { accounts, writer } = store;
        const found = accounts.users.getByEmail(emailIn(input));
        const user = await writer.write(() =>
          accounts.recordChange(entryOf(verb, found), () =>
            accounts.setDisabled(found, isDisabled),
          ),
        );
        return print(input, { user: present(store, user) }, `${user.email} is ${verb}d.`);
      }),
  };
}

type Added = {
  email: string;
  name: string | undefined;
  isOwner: boolean;
  passwordDigest: string | null;
};

const MAX_PASSWORD_FILE_BYTES = 8_192;

/** The digest of the password in a file; null without --password-file. */
async function passwordDigestIn({ flags, io }: Input, email: string): Promise<string | null> {
  const file = flags["password-file"];
  if (file === undefined) return null;
  const text = await readPasswordFile(io, file);
  const password = text.slice(0, MAX_PASSWORD_FILE_BYTES).replace(/\r?\n$/, "");
  try {
    requireGoodPassword(password, email);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    throw new UsageError(`--password-file: the ${error.message.replace(":", "")}`);
  }
  return createPasswords().hash(password, "");
}

/** The name - means standard input. */
async function readPasswordFile(io: Input["io"], file: string): Promise<string> {
  if (file === "-") return new Response(io.stdin.stream()).text();
  try {
    return readFileSync(resolve(io.cwd, file), "utf8");
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new UsageError(`--password-file: ${file} cannot be read: ${reason}`);
  }
}

function passwordTaken(email: string): UsageError {
  return new UsageError(
    `${email} has a password already; mailstead user link ${email} lets the user set another one`,
  );
}

/** Part of a change: adds the user, or changes the existing one. */
function addUser({ accounts }: Store, { email, name, isOwner, passwordDigest }: Added): UserRow {
  const { users } = accounts;
  const existing = users.findByEmail(email);
  if (existing === null) {
    return users.create({ email, name: name ?? email, passwordDigest, isOwner })();
  }
  if (passwordDigest !== null && existing.passwordDigest !== null) throw passwordTaken(email);
  return users.set(accounts.prove(existing).seq, {
    ...(passwordDigest !== null && { passwordDigest }),
    isOwner: isOwner || existing.isOwner,
    name: name ?? existing.name,
  })();
}

function entryOf(
  verb: string,
  user: UserRow,
  rest: Partial<Pick<AuditEntry, "projectSeq" | "fields">> = {},
): AuditEntry {
  return {
    actor: { kind: "CLI", id: null, label: `mailstead user ${verb}` },
    projectSeq: null,
    action: `user.${verb}`,
    objectType: "user",
    objectId: user.id,
    address: null,
    ...rest,
  };
}

function emailIn({ positionals }: Input): string {
  const text = positionals[0] ?? "";
  const parsed = parseAddress(text);
  if (parsed.ok) return parsed.address;
  throw new UsageError(`EMAIL: ${parsed.reason} Example: ada@example.com`);
}

function roleIn(flags: Input["flags"]): MemberRole | null {
  const given = flags["role"];
  if (given === undefined) {
    if (flags["project"] === undefined) return null;
    throw new UsageError("--project needs --role");
  }
  const role = MEMBER_ROLES.find((one) => one === given.toUpperCase());
  if (role !== undefined) return role;
  throw new UsageError(`--role: expected one of ${MEMBER_ROLES.join(", ")}, got "${given}"`);
}

function linkOf({ url }: Store, token: string): string {
  return `${url}/app/link#${token}`;
}

function present(store: Store, user: UserRow) {
  const { id, email, name, isOwner, disabledAt, createdAt } = user;
  return {
    id,
    email,
    name,
    isOwner,
    isDisabled: disabledAt !== null,
    hasPassword: user.passwordDigest !== null,
    isProven: user.unprovenProjectSeq === null,
    hasSecondFactor: factorsOf(store, user.seq).isOn,
    createdAt: isoTime(createdAt),
    lastSeenAt: isoTimeOrNull(store.accounts.sessions.lastSeenAt(user.seq)),
    projects: membershipsOf(store, user.seq).map((project) => ({
      id: project.id,
      name: project.name,
      role: project.role,
    })),
  };
}

function lineFor(user: ReturnType<typeof present>) {
  const { email, isOwner, isDisabled, isProven, projects, lastSeenAt } = user;
  const state = isDisabled ? "disabled" : "enabled ";
  const roles = [
    ...(isOwner ? ["OWNER"] : []),
    ...projects.map(({ name, role }) => `${role} of ${name}`),
  ];
  const seen = lastSeenAt === null ? "never signed in" : `last seen ${lastSeenAt}`;
  const factor = user.hasSecondFactor ? "  second factor" : "";
  const proof = isProven ? "" : "  address not proven";
  return `${email}  ${state}  ${roles.join(", ") || "no role"}  ${seen}${factor}${proof}`;
}
