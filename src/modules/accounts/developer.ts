/** The owner without a password of `mailstead dev`, whom a link signs in. */

import type { Writer } from "../../db/writer.ts";
import type { Accounts } from "./service.ts";

const DEVELOPER = {
  email: "developer@mailstead.localhost",
  name: "Developer",
  passwordDigest: null,
  isOwner: true,
} as const;

/** The path that signs the developer in, once. */
export async function developerLink(deps: {
  accounts: Accounts;
  writer: Pick<Writer, "write">;
}): Promise<string> {
  const { accounts, writer } = deps;
  const token = await writer.write(() => {
    const { users } = accounts;
    const existing = users.findByEmail(DEVELOPER.email);
    const user = existing === null ? users.create(DEVELOPER)() : accounts.prove(existing);
    return accounts.createLink(user.seq);
  });
  return `/app/link#${token}`;
}
