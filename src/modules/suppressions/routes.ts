/**
 * GET    /suppressions          list suppressed addresses, filtered by email and reason
 * POST   /suppressions          suppress an address
 * DELETE /suppressions/{email}  remove the suppression of an address
 */

import { Elysia, status } from "elysia";
import type { Admission } from "../../http/admission.ts";
import { BODY_LIMITS, limited } from "../../http/body-limits.ts";
import { Envelope, envelope, ListEnvelope, NoContent, withErrors } from "../../http/envelope.ts";
import { normalizedAddress } from "../../http/formats.ts";
import type { Clock } from "../../lib/clock.ts";
import type { SuppressionList } from "./list.ts";
import { EmailParams, Suppression, SuppressionInput, SuppressionQuery } from "./model.ts";
import { suppressionOperations } from "./operations.ts";
import type { Suppressions } from "./service.ts";

export function suppressionRoutes(deps: {
  admission: Admission;
  clock: Clock;
  list: SuppressionList;
  suppressions: Suppressions;
}) {
  const { admission, clock, list, suppressions } = deps;
  return new Elysia({ name: "suppression-routes", prefix: "/suppressions" })
    .use(admission.secretKey)
    .get("", async ({ project, query }) => envelope(await list.page(project.seq, query)), {
      query: SuppressionQuery,
      response: withErrors({ 200: ListEnvelope(Suppression) }),
      detail: suppressionOperations.listSuppressions,
    })
    .post(
      "",
      ({ project, body, onceWithoutQuota }) =>
        onceWithoutQuota(() => () => {
          const email = normalizedAddress(body.email);
          const entry = { reason: body.reason ?? "MANUAL", at: clock.now() } as const;
          const { row, isNew } = suppressions.put(project.seq, email, entry);
          return { status: isNew ? 201 : 200, body: envelope(list.present(row)) };
        }),
      {
        body: limited(SuppressionInput, BODY_LIMITS.settings),
        response: withErrors({ 200: Envelope(Suppression), 201: Envelope(Suppression) }),
        detail: suppressionOperations.suppressAddress,
      },
    )
    .delete(
      "/:email",
      async ({ project, params, storeWithoutQuota }) => {
        await storeWithoutQuota(suppressions.remove(project.seq, params.email));
        return status(204, undefined);
      },
      {
        params: EmailParams,
        response: withErrors({ 204: NoContent }),
        detail: suppressionOperations.unsuppressAddress,
      },
    );
}
