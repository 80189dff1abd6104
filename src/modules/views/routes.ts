/**
 * GET    /views         list the views that the user sees
 * POST   /views         save a view
 * PATCH  /views/{id}    rename, change or share a view
 * DELETE /views/{id}    delete a view
 */

import { Elysia, status } from "elysia";
import type { Admission } from "../../http/admission.ts";
import { BODY_LIMITS, limited } from "../../http/body-limits.ts";
import {
  Envelope,
  envelope,
  IdParams,
  ListEnvelope,
  NoContent,
  withErrors,
} from "../../http/envelope.ts";
import type { SignedInMember } from "../../http/session-access.ts";
import type { Caller } from "./access.ts";
import { SavedView, SavedViewInput, SavedViewPatch, SavedViewQuery } from "./model.ts";
import { viewOperations } from "./operations.ts";
import type { SavedViews } from "./service.ts";

export function viewRoutes({ admission, views }: { admission: Admission; views: SavedViews }) {
  return new Elysia({ name: "view-routes", prefix: "/views" })
    .use(admission.projectSession)
    .get(
      "",
      async ({ query, ...member }) =>
        envelope(await views.list(member.project.seq, callerOf(member), query)),
      {
        query: SavedViewQuery,
        response: withErrors({ 200: ListEnvelope(SavedView) }),
        detail: viewOperations.listSavedViews,
      },
    )
    .post(
      "",
      ({ body, once, ...member }) =>
        once(() => {
          const create = views.create(member.project.seq, callerOf(member), body);
          return () => ({ status: 201, body: envelope(create()) });
        }),
      {
        body: limited(SavedViewInput, BODY_LIMITS.settings),
        response: withErrors({ 201: Envelope(SavedView) }),
        detail: viewOperations.createSavedView,
      },
    )
    .patch(
      "/:id",
      async ({ params, body, store, ...member }) => {
        const change = { caller: callerOf(member), patch: body };
        return envelope(await store(views.patch(member.project.seq, params.id, change)));
      },
      {
        params: IdParams,
        body: limited(SavedViewPatch, BODY_LIMITS.settings),
        response: withErrors({ 200: Envelope(SavedView) }),
        detail: viewOperations.updateSavedView,
      },
    )
    .delete(
      "/:id",
      async ({ params, storeWithoutQuota, ...member }) => {
        await storeWithoutQuota(views.remove(member.project.seq, params.id, callerOf(member)));
        return status(204, undefined);
      },
      {
        params: IdParams,
        response: withErrors({ 204: NoContent }),
        detail: viewOperations.deleteSavedView,
      },
    );
}

const callerOf = ({ user, role }: SignedInMember): Caller => ({ userSeq: user.seq, role });
