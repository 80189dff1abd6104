/** The owner without a password of `mailstead dev`, whom a link signs in. */

import type { Writer } from "../../db/writer.ts";
import type { Accounts } from "./service.ts";

const DEVELOPER = {
  email: "developer@mailstead.localhost",
  name: "Developer",
  passwordDigest: null,
  isOwner: true,
} as const;

type Deps = { accounts: Accounts; writer: Pick<Writer, "write"> };

/** Creates the developer, as whom `mailstead dev` starts. */
export async function ensureDeveloper({ accounts, writer }: Deps): Promise<void> {
  await writer.write(() => void developerOf(accounts));
}

/** A token of a link that signs the developer in, once. */
export function developerToken({ accounts, writer }: Deps): Promise<string> {
  return writer.write(() => accounts.createLink(developerOf(accounts).seq));
}

/** Part of a change. */
function developerOf(accounts: Accounts): { seq: number } {
  const existing = accounts.users.findByEmail(DEVELOPER.email);
  return existing === null ? accounts.users.create(DEVELOPER)() : accounts.prove(existing);
}
