/**
 * The first owner of an installation. `serve` creates the one that the settings name, or prints a
 * link with which the operator creates one; `dev` creates one and prints a link that signs in.
 */

import type { Server } from "../app.ts";
import type { Config } from "../config/settings.ts";
import { AppError } from "../lib/errors.ts";
import { createPasswords, requireGoodPassword } from "../modules/accounts/passwords.ts";
import { UsageError } from "./command.ts";

type Parts = Pick<Server, "accounts" | "writer">;
type OwnerSettings = Pick<Config, "ownerEmail" | "ownerPassword">;

const DEVELOPER = {
  email: "developer@mailstead.localhost",
  name: "Developer",
  passwordDigest: null,
  isOwner: true,
} as const;
const LOOPBACK_HOSTS = ["127.0.0.1", "localhost", "::1"];

/** Whether only this machine can reach a server that listens on this host. */
export function isLoopbackHost(host: string): boolean {
  return LOOPBACK_HOSTS.includes(host);
}

/**
 * Creates the owner of `--owner-email` if there is no owner. Otherwise returns the link that creates
 * one, or null if there is one already. Links of earlier starts no longer work.
 */
export async function prepareOwner(app: Parts, config: OwnerSettings): Promise<string | null> {
  const { accounts, writer } = app;
  if (config.ownerEmail !== null && !accounts.users.hasOwner()) {
    await createOwner(app, config.ownerEmail, config.ownerPassword);
  }
  const token = await writer.write(accounts.createSetUpToken());
  return token === null ? null : `/app/setup#${token}`;
}

async function createOwner(
  { accounts, writer }: Parts,
  email: string,
  password: string | null,
): Promise<void> {
  if (password === null) {
    throw new UsageError("--owner-email needs a password: set MAILSTEAD_OWNER_PASSWORD_FILE");
  }
  try {
    requireGoodPassword(password, email);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    throw new UsageError(`--owner-password: the ${error.message.replace(":", "")}`);
  }
  const passwordDigest = await createPasswords().hash(password);
  await writer.write(() => {
    const existing = accounts.users.findByEmail(email);
    const user =
      existing === null
        ? accounts.users.create({ email, name: email, passwordDigest, isOwner: true })()
        : accounts.users.set(accounts.prove(existing).seq, { passwordDigest, isOwner: true })();
    accounts.record({
      actor: { kind: "SYSTEM", id: null, label: "first start" },
      projectSeq: null,
      action: "user.create",
      objectType: "user",
      objectId: user.id,
      fields: ["isOwner"],
      address: null,
    });
  });
}

/** The path that signs the developer in, as an owner without a password. */
export async function developerLink({ accounts, writer }: Parts): Promise<string> {
  const token = await writer.write(() => {
    const { users } = accounts;
    const existing = users.findByEmail(DEVELOPER.email);
    const user = existing === null ? users.create(DEVELOPER)() : accounts.prove(existing);
    return accounts.createLink(user.seq);
  });
  return `/app/link#${token}`;
}
