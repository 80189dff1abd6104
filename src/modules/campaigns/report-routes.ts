/**
 * GET    /campaigns/summaries
 * GET    /campaigns/{id}/preview      a document to be shown in a frame
 * POST   /campaigns/audience          of no campaign
 * GET    /campaigns/{id}/audience
 * GET    /campaigns/{id}/audience/contacts
 * GET    /campaigns/{id}/stats
 * GET    /campaigns/{id}/recipients
 */

import type { App } from "../../core/app.ts";
import { Elysia } from "elysia";
import { BODY_LIMITS, limited } from "../../http/body-limits.ts";
import { ensureChecks, Input } from "../../http/validation.ts";
import { Contact } from "../contacts/model.ts";
import { readableContact } from "../contacts/service.ts";
import { ShownVariant } from "./ab-tests/ab-model.ts";
import { contentToShow } from "./ab-tests/ab-tests.ts";
import {
  AudienceBreakdown,
  AudienceContactsQuery,
  AudienceInput,
  AudienceQuery,
} from "./audience-model.ts";
import { Envelope, envelope, IdParams, ListEnvelope, withErrors } from "../../http/envelope.ts";
import { ContactPreviewQuery, PreviewDocument } from "../../http/preview-query.ts";
import { preview, previewResponse } from "../previews.ts";
import { previewSource } from "./message.ts";
import { campaignAudience } from "./audience.ts";
import { campaignOperations } from "./operations.ts";
import { listRecipients } from "./recipients.ts";
import { readableStats, readCampaignStats } from "./report.ts";
import { CampaignStats, Recipient, RecipientQuery } from "./results-model.ts";
import { campaignService } from "./service.ts";
import { listCampaignSummaries } from "./summaries.ts";
import { CampaignSummary, CampaignSummaryQuery } from "./summary-model.ts";
import { admissionOf } from "../admission.ts";

export function campaignReportRoutes(app: App) {
  const audience = campaignAudience(app);
  const campaigns = campaignService(app);
  return new Elysia({ name: "campaign-report-routes", prefix: "/campaigns" })
    .use(admissionOf(app).secretKey)
    .get(
      "/summaries",
      async ({ project, query: { before, ...query } }) => {
        const other = before === undefined ? null : campaigns.get(project.seq, before);
        return envelope(await listCampaignSummaries(app, project, query, other));
      },
      {
        query: CampaignSummaryQuery,
        response: withErrors({ 200: ListEnvelope(CampaignSummary) }),
        detail: campaignOperations.listCampaignSummaries,
      },
    )
    .get(
      "/:id/preview",
      async ({ project, role, params, query }) => {
        const { contactId, variantId } = query;
        const campaign = campaigns.get(project.seq, params.id);
        const source = previewSource(app, contentToShow(app, campaign, variantId));
        const options = { role, ...(contactId === undefined ? {} : { contactId }) };
        const shown = await preview(app, project, source, options);
        return previewResponse(app, project, shown, query);
      },
      {
        params: IdParams,
        query: Input({ ...ContactPreviewQuery.properties, variantId: ShownVariant }),
        response: withErrors({ 200: PreviewDocument }),
        detail: campaignOperations.showCampaign,
      },
    )
    .get(
      "/:id/audience",
      async ({ project, params, query }) =>
        envelope(await audience.breakdown(campaigns.get(project.seq, params.id), query.counted)),
      {
        params: IdParams,
        query: AudienceQuery,
        response: withErrors({ 200: Envelope(AudienceBreakdown) }),
        detail: campaignOperations.getCampaignAudience,
      },
    )
    .post(
      "/audience",
      async ({ project, body, query }) => {
        ensureChecks(AudienceInput, body);
        const described = audience.described(project.seq, body);
        return envelope(await audience.breakdown(described, query.counted));
      },
      {
        query: AudienceQuery,
        body: limited(AudienceInput, BODY_LIMITS.condition),
        response: withErrors({ 200: Envelope(AudienceBreakdown) }),
        detail: campaignOperations.countAudience,
      },
    )
    .get(
      "/:id/audience/contacts",
      async ({ project, role, params, query }) => {
        const campaign = campaigns.get(project.seq, params.id);
        const { items, ...page } = await audience.contacts(campaign, query);
        return envelope({ ...page, items: items.map((contact) => readableContact(role, contact)) });
      },
      {
        params: IdParams,
        query: AudienceContactsQuery,
        response: withErrors({ 200: ListEnvelope(Contact) }),
        detail: campaignOperations.listCampaignAudience,
      },
    )
    .get(
      "/:id/stats",
      async ({ project, role, params }) => {
        const stats = await readCampaignStats(app, campaigns.get(project.seq, params.id));
        return envelope(readableStats(role, stats));
      },
      {
        params: IdParams,
        response: withErrors({ 200: Envelope(CampaignStats) }),
        detail: campaignOperations.getCampaignStats,
      },
    )
    .get(
      "/:id/recipients",
      async ({ project, role, params, query }) =>
        envelope(await listRecipients(app, campaigns.get(project.seq, params.id), query, role)),
      {
        params: IdParams,
        query: RecipientQuery,
        response: withErrors({ 200: ListEnvelope(Recipient) }),
        detail: campaignOperations.listCampaignRecipients,
      },
    );
}
