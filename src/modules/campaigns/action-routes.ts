/**
 * POST   /campaigns/{id}/send         now, or at a time
 * POST   /campaigns/{id}/unschedule   back to a draft
 * POST   /campaigns/{id}/cancel
 * POST   /campaigns/{id}/pause
 * POST   /campaigns/{id}/resume
 */

import { Type } from "@sinclair/typebox";
import { Elysia, status } from "elysia";
import type { Change, Writer } from "../../db/writer.ts";
import type { Admission } from "../../http/admission.ts";
import { BODY_LIMITS, limited } from "../../http/body-limits.ts";
import { Envelope, envelope, IdParams, NoContent, withErrors } from "../../http/envelope.ts";
import { ensureChecks } from "../../http/validation.ts";
import type { CampaignAudience } from "./audience.ts";
import type { Lifecycle } from "./lifecycle.ts";
import { Campaign, SendCampaignInput } from "./model.ts";
import { campaignOperations } from "./operations.ts";
import type { CampaignRow } from "./present.ts";
import type { Runner } from "./runner.ts";
import type { Campaigns } from "./service.ts";

export function campaignActionRoutes(deps: {
  admission: Admission;
  audience: Pick<CampaignAudience, "ensureRecipients">;
  campaigns: Pick<Campaigns, "get" | "present">;
  lifecycle: Lifecycle;
  runner: Pick<Runner, "wake">;
  writer: Writer;
}) {
  const { admission, audience, campaigns, lifecycle, runner, writer } = deps;

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
    const campaign = campaigns.get(projectSeq, id);
    lifecycle.ensure(campaign, isScheduled ? "schedule" : "send");
    await audience.ensureRecipients(campaign);
    const move = isScheduled
      ? lifecycle.schedule(projectSeq, id, Date.parse(scheduledFor))
      : lifecycle.sendNow(projectSeq, id);
    return () => {
      move();
      writer.afterCommit(runner.wake);
      return { status: 204, body: null };
    };
  }

  return new Elysia({ name: "campaign-action-routes", prefix: "/campaigns" })
    .use(admission.secretKey)
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
      "/:id/unschedule",
      ({ project, params, once }) =>
        once(() => changeStatus(lifecycle.unschedule(project.seq, params.id))),
      {
        params: IdParams,
        response: withErrors({ 200: Envelope(Campaign) }),
        detail: campaignOperations.unscheduleCampaign,
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
    );
}
