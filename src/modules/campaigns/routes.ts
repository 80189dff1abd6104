/**
 * GET    /campaigns
 * POST   /campaigns
 * POST   /campaigns/drafts            may lack fields that only sending needs
 * GET    /campaigns/{id}
 * PATCH  /campaigns/{id}              DRAFT and SCHEDULED
 * DELETE /campaigns/{id}              DRAFT, CANCELLED and imported
 * POST   /campaigns/{id}/duplicate
 * POST   /campaigns/{id}/follow-up    a draft for recipients who did not open it
 * POST   /campaigns/{id}/test         one mail, not counted in the statistics
 * POST   /campaigns/{id}/preview
 */

import type { App } from "../../core/app.ts";
import { Elysia, status } from "elysia";
import { BODY_LIMITS, limited } from "../../http/body-limits.ts";
import {
  CONDITIONAL_ERRORS,
  Envelope,
  envelope,
  IdParams,
  ListEnvelope,
  NoContent,
  withErrors,
} from "../../http/envelope.ts";
import { normalizedAddress } from "../../http/formats.ts";
import { ensureChecks, Input, isLenient, LenientQuery } from "../../http/validation.ts";
import { Type } from "@sinclair/typebox";
import {
  Campaign,
  CampaignDraft,
  CampaignInput,
  CampaignPatch,
  CampaignQuery,
  FollowUpInput,
  ListedCampaign,
  SentTest,
  TestCampaignInput,
} from "./model.ts";
import { campaignRunner } from "./runner.ts";
import { listCampaigns } from "./service.ts";
import { campaignTests } from "./test-mail.ts";
import { ensureAbTemplates } from "./ab-tests/ab-drafts.ts";
import { ShownVariant } from "./ab-tests/ab-model.ts";
import { contentToShow } from "./ab-tests/ab-tests.ts";
import { ensureTemplates } from "../content-work/content-work.ts";
import { Preview, PreviewInput, preview } from "../previews.ts";
import { campaignOperations } from "./operations.ts";
import { previewSource } from "./message.ts";
import { readableCampaign } from "./present.ts";
import { admissionOf } from "../admission.ts";
import { campaignService } from "./service.ts";

const entityTag = ({ revision }: { revision: number }): string => `"${revision}"`;

const withoutNull = ({ subject, body }: CampaignPatch) => ({
  subject: subject ?? undefined,
  body: body ?? undefined,
});

export function campaignRoutes(app: App) {
  const admission = admissionOf(app);
  const campaigns = campaignService(app);
  const testMails = campaignTests(app);
  const runner = campaignRunner(app);

  return new Elysia({ name: "campaign-routes", prefix: "/campaigns" })
    .use(admission.secretKey)
    .get(
      "",
      async ({ project, role, query }) => {
        const { items, ...page } = await listCampaigns(app, project, query);
        return envelope({ ...page, items: items.map((each) => readableCampaign(role, each)) });
      },
      {
        query: CampaignQuery,
        response: withErrors({ 200: ListEnvelope(ListedCampaign) }),
        detail: campaignOperations.listCampaigns,
      },
    )
    .post(
      "",
      ({ project, request, body, once }) =>
        once(async () => {
          ensureChecks(CampaignInput, body, isLenient(request));
          await ensureTemplates(app, project.seq, withoutNull(body), isLenient(request));
          await ensureAbTemplates(app, project.seq, body, isLenient(request));
          const create = campaigns.create(project.seq, body, { isComplete: true });
          return () => ({ status: 201, body: envelope(campaigns.present(create())) });
        }),
      {
        query: LenientQuery,
        body: limited(CampaignInput, BODY_LIMITS.campaign),
        response: withErrors({ 201: Envelope(Campaign) }),
        detail: campaignOperations.createCampaign,
      },
    )
    .post(
      "/drafts",
      ({ project, request, body, once }) =>
        once(async () => {
          ensureChecks(CampaignDraft, body, isLenient(request));
          await ensureTemplates(app, project.seq, withoutNull(body), isLenient(request));
          await ensureAbTemplates(app, project.seq, body, isLenient(request));
          const create = campaigns.create(project.seq, body, { isComplete: false });
          return () => ({ status: 201, body: envelope(campaigns.present(create())) });
        }),
      {
        query: LenientQuery,
        body: limited(CampaignDraft, BODY_LIMITS.campaign),
        response: withErrors({ 201: Envelope(Campaign) }),
        detail: campaignOperations.createCampaignDraft,
      },
    )
    .get(
      "/:id",
      ({ project, role, params, set }) => {
        const campaign = campaigns.get(project.seq, params.id);
        set.headers["etag"] = entityTag(campaign);
        return envelope(readableCampaign(role, campaigns.present(campaign)));
      },
      {
        params: IdParams,
        response: withErrors({ 200: Envelope(Campaign) }),
        detail: campaignOperations.getCampaign,
      },
    )
    .patch(
      "/:id",
      async ({ project, role, request, params, body, set, store }) => {
        ensureChecks(CampaignPatch, body, isLenient(request));
        await ensureTemplates(app, project.seq, withoutNull(body), isLenient(request));
        await ensureAbTemplates(app, project.seq, body, isLenient(request));
        const caller = { request, role };
        const campaign = await store(campaigns.patch(project.seq, params.id, body, caller));
        runner.wake();
        set.headers["etag"] = entityTag(campaign);
        return envelope(campaigns.present(campaign));
      },
      {
        params: IdParams,
        query: LenientQuery,
        body: limited(CampaignPatch, BODY_LIMITS.campaign),
        response: { ...withErrors({ 200: Envelope(Campaign) }), ...CONDITIONAL_ERRORS },
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
      "/:id/follow-up",
      ({ project, request, params, body, once }) =>
        once(async () => {
          ensureChecks(FollowUpInput, body, isLenient(request));
          await ensureTemplates(app, project.seq, body ?? {}, isLenient(request));
          const followUp = campaigns.followUp(project.seq, params.id, body ?? {});
          return () => ({ status: 201, body: envelope(campaigns.present(followUp())) });
        }),
      {
        params: IdParams,
        query: LenientQuery,
        body: limited(Type.Optional(FollowUpInput), BODY_LIMITS.settings),
        response: withErrors({ 201: Envelope(Campaign) }),
        detail: campaignOperations.followUpCampaign,
      },
    )
    .post(
      "/:id/test",
      ({ project, params, body, once }) =>
        once(async () => {
          const { contactId = null, variantId } = body;
          const campaign = contentToShow(app, campaigns.get(project.seq, params.id), variantId);
          const address = normalizedAddress(body.email);
          const test = await testMails.send(project, campaign, address, contactId);
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
      async ({ project, role, params, query, body }) => {
        const campaign = campaigns.get(project.seq, params.id);
        const source = previewSource(app, contentToShow(app, campaign, query.variantId));
        return envelope(await preview(app, project, source, { ...body, role }));
      },
      {
        params: IdParams,
        query: Input({ variantId: ShownVariant }),
        body: limited(Type.Optional(PreviewInput), BODY_LIMITS.preview),
        response: withErrors({ 200: Envelope(Preview) }),
        detail: campaignOperations.previewCampaign,
      },
    );
}
