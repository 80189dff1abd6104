/**
 * GET    /campaigns
 * POST   /campaigns
 * GET    /campaigns/{id}
 * PATCH  /campaigns/{id}              DRAFT and SCHEDULED
 * DELETE /campaigns/{id}              DRAFT and CANCELLED
 * POST   /campaigns/{id}/send         now, or at a time
 * POST   /campaigns/{id}/cancel
 * POST   /campaigns/{id}/pause
 * POST   /campaigns/{id}/resume
 * POST   /campaigns/{id}/duplicate
 * POST   /campaigns/{id}/test         one mail, not counted in the statistics
 * POST   /campaigns/{id}/preview
 * GET    /campaigns/{id}/stats
 * GET    /campaigns/{id}/recipients
 */

import { Elysia, status } from "elysia";
import type { Change, Writer } from "../../db/writer.ts";
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
import { ensureChecks } from "../../http/validation.ts";
import { Type } from "@sinclair/typebox";
import type { Lifecycle } from "./lifecycle.ts";
import {
  Campaign,
  CampaignInput,
  CampaignPatch,
  CampaignQuery,
  RecipientQuery,
  SendCampaignInput,
  SentTest,
  TestCampaignInput,
} from "./model.ts";
import { CampaignStats, Recipient } from "./results-model.ts";
import type { Recipients } from "./recipients.ts";
import type { Runner } from "./runner.ts";
import type { CampaignRow } from "./present.ts";
import type { Campaigns } from "./service.ts";
import type { Stats } from "./stats.ts";
import type { TestMails } from "./test-mail.ts";
import { Preview, PreviewInput } from "../templates/model.ts";
import type { Previews } from "../templates/service.ts";
import { campaignOperations } from "./operations.ts";

export function campaignRoutes(deps: {
  admission: Admission;
  campaigns: Campaigns;
  lifecycle: Lifecycle;
  preview: Previews["preview"];
  recipients: Recipients;
  testMails: TestMails;
  runner: Runner;
  stats: Stats;
  writer: Writer;
}) {
  const { admission, campaigns, lifecycle, preview, recipients, testMails, runner, stats, writer } =
    deps;

  /** Runs a change of status and wakes the runner after the commit. */
  function changeStatus(change: Change<CampaignRow>) {
    return () => {
      const campaign = change();
      writer.afterCommit(runner.wake);
      return { status: 200, body: envelope(campaigns.present(campaign)) };
    };
  }

  async function sendOrSchedule(
    projectSeq: number,
    id: string,
    scheduledFor: string | null | undefined,
  ) {
    const isScheduled = typeof scheduledFor === "string";
    await runner.ensureRecipients(campaigns.get(projectSeq, id), isScheduled ? "schedule" : "send");
    const move = isScheduled
      ? lifecycle.schedule(projectSeq, id, Date.parse(scheduledFor))
      : lifecycle.sendNow(projectSeq, id);
    return () => {
      move();
      writer.afterCommit(runner.wake);
      return { status: 204, body: null };
    };
  }

  return new Elysia({ name: "campaign-routes", prefix: "/campaigns" })
    .use(admission.secretKey)
    .get("", async ({ project, query }) => envelope(await campaigns.list(project.seq, query)), {
      query: CampaignQuery,
      response: withErrors({ 200: ListEnvelope(Campaign) }),
      detail: campaignOperations.listCampaigns,
    })
    .post(
      "",
      ({ project, body, once }) =>
        once(() => {
          ensureChecks(CampaignInput, body);
          const create = campaigns.create(project.seq, body);
          return () => ({ status: 201, body: envelope(campaigns.present(create())) });
        }),
      {
        body: limited(CampaignInput, BODY_LIMITS.campaign),
        response: withErrors({ 201: Envelope(Campaign) }),
        detail: campaignOperations.createCampaign,
      },
    )
    .get(
      "/:id",
      ({ project, params }) => envelope(campaigns.present(campaigns.get(project.seq, params.id))),
      {
        params: IdParams,
        response: withErrors({ 200: Envelope(Campaign) }),
        detail: campaignOperations.getCampaign,
      },
    )
    .patch(
      "/:id",
      async ({ project, params, body, store }) => {
        ensureChecks(CampaignPatch, body);
        const campaign = await store(campaigns.patch(project.seq, params.id, body));
        runner.wake();
        return envelope(campaigns.present(campaign));
      },
      {
        params: IdParams,
        body: limited(CampaignPatch, BODY_LIMITS.campaign),
        response: withErrors({ 200: Envelope(Campaign) }),
        detail: campaignOperations.updateCampaign,
      },
    )
    .delete(
      "/:id",
      async ({ project, params }) => {
        await writer.write(campaigns.remove(project.seq, params.id));
        return status(204, undefined);
      },
      {
        params: IdParams,
        response: withErrors({ 204: NoContent }),
        detail: campaignOperations.deleteCampaign,
      },
    )
    .post(
      "/:id/send",
      async ({ project, params, body, once }) => {
        await once(() => {
          ensureChecks(SendCampaignInput, body);
          return sendOrSchedule(project.seq, params.id, body?.scheduledFor);
        });
        return status(204, undefined);
      },
      {
        params: IdParams,
        body: limited(Type.Optional(SendCampaignInput), BODY_LIMITS.settings),
        response: withErrors({ 204: NoContent }),
        detail: campaignOperations.sendCampaign,
      },
    )
    .post(
      "/:id/cancel",
      ({ project, params, once }) =>
        once(() => changeStatus(lifecycle.cancel(project.seq, params.id))),
      {
        params: IdParams,
        response: withErrors({ 200: Envelope(Campaign) }),
        detail: campaignOperations.cancelCampaign,
      },
    )
    .post(
      "/:id/pause",
      ({ project, params, once }) =>
        once(() => changeStatus(lifecycle.pause(project.seq, params.id))),
      {
        params: IdParams,
        response: withErrors({ 200: Envelope(Campaign) }),
        detail: campaignOperations.pauseCampaign,
      },
    )
    .post(
      "/:id/resume",
      ({ project, params, once }) =>
        once(() => changeStatus(lifecycle.resume(project.seq, params.id))),
      {
        params: IdParams,
        response: withErrors({ 200: Envelope(Campaign) }),
        detail: campaignOperations.resumeCampaign,
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
        once(() => {
          const campaign = campaigns.get(project.seq, params.id);
          const test = testMails.send(project, campaign, normalizedAddress(body.email));
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
      ({ project, params, body }) =>
        envelope(preview(project, campaigns.get(project.seq, params.id), body ?? {})),
      {
        params: IdParams,
        body: limited(Type.Optional(PreviewInput), BODY_LIMITS.preview),
        response: withErrors({ 200: Envelope(Preview) }),
        detail: campaignOperations.previewCampaign,
      },
    )
    .get(
      "/:id/stats",
      ({ project, params }) => envelope(stats.read(campaigns.get(project.seq, params.id).seq)),
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
