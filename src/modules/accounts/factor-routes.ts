/**
 * POST   /app/api/passkey/options             a challenge to sign in with a passkey alone
 * POST   /app/api/passkey                     sign in with a passkey alone
 * GET    /app/api/second-factor               what the second step can be taken with
 * POST   /app/api/second-factor/options       a challenge for the second step
 * POST   /app/api/second-factor               take the second step of a sign-in
 * GET    /app/api/account/second-factor       the second factor of the user
 * POST   /app/api/account/totp                begin the set-up of an authenticator app
 * POST   /app/api/account/totp/confirm        end it with a code
 * DELETE /app/api/account/totp                turn the app off
 * POST   /app/api/account/recovery-codes      make new recovery codes
 * POST   /app/api/account/passkeys/options    a challenge to make a passkey
 * POST   /app/api/account/passkeys            add the passkey
 * PATCH  /app/api/account/passkeys/:id        rename it
 * DELETE /app/api/account/passkeys/:id        remove it
 *
 * These routes serve the dashboard and are not documented. Changes of the second factor need a
 * session that was confirmed in the last minutes.
 */

import { Elysia, status } from "elysia";
import type { App } from "../../core/app.ts";
import { BODY_LIMITS, limited } from "../../http/body-limits.ts";
import { undocumented } from "../../http/documented.ts";
import { envelope, IdParams } from "../../http/envelope.ts";
import { randomBase62, sha256 } from "../../lib/crypto.ts";
import {
  CodeInput,
  PasskeyAnswer,
  PasskeyInput,
  PasskeyPatch,
  SecondFactorInput,
  TurnOffInput,
} from "./factor-model.ts";
import { presentFactors, presentPasskey, presentSignedIn } from "./present.ts";
import { type AccountRequests, requireRecent } from "./requests.ts";
import type { SecondStep } from "./second-step.ts";
import { base32, totpUri } from "./totp.ts";

const forAnyone = { detail: undocumented("ANYONE", "SESSION") };
const forUsers = { detail: undocumented("USER", "SESSION") };

/** Characters of the cookie, which has 256 bits of entropy, and its lifetime: that of a challenge. */
const CHALLENGE_COOKIE = { characters: 43, seconds: 300 };

type Deps = { app: App; requests: AccountRequests; secondStep: SecondStep };

/** The second step of a sign-in, and the sign-in with a passkey alone. */
export function secondStepRoutes({ requests, secondStep }: Deps) {
  const open = new Elysia({ name: "passkey-routes", prefix: "/app/api" })
    .use(requests.open)
    .post(
      "/passkey/options",
      ({ client, setChallengeCookie }) => {
        const value = randomBase62(CHALLENGE_COOKIE.characters);
        setChallengeCookie(value, CHALLENGE_COOKIE.seconds);
        return envelope(secondStep.browserOptions(sha256(value), client));
      },
      forAnyone,
    )
    .post(
      "/passkey",
      async ({ body, client, readChallengeCookie, setCookie }) => {
        const browser = readChallengeCookie() ?? "";
        const signedIn = await secondStep.signInWithPasskey(body, browser, client);
        setCookie(signedIn);
        return envelope(presentSignedIn(signedIn));
      },
      { ...forAnyone, body: limited(PasskeyAnswer, BODY_LIMITS.settings) },
    );

  const pending = new Elysia({ name: "second-step-routes", prefix: "/app/api" })
    .use(requests.pending)
    .get(
      "/second-factor",
      ({ session }) => {
        const { totpSince, passkeys, canUsePasskeys } = secondStep.show({
          ...session,
          isPending: true,
        });
        const hasPasskeys = canUsePasskeys && passkeys.length > 0;
        return envelope({ hasApp: totpSince !== null, hasPasskeys });
      },
      forAnyone,
    )
    .post("/second-factor/options", ({ session }) => envelope(secondStep.stepOptions(session)), {
      ...forAnyone,
    })
    .post(
      "/second-factor",
      async ({ session, body, client, setCookie }) => {
        const signedIn = await secondStep.finish(session, body, client);
        setCookie(signedIn);
        return envelope(presentSignedIn(signedIn));
      },
      { ...forAnyone, body: limited(SecondFactorInput, BODY_LIMITS.settings) },
    );
  return [open, pending];
}

/** The set-up of second factors. */
export function factorRoutes({ app, requests, secondStep }: Deps) {
  const enrolling = new Elysia({ name: "enrolment-routes", prefix: "/app/api/account" })
    .use(requests.enrolling)
    .get(
      "/second-factor",
      ({ session }) => envelope(presentFactors(secondStep.show(session))),
      forUsers,
    )
    .post(
      "/totp",
      async ({ session }) => {
        requireRecent(app, session);
        const secret = base32(await secondStep.beginTotp(session));
        const { host } = new URL(app.url);
        return envelope({ secret, uri: totpUri({ secret, email: session.user.email, host }) });
      },
      forUsers,
    )
    .post(
      "/totp/confirm",
      async ({ session, body, client, setCookie }) => {
        requireRecent(app, session);
        const added = await secondStep.confirmTotp(session, body.code, client);
        if (added.signedIn !== null) setCookie(added.signedIn);
        return envelope({ recoveryCodes: added.recoveryCodes });
      },
      { ...forUsers, body: limited(CodeInput, BODY_LIMITS.settings) },
    )
    .post(
      "/passkeys/options",
      ({ session }) => {
        requireRecent(app, session);
        return envelope(secondStep.passkeyOptions(session));
      },
      forUsers,
    )
    .post(
      "/passkeys",
      async ({ session, body, client, setCookie }) => {
        requireRecent(app, session);
        const added = await secondStep.addPasskey(session, body, client);
        if (added.signedIn !== null) setCookie(added.signedIn);
        const { passkey, recoveryCodes } = added;
        return envelope({ passkey: presentPasskey(passkey), recoveryCodes });
      },
      { ...forUsers, body: limited(PasskeyInput, BODY_LIMITS.settings) },
    );

  const signedIn = new Elysia({ name: "factor-routes", prefix: "/app/api/account" })
    .use(requests.signedIn)
    .delete(
      "/totp",
      async ({ session, body, client }) => {
        await secondStep.turnOffTotp(session, body, client);
        return status(204, undefined);
      },
      { ...forUsers, body: limited(TurnOffInput, BODY_LIMITS.settings) },
    )
    .post(
      "/recovery-codes",
      async ({ session, client }) => {
        requireRecent(app, session);
        return envelope({ recoveryCodes: await secondStep.renewCodes(session, client) });
      },
      forUsers,
    )
    .patch(
      "/passkeys/:id",
      async ({ session, params, body, client }) => {
        const named = { id: params.id, ...body };
        return envelope(presentPasskey(await secondStep.renamePasskey(session, named, client)));
      },
      { ...forUsers, params: IdParams, body: limited(PasskeyPatch, BODY_LIMITS.settings) },
    )
    .delete(
      "/passkeys/:id",
      async ({ session, params, client }) => {
        requireRecent(app, session);
        await secondStep.removePasskey(session, params.id, client);
        return status(204, undefined);
      },
      { ...forUsers, params: IdParams },
    );
  return [enrolling, signedIn];
}
