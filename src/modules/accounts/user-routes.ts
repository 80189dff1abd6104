/**
 * GET    /app/api/users                      all users, searched and in pages
 * POST   /app/api/users                      create a user, with a link to sign in
 * PATCH  /app/api/users/:id                  change the name, disable or enable, make or unmake an owner
 * POST   /app/api/users/:id/link             a link that signs the user in once
 * DELETE /app/api/users/:id/sessions         end all sessions of the user
 * DELETE /app/api/users/:id/second-factor    remove a lost second factor
 *
 * Only owners may call them. They serve the dashboard and are not documented. Each change needs a
 * session that was confirmed in the last minutes, because a link signs in as another person.
 */

import { Elysia, status } from "elysia";
import type { App } from "../../core/app.ts";
import { BODY_LIMITS, limited } from "../../http/body-limits.ts";
import { undocumented } from "../../http/documented.ts";
import { envelope, IdParams } from "../../http/envelope.ts";
import { type AccountRequests, requireRecent } from "./requests.ts";
import * as admin from "./user-admin.ts";
import { NewUserInput, UserPatch, UserQuery } from "./user-model.ts";

const hidden = { detail: undocumented("OWNER", "SESSION") };

export function userRoutes({ app, requests }: { app: App; requests: AccountRequests }) {
  return new Elysia({ name: "user-routes", prefix: "/app/api/users" })
    .use(requests.owner)
    .get("", async ({ query }) => envelope(await admin.listUsers(app, query)), {
      ...hidden,
      query: UserQuery,
    })
    .post(
      "",
      async ({ session, body, client }) => {
        requireRecent(app, session);
        const by = { owner: session.user, client };
        return envelope(await app.writer.write(() => admin.addUser(app, body, by)));
      },
      { ...hidden, body: limited(NewUserInput, BODY_LIMITS.settings) },
    )
    .patch(
      "/:id",
      async ({ session, params, body, client }) => {
        requireRecent(app, session);
        const by = { owner: session.user, client };
        await app.writer.write(() => admin.changeUser(app, params.id, body, by));
        return status(204, undefined);
      },
      { ...hidden, params: IdParams, body: limited(UserPatch, BODY_LIMITS.settings) },
    )
    .post(
      "/:id/link",
      async ({ session, params, client }) => {
        requireRecent(app, session);
        const by = { owner: session.user, client };
        return envelope(await app.writer.write(() => admin.linkForUser(app, params.id, by)));
      },
      { ...hidden, params: IdParams },
    )
    .delete(
      "/:id/sessions",
      async ({ session, params, client }) => {
        requireRecent(app, session);
        const by = { owner: session.user, client };
        await app.writer.write(() => admin.endSessionsOfUser(app, params.id, by));
        return status(204, undefined);
      },
      { ...hidden, params: IdParams },
    )
    .delete(
      "/:id/second-factor",
      async ({ session, params, client }) => {
        requireRecent(app, session);
        const by = { owner: session.user, client };
        await app.writer.write(() => admin.resetFactorOfUser(app, params.id, by));
        return status(204, undefined);
      },
      { ...hidden, params: IdParams },
    );
}
