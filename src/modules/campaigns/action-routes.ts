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
import type { Role } from "../../http/roles.ts";
import { ensureChecks } from "../../http/validation.ts";
import { AppError, fieldError } from "../../lib/errors.ts";
import { zoneName } from "../../lib/wall-clock.ts";
import { RECIPIENT_ZONE } from "./local-times.ts";
import { campaignAudience } from "./audience.ts";
import { campaignLifecycle } from "./lifecycle.ts";
import { Campaign, SendCampaignInput } from "./model.ts";
import { campaignOperations } from "./operations.ts";
import type { CampaignRow } from "./present.ts";
import { campaignRunner } from "./runner.ts";
import { requireConfirmed, requireNoticeRole } from "./sending-rules.ts";
import { campaignService } from "./service.ts";
import type { App } from "../../core/app.ts";
import { admissionOf } from "../admission.ts";

export function campaignActionRoutes(app: App) {
  const { writer } = app;
  const [admission, audience, campaigns] = [
    admissionOf(app),
    campaignAudience(app),
    campaignService(app),
  ];
  const [lifecycle, runner] = [campaignLifecycle(app), campaignRunner(app)];

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
    { input, role }: { input: SendCampaignInput; role: Role | null },
  ) {
    const { scheduledFor, confirm } = input;
    const isScheduled = typeof scheduledFor === "string";
    const campaign = campaigns.get(projectSeq, id);
    lifecycle.ensure(campaign, isScheduled ? "schedule" : "send");
    if (campaign.category === "TRANSACTIONAL") requireNoticeRole(role);
    await audience.ensureRecipients(campaign);
    if (confirm !== undefined) {
      requireConfirmed((await audience.breakdown(campaign)).recipients, confirm);
    }
    const zones = zonesIn(input);
    const move = isScheduled
      ? lifecycle.schedule(projectSeq, id, { at: Date.parse(scheduledFor), ...zones })
      : lifecycle.sendNow(projectSeq, id);
    return () => {
      ensureUnchanged(campaign, campaigns.get(projectSeq, id));
      move();
      writer.afterCommit(runner.wake);
      return { status: 204, body: null };
    };
  }

  return new Elysia({ name: "campaign-action-routes", prefix: "/campaigns" })
    .use(admission.secretKey)
    .post(
      "/:id/send",
      async ({ project, role, params, body, once }) => {
        await once(() => {
          ensureChecks(SendCampaignInput, body);
          return sendOrSchedule(project.seq, params.id, { input: body ?? {}, role });
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

/** The audience was counted, and the role checked, for the campaign as it was then. */
function ensureUnchanged(then: CampaignRow, now: CampaignRow): void {
  if (then.revision === now.revision) return;
  throw new AppError(409, "CONFLICT", "The campaign was changed at the same time.", {
    suggestion: "Look at the campaign, then repeat the request.",
  });
}

/** The usual names of the zones of a request. */
function zonesIn({ timeZone, fallbackTimeZone, scheduledFor }: SendCampaignInput) {
  const isLocal = timeZone === RECIPIENT_ZONE;
  if (isLocal && typeof scheduledFor !== "string") {
    throw fieldError("scheduledFor", "required", "is required for the timeZone RECIPIENT");
  }
  if (!isLocal && (fallbackTimeZone ?? null) !== null) {
    const message = "must be omitted unless timeZone is RECIPIENT";
    throw fieldError("fallbackTimeZone", "invalid_value", message);
  }
  return {
    timeZone: isLocal ? RECIPIENT_ZONE : zoneIn("timeZone", timeZone),
    fallbackZone: isLocal ? (zoneIn("fallbackTimeZone", fallbackTimeZone) ?? "UTC") : null,
  };
}

function zoneIn(field: string, name: string | null | undefined): string | null {
  if (name === undefined || name === null) return null;
  const zone = zoneName(name);
  if (zone !== null) return zone;
  throw fieldError(field, "invalid_value", "must be a time zone such as Europe/Berlin");
}
