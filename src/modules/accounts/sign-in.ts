/**
 * Signing in. A password or a token is checked, and then one change creates the session and its
 * entry in the audit log. Every failure gets the same answer, and takes the same time.
 */

import type { Writer } from "../../db/writer.ts";
import { AppError } from "../../lib/errors.ts";
import { storedAddress } from "../../protocols/mime/address.ts";
import type { AttemptLimits } from "./attempt-limits.ts";
import { type Passwords, requireGoodPassword } from "./passwords.ts";
import type { Accounts } from "./service.ts";
import type { Client, KnownSession, SessionRow } from "./sessions.ts";
import type { UserRow } from "./users.ts";

/** A user with the value of the cookie, and the step without which the session does not work. */
export type SignedIn = { user: UserRow; cookie: string; step: SessionRow["step"] };
type SessionParts = Pick<Accounts, "sessions" | "users" | "record" | "stepFor">;
export type SignIn = ReturnType<typeof createSignIn>;

type SignInDeps = {
  accounts: Accounts;
  passwords: Passwords;
  limits: AttemptLimits;
  writer: Pick<Writer, "write">;
};

/**
 * Part of a change: creates the session of a user who has proven one factor. It is pending if the user
 * has a second factor, or must set one up; otherwise the user is signed in.
 */
export function beginSession(
  accounts: SessionParts,
  user: UserRow,
  { signedInBy, client }: { signedInBy: "PASSWORD" | "LINK"; client: Client },
): SignedIn {
  const step = accounts.stepFor(user);
  if (step === null) return startSession(accounts, user, { signedInBy, client });
  const { sessions } = accounts;
  if (client.earlierSession !== null) sessions.endOne(client.earlierSession);
  const { text } = sessions.create({ userSeq: user.seq, signedInBy, step, client })();
  return { user, cookie: text, step };
}

/** Part of a change: creates the session of a user who has proven all factors, with its audit entry. */
export function startSession(
  { sessions, users, record }: SessionParts,
  user: UserRow,
  { signedInBy, client }: { signedInBy: SessionRow["signedInBy"]; client: Client },
): SignedIn {
  if (client.earlierSession !== null) sessions.endOne(client.earlierSession);
  const { row, text } = sessions.create({ userSeq: user.seq, signedInBy, step: null, client })();
  users.set(user.seq, { lastSignInAt: row.createdAt })();
  record({
    actor: actorOf(user),
    projectSeq: null,
    action: "session.create",
    objectType: "session",
    objectId: row.id,
    address: client.address,
  });
  return { user, cookie: text, step: null };
}

/** The user as the one who made a change. */
export function actorOf({ id, email }: Pick<UserRow, "id" | "email">) {
  return { kind: "USER", id, label: email } as const;
}

export function createSignIn({ accounts, passwords, limits, writer }: SignInDeps) {
  const { users, tokens, sessions } = accounts;

  /** Throws 401 unless the password is that of the user; the user is null for an unknown address. */
  async function requirePassword(
    user: UserRow | null,
    given: { email: string; password: string },
    { address }: Client,
  ): Promise<void> {
    const takeBack = limits.begin(given.email, address);
    const digest = user?.passwordDigest ?? null;
    const isRight = await passwords
      .verify(given.password, { digest, network: address })
      .catch((error: unknown) => {
        takeBack(); // Nothing was checked, so it is no failed attempt.
        throw error;
      });
    if (!isRight || user === null || user.disabledAt !== null) throw signInFailed();
    takeBack();
  }

  /** The user of a session as stored now. */
  function userOf({ user }: KnownSession): UserRow {
    return users.get(user.id);
  }

  /** Part of a change: an account that an admin made with the address of the owner is no obstacle. */
  function createOwner(owner: { email: string; name: string; passwordDigest: string }): UserRow {
    const existing = users.findByEmail(owner.email);
    const isTaken = existing !== null && existing.unprovenProjectSeq === null;
    if (existing === null || isTaken) return users.create({ ...owner, isOwner: true })();
    const { name, passwordDigest } = owner;
    return users.set(accounts.prove(existing).seq, { name, passwordDigest, isOwner: true })();
  }

  return {
    /** Signs in with an address and a password. */
    async login(given: { email: string; password: string }, client: Client): Promise<SignedIn> {
      const email = storedAddress(given.email);
      const user = users.findByEmail(email);
      await requirePassword(user, { ...given, email }, client);
      return writer.write(() => {
        const current = users.findByEmail(email);
        // The user may have been disabled, or the password changed, while it was verified.
        if (current?.passwordDigest !== user?.passwordDigest) throw signInFailed();
        if (current === null || current.disabledAt !== null) throw signInFailed();
        return beginSession(accounts, current, { signedInBy: "PASSWORD", client });
      });
    },

    /** Signs in with the one-time link of a user. */
    async link({ token }: { token: string }, client: Client): Promise<SignedIn> {
      return writer.write(() => {
        const { userSeq } = tokens.redeem("LINK", token)();
        const user = userSeq === null ? null : users.find(userSeq);
        if (user === null || user.disabledAt !== null) throw signInFailed();
        return beginSession(accounts, user, { signedInBy: "LINK", client });
      });
    },

    /** Creates the first owner, with the link that the server printed when it started. */
    async setUp(
      given: { token: string; name: string; email: string; password: string },
      client: Client,
    ): Promise<SignedIn> {
      const { token, name } = given;
      const email = storedAddress(given.email);
      tokens.find("SETUP", token); // A wrong token must not cost a digest.
      requireGoodPassword(given.password, email);
      const passwordDigest = await passwords.hash(given.password, client.address);
      return writer.write(() => {
        if (users.hasOwner()) throw ownerExists();
        tokens.redeem("SETUP", token)();
        const user = createOwner({ email, name, passwordDigest });
        accounts.record({
          actor: actorOf(user),
          projectSeq: null,
          action: "user.create",
          objectType: "user",
          objectId: user.id,
          fields: ["isOwner"],
          address: client.address,
        });
        return beginSession(accounts, user, { signedInBy: "PASSWORD", client });
      });
    },

    /** Confirms with the password that the user of a session is still there. */
    async confirm(
      session: KnownSession,
      { password }: { password: string },
      client: Client,
    ): Promise<void> {
      const user = userOf(session);
      await requirePassword(user, { email: user.email, password }, client);
      await writer.write(() => sessions.confirm(session.sessionSeq));
    },

    requirePassword,
    userOf,
  };
}

/** One answer for an unknown address, a wrong password and a disabled user. */
function signInFailed(): AppError {
  return new AppError(401, "SIGN_IN_FAILED", "The address or the password is wrong.", {
    suggestion: "Try again, or ask for a link to set a new password.",
  });
}

function ownerExists(): AppError {
  return new AppError(409, "CONFLICT", "This installation has an owner already.", {
    suggestion: "Sign in, or get a link with: mailstead user link EMAIL.",
  });
}

/** For a request without a session, or whose session has ended. */
export function notSignedIn(): AppError {
  return new AppError(401, "MISSING_AUTH", "You are not signed in, or the session has ended.", {
    suggestion: "Sign in again.",
  });
}
