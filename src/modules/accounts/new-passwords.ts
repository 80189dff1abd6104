/** New passwords: chosen by a user who is signed in, or with a link that was sent to the address. */

import type { Writer } from "../../db/writer.ts";
import type { Clock } from "../../lib/clock.ts";
import { fieldError, REQUIRED } from "../../lib/errors.ts";
import { type Passwords, requireGoodPassword } from "./passwords.ts";
import type { Accounts } from "./service.ts";
import { type Client, CONFIRMATION_MS, type KnownSession } from "./sessions.ts";
import { actorOf, beginSession, type SignedIn, type SignIn } from "./sign-in.ts";
import type { UserRow } from "./users.ts";

export type NewPasswords = ReturnType<typeof createNewPasswords>;

export function createNewPasswords(deps: {
  accounts: Accounts;
  passwords: Passwords;
  signIn: SignIn;
  writer: Pick<Writer, "write">;
  clock: Pick<Clock, "now">;
}) {
  const { accounts, passwords, signIn, writer, clock } = deps;
  const { users, tokens, sessions, record } = accounts;

  /** Part of a change: stores a password, and ends all other sessions and links of the user. */
  function store(
    user: UserRow,
    passwordDigest: string,
    { keptSeq, client }: { keptSeq: number | null; client: Client },
  ): void {
    users.set(user.seq, { passwordDigest })();
    sessions.endOthers(user.seq, keptSeq);
    tokens.withdrawOfUser(user.seq);
    record({
      actor: actorOf(user),
      projectSeq: null,
      action: "user.password",
      objectType: "user",
      objectId: user.id,
      fields: ["password"],
      address: client.address,
    });
  }

  /** A user who signed in with a link may have forgotten the password, and needs no current one. */
  function needsCurrent(session: KnownSession, { passwordDigest }: UserRow): boolean {
    if (passwordDigest === null) return false;
    return (
      session.signedInBy === "PASSWORD" || clock.now() - session.confirmedAt >= CONFIRMATION_MS
    );
  }

  return {
    /** Changes the password of the user of a session, which stays signed in. */
    async change(
      session: KnownSession,
      { current, password }: { current?: string | undefined; password: string },
      client: Client,
    ): Promise<void> {
      const user = signIn.userOf(session);
      requireGoodPassword(password, user.email);
      if (needsCurrent(session, user)) {
        if (current === undefined) throw fieldError("current", "required", REQUIRED);
        await signIn.requirePassword(user, { email: user.email, password: current }, client);
      }
      const digest = await passwords.hash(password, client.address);
      await writer.write(() => {
        store(user, digest, { keptSeq: session.sessionSeq, client });
        sessions.confirm(session.sessionSeq);
      });
    },

    /** Sets the password with a link that was sent to the user, and signs the user in. */
    async reset(
      { token, password }: { token: string; password: string },
      client: Client,
    ): Promise<SignedIn> {
      const user = userOfToken(tokens.find("RESET", token).userSeq);
      requireGoodPassword(password, user.email);
      const digest = await passwords.hash(password, client.address);
      return writer.write(() => {
        tokens.redeem("RESET", token)();
        const current = accounts.prove(userOfToken(user.seq));
        store(current, digest, { keptSeq: null, client });
        return beginSession(accounts, current, { signedInBy: "PASSWORD", client });
      });
    },
  };

  /** Throws 404, as for an unknown token, if the user was disabled. */
  function userOfToken(userSeq: number | null): UserRow {
    const user = userSeq === null ? null : users.find(userSeq);
    if (user === null || user.disabledAt !== null) throw tokens.refused();
    return user;
  }
}
