/**
 * The second step of a sign-in, and the set-up of second factors. A session whose user has still to
 * take a step is pending: it is replaced by a new one in the change that accepts the step.
 */

import type { App } from "../../core/app.ts";
import type { Change, Sync, Writer } from "../../db/writer.ts";
import { sha256 } from "../../lib/crypto.ts";
import { AppError, fieldError, REQUIRED } from "../../lib/errors.ts";
import type { AttemptLimits } from "./attempt-limits.ts";
import type { AuditEntry } from "./audit.ts";
import type {
  PasskeyAnswer,
  PasskeyInput,
  SecondFactorInput,
  TurnOffInput,
} from "./factor-model.ts";
import * as passkeys from "./passkeys.ts";
import * as factors from "./second-factors.ts";
import type { Accounts } from "./service.ts";
import type { Client, KnownSession, PendingSession } from "./sessions.ts";
import { actorOf, notSignedIn, startSession, type SignedIn, type SignIn } from "./sign-in.ts";
import type { UserRow } from "./users.ts";

export type SecondStep = ReturnType<typeof createSecondStep>;

/** The session of a user who sets up a second factor. It is pending if that is why it does not work. */
export type EnrollingSession =
  (KnownSession & { isPending: false }) | (PendingSession & { isPending: true });

export function createSecondStep(deps: {
  app: App;
  accounts: Accounts;
  limits: AttemptLimits;
  signIn: SignIn;
  writer: Pick<Writer, "write">;
}) {
  const { app, accounts, limits, signIn, writer } = deps;
  const { users, sessions, record } = accounts;

  function recordFactor(
    user: Pick<UserRow, "id" | "email">,
    { address }: Client,
    entry: Pick<AuditEntry, "action"> & Partial<Pick<AuditEntry, "objectType" | "objectId">>,
  ): void {
    const own = { objectType: "user", objectId: user.id, ...entry };
    record({ actor: actorOf(user), projectSeq: null, address, ...own });
  }

  /** Part of a change: accepts a code of the app, or a recovery code. Throws 422 for another one. */
  function useCode(user: UserRow, code: string, client: Client): void {
    const compact = code.replace(/\s/g, "");
    if (/^\d{6}$/.test(compact)) {
      if (factors.useTotp(app, user.seq, compact)) return;
    } else if (factors.useRecoveryCode(app, user.seq, code)) {
      recordFactor(user, client, { action: "recovery-code.use" });
      return;
    }
    throw factors.wrongCode();
  }

  /** Runs a change that accepts a code. Only failed ones count for the limits. */
  async function withCode<T>(user: UserRow, client: Client, change: Change<Sync<T>>): Promise<T> {
    const takeBack = limits.beginCode(user, client.address);
    const result = await writer.write<T>(change);
    takeBack();
    return result;
  }

  async function withPasskey<T>(
    given: PasskeyAnswer,
    { place, user, client }: { place: string; user: { seq: number } | null; client: Client },
    change: (proven: ReturnType<typeof passkeys.proveWithPasskey>) => Sync<T>,
  ): Promise<T> {
    const takeBack = limits.begin(sha256(given.id), client.address);
    const proven = passkeys.proveWithPasskey(app, given, { place, user });
    const result = await writer.write<T>(() => {
      passkeys.usePasskey(app, proven);
      return change(proven);
    });
    takeBack();
    return result;
  }

  /** Part of a change: the pending session becomes one of a user who is signed in. */
  function complete({ user, sessionSeq, signedInBy }: PendingSession, client: Client): SignedIn {
    if (!sessions.endPending(sessionSeq)) throw notSignedIn();
    return startSession(accounts, enabled(users.find(user.seq)), { signedInBy, client });
  }

  /** Part of a change: ten codes for the user's first factor; null if the user has codes. */
  function firstCodes(userSeq: number): string[] | null {
    const { recoveryCodesLeft } = factors.factorsOf(app, userSeq);
    return recoveryCodesLeft > 0 ? null : factors.issueRecoveryCodes(app, userSeq);
  }

  /** Part of a change, after a factor was added. */
  function enrolled(session: EnrollingSession, client: Client) {
    const recoveryCodes = firstCodes(session.user.seq);
    const signedIn = session.isPending ? complete(session, client) : null;
    // A person who knows only the password must not add a factor of their own after the first one.
    sessions.endEnrolments(session.user.seq);
    return { recoveryCodes, signedIn };
  }

  /** Throws 409 if the user must have a second factor and has only this one. */
  function requireOther(user: UserRow, isOnlyOne: boolean): void {
    const { secondFactorPolicy } = accounts;
    if (isOnlyOne && factors.isRequired(secondFactorPolicy, user)) throw factorRequired();
  }

  return {
    /** The second factors of a user, as the account page shows them. */
    show({ user }: EnrollingSession) {
      const { isOn, totpSince, recoveryCodesLeft } = factors.factorsOf(app, user.seq);
      return {
        isOn,
        hasPassword: users.get(user.id).passwordDigest !== null,
        isRequired: factors.isRequired(accounts.secondFactorPolicy, user),
        totpSince,
        recoveryCodesLeft,
        canUsePasskeys: passkeys.canUsePasskeys(app),
        passkeys: passkeys.listPasskeys(app, user.seq),
      };
    },

    /** Takes the second step of a sign-in. */
    async finish(
      pending: PendingSession,
      { code, passkey }: SecondFactorInput,
      client: Client,
    ): Promise<SignedIn> {
      const user = enabled(users.find(pending.user.seq));
      if (passkey !== undefined) {
        const proof = { place: `step ${pending.sessionSeq}`, user, client };
        return withPasskey(passkey, proof, () => complete(pending, client));
      }
      if (code === undefined) throw fieldError("code", "required", REQUIRED);
      return withCode(user, client, () => {
        useCode(user, code, client);
        return complete(pending, client);
      });
    },

    stepOptions({ user, sessionSeq }: PendingSession) {
      limits.takeChallenge(user.seq);
      return passkeys.assertionOptions(app, `step ${sessionSeq}`, user.seq);
    },

    /** Signs in with a passkey alone. `browser` is the digest of the cookie that the options set. */
    signInWithPasskey: (given: PasskeyAnswer, browser: string, client: Client): Promise<SignedIn> =>
      withPasskey(given, { place: `browser ${browser}`, user: null, client }, ({ passkey }) =>
        startSession(accounts, enabled(users.find(passkey.userSeq)), {
          signedInBy: "PASSKEY",
          client,
        }),
      ),

    browserOptions(browser: string, { address }: Client) {
      limits.takeChallenge(address);
      return passkeys.assertionOptions(app, `browser ${browser}`, null);
    },

    /** Confirms by a passkey that the user of a session is still there. */
    confirm: ({ user, sessionSeq }: KnownSession, given: PasskeyAnswer, client: Client) =>
      withPasskey(given, { place: `confirm ${sessionSeq}`, user, client }, () =>
        sessions.confirm(sessionSeq),
      ),

    confirmOptions({ user, sessionSeq }: KnownSession) {
      limits.takeChallenge(user.seq);
      return passkeys.assertionOptions(app, `confirm ${sessionSeq}`, user.seq);
    },

    /** Begins the set-up of an authenticator app. The result is shown once. */
    beginTotp({ user }: EnrollingSession): Promise<Buffer> {
      return writer.write(() => factors.beginTotp(app, user.seq));
    },

    /** Ends the set-up with a code of the app. */
    confirmTotp(session: EnrollingSession, code: string, client: Client) {
      const user = users.get(session.user.id);
      return withCode(user, client, () => {
        factors.confirmTotp(app, user.seq, code);
        recordFactor(user, client, { action: "totp.enable" });
        return enrolled(session, client);
      });
    },

    /** Turns the app off, with the password and a code. */
    async turnOffTotp(session: KnownSession, given: TurnOffInput, client: Client): Promise<void> {
      const user = signIn.userOf(session);
      if (user.passwordDigest !== null) {
        const { password } = given;
        if (password === undefined) throw fieldError("password", "required", REQUIRED);
        await signIn.requirePassword(user, { email: user.email, password }, client);
      }
      await withCode(user, client, () => {
        requireOther(user, factors.factorsOf(app, user.seq).passkeyCount === 0);
        useCode(user, given.code, client);
        if (!factors.removeTotp(app, user.seq)) throw factors.wrongCode();
        factors.removeIdleCodes(app, user.seq);
        recordFactor(user, client, { action: "totp.disable" });
      });
    },

    /** New recovery codes in place of the earlier ones. */
    renewCodes({ user }: KnownSession, client: Client): Promise<string[]> {
      return writer.write(() => {
        if (!factors.factorsOf(app, user.seq).isOn) throw factorMissing();
        recordFactor(user, client, { action: "recovery-codes.create" });
        return factors.issueRecoveryCodes(app, user.seq);
      });
    },

    passkeyOptions({ user, sessionSeq }: EnrollingSession) {
      limits.takeChallenge(user.seq);
      return passkeys.registrationOptions(app, user, sessionSeq);
    },

    addPasskey(session: EnrollingSession, given: PasskeyInput, client: Client) {
      const row = passkeys.verifyNewPasskey(app, given, session);
      return writer.write(() => {
        const passkey = passkeys.addPasskey(app, row);
        const entry = { action: "passkey.create", objectType: "passkey", objectId: passkey.id };
        recordFactor(session.user, client, entry);
        return { passkey, ...enrolled(session, client) };
      });
    },

    renamePasskey(
      { user }: KnownSession,
      { id, name }: { id: string; name: string },
      client: Client,
    ) {
      const entry = { action: "passkey.update", objectType: "passkey", objectId: id };
      return writer.write(() =>
        accounts.recordChange(
          {
            actor: actorOf(user),
            projectSeq: null,
            address: client.address,
            fields: ["name"],
            ...entry,
          },
          () => passkeys.renamePasskey(app, user.seq, id, name),
        ),
      );
    },

    removePasskey(session: KnownSession, id: string, client: Client): Promise<void> {
      return writer.write(() => {
        const user = signIn.userOf(session);
        const { passkeyCount, totpSince } = factors.factorsOf(app, user.seq);
        requireOther(user, totpSince === null && passkeyCount === 1);
        accounts.recordChange(
          {
            actor: actorOf(user),
            projectSeq: null,
            action: "passkey.delete",
            objectType: "passkey",
            objectId: id,
            address: client.address,
          },
          () => passkeys.removePasskey(app, user.seq, id),
        );
        factors.removeIdleCodes(app, user.seq);
      });
    },
  };
}

function enabled(user: UserRow | null): UserRow {
  if (user === null || user.disabledAt !== null) throw notSignedIn();
  return user;
}

function factorRequired(): AppError {
  const message = "This installation wants you to have a second factor, and it is your only one.";
  return new AppError(409, "CONFLICT", message, {
    suggestion: "Add another one first: a passkey, or an authenticator app.",
  });
}

function factorMissing(): AppError {
  return new AppError(409, "INVALID_STATE", "The second factor is not on.", {
    suggestion: "Set up an authenticator app or a passkey first.",
  });
}
