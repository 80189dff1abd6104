/**
 * GET    /inbound-routes
 * POST   /inbound-routes       receive mail for an address or a domain
 * DELETE /inbound-routes/{id}
 */

import { Elysia, status } from "elysia";
import type { App } from "../../core/app.ts";
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
import { normalizedAddress } from "../../http/formats.ts";
import { PageQuery } from "../../http/pagination.ts";
import { fieldError } from "../../lib/errors.ts";
import { ensureMailComesHere } from "./mx-check.ts";
import { InboundRoute, InboundRouteInput } from "./model.ts";
import { inboundRouteOperations } from "./operations.ts";
import { type InboundRoutes, listInboundRoutes } from "./service.ts";

export function inboundRouteRoutes(deps: {
  app: App;
  admission: Admission;
  inboundRoutes: InboundRoutes;
}) {
  const { app, admission, inboundRoutes } = deps;

  /** The address to forward to; null for the event alone. Throws 422 unless it is one of both. */
  function forwardTo(address: string, action: { webhook?: true; forward?: string }): string | null {
    const { webhook, forward } = action;
    if ((webhook === true) === (forward !== undefined)) {
      throw fieldError("action", "invalid_value", "must be {webhook: true} or {forward: address}");
    }
    if (forward === undefined) return null;
    const target = normalizedAddress(forward);
    if (target === address || inboundRoutes.find(target) !== null) {
      throw fieldError("action.forward", "invalid_value", "must not have an inbound route itself");
    }
    return target;
  }

  return new Elysia({ name: "inbound-route-routes", prefix: "/inbound-routes" })
    .use(admission.secretKey)
    .get("", async ({ project, query }) => envelope(await listInboundRoutes(app, project, query)), {
      query: PageQuery,
      response: withErrors({ 200: ListEnvelope(InboundRoute) }),
      detail: inboundRouteOperations.listInboundRoutes,
    })
    .post(
      "",
      ({ project, body, once }) =>
        once(async () => {
          const address = normalizedAddress(body.address);
          const route = { address, forwardTo: forwardTo(address, body.action) };
          await ensureMailComesHere(app, project.seq, address);
          const add = inboundRoutes.add(project.seq, route);
          return () => ({ status: 201, body: envelope(inboundRoutes.present(add())) });
        }),
      {
        body: limited(InboundRouteInput, BODY_LIMITS.settings),
        response: withErrors({ 201: Envelope(InboundRoute) }),
        detail: inboundRouteOperations.addInboundRoute,
      },
    )
    .delete(
      "/:id",
      async ({ project, params, storeWithoutQuota }) => {
        await storeWithoutQuota(inboundRoutes.remove(project.seq, params.id));
        return status(204, undefined);
      },
      {
        params: IdParams,
        response: withErrors({ 204: NoContent }),
        detail: inboundRouteOperations.removeInboundRoute,
      },
    );
}
