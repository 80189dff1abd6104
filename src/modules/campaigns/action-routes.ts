/**
 * POST   /campaigns/{id}/send         now, or at a time
 * POST   /campaigns/{id}/unschedule   back to a draft
 * POST   /campaigns/{id}/cancel
 * POST   /campaigns/{id}/pause
 * POST   /campaigns/{id}/resume
 */

import { Type } from "@sinclair/typebox";
import { Elysia, status } from "elysia";
import type { Change } from "../../db/writer.ts";
import { BODY_LIMITS, limited } from "../../http/body-limits.ts";
import { Envelope, envelope, IdParams, NoContent, withErrors } from "../../http/envelope.ts";
import { ensureChecks } from "../../http/validation.ts";
import { campaignLifecycle } from "./lifecycle.ts";
import { Campaign, SendCampaignInput } from "./model.ts";
import { campaignOperations } from "./operations.ts";
import type { CampaignRow } from "./present.ts";
import { prepareSend } from "./prepare-send.ts";
import { campaignRunner } from "./runner.ts";
import { campaignService } from "./service.ts";
import type { App } from "../../core/app.ts";
import { admissionOf } from "../admission.ts";

export function campaignActionRoutes(app: App) {
  const { writer } = app;
  const [admission, campaigns] = [admissionOf(app), campaignService(app)];
  const [lifecycle, runner] = [campaignLifecycle(app), campaignRunner(app)];

  /** Runs a change of status and wakes the runner after the commit. */
  function changeStatus(change: Change<CampaignRow>) {
    return () => {
      const campaign = change();
      writer.afterCommit(runner.wake);
      return { status: 200, body: envelope(campaigns.present(campaign)) };
    };
  }

  return new Elysia({ name: "campaign-action-routes", prefix: "/campaigns" })
    .use(admission.secretKey)
    .post(
      "/:id/send",
      async ({ project, role, params, body, once }) => {
        await once(async () => {
          ensureChecks(SendCampaignInput, body);
          const send = await prepareSend(app, project.seq, params.id, { input: body ?? {}, role });
          return () => {
            send();
            return { status: 204, body: null };
          };
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
