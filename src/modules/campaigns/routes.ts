/**
 * GET    /campaigns
 * POST   /campaigns
 * GET    /campaigns/{id}
 * PATCH  /campaigns/{id}              DRAFT and SCHEDULED
 * DELETE /campaigns/{id}              DRAFT and CANCELLED
 * POST   /campaigns/{id}/duplicate
 * POST   /campaigns/{id}/test         one mail, not counted in the statistics
 * POST   /campaigns/{id}/preview
 */

import type { App } from "../../core/app.ts";
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
import { normalizedAddress } from "../../http/formats.ts";
import { ensureChecks, isLenient, LenientQuery } from "../../http/validation.ts";
import { Type } from "@sinclair/typebox";
import {
  Campaign,
  CampaignInput,
  CampaignPatch,
  CampaignQuery,
  SentTest,
  TestCampaignInput,
} from "./model.ts";
import type { Runner } from "./runner.ts";
import type { Campaigns } from "./service.ts";
import type { TestMails } from "./test-mail.ts";
import { ensureTemplates } from "../content-work/content-work.ts";
import { Preview, PreviewInput, preview } from "../previews.ts";
import { campaignOperations } from "./operations.ts";
import { readableCampaign } from "./present.ts";

export function campaignRoutes(deps: {
  admission: Admission;
  campaigns: Campaigns;
  app: App;
  testMails: TestMails;
  runner: Pick<Runner, "wake">;
}) {
  const { app, admission, campaigns, testMails, runner } = deps;

  return new Elysia({ name: "campaign-routes", prefix: "/campaigns" })
    .use(admission.secretKey)
    .get(
      "",
      async ({ project, role, query }) => {
        const { items, ...page } = await campaigns.list(project.seq, query);
        return envelope({ ...page, items: items.map((each) => readableCampaign(role, each)) });
      },
      {
        query: CampaignQuery,
        response: withErrors({ 200: ListEnvelope(Campaign) }),
        detail: campaignOperations.listCampaigns,
      },
    )
    .post(
      "",
      ({ project, request, body, once }) =>
        once(async () => {
          ensureChecks(CampaignInput, body, isLenient(request));
          await ensureTemplates(app, project.seq, body, isLenient(request));
          const create = campaigns.create(project.seq, body);
          return () => ({ status: 201, body: envelope(campaigns.present(create())) });
        }),
      {
        query: LenientQuery,
        body: limited(CampaignInput, BODY_LIMITS.campaign),
        response: withErrors({ 201: Envelope(Campaign) }),
        detail: campaignOperations.createCampaign,
      },
    )
    .get(
      "/:id",
      ({ project, role, params }) => {
        const campaign = campaigns.present(campaigns.get(project.seq, params.id));
        return envelope(readableCampaign(role, campaign));
      },
      {
        params: IdParams,
        response: withErrors({ 200: Envelope(Campaign) }),
        detail: campaignOperations.getCampaign,
      },
    )
    .patch(
      "/:id",
      async ({ project, request, params, body, store }) => {
        ensureChecks(CampaignPatch, body, isLenient(request));
        await ensureTemplates(app, project.seq, body, isLenient(request));
        const campaign = await store(campaigns.patch(project.seq, params.id, body));
        runner.wake();
        return envelope(campaigns.present(campaign));
      },
      {
        params: IdParams,
        query: LenientQuery,
        body: limited(CampaignPatch, BODY_LIMITS.campaign),
        response: withErrors({ 200: Envelope(Campaign) }),
        detail: campaignOperations.updateCampaign,
      },
    )
    .delete(
      "/:id",
      async ({ project, params, storeWithoutQuota }) => {
        await storeWithoutQuota(campaigns.remove(project.seq, params.id));
        return status(204, undefined);
      },
      {
        params: IdParams,
        response: withErrors({ 204: NoContent }),
        detail: campaignOperations.deleteCampaign,
      },
    )
    .post(
      "/:id/duplicate",
      ({ project, params, once }) =>
        once(() => {
          const duplicate = campaigns.duplicate(project.seq, params.id);
          return () => ({ status: 201, body: envelope(campaigns.present(duplicate())) });
        }),
      {
        params: IdParams,
        response: withErrors({ 201: Envelope(Campaign) }),
        detail: campaignOperations.duplicateCampaign,
      },
    )
    .post(
      "/:id/test",
      ({ project, params, body, once }) =>
        once(async () => {
          const campaign = campaigns.get(project.seq, params.id);
          const test = await testMails.send(project, campaign, normalizedAddress(body.email));
          return () => ({ status: 200, body: envelope(test()) });
        }),
      {
        params: IdParams,
        body: limited(TestCampaignInput, BODY_LIMITS.settings),
        response: withErrors({ 200: Envelope(SentTest) }),
        detail: campaignOperations.testCampaign,
      },
    )
    .post(
      "/:id/preview",
      async ({ project, role, params, body }) => {
        const source = { ...campaigns.get(project.seq, params.id), isMarketing: true };
        return envelope(await preview(app, project, source, { ...body, role }));
      },
      {
        params: IdParams,
        body: limited(Type.Optional(PreviewInput), BODY_LIMITS.preview),
        response: withErrors({ 200: Envelope(Preview) }),
        detail: campaignOperations.previewCampaign,
      },
    );
}
