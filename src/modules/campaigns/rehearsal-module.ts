/**
 * POST   /campaigns/{id}/rehearsal
 *
 * A module of its own, because it needs the composer of mail, which is made after campaigns.
 */

import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import type { App } from "../../core/app.ts";
import type { Admission } from "../../http/admission.ts";
import { BODY_LIMITS, limited } from "../../http/body-limits.ts";
import { Envelope, envelope, IdParams, withErrors } from "../../http/envelope.ts";
import { allowIdle } from "../../http/long-requests.ts";
import { ensureChecks } from "../../http/validation.ts";
import type { Composer } from "../../outbox/compose/composer.ts";
import type { InboxModule } from "../inboxes/module.ts";
import type { Module } from "../module.ts";
import type { CampaignModule } from "./module.ts";
import { campaignOperations } from "./operations.ts";
import { createRehearsal } from "./rehearsal.ts";
import { Rehearsal, RehearsalInput, sampleSize } from "./rehearsal-model.ts";

export function createRehearsalModule(deps: {
  app: App;
  admission: Admission;
  campaigns: Pick<CampaignModule, "service">;
  composer: Pick<Composer, "prepare">;
  inboxes: Pick<InboxModule, "inboxes" | "intake" | "parser" | "retention">;
}): Module {
  const { app, admission, composer } = deps;
  const { campaigns, audience } = deps.campaigns.service;
  const { inboxes, intake, retention, parser: messages } = deps.inboxes;
  const stores = { inboxes, intake, retention, messages };
  const rehearse = createRehearsal({ app, audience, composer, ...stores });

  const routes = new Elysia({ name: "campaign-rehearsal-routes", prefix: "/campaigns" })
    .use(admission.secretKey)
    .post(
      "/:id/rehearsal",
      async ({ project, role, params, body, request, server }) => {
        ensureChecks(RehearsalInput, body);
        const campaign = campaigns.get(project.seq, params.id);
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

  return { name: "campaign rehearsals", routes: [routes] };
}
