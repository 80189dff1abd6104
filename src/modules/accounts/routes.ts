/**
 * GET  /app/api/state             what the dashboard needs to start: the user and the projects
 * POST /app/api/setup             create the first owner with the link that the server printed
 * POST /app/api/login             sign in with address and password
 * POST /app/api/logout            end the session
 * POST /app/api/link              sign in with a one-time link
 * POST /app/api/reset-request     ask for a link to set a new password
 * POST /app/api/invitation        show the project and the role of an invitation
 * POST /app/api/invitation/accept become a member, with a new account or as the user of the session
 * POST /app/api/reset             set a new password with that link
 *
 * These routes serve the dashboard and are not documented.
 */

import { Elysia, status } from "elysia";
import type { Writer } from "../../db/writer.ts";
import { BODY_LIMITS, limited } from "../../http/body-limits.ts";
import { undocumented } from "../../http/documented.ts";
import { envelope } from "../../http/envelope.ts";
import {
  AcceptInput,
  LoginInput,
  ResetRequestInput,
  ResetInput,
  SetupInput,
  TokenInput,
} from "./model.ts";
import type { NewPasswords } from "./new-passwords.ts";
import type { Acceptance } from "./acceptance.ts";
import type { AccountRequests } from "./requests.ts";
import type { ResetRequests } from "./reset-requests.ts";
import type { Accounts } from "./service.ts";
import type { SignIn } from "./sign-in.ts";
import { presentSignedIn } from "./present.ts";
import type { ReadState } from "./state.ts";

const hidden = { detail: undocumented("ANYONE", "SESSION") };

export function signInRoutes(deps: {
  accounts: Accounts;
  requests: AccountRequests;
  signIn: SignIn;
  newPasswords: NewPasswords;
  readState: ReadState;
  requestReset: ResetRequests;
  accept: Acceptance;
  listProjectSeqs: () => readonly number[];
  writer: Pick<Writer, "write">;
}) {
  const { accounts, requests, signIn, newPasswords, readState, requestReset, accept, writer } =
    deps;

  return new Elysia({ name: "sign-in-routes", prefix: "/app/api" })
    .use(requests.open)
    .get("/state", ({ session, pending }) => envelope(readState(session, pending)), hidden)
    .post(
      "/setup",
      async ({ body, client, setCookie }) => {
        const signedIn = await signIn.setUp(body, client);
        setCookie(signedIn);
        return envelope(presentSignedIn(signedIn));
      },
      { ...hidden, body: limited(SetupInput, BODY_LIMITS.settings) },
    )
    .post(
      "/login",
      async ({ body, client, setCookie }) => {
        const signedIn = await signIn.login(body, client);
        setCookie(signedIn);
        return envelope(presentSignedIn(signedIn));
      },
      { ...hidden, body: limited(LoginInput, BODY_LIMITS.settings) },
    )
    .post(
      "/logout",
      async ({ session, pending, clearCookie }) => {
        const ended = session ?? pending;
        if (ended !== null) await writer.write(() => accounts.sessions.endOne(ended.sessionSeq));
        clearCookie();
        return status(204, undefined);
      },
      hidden,
    )
    .post(
      "/link",
      async ({ body, client, setCookie }) => {
        const signedIn = await signIn.link(body, client);
        setCookie(signedIn);
        return envelope(presentSignedIn(signedIn));
      },
      { ...hidden, body: limited(TokenInput, BODY_LIMITS.settings) },
    )
    .post(
      "/reset-request",
      ({ body, client }) => {
        requestReset(body, client);
        return envelope({ isMailEnabled: accounts.mails.canSend(deps.listProjectSeqs()) });
      },
      { ...hidden, body: limited(ResetRequestInput, BODY_LIMITS.settings) },
    )
    .post("/invitation", ({ body }) => envelope(accounts.invitations.show(body.token)), {
      ...hidden,
      body: limited(TokenInput, BODY_LIMITS.settings),
    })
    .post(
      "/invitation/accept",
      async ({ body, session, client, setCookie }) => {
        const signedIn = await accept(body, { session, client });
        if (signedIn !== null) setCookie(signedIn);
        return envelope({ isSignedIn: signedIn !== null });
      },
      { ...hidden, body: limited(AcceptInput, BODY_LIMITS.settings) },
    )
    .post(
      "/reset",
      async ({ body, client, setCookie }) => {
        const signedIn = await newPasswords.reset(body, client);
        setCookie(signedIn);
        return envelope(presentSignedIn(signedIn));
      },
      { ...hidden, body: limited(ResetInput, BODY_LIMITS.settings) },
    );
}
