/**
 * POST   /campaigns/{id}/rehearsal
 */

import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import type { App } from "../../core/app.ts";
import { BODY_LIMITS, limited } from "../../http/body-limits.ts";
import { Envelope, envelope, IdParams, withErrors } from "../../http/envelope.ts";
import { allowIdle } from "../../http/long-requests.ts";
import { ensureChecks } from "../../http/validation.ts";
import { admissionOf } from "../admission.ts";
import { campaignService } from "./service.ts";
import { campaignOperations } from "./operations.ts";
import { contentToShow } from "./ab-tests/ab-tests.ts";
import { createRehearsal } from "./rehearsal.ts";
import { Rehearsal, RehearsalInput, sampleSize } from "./rehearsal-model.ts";

export function rehearsalRoutes(app: App) {
  const admission = admissionOf(app);
  const campaigns = campaignService(app);
  const rehearse = createRehearsal(app);

  return new Elysia({ name: "campaign-rehearsal-routes", prefix: "/campaigns" })
    .use(admission.secretKey)
    .post(
      "/:id/rehearsal",
      async ({ project, role, params, body, request, server }) => {
        ensureChecks(RehearsalInput, body);
        const campaign = contentToShow(app, campaigns.get(project.seq, params.id), body?.variantId);
        allowIdle({ request, server }, 0);
        const { signal } = request;
        return envelope(
          await rehearse(project, campaign, { size: sampleSize(body), role, signal }),
        );
      },
      {
        params: IdParams,
        body: limited(Type.Optional(RehearsalInput), BODY_LIMITS.settings),
        response: withErrors({ 200: Envelope(Rehearsal) }),
        detail: campaignOperations.rehearseCampaign,
      },
    );
}
