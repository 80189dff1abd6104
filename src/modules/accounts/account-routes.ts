/**
 * POST   /app/api/confirm               enter the password again, or use a passkey, for actions that need it
 * POST   /app/api/confirm/options       a challenge for the passkey
 * GET    /app/api/account               the user of the session, with the preferences
 * PATCH  /app/api/account               change the name or the preferences
 * POST   /app/api/account/password      set a new password; ends all other sessions
 * GET    /app/api/account/sessions      list the sessions of the user
 * DELETE /app/api/account/sessions/:id  end one of them
 *
 * These routes serve the dashboard and are not documented.
 */

import { Elysia, status } from "elysia";
import type { Writer } from "../../db/writer.ts";
import { BODY_LIMITS, limited } from "../../http/body-limits.ts";
import { undocumented } from "../../http/documented.ts";
import { envelope, IdParams } from "../../http/envelope.ts";
import { fieldError, REQUIRED } from "../../lib/errors.ts";
import type { AccountChanges } from "./account-changes.ts";
import { AccountInput, ConfirmInput, PasswordInput } from "./model.ts";
import type { NewPasswords } from "./new-passwords.ts";
import { presentAccount, presentSession } from "./present.ts";
import type { AccountRequests } from "./requests.ts";
import type { Accounts } from "./service.ts";
import type { SecondStep } from "./second-step.ts";
import type { SignIn } from "./sign-in.ts";

const hidden = { detail: undocumented("USER", "SESSION") };

export function accountRoutes(deps: {
  accounts: Accounts;
  changes: AccountChanges;
  requests: AccountRequests;
  signIn: SignIn;
  newPasswords: NewPasswords;
  secondStep: SecondStep;
  writer: Pick<Writer, "write">;
}) {
  const { accounts, changes, requests, signIn, newPasswords, secondStep, writer } = deps;

  return new Elysia({ name: "account-routes", prefix: "/app/api" })
    .use(requests.signedIn)
    .get("/account", ({ session }) => envelope(presentAccount(signIn.userOf(session))), hidden)
    .post(
      "/confirm",
      async ({ session, body, client }) => {
        const { password, passkey } = body;
        if (passkey !== undefined) await secondStep.confirm(session, passkey, client);
        else if (password === undefined) throw fieldError("password", "required", REQUIRED);
        else await signIn.confirm(session, { password }, client);
        return status(204, undefined);
      },
      { ...hidden, body: limited(ConfirmInput, BODY_LIMITS.settings) },
    )
    .post("/confirm/options", ({ session }) => envelope(secondStep.confirmOptions(session)), hidden)
    .patch(
      "/account",
      async ({ session, body, client }) => {
        const user = await writer.write(changes.setAccount(session, body, client));
        return envelope(presentAccount(user));
      },
      { ...hidden, body: limited(AccountInput, BODY_LIMITS.settings) },
    )
    .post(
      "/account/password",
      async ({ session, body, client }) => {
        await newPasswords.change(session, body, client);
        return status(204, undefined);
      },
      { ...hidden, body: limited(PasswordInput, BODY_LIMITS.settings) },
    )
    .get(
      "/account/sessions",
      ({ session }) => {
        const { user, sessionSeq } = session;
        const items = accounts.sessions
          .list(user.seq)
          .map((row) => presentSession(row, sessionSeq));
        return envelope({ items, total: items.length });
      },
      hidden,
    )
    .delete(
      "/account/sessions/:id",
      async ({ session, params, client }) => {
        await writer.write(changes.endSession(session, params.id, client));
        return status(204, undefined);
      },
      { ...hidden, params: IdParams },
    );
}
