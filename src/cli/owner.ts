/**
 * The first owner of an installation. `serve` creates the one that the settings name, or prints a
 * link with which the operator creates one. The owner of `dev` is in modules/accounts/developer.ts.
 */

import type { Server } from "../app.ts";
import type { Config } from "../config/settings.ts";
import { AppError } from "../lib/errors.ts";
import { createPasswords, requireGoodPassword } from "../modules/accounts/passwords.ts";
import { UsageError } from "./command.ts";

type Parts = Pick<Server, "accounts" | "writer">;
type OwnerSettings = Pick<Config, "ownerEmail" | "ownerPassword">;

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
  const passwordDigest = await createPasswords().hash(password, "");
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
