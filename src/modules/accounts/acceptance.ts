/** Accepts invitations: makes the owner of an address a member, with a new account if needed. */

import type { Writer } from "../../db/writer.ts";
import { fieldError, REQUIRED } from "../../lib/errors.ts";
import { type Passwords, requireGoodPassword } from "./passwords.ts";
import type { Accounts } from "./service.ts";
import type { Client } from "./sessions.ts";
import { actorOf, beginSession, type SignedIn } from "./sign-in.ts";
import type { UserRow } from "./users.ts";

export type Acceptance = ReturnType<typeof createAcceptance>;

type NewAccount = { token: string; name?: string | undefined; password?: string | undefined };

export function createAcceptance(deps: {
  accounts: Accounts;
  passwords: Passwords;
  writer: Pick<Writer, "write">;
}) {
  const { accounts, passwords, writer } = deps;
  const { users, members, invitations, tokens, record } = accounts;

  /** Part of a change: uses the invitation up and makes the user a member. */
  function join(token: string, userFor: (email: string) => UserRow, client: Client): UserRow {
    const { email, projectSeq, role } = invitations.redeem(token);
    const user = userFor(email);
    // A disabled user gets the same answer as for an unknown link.
    if (user.disabledAt !== null) throw tokens.refused();
    members.put(projectSeq, user.seq, role);
    record({
      actor: actorOf(user),
      projectSeq,
      action: "member.create",
      objectType: "user",
      objectId: user.id,
      fields: ["role"],
      address: client.address,
    });
    return user;
  }

  /**
   * Accepts an invitation. A new user is signed in; an existing one signs in as usual, and the
   * result is null.
   */
  return async (given: NewAccount, client: Client): Promise<SignedIn | null> => {
    const { token, name, password } = given;
    const { email, needsPassword } = invitations.show(token);
    if (!needsPassword) {
      await writer.write(() => {
        join(token, () => existing(email), client);
      });
      return null;
    }
    if (name === undefined) throw fieldError("name", "required", REQUIRED);
    if (password === undefined) throw fieldError("password", "required", REQUIRED);
    requireGoodPassword(password, email);
    const passwordDigest = await passwords.hash(password);
    return writer.write(() => {
      const create = () => users.create({ email, name, passwordDigest, isOwner: false })();
      const user = join(token, create, client);
      return beginSession(accounts, user, { signedInBy: "PASSWORD", client });
    });
  };

  function existing(email: string): UserRow {
    const user = users.findByEmail(email);
    if (user === null) throw tokens.refused();
    return user;
  }
}
