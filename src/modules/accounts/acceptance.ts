/**
 * Accepts invitations: makes the owner of an address a member. In order:
 *
 * 1. The link of a new address makes an account with the given name and password, which is signed in.
 * 2. A link that was sent by mail also takes over an account whose address was not proven.
 * 3. The user of any other account must be signed in, because the admin may know the link.
 */

import type { Writer } from "../../db/writer.ts";
import { AppError, fieldError, REQUIRED } from "../../lib/errors.ts";
import { type Passwords, requireGoodPassword } from "./passwords.ts";
import type { Accounts } from "./service.ts";
import type { Client, KnownSession } from "./sessions.ts";
import { actorOf, beginSession, notSignedIn, type SignedIn } from "./sign-in.ts";
import type { UserRow } from "./users.ts";

export type Acceptance = ReturnType<typeof createAcceptance>;

type NewAccount = { token: string; name?: string | undefined; password?: string | undefined };
/** The browser in which an invitation is accepted; `session` is null if no user is signed in. */
type Acceptor = { session: KnownSession | null; client: Client };

export function createAcceptance(deps: {
  accounts: Accounts;
  passwords: Passwords;
  writer: Pick<Writer, "write">;
}) {
  const { accounts, passwords, writer } = deps;
  const { users, members, invitations, tokens, record } = accounts;
  type Redeemed = ReturnType<typeof invitations.redeem>;

  /** Part of a change: makes the user of an invitation a member. */
  function join({ projectSeq, role }: Redeemed, user: UserRow, { address }: Client): UserRow {
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
      address,
    });
    return user;
  }

  /** Part of a change: makes the account of an invitation, or takes over one that was not proven. */
  function makeUser(
    { email, projectSeq, isMailed, user }: Redeemed,
    { name, passwordDigest }: { name: string; passwordDigest: string },
  ): UserRow {
    if (user !== null) {
      accounts.prove(user);
      return users.set(user.seq, { name, passwordDigest })();
    }
    const unprovenProjectSeq = isMailed ? null : projectSeq;
    return users.create({ email, name, passwordDigest, isOwner: false, unprovenProjectSeq })();
  }

  /**
   * Accepts an invitation. A new user is signed in; for a user who is signed in already the result
   * is null. Throws 401 if the user must sign in first.
   */
  return async (given: NewAccount, { session, client }: Acceptor): Promise<SignedIn | null> => {
    const { token, name, password } = given;
    const { email, needsPassword } = invitations.show(token);
    if (!needsPassword) {
      await writer.write(() => {
        const redeemed = invitations.redeem(token);
        join(redeemed, requireUser(redeemed, session), client);
      });
      return null;
    }
    if (name === undefined) throw fieldError("name", "required", REQUIRED);
    if (password === undefined) throw fieldError("password", "required", REQUIRED);
    requireGoodPassword(password, email);
    const passwordDigest = await passwords.hash(password, client.address);
    return writer.write(() => {
      const redeemed = invitations.redeem(token);
      // The account may have been made, or proven, while the password was hashed.
      if (!redeemed.makesAccount) throw tokens.refused();
      const user = join(redeemed, makeUser(redeemed, { name, passwordDigest }), client);
      return beginSession(accounts, user, { signedInBy: "PASSWORD", client });
    });
  };

  /** The user of an existing account. Throws unless this user is signed in and may join. */
  function requireUser({ user, projectSeq }: Redeemed, session: KnownSession | null): UserRow {
    if (user === null) throw tokens.refused();
    if (session === null) throw notSignedIn();
    if (session.user.seq !== user.seq) throw otherUser(user);
    const { unprovenProjectSeq } = user;
    if (unprovenProjectSeq !== null && unprovenProjectSeq !== projectSeq) throw unproven();
    return user;
  }
}

function otherUser({ email }: UserRow): AppError {
  return new AppError(
    403,
    "FORBIDDEN",
    `The invitation is for ${email}, and you are another user.`,
    {
      suggestion: `Sign in as ${email}, then open the link again.`,
    },
  );
}

/** The admin of the other project may know the password of the account. */
function unproven(): AppError {
  return new AppError(
    409,
    "INVALID_STATE",
    "The account was made with a link that an admin of another project knows, so it works in that project only.",
    {
      suggestion:
        "Prove the address first: ask for a link to set a new password, or ask the operator of the server to run mailstead user add with the address.",
    },
  );
}
