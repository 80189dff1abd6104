/**
 * GET    /campaigns/{id}/stats
 * GET    /campaigns/{id}/recipients
 */

import { Elysia } from "elysia";
import type { Admission } from "../../http/admission.ts";
import { Envelope, envelope, IdParams, ListEnvelope, withErrors } from "../../http/envelope.ts";
import { RecipientQuery } from "./model.ts";
import { campaignOperations } from "./operations.ts";
import type { Recipients } from "./recipients.ts";
import type { ReadReport } from "./report.ts";
import { CampaignStats, Recipient } from "./results-model.ts";
import type { Campaigns } from "./service.ts";

export function campaignReportRoutes(deps: {
  admission: Admission;
  campaigns: Pick<Campaigns, "get">;
  readReport: ReadReport;
  recipients: Recipients;
}) {
  const { admission, campaigns, readReport, recipients } = deps;
  return new Elysia({ name: "campaign-report-routes", prefix: "/campaigns" })
    .use(admission.secretKey)
    .get(
      "/:id/stats",
      ({ project, params }) => envelope(readReport(campaigns.get(project.seq, params.id).seq)),
      {
        params: IdParams,
        response: withErrors({ 200: Envelope(CampaignStats) }),
        detail: campaignOperations.getCampaignStats,
      },
    )
    .get(
      "/:id/recipients",
      async ({ project, params, query }) =>
        envelope(await recipients(campaigns.get(project.seq, params.id), query)),
      {
        params: IdParams,
        query: RecipientQuery,
        response: withErrors({ 200: ListEnvelope(Recipient) }),
        detail: campaignOperations.listCampaignRecipients,
      },
    );
}
